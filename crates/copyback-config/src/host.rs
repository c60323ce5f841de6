//! `[host]`: the interface in front of the drive.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    gc::is_default,
    quantity::{Rate, Share, Time},
};

/// The host interface in front of the drive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Host {
    /// Kind of queueing.
    pub interface: Interface,
    /// Commands that the device accepts at once, in each queue. Default: NCQ 32, TCQ 256, NVMe 1024
    /// a queue.
    #[schemars(range(min = 1, max = 65_536))]
    pub queue_depth: Option<u32>,
    /// Command slots: commands that the drive works on at once, of all queues together. It fetches the others round
    /// robin as slots come free (NVMe). Absent: `queue_depth` of each queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65_536))]
    pub command_slots: Option<u32>,
    /// Share of the command slots that are still taken when a drive whose slots were all taken fetches commands again. 1: it
    /// fetches one as soon as a slot is free.
    #[serde(skip_serializing_if = "Share::is_all")]
    pub low_watermark: Share,
    /// Submission queues (NVMe only); flow i uses queue i modulo this.
    #[schemars(range(min = 1, max = 65_535))]
    pub queues: u32,
    /// Order in which a free die takes waiting page operations.
    pub scheduling: Scheduling,
    /// Controller time a request takes before its page operations start; requests overlap.
    #[schemars(extend("longest" = "1min"))]
    pub command_overhead: Time,
    /// Rate of the host link, one request's data at a time; `"none"` removes the link.
    pub link_rate: Rate,
    /// Whether the link carries data of reads and of writes at the same time.
    pub link_duplex: Duplex,
    /// Time that each read and write takes of the link beside its data, for commands and handshakes of the
    /// protocol; it bounds how many a second can pass, which `command_overhead` does not.
    #[serde(skip_serializing_if = "is_default")]
    #[schemars(extend("longest" = "1min"))]
    pub link_overhead: Time,
}

impl Default for Host {
    fn default() -> Self {
        Self {
            interface: Interface::Nvme,
            queue_depth: None,
            command_slots: None,
            low_watermark: Share::ALL,
            queues: 1,
            scheduling: Scheduling::ReadFirst,
            command_overhead: Time::from_us(0),
            link_rate: Rate::None,
            link_duplex: Duplex::Full,
            link_overhead: Time::from_us(0),
        }
    }
}

impl Host {
    /// The depth of each queue: as configured, or the interface's own.
    pub fn depth(&self) -> u32 {
        self.queue_depth.unwrap_or(match self.interface {
            Interface::Ncq => 32,
            Interface::Tcq => 256,
            Interface::Nvme => 1024,
        })
    }

    /// Most commands that the drive accepts of one queue.
    pub fn most_of_queue(&self) -> u32 {
        self.command_slots.unwrap_or_else(|| self.depth())
    }

    /// Most commands that the drive accepts of all queues together.
    pub fn most_commands(&self) -> u64 {
        let of_queues = || u64::from(self.depth()) * u64::from(self.queues);
        self.command_slots.map_or_else(of_queues, u64::from)
    }
}

/// Kind of queueing at the host interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Interface {
    /// SATA native command queueing: one queue of 32.
    Ncq,
    /// SCSI/SAS tagged command queueing: one queue of 256.
    Tcq,
    /// NVMe: several queues, fetched round robin.
    Nvme,
}

/// Order in which a free die takes waiting page operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scheduling {
    /// Reads before writes; each kind in order of arrival.
    ReadFirst,
    /// In order of arrival.
    InOrder,
}

/// Whether the link carries data of reads and of writes at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Duplex {
    /// One request's data in each direction.
    Full,
    /// One request's data at a time.
    Half,
}
