//! The configuration as users meet it: layers, messages, presets, resolved output.

use copyback::config::{
    AddressDistribution, Age, Allocation, AllocationOrder, Bursts, Config, Flow, FreeBlocks,
    Loader, MoveOrder, Overwrites, RequestSize, RoundLength, Stop, SyntheticWorkload,
    TimeDistribution, VictimPolicy, Within, Workload, presets,
    quantity::{Limit, Share, Size, Time},
    schema,
};
use proptest::prelude::*;

fn load(text: &str) -> Result<Config, String> {
    Loader::new().toml(text, "file.toml", None).load().map_err(|faults| faults.to_string())
}

/// Loads what must be refused and returns the message.
fn refused(text: &str) -> String {
    load(text).expect_err("must be refused")
}

fn synthetic(config: &Config) -> &SyntheticWorkload {
    match &config.workload {
        Workload::Synthetic(workload) => workload,
        other => panic!("not synthetic: {other:?}"),
    }
}

#[test]
fn defaults_load_and_pass_their_checks() {
    assert_eq!(Loader::new().load().unwrap(), Config::default());
    assert_eq!(load("").unwrap(), Config::default());
}

#[test]
fn every_kind_of_fault_has_its_message() {
    let cases = [
        (
            "sed = 1",
            "file.toml:1: sed: unknown key; did you mean \"seed\"? (allowed: seed, audit, ssd, array, host, workload, precondition, stop, metrics)",
        ),
        (
            "\n[host]\nqueue_dept = 1",
            "file.toml:3: host.queue_dept: unknown key; did you mean \"queue_depth\"? (allowed: interface, queue_depth, command_slots, low_watermark, queues, scheduling, command_overhead, link_rate, link_duplex, link_overhead)",
        ),
        (
            "ssd.ftl.frontiers = 'shared'",
            "file.toml:1: ssd.ftl.frontiers: found a key of earlier versions; allowed: placement = \"one_class\" for what was \"shared\", \"host_and_gc_apart\" for \"separate\"",
        ),
        (
            "ssd.gc.victim = 'gredy'",
            "file.toml:1: ssd.gc.victim: found \"gredy\"; did you mean \"greedy\"? (allowed: greedy, rga, random, random+, fifo, windowed_greedy, cost_benefit, cost_age_times, cost_hotness, foresight, python)",
        ),
        (
            "Overprovisioning_Ratio = 0.07",
            "file.toml:1: Overprovisioning_Ratio: unknown key; Overprovisioning_Ratio (MQSim) is ssd.ftl.over_provisioning here (allowed: seed, audit, ssd, array, host, workload, precondition, stop, metrics)",
        ),
        (
            "ssd.gc.victim = 'D_Choices'",
            "file.toml:1: ssd.gc.victim: found \"D_Choices\"; d-choices (Van Houdt 2013) is ssd.gc.victim = { type = \"rga\", d = 10 } here (allowed: greedy, rga, random, random+, fifo, windowed_greedy, cost_benefit, cost_age_times, cost_hotness, foresight, python)",
        ),
        (
            "ssd.gc.victim = { type = 'd-choices', d = 4 }",
            "file.toml:1: ssd.gc.victim.type: found \"d-choices\"; d-choices (Van Houdt 2013) is ssd.gc.victim = { type = \"rga\", d = 10 } here (allowed: greedy, rga, random, random+, fifo, windowed_greedy, cost_benefit, cost_age_times, cost_hotness, foresight, python)",
        ),
        (
            "ssd.gc.victim = { type = 'rga', e = 1 }",
            "file.toml:1: ssd.gc.victim.e: unknown key; did you mean \"d\"? (allowed: d, within)",
        ),
        (
            "ssd.gc.victim = { d = 3 }",
            "file.toml:1: ssd.gc.victim: the key \"type\" is missing (allowed: greedy, rga, random, random+, fifo, windowed_greedy, cost_benefit, cost_age_times, cost_hotness, foresight, python)",
        ),
        (
            "ssd.gc.victim = { type = 'random', d = 3 }",
            "file.toml:1: ssd.gc.victim.d: unknown key (allowed: none)",
        ),
        (
            "ssd.gc.victim = 'windowed_greedy'",
            "file.toml:1: ssd.gc.victim: the key \"window\" is missing",
        ),
        (
            "ssd.gc.victim = { type = 'cost_benefit', age = 'since_seal' }",
            "file.toml:1: ssd.gc.victim.age: found \"since_seal\"; did you mean \"since_sealed\"? (allowed: since_invalidated, since_sealed, since_opened)",
        ),
        (
            "ssd.timing.erase = '25'",
            "file.toml:1: ssd.timing.erase: found \"25\"; a time needs a unit (allowed: d, h, min, s, ms, us, ns)",
        ),
        (
            "ssd.timing.erase = 25",
            "file.toml:1: ssd.timing.erase: found 25; a time needs a unit (allowed: d, h, min, s, ms, us, ns)",
        ),
        (
            "ssd.timing.erase = '0.5ns'",
            "file.toml:1: ssd.timing.erase: found \"0.5ns\"; a time must be a whole number of nanoseconds",
        ),
        (
            "ssd.timing.transfer_rate = '333'",
            "file.toml:1: ssd.timing.transfer_rate: found \"333\"; a rate needs a unit (allowed: GB/s, MB/s, KB/s, B/s, GT/s, MT/s, GiB/s, MiB/s)",
        ),
        (
            "ssd.geometry.channels = -1",
            "file.toml:1: ssd.geometry.channels: found -1; allowed: a whole number, 1 to 4096",
        ),
        (
            "ssd.geometry.channels = 0",
            "file.toml:1: ssd.geometry.channels: found 0; allowed: 1 to 4096",
        ),
        (
            "ssd.geometry.page_size = '5000B'",
            "file.toml:1: ssd.geometry.page_size: found 5KB; allowed: a power of two from 512B to 32KiB",
        ),
        (
            "[ssd.geometry]\nchannels = 4_000\nblocks_per_plane = 8_192",
            "file.toml:1: ssd.geometry: found 8388608000 pages in all; allowed: fewer than 4294967295",
        ),
        ("[ssd]\ngeometry = 3", "file.toml:2: ssd.geometry: found 3; allowed: a table"),
        (
            "[ssd.gc]\nhard_threshold = 0.1",
            "file.toml:2: ssd.gc.hard_threshold: found 52 blocks, above the soft threshold of 26; allowed: at most 26",
        ),
        (
            "[ssd.ftl]\nover_provisioning = 0.05",
            "file.toml:2: ssd.ftl.over_provisioning: found 0.05: each plane has 31129 logical pages and room for 30976, as 26 of its 512 blocks must be free and 2 open; allowed: at least 0.0547",
        ),
        ("[workload]\ntype = 'trace'", "file.toml:1: workload: the key \"path\" is missing"),
        (
            "[workload]\niodepth = 4\ninter_arrival = '1ms'",
            "file.toml:2: workload.iodepth: found inter_arrival too; allowed: one of inter_arrival (an open loop) and iodepth (a closed loop, so many at once)",
        ),
        (
            "workload.request_size = 'large'",
            "file.toml:1: workload.request_size: found \"large\"; a size starts with a number and ends with a unit",
        ),
        (
            "workload.request_size = true",
            "file.toml:1: workload.request_size: found true; allowed: a size such as \"4KiB\", or a table such as { type = \"exponential\", mean = \"32KiB\" }",
        ),
        (
            "workload.bursts = { type = 'on_off', on = { mean = '1s' }, off = '1s' }",
            "file.toml:1: workload.bursts.on: the key \"type\" is missing (allowed: exponential, pareto, histogram, quantiles, empirical)",
        ),
        (
            "[workload.request_size]\ntype = 'histogram'\nsizes = ['4KiB', '8KiB']\nweights = [1]",
            "file.toml:4: workload.request_size.weights: found 1 for 2 sizes; allowed: one for each",
        ),
        (
            "[workload.request_size]\ntype = 'histogram'\nsizes = ['4KiB', '0B']\nweights = [1, -1]",
            "file.toml:3: workload.request_size.sizes.1: found 0B; allowed: 1B or more\n\
             file.toml:4: workload.request_size.weights.1: found -1; allowed: 0 to 1e12",
        ),
        (
            "[workload.request_size]\ntype = 'by_operation'\nread = '4KiB'\nwrite = { type = 'by_operation', read = 1, write = 1 }",
            "file.toml:4: workload.request_size.write: found by_operation again; allowed: a size or a distribution",
        ),
        (
            "workload.inter_arrival = { type = 'pareto', mean = '1ms', shape = 1 }",
            "file.toml:1: workload.inter_arrival.shape: found 1; allowed: above 1, or there is no mean",
        ),
        (
            "workload.inter_arrival = { type = 'quantiles', times = ['2ms', '1ms'] }",
            "file.toml:1: workload.inter_arrival.times: found times out of order, or fewer than 2; allowed: the shortest time, any quantiles, and the longest",
        ),
        (
            "workload.inter_arrival = { type = 'quantile', times = ['2ms', '1ms'] }",
            "file.toml:1: workload.inter_arrival.type: found \"quantile\"; did you mean \"quantiles\"? (allowed: exponential, pareto, histogram, quantiles, empirical)",
        ),
        (
            "[workload]\niodepth = 1\nbursts = { type = 'on_off', on = '1s', off = '1s' }",
            "file.toml:3: workload.bursts: found bursts in a closed loop; allowed: \"none\", or inter_arrival in place of iodepth",
        ),
        (
            "workload.bursts = { type = 'on_off', on = '1ns', off = '0' }",
            "file.toml:1: workload.bursts.off: found 0s; allowed: more than 0s\n\
             file.toml:1: workload.bursts.on: found on periods of 1ns and gaps of 3ms; allowed: gaps of at most 10us",
        ),
        (
            "[workload]\nread_share = 0.5\ntrim_share = 0.4\nflush_share = 0.2",
            "file.toml:3: workload.trim_share: found read_share, trim_share and flush_share of 1.1 in all; allowed: at most 1",
        ),
        (
            "workload.address = { type = 'zoned', requests = [0.5, 0.5], pages = [0.5, 0.6] }",
            "file.toml:1: workload.address.pages: found shares of 1.1 in all; allowed: 1",
        ),
        (
            "workload.address = { type = 'zipf', theta = -1 }",
            "file.toml:1: workload.address.theta: found -1; allowed: 0 to 100",
        ),
        (
            "workload.address = { type = 'pareto', h = 1 }",
            "file.toml:1: workload.address.h: found 1; allowed: above 0 and below 1",
        ),
        (
            "[host]\ninterface = 'ncq'\nqueue_depth = 64",
            "file.toml:3: host.queue_depth: found 64; allowed: 1 to 32 with this interface",
        ),
        (
            "preset = 'pgc-2012'",
            "file.toml:1: preset: found \"pgc-2012\"; did you mean \"pgc-2011\"? (allowed: pgc-2011, agc-dgc-2012-64gb, agc-dgc-2012-128gb, harmonia-2012, harmonia-2012-array, pagc-2016, fifo-mqsim, disksim-msr, tlc-nvme, tlc-nvme-64gb, tlc-unbuffered, tlc-unbuffered-64gb, femu-bbssd, intel-s4500, intel-s4600, samsung-pm9a3, md-raid10-4x, md-raid6-10x, micron-7450-max, micron-7450-pro, solidigm-p5520, kioxia-cm7-r, samsung-970-evo-plus, intel-660p, samsung-eufs-3)",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(refused(text), message, "{text}");
    }
}

#[test]
fn idle_time_that_cannot_be_used_is_refused() {
    let cases = [
        (
            "idle = \"delayed\"\nzero_cost = true",
            "file.toml:2: ssd.gc.idle: found a use of idle time",
        ),
        (
            "idle = \"delayed\"\nsoft_threshold = { blocks = 2 }",
            "found 2 blocks, of which the host leaves 1: no collection can be put off (ssd.gc.idle); \
             allowed: at least 3",
        ),
        (
            "idle = { type = \"advanced\", entries = 0 }",
            "file.toml:2: ssd.gc.idle.entries: found 0; allowed: 1 to 256",
        ),
        (
            "idle = { type = \"advanced\", short_idle = \"2s\" }",
            "ssd.gc.idle.long_idle: found 1s; allowed: at least the short_idle of 2s",
        ),
    ];
    for (text, message) in cases {
        let found = refused(&format!("[ssd.gc]\n{text}"));
        assert!(found.contains(message), "{text}: {found}");
    }
}

#[test]
fn syntax_errors_name_line_and_column() {
    let message = refused("seed = 1\nseed = 2\naudit = \n");
    let places: Vec<_> = message.lines().map(|line| &line[..line.find(": ").unwrap()]).collect();
    assert_eq!(places, ["file.toml:2:1", "file.toml:3:9"], "{message}");
}

#[test]
fn all_faults_of_all_layers_come_together() {
    let text = "sed = 1\n[ssd.gc]\nvictim = 'x'\n[ssd.timing]\nread = ['1us', 2]\n[workload]\n\
                type = 'flows'\nflows = [{ type = 'trace', path = 5 }, { type = 'synthetic', x = 1 }]";
    let faults = Loader::new()
        .toml(text, "a.toml", None)
        .json(r#"{"host": {"queues": null, "interface": "usb"}}"#)
        .set("ssd.wear.threshold", "3")
        .load()
        .unwrap_err();
    let keys: Vec<_> = faults.iter().map(|fault| fault.key()).collect();
    let expected = [
        "sed",
        "ssd.gc.victim",
        "ssd.timing.read.1",
        "workload.flows.0.path",
        "workload.flows.1.x",
        "host.interface",
        "host.queues",
        "ssd.wear.threshold",
    ];
    assert_eq!(keys, expected, "{faults}");
    let text = faults.to_string();
    assert!(text.contains("config: host.interface: found \"usb\""), "{text}");
    assert!(text.contains("--set ssd.wear.threshold: unknown key"), "{text}");
}

#[test]
fn all_failed_checks_come_together() {
    let message =
        refused("[workload]\nread_share = 1.5\nrequests = 0\n[precondition]\nfill = -1\n");
    assert_eq!(message.lines().count(), 3, "{message}");
}

#[test]
fn later_layers_win_key_by_key() {
    let config = Loader::new()
        .preset(Some("pgc-2011"))
        .toml("[ssd.geometry]\nchannels = 2\n", "a", None)
        .json(r#"{"ssd": {"gc": {"victim": {"type": "rga", "d": 3}}}}"#)
        .set("ssd.geometry.channels", "3")
        .set("ssd.timing.erase", "2ms")
        .load()
        .unwrap();
    assert_eq!(config.ssd.geometry.channels, 3);
    assert_eq!(config.ssd.geometry.planes_per_die, 8);
    assert_eq!(config.ssd.timing.erase, Time::from_us(2000));
    assert_eq!(config.ssd.gc.victim, VictimPolicy::Rga { d: 3, within: Within::All });
}

#[test]
fn the_topmost_preset_is_the_base_of_all_layers() {
    let loader = || Loader::new().toml("preset = 'pgc-2011'\nssd.geometry.channels = 2", "a", None);
    assert_eq!(loader().load().unwrap().ssd.geometry.planes_per_die, 8);
    let config = loader().set("preset", "tlc-unbuffered").load().unwrap();
    assert_eq!((config.ssd.geometry.channels, config.ssd.geometry.planes_per_die), (2, 4));
}

#[test]
fn choices_are_strings_or_tables() {
    let config = load(
        "[ssd.ftl]\nallocation = { order = 'PCWD', plane = 'round_robin' }\n[ssd.gc]\nvictim = 'rga'\n\
         soft_threshold = '6%'\n[workload]\nrequest_size = '8k'\n\
         address = { type = 'hot_cold', requests = 0.8, pages = '20%' }",
    )
    .unwrap();
    assert!(matches!(
        config.ssd.ftl.allocation,
        Allocation::Mixed { order: AllocationOrder::Pcwd, .. }
    ));
    assert_eq!(config.ssd.gc.victim, VictimPolicy::Rga { d: 10, within: Within::All });
    assert_eq!(config.ssd.gc.soft_threshold, FreeBlocks::Share(Share(0.06)));
    assert_eq!(synthetic(&config).request_size, RequestSize::Fixed(Size(8192)));
    let name = load("ssd.gc.victim = { type = 'random+' }").unwrap().ssd.gc.victim;
    assert_eq!(name, VictimPolicy::RandomPlus);
}

#[test]
fn plain_cost_benefit_is_a_name_and_other_ages_are_tables() {
    let config = load("ssd.gc.victim = { type = 'cost_benefit', weight = 'linear' }").unwrap();
    assert_eq!(config.ssd.gc.victim, VictimPolicy::COST_BENEFIT);
    assert!(config.to_toml().contains("victim = \"cost_benefit\""), "{}", config.to_toml());
    let text = "ssd.gc.victim = { type = 'cost_benefit', age = 'since_sealed', weight = 'sqrt' }";
    let config = load(text).unwrap();
    assert_eq!(load(&config.to_toml()).unwrap(), config);
    let config = load("ssd.gc.victim = 'cost_age_times'").unwrap();
    assert_eq!(config.ssd.gc.victim, VictimPolicy::CostAgeTimes { age: Age::SinceOpened });
    assert!(config.to_toml().contains("victim = \"cost_age_times\""), "{}", config.to_toml());
}

#[test]
fn ages_of_blocks_are_for_page_mappings() {
    for victim in ["'cost_age_times'", "{ type = 'cost_benefit', age = 'since_opened' }"] {
        let text = format!("ssd.gc.victim = {victim}\nssd.ftl.mapping = 'log_block'");
        let problem = load(&text).unwrap_err().to_string();
        assert!(problem.contains("ssd.gc.victim.age: found the age since"), "{problem}");
        let text = text.replace("since_opened", "since_invalidated");
        let text = text
            .replace("'cost_age_times'", "{ type = 'cost_age_times', age = 'since_invalidated' }");
        load(&text).unwrap();
    }
}

#[test]
fn cost_hotness_is_for_the_placement_that_knows_hotness() {
    let placed = "ssd.ftl.placement = 'sfs'\nssd.gc.victim = 'cost_hotness'";
    let config = load(placed).unwrap();
    assert_eq!(config.ssd.gc.victim, VictimPolicy::CostHotness { least_invalid: Share(0.0) });
    let toml = config.to_toml();
    assert!(toml.contains("victim = \"cost_hotness\""), "{toml}");
    for (text, problem) in [
        ("ssd.gc.victim = 'cost_hotness'", "ssd.gc.victim: found \"cost_hotness\"; allowed: with"),
        (
            &format!("{placed}\nssd.ftl.mapping = 'log_block'"),
            "ssd.gc.victim: found \"cost_hotness\"",
        ),
        (
            "ssd.ftl.placement = 'sfs'\nssd.gc.victim = { type = 'cost_hotness', least_invalid = '150%' }",
            "ssd.gc.victim.least_invalid: found 1.5; allowed: 0 to 1",
        ),
    ] {
        let found = load(text).unwrap_err().to_string();
        assert!(found.contains(problem), "{found}");
    }
}

#[test]
fn pages_are_moved_lun_by_lun_where_nothing_else_orders_them() {
    let by_lun = "ssd.gc.move_order = { type = 'by_lun', luns = 8 }";
    let config = load(by_lun).unwrap();
    assert_eq!(config.ssd.gc.move_order, MoveOrder::ByLun { luns: 8 });
    assert_eq!(load(&config.to_toml()).unwrap(), config);
    assert!(!load("").unwrap().to_toml().contains("move_order"));
    let order = "ssd.gc.move_order: found \"by_lun\"; allowed: \"as_written\", as";
    for (text, problem) in [
        (
            "ssd.gc.move_order.type = 'by_lun'\nssd.gc.move_order.luns = 1",
            "luns: found 1; allowed: 2 to 6",
        ),
        (
            "ssd.gc.move_order = { type = 'by_lun', luns = 65536 }",
            "luns: found 65536; allowed: 2 to",
        ),
        (&format!("{by_lun}\nssd.ftl.mapping = 'log_block'"), order),
        (&format!("{by_lun}\nssd.gc.unit = 'line'\nssd.ftl.allocation = 'dynamic'"), order),
        (
            &format!(
                "{by_lun}\nssd.gc.width = {{ type = 'blind' }}\nssd.commands.multi_plane = true"
            ),
            order,
        ),
    ] {
        let found = load(text).unwrap_err().to_string();
        assert!(found.contains(problem), "{found}");
    }
}

#[test]
fn every_distribution_survives_a_round_trip() {
    let text = "[workload]\nrequest_size = { type = 'by_operation', read = '8KiB', \
                write = { type = 'histogram', sizes = ['4KiB', '64KiB'], weights = [3, 0.5] } }\n\
                inter_arrival = { type = 'pareto', mean = '1ms', shape = 1.5 }\n\
                trim_share = '5%'\nflush_share = 0.01\n\
                address = { type = 'zipf', theta = 0.9, scattered = false }\n\
                [workload.bursts]\ntype = 'on_off'\non = '1s'\n\
                off = { type = 'quantiles', times = ['1s', '2s', '1h'] }\n\
                background = { type = 'empirical', path = 'gaps.csv' }";
    let config = Loader::new().toml(text, "a", Some("/data".as_ref())).load().unwrap();
    assert!(config.to_toml().contains("/data/gaps.csv"), "{}", config.to_toml());
    assert_eq!(load(&config.to_toml()).unwrap(), config);
    assert_eq!(Loader::new().json(&config.to_json()).load().unwrap(), config);
    let elsewhere = Loader::new().toml(text, "a", Some("/other".as_ref())).load().unwrap();
    assert_eq!(elsewhere.digest(), config.digest());
    let names = load("workload.address = 'pareto'\nworkload.bursts = 'none'").unwrap();
    let pareto = AddressDistribution::Pareto { h: 0.2, scattered: true };
    assert_eq!(synthetic(&names).address, pareto);
}

#[test]
fn rules_until_something_is_steady_survive_a_round_trip() {
    let text = r#"
        stop = { type = "steady_state", metric = "bandwidth", round = 500, ramp = "2s", slope = "none" }
        workload.requests = "unlimited"
        precondition.overwrites = { type = "until_steady", round = 0.25, excursion = "30%", deviation = 0.4 }
        "#;
    let config = load(text).unwrap();
    assert_eq!(load(&config.to_toml()).unwrap(), config);
    let Stop::SteadyState(stop) = &config.stop else { panic!("{:?}", config.stop) };
    assert_eq!((stop.round, stop.window), (RoundLength::Requests(500), 5));
    assert_eq!((stop.excursion, stop.slope), (Limit::Share(Share(0.2)), Limit::None));
    // A number, as ever, is so many times the capacity, and written as one.
    let plain = load("precondition.overwrites = 2").unwrap();
    assert_eq!(plain.precondition.overwrites, Overwrites::Fixed(2.0));
    assert!(plain.to_toml().contains("overwrites = 2.0"), "{}", plain.to_toml());
}

#[test]
fn a_closed_loop_takes_bursts_away() {
    let text = "workload.bursts = { type = 'on_off', on = '1s', off = '1s' }";
    let closed = Loader::new().toml(text, "a", None).set("workload.iodepth", "4").load().unwrap();
    assert_eq!((synthetic(&closed).iodepth, &synthetic(&closed).bursts), (Some(4), &Bursts::None));
}

#[test]
fn open_and_closed_loop_replace_each_other() {
    let closed = load("workload.iodepth = 16").unwrap();
    assert_eq!((synthetic(&closed).iodepth, &synthetic(&closed).inter_arrival), (Some(16), &None));
    let text = "workload.iodepth = 16";
    let open = Loader::new().toml(text, "a", None).set("workload.inter_arrival", "1ms").load();
    let open = open.unwrap();
    assert_eq!(synthetic(&open).inter_arrival, Some(TimeDistribution::Fixed(Time::from_us(1000))));
    assert_eq!(synthetic(&open).iodepth, None);
}

#[test]
fn single_flows_can_be_overridden() {
    let config = Loader::new().preset(Some("fifo-mqsim")).set("workload.flows.1.read_share", "0.3");
    let text = config.load().unwrap().to_toml();
    assert!(text.contains("read_share = 0.3") && text.contains("read_share = 0.0"), "{text}");
}

#[test]
fn trace_paths_are_relative_to_their_file() {
    let path = |config: &Config| match &config.workload {
        Workload::Trace(trace) => trace.path.display().to_string(),
        other => panic!("not a trace: {other:?}"),
    };
    let text = "workload = { type = 'trace', path = 'a/t.csv' }";
    let loader = || Loader::new().toml(text, "x.toml", Some("/data/dir".as_ref()));
    let config = loader().load().unwrap();
    assert_eq!(path(&config), "/data/dir/a/t.csv");
    assert_eq!(path(&loader().set("workload.path", "b.csv").load().unwrap()), "b.csv");
    let elsewhere = Loader::new().toml(text, "x.toml", Some("/other".as_ref())).load().unwrap();
    assert_eq!(config.digest(), elsewhere.digest());
}

#[test]
fn digests_differ_with_any_value() {
    let base = Config::default().digest();
    assert_eq!(base.len(), 32);
    assert_eq!(base, load("ssd.gc.victim = 'greedy'").unwrap().digest());
    assert_ne!(base, load("seed = 1").unwrap().digest());
    assert_ne!(base, load("ssd.timing.read = '26us'").unwrap().digest());
}

#[test]
fn every_preset_loads_and_survives_a_round_trip() {
    for preset in presets::devices() {
        let config = Loader::new().preset(Some(preset.name)).load();
        let config = config.unwrap_or_else(|faults| panic!("{}: {faults}", preset.name));
        let again = load(&config.to_toml()).unwrap();
        assert_eq!(again, config, "{}", preset.name);
        assert_eq!(again.digest(), config.digest());
        let json = Loader::new().json(&config.to_json()).load().unwrap();
        assert_eq!(json, config, "{}", preset.name);
    }
}

/// A configuration with that workload preset.
fn with_workload(name: &str) -> Config {
    let config = Loader::new().set("workload.preset", name).load();
    config.unwrap_or_else(|faults| panic!("{name}: {faults}"))
}

#[test]
fn every_workload_preset_loads_on_every_drive() {
    for workload in presets::workloads() {
        for drive in presets::devices() {
            let loader = Loader::new().preset(Some(drive.name));
            let config = loader.set("workload.preset", workload.name).load();
            let config = config.unwrap_or_else(|f| panic!("{} {}: {f}", drive.name, workload.name));
            assert_eq!(config.workload, with_workload(workload.name).workload);
            assert_eq!(load(&config.to_toml()).unwrap(), config, "{}", workload.name);
        }
    }
}

#[test]
fn presets_have_names_of_their_own_and_a_header() {
    let all: Vec<_> = presets::devices().iter().chain(presets::workloads()).collect();
    let names: std::collections::BTreeSet<_> = all.iter().map(|preset| preset.name).collect();
    assert_eq!(names.len(), all.len());
    for preset in all {
        assert!(preset.text.starts_with("# "), "{}", preset.name);
        let says_so = preset.text.contains("A stand-in: generated from published statistics");
        assert_eq!(preset.name.starts_with("stand-in-"), says_so, "{}", preset.name);
    }
}

#[test]
fn a_workload_preset_starts_afresh_and_is_overridden() {
    let base = with_workload("pgc-2011-base");
    let drive = "preset = 'tlc-unbuffered'\n[workload]\nrequests = 7\nrequest_size = '4KiB'";
    let over_file = Loader::new().toml(drive, "a", None).set("workload.preset", "pgc-2011-base");
    assert_eq!(over_file.load().unwrap().workload, base.workload);
    let trace = "workload = { type = 'trace', path = 'x' }";
    let over_trace = Loader::new().toml(trace, "a", None).set("workload.preset", "pgc-2011-base");
    assert_eq!(over_trace.load().unwrap().workload, base.workload);

    let text = "[workload]\npreset = 'pgc-2011-base'\nrequests = 7\nrequest_size.mean = '8KiB'";
    let config = load(text).unwrap();
    let workload = synthetic(&config);
    assert_eq!((workload.requests, workload.sequential_share), (7.into(), Share(0.4)));
    assert_eq!(workload.request_size, RequestSize::Exponential { mean: Size(8192) });
    let closed = Loader::new().toml(text, "a", None).set("workload.iodepth", "4").load().unwrap();
    assert_eq!((synthetic(&closed).iodepth, synthetic(&closed).requests), (Some(4), 7.into()));
}

#[test]
fn a_later_layer_may_name_another_workload_preset() {
    let text = "[workload]\npreset = 'pgc-2011-base'\nrequests = 7";
    let layers = || Loader::new().toml(text, "a", None);
    let config = layers().set("workload.preset", "harmonia-2012-hpc-r").load().unwrap();
    let workload = synthetic(&config);
    assert_eq!((workload.requests, workload.read_share), (7.into(), Share(0.8008)));
    let config = layers().set("workload.preset", "fifo-mqsim-mixed").load().unwrap();
    assert_eq!(config.workload, with_workload("fifo-mqsim-mixed").workload);
    let typed = layers().set("workload", "{ type = 'synthetic', requests = 8 }").load().unwrap();
    let typed = synthetic(&typed);
    assert_eq!((typed.requests, typed.read_share), (8.into(), Share(0.4)));
    let trace = layers().set("workload", "{ type = 'trace', path = 'x' }").load().unwrap();
    assert!(matches!(trace.workload, Workload::Trace(_)));
}

#[test]
fn flows_start_from_workload_presets() {
    let text = "[workload]\ntype = 'flows'\nflows = [{ preset = 'pgc-2011-base', requests = 7 }, \
                { type = 'synthetic', iodepth = 1 }]";
    let flows = |loader: Loader| match loader.load().unwrap().workload {
        Workload::Flows(flows) => flows.flows,
        other => panic!("not flows: {other:?}"),
    };
    let layers = || Loader::new().toml(text, "a", None);
    let expected = |name: &str, requests| match with_workload(name).workload {
        Workload::Synthetic(workload) => {
            Flow::Synthetic(SyntheticWorkload { requests, ..workload })
        }
        other => panic!("not synthetic: {other:?}"),
    };
    assert_eq!(flows(layers())[0], expected("pgc-2011-base", 7.into()));
    let second = flows(layers().set("workload.flows.1.preset", "harmonia-2012-hpc-w"));
    assert_eq!(second[1], expected("harmonia-2012-hpc-w", 50_000.into()));
    let first = flows(layers().set("workload.flows.0.preset", "pgc-2011-reads-80"));
    assert_eq!(first[0], expected("pgc-2011-reads-80", 7.into()));
}

#[test]
fn workload_presets_that_are_none_are_told() {
    let message = |text: &str| {
        let message = refused(text);
        message.split(" (allowed").next().unwrap().to_owned()
    };
    let cases = [
        (
            "[workload]\npreset = 'pgc-2011-bas'",
            "file.toml:2: workload.preset: found \"pgc-2011-bas\"; did you mean \"pgc-2011-base\"?",
        ),
        (
            "workload.preset = 3",
            "file.toml:1: workload.preset: found 3; allowed: the name of a workload preset",
        ),
        (
            "workload.preset = 'pgc-2011'",
            "file.toml:1: workload.preset: found \"pgc-2011\", a drive; allowed there: preset, at the top",
        ),
        (
            "preset = 'pgc-2011-base'",
            "file.toml:1: preset: found \"pgc-2011-base\", a workload; allowed there: workload.preset",
        ),
        (
            "workload = { type = 'trace', preset = 'pgc-2011-base', path = 'x' }",
            "file.toml:1: workload.preset: found \"pgc-2011-base\", which is of type \"synthetic\"; allowed: one of type \"trace\", or no type beside it",
        ),
        (
            "workload = { type = 'flows', flows = [{ preset = 'fifo-mqsim-mixed' }] }",
            "file.toml:1: workload.flows.0.preset: found \"fifo-mqsim-mixed\", which is of several flows; allowed: one of a single",
        ),
        (
            "[workload]\npreset = 'pgc-2011-base'\nread_shar = 1",
            "file.toml:3: workload.read_shar: unknown key; did you mean \"read_share\"?",
        ),
        (
            "[workload]\npreset = 'pgc-2011-base'\nread_share = 2",
            "file.toml:3: workload.read_share: found 2; allowed: 0 to 1",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(message(text), expected, "{text}");
    }
}

#[test]
fn presets_have_the_sizes_of_their_papers() {
    let gigabytes = |name| {
        let config = Loader::new().preset(Some(name)).load().unwrap();
        (config.resolve().bytes as f64 / 1e9).round()
    };
    assert_eq!(gigabytes("pgc-2011"), 29.0);
    assert_eq!(gigabytes("pagc-2016"), 805.0);
    assert_eq!(gigabytes("tlc-unbuffered"), 493.0);
    assert_eq!(gigabytes("tlc-nvme"), 960.0);
    // The largest sector of the trace linux-mysql is 63.6 million.
    assert!(gigabytes("tlc-unbuffered-64gb") * 1e9 > 63.7e6 * 512.0);
    assert!(gigabytes("tlc-nvme-64gb") * 1e9 > 63.7e6 * 512.0);
}

#[test]
fn a_decimal_share_is_meant_exactly() {
    let text = "ssd.ftl.over_provisioning = 0.07\nssd.ftl.placement = 'one_class'\nssd.gc.soft_threshold = 0.01\n[ssd.geometry]\n\
                channels = 1\nchips_per_channel = 1\nplanes_per_die = 1\nblocks_per_plane = 100\n\
                pages_per_block = 100";
    assert_eq!(load(text).unwrap().resolve().drive.capacity.logical_pages, 9300);
}

#[test]
fn schema_and_reference_name_every_key() {
    let schema: serde_json::Value = serde_json::from_str(&schema::json_schema()).unwrap();
    assert!(schema["properties"]["preset"]["enum"].is_array());
    let page = schema::reference_markdown();
    for word in ["`[ssd.gc]`", "`queue_depth`", "`iodepth`", "`time_scale`", "`disksim-msr`"] {
        assert!(page.contains(word), "{word} is missing");
    }
    let policies = schema::policies();
    assert!(policies.iter().any(|p| p.key == "ssd.gc.victim" && p.name == "cost_benefit"));
}

proptest! {
    #[test]
    fn quantities_survive_a_round_trip(
        ns in 0u64..3_000_000_000_000_000_000,
        zeros in 0u32..12,
        bytes in any::<u64>(),
        shift in 0u32..41,
    ) {
        let time = Time::from_ns(ns / 10u64.pow(zeros) * 10u64.pow(zeros));
        prop_assert_eq!(time.to_string().parse::<Time>(), Ok(time));
        let size = Size(bytes >> shift << shift);
        prop_assert_eq!(size.to_string().parse::<Size>(), Ok(size));
    }

    #[test]
    fn rates_survive_a_round_trip(rate in 1u64.., zeros in 0u32..10) {
        use copyback::config::quantity::Rate;
        let rate = Rate::BytesPerSecond((rate / 10u64.pow(zeros) * 10u64.pow(zeros)).max(1));
        prop_assert_eq!(rate.to_string().parse::<Rate>(), Ok(rate));
    }

    #[test]
    fn no_text_panics(text in "\\PC*", key in "[a-z.]{0,12}") {
        let _ = text.parse::<Time>();
        let _ = text.parse::<Size>();
        let _ = Loader::new().toml(&text, "a", None).set(&key, &text).load();
    }

    #[test]
    fn the_over_provisioning_that_a_message_asks_for_is_enough(
        blocks in 8u32..3000, pages in 2u32..300, soft in 2u32..6, summary: bool,
        entry in 1u32..4096, data_blocks in 1u32..40, kind in 0usize..6,
    ) {
        let summary = if summary { "{ type = 'last_page', transfer = '512B' }" } else { "'none'" };
        let superblock = format!("{{ type = 'superblock', data_blocks = {data_blocks} }}");
        let paged = format!("{{ type = 'demand_paged', cache = '8B', entry = '{entry}B' }}");
        let (mapping, logical_blocks) = [
            ("'page'", "'striped'"),
            (&paged, "'striped'"),
            ("'log_block'", "'contiguous'"),
            (&superblock, "'striped'"),
            (&superblock, "'contiguous'"),
            (&superblock, "{ type = 'superpage', planes = 4 }"),
        ][kind];
        let text = |share: &str| format!(
            "ssd.geometry.blocks_per_plane = {blocks}\nssd.geometry.pages_per_block = {pages}\n\
             ssd.gc.soft_threshold = {{ blocks = {soft} }}\nssd.ftl.summary_page = {summary}\n\
             ssd.ftl.over_provisioning = {share}\nssd.ftl.mapping = {mapping}\n\
             ssd.ftl.logical_blocks = {logical_blocks}"
        );
        if let Err(message) = load(&text("0.0001")) {
            let least = message.rsplit("at least ").next().unwrap();
            if message.contains("at least ") {
                prop_assert!(load(&text(least)).is_ok(), "{}", message);
            }
        }
    }
}

#[test]
fn generations_leave_blocks_for_the_last_and_take_no_queue_of_all_blocks() {
    let placement =
        |sizes: &str| format!("ssd.ftl.placement = {{ type = 'generations', sizes = [{sizes}] }}");
    let told = refused(&placement("{ blocks = 1000000 }, 0.1"));
    assert!(told.contains("ssd.ftl.placement.sizes: found 10"), "{told}");
    assert!(told.contains("so that the last generation has some"), "{told}");
    for victim in ["ineligible = 'drop'", "queued_when = 'opened'"] {
        let text = format!("{}\nssd.gc.victim = {{ type = 'fifo', {victim} }}", placement("0.1"));
        let told = refused(&text);
        assert!(told.contains("a placement that says where victims come from"), "{told}");
    }
    assert!(load(&format!("{}\nssd.gc.victim = 'fifo'", placement("0.1"))).is_ok());
}

#[test]
fn mappings_with_blocks_of_their_own_refuse_what_makes_no_sense_with_them() {
    let cases = [
        ("ssd.ftl.allocation = 'dynamic'", "as a logical block lies in one plane"),
        ("ssd.gc.width = 'blind'", "as each merge copies to places of its own"),
        ("ssd.gc.victim = 'random+'", "allowed: \"random\" with this mapping"),
        (
            "ssd.gc.victim = { type = 'fifo', ineligible = 'drop' }",
            "allowed: \"fifo\" with this mapping",
        ),
        (
            "ssd.gc.victim = { type = 'fifo', queued_when = 'opened' }",
            "allowed: \"fifo\" with this mapping",
        ),
        (
            "ssd.gc.preemption = { type = 'semi_preemptive', merge = true, reorder = true }",
            "as a merge copies pages in the order of their places",
        ),
    ];
    for (setting, why) in cases {
        let text = format!("ssd.ftl.mapping = 'log_block'\n{setting}");
        let told = refused(&text);
        assert!(told.lines().count() == 1 && told.contains(why), "{setting}: {told}");
    }
    for setting in ["ssd.gc.width = 'superblock'", "ssd.gc.victim = 'fifo'", "audit = true"] {
        load(&format!("ssd.ftl.mapping = 'log_block'\n{setting}")).expect("it makes sense");
    }
    let superblock =
        |numbers: &str| refused(&format!("ssd.ftl.mapping = {{ type = 'superblock', {numbers} }}"));
    assert!(superblock("data_blocks = 0").contains("ssd.ftl.mapping.data_blocks: found 0"));
    assert!(superblock("update_blocks = 0").contains("ssd.ftl.mapping.update_blocks: found 0"));
    assert!(superblock("data_blocks = 2000").contains("128000 pages in a group"));
}

#[test]
fn superpages_lie_on_a_divisor_of_the_planes_and_uneven_planes_need_room() {
    let logical_blocks = |kind: &str| {
        format!(
            "ssd.ftl.logical_blocks = {kind}\nssd.geometry.blocks_per_plane = 64\n\
             ssd.ftl.mapping = {{ type = 'superblock', data_blocks = 10 }}\n\
             ssd.gc.soft_threshold = {{ blocks = 4 }}"
        )
    };
    assert_eq!(
        refused(&logical_blocks("{ type = 'superpage', planes = 3 }")),
        "file.toml:1: ssd.ftl.logical_blocks.planes: found 3; allowed: a divisor of the 16 planes of the drive"
    );
    let told = refused(&logical_blocks("{ type = 'superpage', planes = 0 }"));
    assert!(told.contains("ssd.ftl.logical_blocks.planes: found 0; allowed: 1 to"), "{told}");
    load(&logical_blocks("'striped'")).expect("each plane has 3481 pages");
    load(&logical_blocks("{ type = 'superpage', planes = 16 }")).expect("it is the same");
    // Superblocks of 640 pages: some planes have five, others six.
    for kind in ["'contiguous'", "{ type = 'superpage', planes = 4 }"] {
        let told = refused(&logical_blocks(kind));
        assert!(told.contains("a plane has up to 3840 logical pages"), "{told}");
        assert_eq!(told.lines().count(), 1);
    }
}

#[test]
fn a_write_buffer_holds_a_page_of_all_planes_that_are_striped() {
    let settings = |capacity: &str| {
        format!(
            "ssd.gc.width = 'superblock'\nssd.geometry.planes_per_die = 4\n\
             ssd.buffer.capacity = '{capacity}'"
        )
    };
    let told = refused(&settings("15KiB"));
    let expected = "ssd.buffer.capacity: found 15KiB; allowed: 0, or at least one page of 16KiB \
                    (all 4 planes that are striped)";
    assert!(told.contains(expected), "{told}");
    load(&settings("16KiB")).expect("it holds one");
}

#[test]
fn a_demand_paged_mapping_needs_an_entry_in_ram_and_room_for_its_table() {
    let mapping =
        |settings: &str| format!("ssd.ftl.mapping = {{ type = 'demand_paged', {settings} }}");
    for (settings, told) in [
        ("cache = '7B'", "ssd.ftl.mapping.cache: found 7B; allowed: at least one entry of 8B"),
        ("entry = '0B'", "ssd.ftl.mapping.entry: found 0B; allowed: 1B to the page size of 4KiB"),
        ("cached_entry = '8KiB', cache = '8KiB'", "ssd.ftl.mapping.cached_entry: found 8KiB"),
        ("cahce = '1KiB'", "cahce"),
    ] {
        let found = refused(&mapping(settings));
        assert!(found.lines().count() == 1 && found.contains(told), "{settings}: {found}");
    }
    // 16 planes of 64 blocks of 64 pages: 3481 logical pages a plane.
    let paging = |settings: &str| {
        let text = format!("{}\nssd.geometry.blocks_per_plane = 64", mapping(settings));
        load(&format!("{text}\nssd.gc.soft_threshold = {{ blocks = 3 }}"))
            .map(|config| config.resolve().drive.table.expect("it is demand paged"))
    };
    let whole = paging("cache = '1MiB'").expect("it makes sense");
    assert_eq!((whole.cached_entries, whole.translation_pages), (55_696, 0));
    let part = paging("cache = '4KiB'").expect("it makes sense");
    assert_eq!((part.cached_entries, part.entries_per_page), (512, 1024));
    assert_eq!(part.translation_pages, 55);
    let told = paging("entry = '512B'").expect_err("a translation page for 8 pages is too much");
    assert!(told.contains("3481 logical pages, 436 translation pages"), "{told}");
    load(&mapping("cache = '1TiB'")).expect("it makes sense");
}

#[test]
fn a_log_block_needs_room_for_whole_blocks() {
    let text = "
        ssd.ftl.mapping = 'log_block'
        ssd.ftl.over_provisioning = 0.01
        ssd.geometry.blocks_per_plane = 64
        ssd.gc.soft_threshold = { blocks = 3 }
    ";
    let told = refused(text);
    assert!(told.contains("3 of its 64 blocks must be free and 1 open"), "{told}");
}

#[test]
fn a_buffer_of_writes_needs_blocks_beside_those_of_the_data() {
    let buffered = |buffer: &str| {
        format!(
            "
            ssd.ftl.mapping = {{ type = 'buffered_log_block', buffer = {buffer} }}
            ssd.ftl.over_provisioning = 0.2
            ssd.geometry.blocks_per_plane = 64
            ssd.gc.soft_threshold = {{ blocks = 3 }}
            "
        )
    };
    // Of 64 blocks 52 hold data, 3 are free and 1 is open.
    load(&buffered("{ blocks = 8 }")).expect("there is room for eight");
    load(&buffered("'12.5%'")).expect("the same as a share");
    let told = refused(&buffered("{ blocks = 9 }"));
    assert!(told.contains("3 of its 64 blocks must be free and 1 open, 9 a buffer"), "{told}");
    let told = refused(&buffered("{ blocks = 16_000_000 }"));
    assert!(told.contains("ssd.ftl.mapping.buffer: found 16000000 blocks"), "{told}");
    assert!(told.contains("allowed: at most { blocks = 59 }"), "{told}");
    for (buffer, key) in [("{ blocks = 0 }", "buffer.blocks"), ("0", "buffer"), ("1.5", "buffer")] {
        let told = refused(&buffered(buffer));
        assert!(told.contains(&format!("ssd.ftl.mapping.{key}: found")), "{buffer}: {told}");
    }
    let told = refused(&(buffered("{ blocks = 8 }") + "ssd.gc.idle = 'advanced'"));
    assert!(told.lines().count() == 1 && told.contains("whose merges are put off"), "{told}");
}

#[test]
fn a_partial_collection_does_one_step_or_more() {
    load("ssd.gc.preemption = 'partial'").expect("one step is the default");
    let told = refused("ssd.gc.preemption = { type = 'partial', steps = 0 }");
    assert!(told.contains("ssd.gc.preemption.steps: found 0; allowed: 1 to 65535"), "{told}");
}

/// What a fault says is allowed, as a value of its key.
fn advice(fault: &str) -> Option<(String, String)> {
    let (place, advice) = fault.rsplit_once("; allowed: ")?;
    let key = place.split(": ").nth(1)?.to_owned();
    let advice = advice.split(", as").next()?;
    let value = advice.strip_prefix("at least ").or_else(|| advice.strip_prefix("at most "))?;
    Some((key, value.to_owned()))
}

#[test]
fn advice_for_tiny_drives_can_be_followed() {
    let mappings = [
        ("page", "none"),
        ("{ type = 'demand_paged', cache = '512B' }", "none"),
        ("page", "advanced_delayed"),
        ("log_block", "none"),
        ("buffered_log_block", "none"),
    ];
    let mut followed = 0;
    for (mapping, idle) in mappings {
        for blocks in 1..9 {
            for pages in [1, 2, 5, 300] {
                for share in ["0.0001", "0.07", "0.6", "0.9999"] {
                    for threshold in ["0.05", "0.9", "{ blocks = 1 }", "{ blocks = 4294967295 }"] {
                        followed += follow(mapping, idle, blocks, pages, share, threshold);
                    }
                }
            }
        }
    }
    assert!(followed > 500, "{followed}");
}

/// Does what faults say is allowed until there are none; how often that was.
fn follow(
    mapping: &str,
    idle: &str,
    blocks: u32,
    pages: u32,
    share: &str,
    threshold: &str,
) -> usize {
    let mut settings: Vec<(String, String)> = [
        ("ssd.ftl.mapping", mapping),
        ("ssd.gc.idle", idle),
        ("ssd.gc.hysteresis_blocks", "1"),
        ("ssd.geometry.blocks_per_plane", &blocks.to_string()),
        ("ssd.geometry.pages_per_block", &pages.to_string()),
        ("ssd.ftl.over_provisioning", share),
        ("ssd.gc.soft_threshold", threshold),
        ("ssd.gc.hard_threshold", "{ blocks = 1 }"),
    ]
    .map(|(key, value)| (key.to_owned(), value.to_owned()))
    .to_vec();
    for step in 0..8 {
        let loader = settings.iter().fold(Loader::new(), |all, (key, value)| all.set(key, value));
        let Err(faults) = loader.load() else { return step };
        let told = faults.to_string();
        let first = told.lines().next().unwrap();
        if first.ends_with("; allowed: more") || !first.contains("; allowed: at ") {
            return step;
        }
        let (key, value) = advice(first).unwrap_or_else(|| panic!("no advice: {first}"));
        let known = settings.contains(&(key.clone(), value.clone()));
        assert!(!known, "was followed already: {first}");
        settings.retain(|(name, _)| *name != key);
        settings.push((key, value));
    }
    panic!("advice does not end: {settings:?}");
}
