//! The drives of an array, one by one.

use schemars::JsonSchema;
use serde::Serialize;

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::drive::Ended;
use crate::ids::SsdId;
use crate::outcome::Outcome;
use crate::ssd::Part;
use crate::units::Instant;
use crate::workload::Operation;

use super::Overlap;
use super::blame::BlameSummary;
use super::drive_work::{DriveSummary, DriveWork};
use super::latency::BreakdownSummary;
use super::responses::{Responses, ResponsesSummary};

/// Part of an array's summary that a drive's does not have.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DevicesSummary {
    /// Share of the time with 0, 1, 2 ... drives collecting.
    pub collecting_together: Vec<f64>,
    /// The drives of the array, one by one.
    pub devices: Vec<DeviceSummary>,
}

/// One drive of an array.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DeviceSummary {
    /// Number of the drive, from 0.
    pub device: u16,
    /// Commands that the controller sent to it.
    pub commands: CommandsSummary,
    /// Requests that ended last on this drive.
    pub requests_ended_last: u64,
    /// From entering the drive's queue to the end, in microseconds.
    pub service_us: ResponsesSummary,
    /// Parts of the mean of these times, in microseconds.
    pub service_breakdown_us: BreakdownSummary,
    /// Parts of the times of commands from one percentile to the next. Results of earlier versions have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_blame: Option<BlameSummary>,
    /// When it collected.
    pub collecting: CollectingSummary,
    /// Work of the drive; its keys are keys of this.
    #[serde(flatten)]
    pub drive: DriveSummary,
}

/// Commands that were sent to a drive.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CommandsSummary {
    /// Reads and writes.
    pub count: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
}

/// When a drive collected: from its first die that began to collect until none did.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CollectingSummary {
    /// Number of intervals.
    pub intervals: u64,
    /// Sum of the intervals, in microseconds.
    pub us: f64,
}

/// When drives collected: columns with one entry an interval in which a drive did, in order of its end.
#[derive(Debug, Default, Clone, Checkpointed)]
pub struct CollectionColumns {
    /// The drive.
    pub device: Vec<u16>,
    /// Times at which its first die began, in nanoseconds of simulated time.
    pub begin_ns: Vec<u64>,
    /// No die collected any more.
    pub end_ns: Vec<u64>,
}

impl CollectionColumns {
    /// Adds a row.
    pub fn push(&mut self, device: SsdId, begin: Instant, end: Instant) {
        self.device.push(device.0);
        self.begin_ns.push(begin.as_ns());
        self.end_ns.push(end.as_ns());
    }
}

/// Commands that the controller sent: columns with one entry each, in order of completion.
#[derive(Debug, Default, Clone, PartialEq, Eq, Checkpointed)]
pub struct CommandColumns {
    /// The drive.
    pub device: Vec<u16>,
    /// Arrival at the drive, in nanoseconds of simulated time.
    pub arrival_ns: Vec<u64>,
    /// Arrival to completion, the drive's own queue included.
    pub response_ns: Vec<u64>,
    /// The wait for a place in the drive's queue.
    pub host_queue_ns: Vec<u64>,
    /// 0 read, 1 write, 2 trim, 3 flush.
    pub operation: Vec<u8>,
    /// First byte on the drive.
    pub offset: Vec<u64>,
    /// Length.
    pub bytes: Vec<u64>,
}

impl CommandColumns {
    fn push(&mut self, device: SsdId, ended: &Ended, now: Instant) {
        let response = ended.parts.total();
        self.device.push(device.0);
        self.arrival_ns.push((now - Instant::START - response).as_ns());
        self.response_ns.push(response.as_ns());
        self.host_queue_ns.push(ended.parts[Part::HostQueue].as_ns());
        self.operation.push(ended.command.operation.number());
        self.offset.push(ended.command.offset);
        self.bytes.push(ended.command.length);
    }
}

/// Records of each drive.
#[derive(Debug, Checkpointed)]
pub struct Devices {
    /// Drives that collect together.
    pub overlap: Overlap,
    /// Service times: from entering the drive's queue to the end.
    service: Vec<Responses>,
    /// Requests that ended last on each drive.
    ended_last: Vec<u64>,
    /// Bytes written to each drive.
    written: Vec<u64>,
    commands: Option<CommandColumns>,
}

impl Devices {
    /// Creates an empty record.
    pub fn new(config: &Resolved) -> Self {
        let drives = config.array.drives() as usize;
        Self {
            overlap: Overlap::new(drives, config.metrics.collections),
            service: (0..drives).map(|_| Responses::default()).collect(),
            ended_last: vec![0; drives],
            written: vec![0; drives],
            commands: config.metrics.commands.then(CommandColumns::default),
        }
    }

    /// Begins to measure: commands that ended before do not count. Times of collections are of the whole run,
    /// and so are the commands that are kept.
    pub fn begin(&mut self) {
        self.service.iter_mut().for_each(|service| *service = Responses::default());
        self.ended_last.fill(0);
        self.written.fill(0);
    }

    /// A command has ended on `device` at `now`.
    pub fn command_ended(&mut self, device: SsdId, ended: &Ended, now: Instant) {
        if ended.outcome != Outcome::Rejected {
            self.command_done(device, ended);
        }
        if let Some(commands) = &mut self.commands {
            commands.push(device, ended, now);
        }
    }

    fn command_done(&mut self, device: SsdId, ended: &Ended) {
        let mut parts = ended.parts;
        parts[Part::HostQueue] = Default::default();
        let service = parts.total();
        let record = |stats: &mut super::LatencyStats| stats.record(service, &parts);
        self.service[device.index()].add(ended.command.operation, record);
        if ended.command.operation == Operation::Write {
            self.written[device.index()] += ended.command.length;
        }
    }

    /// Bytes written to `device`.
    pub fn written_bytes(&self, device: SsdId) -> u64 {
        self.written[device.index()]
    }

    /// A request has ended, last on `device`.
    pub fn request_ended(&mut self, device: SsdId) {
        self.ended_last[device.index()] += 1;
    }

    /// The commands that have ended since the last call, if they are kept.
    pub fn take_commands(&mut self) -> CommandColumns {
        self.commands.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Part of an array's summary that a drive's does not have.
    pub fn summary(
        &self,
        devices: impl Iterator<Item = DriveWork>,
        now: Instant,
    ) -> DevicesSummary {
        DevicesSummary {
            collecting_together: self.overlap.shares(now),
            devices: devices
                .enumerate()
                .map(|(index, device)| self.device(SsdId::from_index(index), &device, now))
                .collect(),
        }
    }

    fn device(&self, id: SsdId, work: &DriveWork, now: Instant) -> DeviceSummary {
        let service = &self.service[id.index()];
        DeviceSummary {
            device: id.0,
            commands: CommandsSummary {
                count: service.count(),
                reads: service.reads.count(),
                writes: service.writes.count(),
            },
            requests_ended_last: self.ended_last[id.index()],
            service_us: service.summary(),
            service_breakdown_us: service.all().breakdown(),
            service_blame: Some(BlameSummary::of(service)),
            collecting: CollectingSummary {
                intervals: self.overlap.begun(id),
                us: self.overlap.collected(id, now).as_us_f64(),
            },
            drive: work.summary(),
        }
    }
}
