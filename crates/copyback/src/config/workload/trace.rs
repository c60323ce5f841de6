//! `[workload]` of type `trace`: which file is replayed, and how.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::{CsvFormat, choice::choice, quantity::Size};

/// Replay a block trace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceWorkload {
    /// The trace file, plain or compressed (.gz, .bz2, .zst, .xz).
    pub path: PathBuf,
    /// The format; detected from the content if absent.
    #[serde(default)]
    pub format: Option<TraceFormat>,
    /// Inter-arrival times are multiplied by this: 0.5 replays twice as fast.
    #[serde(default = "one")]
    pub time_scale: f64,
    /// Replay only this many requests.
    #[serde(default)]
    pub limit: Option<u64>,
    /// What to do with addresses beyond the device.
    #[serde(default)]
    pub beyond_device: BeyondDevice,
    /// Replay as a closed loop at this many outstanding requests, ignoring the trace's times.
    #[serde(default)]
    pub iodepth: Option<u32>,
}

impl TraceWorkload {
    /// Replay all of the trace at `path` as it is.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            format: None,
            time_scale: one(),
            limit: None,
            beyond_device: BeyondDevice::default(),
            iodepth: None,
        }
    }
}

fn one() -> f64 {
    1.0
}

/// What to do with trace addresses beyond the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BeyondDevice {
    /// Stop with an error that names the line.
    #[default]
    Refuse,
    /// Address modulo the device's capacity.
    Wrap,
}

choice! {
    /// Trace formats.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum TraceFormat {
        /// MSR Cambridge: `filetime,host,disk,Read|Write,offset,size,response`.
        Msr,
        /// SPC: `ASU,LBA,bytes,op,seconds`.
        Spc,
        /// DiskSim ASCII: `ms device sector size flags`, bit 0 of flags = read.
        Disksim {
            /// What sizes count: `"512B"`, or for example the `"4KiB"` of SPC traces in this form.
            #[serde(default = "sector")]
            size_unit: Size,
        },
        /// blkreplay: `seconds ; sector ; sectors ; R|W ; ...` after a text header.
        Blkreplay,
        /// What blkparse prints by default: `8,0 3 11 0.009507758 697 Q W 223490 + 8 [kjournald]`.
        Blkparse {
            /// The events that count as requests; the others are passed over.
            #[serde(default)]
            action: BlkparseAction,
        },
        /// fio's I/O log, version 2 (`file op offset bytes`, times from its `wait` lines) or 3
        /// (`us file op offset bytes`).
        FioIolog,
        /// FIU: `ns pid process sector sectors R|W major minor md5`.
        Fiu,
        /// Alibaba cloud block storage: `device,R|W,offset,bytes,us`.
        Alibaba,
        /// Tencent cloud block storage: `seconds,sector,sectors,0|1,volume`, 1 = write.
        Tencent,
        /// Systor '17: `seconds,response,R|W,LUN,offset,bytes`.
        Systor17,
        /// The CSV form of HP's 77 disks: `seconds,device,R|W,offset,bytes,queue,service,volume`.
        HpCsv,
        /// The Pixel 6a phone: `process,device,R|W,sector,sectors,seconds`.
        Pixel6a,
        /// The Nexus 5 phone: `sector sectors bytes type queued dequeued issued completed`.
        Nexus5,
        /// SSDsim: `ns device sector sectors 0|1`, 1 = read.
        Ssdsim,
        /// MQSim: `ns device sector sectors 0|1`, 1 = read.
        Mqsim,
        /// DTRS, a developer tools release server: `us device sector sectors 0|1`, 1 = read.
        Dtrs,
        /// Comma-separated values with columns of any order, names and units.
        Csv(CsvFormat),
        /// HP's SRT, binary, version 1.3 or 1.7.
        HpSrt,
        /// VMware's vscsi, binary, version 1 or 2.
        Vscsi,
        /// What blktrace writes, binary: one file, such as `blkparse -d` merges from several.
        Blktrace {
            /// The events that count as requests; the others are passed over.
            #[serde(default)]
            action: BlkparseAction,
        },
    }
}

fn sector() -> Size {
    Size(512)
}

/// Events of a block trace that may count as its requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum BlkparseAction {
    /// Handed to the block layer, before requests are merged.
    #[default]
    #[serde(rename = "Q")]
    Queued,
    /// Given a request structure.
    #[serde(rename = "G")]
    Got,
    /// Handed to the I/O scheduler.
    #[serde(rename = "I")]
    Inserted,
    /// Sent to the drive, after merging.
    #[serde(rename = "D")]
    Issued,
    /// Completed by the drive.
    #[serde(rename = "C")]
    Completed,
}

impl BlkparseAction {
    /// The letter that blkparse prints.
    pub const fn letter(self) -> u8 {
        match self {
            Self::Queued => b'Q',
            Self::Got => b'G',
            Self::Inserted => b'I',
            Self::Issued => b'D',
            Self::Completed => b'C',
        }
    }
}
