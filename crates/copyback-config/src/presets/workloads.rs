//! Workloads: those of the papers, and stand-ins for traces that cannot be had.

use super::Preset;

macro_rules! workloads {
    ($($name:literal: $summary:literal,)*) => {
        pub(super) const ALL: &[Preset] = &[$(Preset {
            name: $name,
            summary: $summary,
            text: include_str!(concat!("workloads/", $name, ".toml")),
        }),*];
    };
}

workloads! {
    "pgc-2011-base": "synthetic defaults of pgc-2011, Table III: 32 KB, 3 ms, 40% sequential, 40% reads",
    "pgc-2011-size-8k": "8 KB requests: pgc-2011, Figure 8(a)",
    "pgc-2011-size-16k": "16 KB requests: pgc-2011, Figure 8(a)",
    "pgc-2011-size-64k": "64 KB requests: pgc-2011, Figure 8(a)",
    "pgc-2011-gap-1ms": "1 ms between arrivals: pgc-2011, Figure 8(b)",
    "pgc-2011-gap-5ms": "5 ms between arrivals: pgc-2011, Figure 8(b)",
    "pgc-2011-gap-10ms": "10 ms between arrivals: pgc-2011, Figure 8(b)",
    "pgc-2011-sequential-20": "20% sequential: pgc-2011, Figure 8(c)",
    "pgc-2011-sequential-60": "60% sequential: pgc-2011, Figure 8(c)",
    "pgc-2011-sequential-80": "80% sequential: pgc-2011, Figure 8(c)",
    "pgc-2011-reads-20": "20% reads: pgc-2011, Figure 8(d)",
    "pgc-2011-reads-60": "60% reads: pgc-2011, Figure 8(d)",
    "pgc-2011-reads-80": "80% reads: pgc-2011, Figure 8(d)",
    "harmonia-2012-hpc-w": "HPC(W) of harmonia-2012, Table 8: 510.53 KB, 476.5/s, 20% reads",
    "harmonia-2012-hpc-r": "HPC(R): the same with 80% reads, Table 8",
    "harmonia-2012-hpc-w-skew": "HPC(W,Skew): half the requests to one of eight regions, Table 9",
    "harmonia-2012-hpc-w-burst-m": "HPC(W,Burst,M): bursts ten times as fast, 4,765/s, Table 9",
    "harmonia-2012-hpc-w-burst-h": "HPC(W,Burst,H): bursts a hundred times as fast, 47,650/s, Table 9",
    "harmonia-2012-w1": "random 313 KB at queue depth 64, 60% writes: harmonia-2012, Table 2, one drive",
    "harmonia-2012-w2": "random 1.25 MB: harmonia-2012, Table 2, four drives",
    "harmonia-2012-w3": "random 1.87 MB: harmonia-2012, Table 2, six drives",
    "fifo-mqsim-write-only": "two flows of random 8 KB writes, 1.2 million requests",
    "fifo-mqsim-read-only": "the same, reads only",
    "fifo-mqsim-mixed": "the same, 80% and 30% reads",
    "agc-dgc-2012-random-write": "random 2 MB writes: agc-dgc-2012, Figure 1",
    "two-hosts-cache": "a cache's small objects and its large ones, each with a placement handle",
    "two-hosts-log-and-tree": "a log and a tree on one drive, each with a placement handle",
    "stand-in-financial": "for SPC Financial: pgc-2011, Table IV",
    "stand-in-fin-1": "for Financial 1: pagc-2016, Table II",
    "stand-in-cello99": "for HP Cello99: pgc-2011, Table IV",
    "stand-in-cello99-x16-300k": "Cello99 sixteen times as fast with 300 KB: pgc-2011, Figures 11 and 12",
    "stand-in-openmail": "for HP OpenMail: pgc-2011, Table IV",
    "stand-in-tpc-c": "for TPC-C: harmonia-2012, Table 8",
    "stand-in-tpc-h": "for TPC-H: pgc-2011, Table IV",
    "stand-in-msnfs-0": "for disk 0 of the MSN file server: agc-dgc-2012, Table 1; pagc-2016, Table II",
    "stand-in-msnfs-1": "for disk 1 of the MSN file server: agc-dgc-2012, Table 1; pagc-2016, Table II",
    "stand-in-msnfs-2": "for disk 2 of the MSN file server, 500 requests: agc-dgc-2012, Table 1",
    "stand-in-msnfs-3": "for disk 3 of the MSN file server: agc-dgc-2012, Table 1",
    "stand-in-msnfs-4": "for disk 4 of the MSN file server: agc-dgc-2012, Table 1; pagc-2016, Table II",
    "stand-in-msnfs-5": "for disk 5 of the MSN file server: agc-dgc-2012, Table 1; pagc-2016, Table II",
    "stand-in-msr-hm-0": "for hm_0 of MSR Cambridge: pagc-2016, Table II",
    "stand-in-msr-prn-0": "for prn_0 of MSR Cambridge: pagc-2016, Table II",
    "stand-in-msr-proj-0": "for proj_0 of MSR Cambridge: pagc-2016, Table II",
    "stand-in-msr-proj-2": "for proj_2 of MSR Cambridge: pagc-2016, Table II",
    "stand-in-msr-prxy-0": "for prxy_0 of MSR Cambridge: pagc-2016, Table II",
    "stand-in-msr-src2-0": "for src2_0 of MSR Cambridge: pagc-2016, Table II",
    "stand-in-msr-stg-0": "for stg_0 of MSR Cambridge: pagc-2016, Table II",
    "stand-in-msr-ts-0": "for ts_0 of MSR Cambridge: pagc-2016, Table II",
    "stand-in-msr-usr-0": "for usr_0 of MSR Cambridge: pagc-2016, Table II",
    "stand-in-msr-usr-1": "for usr_1 of MSR Cambridge: pagc-2016, Table II",
}
