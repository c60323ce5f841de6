//! The configurations: a small drive that collects much, and what each changes of it.

/// A configuration: its name, and the keys whose values differ from [`DRIVE`] and [`OPEN_LOOP`].
pub struct Case {
    pub name: &'static str,
    pub changes: &'static [(&'static str, &'static str)],
}

/// Four dies of two planes, random requests of a page.
pub const DRIVE: &str = r#"
[ssd.geometry]
channels = 2
chips_per_channel = 2
dies_per_chip = 1
planes_per_die = 2
blocks_per_plane = 64
pages_per_block = 64
page_size = "4KiB"
[ssd.timing]
read = "40us"
program = "200us"
erase = "1500us"
transfer_rate = "200MT/s"
[ssd.ftl]
over_provisioning = 0.2
placement = "one_class"
[ssd.gc]
soft_threshold = 0.05
[host]
queue_depth = 32
[workload]
type = "synthetic"
requests = 12_000
request_size = "4KiB"
read_share = 0.4
sequential_share = 0.0
[precondition]
fill = 1.0
overwrites = 1.0
"#;

/// The requests come by themselves, unless they wait for one another.
pub const OPEN_LOOP: (&str, &str) =
    ("workload.inter_arrival", "{ type = \"exponential\", mean = \"500us\" }");

const MEAN_80: (&str, &str) =
    ("workload.inter_arrival", "{ type = \"exponential\", mean = \"80us\" }");
const MEAN_150: (&str, &str) =
    ("workload.inter_arrival", "{ type = \"exponential\", mean = \"150us\" }");
const MEAN_250: (&str, &str) =
    ("workload.inter_arrival", "{ type = \"exponential\", mean = \"250us\" }");
const MEAN_1MS: (&str, &str) =
    ("workload.inter_arrival", "{ type = \"exponential\", mean = \"1ms\" }");
const MEAN_3MS: (&str, &str) =
    ("workload.inter_arrival", "{ type = \"exponential\", mean = \"3ms\" }");
const LITTLE: (&str, &str) = ("ssd.ftl.over_provisioning", "0.5");
const RAID0: (&str, &str) = ("array.layout", "raid0");
const RAID5: (&str, &str) = ("array.layout", "raid5");
const RAID6: (&str, &str) = ("array.layout", "raid6");
const STRIPE: (&str, &str) = ("array.stripe", "16KiB");
const DEEP: (&str, &str) = ("host.queue_depth", "1024");
const NVME: (&str, &str) = ("host.interface", "nvme");

const fn case(name: &'static str, changes: &'static [(&'static str, &'static str)]) -> Case {
    Case { name, changes }
}

/// A reader and a writer, each with requests that come by themselves.
const TWO_FLOWS: (&str, &str) = (
    "workload",
    "{ type = \"flows\", flows = [\
     { type = \"synthetic\", requests = 6000, request_size = \"4KiB\", read_share = 0.9, sequential_share = 0.0, \
       inter_arrival = { type = \"exponential\", mean = \"2ms\" } }, \
     { type = \"synthetic\", requests = 6000, request_size = \"8KiB\", read_share = 0.1, sequential_share = 0.0, \
       inter_arrival = { type = \"exponential\", mean = \"2ms\" } }] }",
);
/// One flow fills the queue in bursts, the other is paced.
const BURSTS: (&str, &str) = (
    "workload",
    "{ type = \"flows\", flows = [\
     { type = \"synthetic\", requests = 8000, request_size = \"16KiB\", read_share = 0.0, sequential_share = 0.5, \
       inter_arrival = { type = \"exponential\", mean = \"10ms\" } }, \
     { type = \"synthetic\", requests = 8000, request_size = \"4KiB\", read_share = 1.0, sequential_share = 0.0, \
       inter_arrival = \"2ms\" }] }",
);

pub const CASES: &[Case] = &[
    case("two flows", &[TWO_FLOWS]),
    case("two flows, short queue", &[TWO_FLOWS, ("host.queue_depth", "2")]),
    case("two flows, queues of their own", &[TWO_FLOWS, NVME, DEEP]),
    case("two flows on RAID-5", &[BURSTS, RAID5, ("array.devices", "4"), STRIPE]),
    case("one drive", &[]),
    case("one drive, deep queue", &[NVME, DEEP]),
    case("NCQ full", &[MEAN_250]),
    case("queue of one", &[("host.queue_depth", "1"), MEAN_1MS]),
    case("queue of four", &[("host.queue_depth", "4"), MEAN_1MS]),
    case("write buffer", &[("ssd.buffer.capacity", "256KiB")]),
    case("write buffer, larger", &[("ssd.buffer.capacity", "4MiB"), MEAN_250]),
    case("dynamic allocation", &[("ssd.ftl.allocation", "dynamic")]),
    case(
        "allocation by die",
        &[("ssd.ftl.allocation", "{ order = \"CWDP\", plane = \"most_free\" }")],
    ),
    case("parts of pages", &[("workload.request_size", "2KiB"), ("workload.alignment", "2KiB")]),
    case("large requests", &[("workload.request_size", "32KiB"), MEAN_3MS]),
    case("moves over the channel", &[("ssd.gc.copyback", "false"), MEAN_1MS]),
    case(
        "two registers",
        &[("ssd.gc.copyback", "false"), ("ssd.timing.register", "double"), MEAN_1MS],
    ),
    case("semi-preemptive", &[("ssd.gc.preemption", "semi_preemptive"), MEAN_250]),
    case("planes in step", &[("ssd.gc.width", "{ type = \"blind\" }"), MEAN_250]),
    case("demand-paged", &[("ssd.ftl.mapping", "{ type = \"demand_paged\", cache = \"16KiB\" }")]),
    case("log blocks", &[("ssd.ftl.mapping", "log_block"), MEAN_3MS]),
    case("superblocks", &[("ssd.ftl.mapping", "superblock"), MEAN_1MS]),
    case("RAID-0", &[RAID0, ("array.devices", "4"), STRIPE, MEAN_150]),
    case(
        "RAID-0, large requests",
        &[RAID0, ("array.devices", "4"), STRIPE, ("workload.request_size", "64KiB"), MEAN_1MS],
    ),
    case("RAID-5", &[RAID5, ("array.devices", "5"), STRIPE, MEAN_250]),
    case(
        "RAID-5, few stripes",
        &[RAID5, ("array.devices", "5"), ("array.stripe", "1MiB"), MEAN_250],
    ),
    case(
        "RAID-5, queues full",
        &[RAID5, ("array.devices", "5"), STRIPE, ("host.queue_depth", "4"), MEAN_250],
    ),
    case(
        "RAID-5, buffered",
        &[RAID5, ("array.devices", "5"), STRIPE, ("ssd.buffer.capacity", "256KiB"), MEAN_250],
    ),
    case(
        "RAID-5, a drive lost",
        &[RAID5, ("array.devices", "5"), STRIPE, ("array.failed", "[1]"), MEAN_250],
    ),
    case("write buffer, full", &[("ssd.buffer.capacity", "64KiB"), MEAN_250]),
    case("write buffer, hardly any", &[("ssd.buffer.capacity", "16KiB")]),
    case(
        "buffered log blocks",
        &[
            ("ssd.ftl.mapping", "{ type = \"buffered_log_block\" }"),
            ("ssd.ftl.over_provisioning", "0.3"),
            MEAN_3MS,
        ],
    ),
    case(
        "one slow channel",
        &[
            ("ssd.geometry.channels", "1"),
            ("ssd.geometry.chips_per_channel", "4"),
            ("ssd.timing.transfer_rate", "20MT/s"),
            ("ssd.gc.copyback", "false"),
            MEAN_3MS,
        ],
    ),
    case(
        "one slow channel, two registers",
        &[
            ("ssd.geometry.channels", "1"),
            ("ssd.geometry.chips_per_channel", "4"),
            ("ssd.timing.transfer_rate", "20MT/s"),
            ("ssd.timing.register", "double"),
            ("ssd.gc.copyback", "false"),
            MEAN_3MS,
        ],
    ),
    case("little garbage", &[LITTLE, MEAN_150]),
    case("little garbage, queue of four", &[LITTLE, ("host.queue_depth", "4"), MEAN_150]),
    case(
        "little garbage, parts of pages",
        &[
            LITTLE,
            ("workload.request_size", "2KiB"),
            ("workload.alignment", "2KiB"),
            MEAN_150,
            NVME,
            DEEP,
        ],
    ),
    case(
        "little garbage, semi-preemptive",
        &[LITTLE, ("ssd.gc.preemption", "semi_preemptive"), MEAN_80, NVME, DEEP],
    ),
    case("little garbage, full buffer", &[LITTLE, ("ssd.buffer.capacity", "64KiB"), MEAN_80]),
    case(
        "little garbage, RAID-5",
        &[LITTLE, RAID5, ("array.devices", "5"), ("array.stripe", "1MiB"), MEAN_80],
    ),
    case(
        "little garbage, RAID-5 queues full",
        &[
            LITTLE,
            RAID5,
            ("array.devices", "5"),
            ("array.stripe", "16KiB"),
            ("host.queue_depth", "4"),
            MEAN_80,
        ],
    ),
    case(
        "little garbage, demand-paged",
        &[LITTLE, ("ssd.ftl.mapping", "{ type = \"demand_paged\", cache = \"16KiB\" }"), MEAN_250],
    ),
    case("little garbage, dynamic", &[LITTLE, ("ssd.ftl.allocation", "dynamic"), MEAN_80]),
    case(
        "little garbage, slow channel",
        &[
            LITTLE,
            ("ssd.geometry.channels", "1"),
            ("ssd.geometry.chips_per_channel", "4"),
            ("ssd.timing.transfer_rate", "20MT/s"),
            ("ssd.timing.register", "double"),
            ("ssd.gc.copyback", "false"),
            MEAN_1MS,
        ],
    ),
    case("little garbage, closed loop", &[LITTLE, ("workload.iodepth", "16")]),
    case("closed loop", &[("workload.iodepth", "16")]),
    case("closed loop, queue of four", &[("workload.iodepth", "16"), ("host.queue_depth", "4")]),
    case("RAID-6", &[RAID6, ("array.devices", "6"), STRIPE, MEAN_250]),
];
