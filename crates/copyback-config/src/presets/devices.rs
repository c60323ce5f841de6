//! Drives.

use super::Preset;

macro_rules! devices {
    ($($name:literal: $summary:literal,)*) => {
        pub(super) const ALL: &[Preset] = &[$(Preset {
            name: $name,
            summary: $summary,
            text: include_str!(concat!("devices/", $name, ".toml")),
        }),*];
    };
}

devices! {
    "pgc-2011": "semi-preemptive GC (ISPASS 2011), Table II: 32 GB, 8 elements of 8 planes",
    "agc-dgc-2012-64gb": "GC off the critical path (Middleware 2012): 64 GB MLC, 4 channels of 4 ways",
    "agc-dgc-2012-128gb": "the same, 128 GB, 8 channels of 8 ways",
    "harmonia-2012": "global GC in arrays (IEEE TC), Table 7: 32 GB, 64 elements of 4 planes",
    "harmonia-2012-array": "eight of these drives in RAID-0 with a stripe unit of 4 KB, section 5.2",
    "pagc-2016": "parallel GC over planes (SC 2016), Table I: 800 GB MLC, 16 channels of 8 chips",
    "fifo-mqsim": "victim policies when space is scarce: MQSim's default 512 GiB device, two flows",
    "disksim-msr": "DiskSim 4 with the MSR SSD add-on, as its validation input ssd-rw5m ships",
    "tlc-nvme": "a measured TLC NVMe drive of today: the samsung-pm9a3 with all blocks, 960 GB",
    "tlc-nvme-64gb": "the same with a sixteenth of the blocks, 60 GB: runs in seconds",
    "tlc-unbuffered": "a TLC NVMe drive that maps whole pages and has no write buffer, 493 GB",
    "tlc-unbuffered-64gb": "the same with an eighth of the blocks, 61 GB",
    "femu-bbssd": "FEMU's black-box mode as a public measurement has it: 8 GiB, 64 LUNs, GC at 75%",
    "intel-s4500": "SATA drive for data centres, TLC, 7% spare class: an eighth of the S4500 of 960 GB",
    "intel-s4600": "the same with 28% spare: an eighth of the S4600 of 960 GB",
    "samsung-pm9a3": "NVMe drive for data centres, TLC, with capacitors: 14 GB of the 960 GB one",
    "md-raid10-4x": "Linux md's RAID-10 of four samsung-pm9a3: two near copies, chunks of 512 KiB",
    "md-raid6-10x": "Linux md's RAID-6 of ten samsung-pm9a3: chunks of 512 KiB",
    "micron-7450-max": "NVMe drive for data centres, TLC, 30% spare: 12 GB of the 800 GB one",
    "micron-7450-pro": "the same with 18% spare: 14 GB of the 960 GB one",
    "solidigm-p5520": "NVMe drive for data centres, TLC: 27 GB of the 1.92 TB one",
    "kioxia-cm7-r": "NVMe drive for data centres, TLC: 11 GB of the 3.84 TB one",
    "samsung-970-evo-plus": "consumer's NVMe TLC drive with an SLC cache: an eighth of the 500 GB",
    "intel-660p": "consumer's NVMe QLC drive with an SLC cache: an eighth of the 660p of 512 GB",
    "samsung-eufs-3": "a phone's storage, eUFS 3.0, TLC: an eighth of the 512 GB",
}
