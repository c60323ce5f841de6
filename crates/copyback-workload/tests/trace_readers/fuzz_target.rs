//! A trace: its first line is the format in JSON, anything else leaves it to be detected; the rest is
//! the file.

use copyback_config::quantity::Size;
use copyback_config::{BeyondDevice, TraceFormat, TraceWorkload};
use copyback_workload::trace::TraceSource;
use copyback_workload::{InputError, Operation, Request};

const DEVICE: u64 = 1 << 30;

/// What may become of addresses beyond the device.
const FATES: [BeyondDevice; 4] = [
    BeyondDevice::Fit,
    BeyondDevice::Refuse,
    BeyondDevice::Wrap,
    BeyondDevice::Compact { extent: Size(64 << 10) },
];

/// Reads the trace, whatever is to become of addresses beyond the device.
pub fn run(data: &[u8]) {
    let (_, content) = head_and_content(data);
    for fate in FATES {
        survive(content, format(data), fate);
    }
}

/// Reads the trace once; its length says what becomes of such addresses and of damaged rows. A search goes through
/// eight times as many inputs so.
pub fn run_one(data: &[u8]) {
    let (_, content) = head_and_content(data);
    let (format, length) = (format(data), data.len());
    let beyond_device = FATES[length % FATES.len()];
    let lenient = length / FATES.len() % 2 == 1;
    survive_as(
        content,
        &TraceWorkload { format, beyond_device, lenient, ..TraceWorkload::new("x") },
    );
}

/// The format that the first line names.
pub fn format(data: &[u8]) -> Option<TraceFormat> {
    serde_json::from_slice(head_and_content(data).0).ok()
}

/// What a format is called in a configuration.
pub fn name(format: &TraceFormat) -> String {
    let table = serde_json::to_value(format).expect("a format is plain data");
    table["type"].as_str().expect("a format has a name").to_owned()
}

fn head_and_content(data: &[u8]) -> (&[u8], &[u8]) {
    let end = data.iter().position(|byte| *byte == b'\n');
    end.map_or((data, b""), |end| (&data[..end], &data[end + 1..]))
}

/// Reads a trace to its end, damaged rows refused or skipped; whatever comes out must make sense.
pub fn survive(content: &[u8], format: Option<TraceFormat>, beyond_device: BeyondDevice) {
    let config = TraceWorkload { format, beyond_device, ..TraceWorkload::new("x") };
    survive_as(content, &config);
    survive_as(content, &TraceWorkload { lenient: true, ..config });
}

fn survive_as(content: &[u8], config: &TraceWorkload) {
    match read(content, config) {
        Ok(requests) => {
            assert!(!requests.is_empty());
            assert!(requests.is_sorted_by_key(|request| request.arrival));
            assert!(requests.iter().all(is_sound), "{requests:?}");
        }
        Err(InputError { place, problem }) => {
            let in_file = place == "x" || place.starts_with("x:");
            assert!(in_file || place.starts_with("workload."), "{place}");
            assert!(problem.len() < 600, "{problem}");
            assert!(!problem.contains(char::is_control), "{problem:?}");
        }
    }
}

fn read(content: &[u8], config: &TraceWorkload) -> Result<Vec<Request>, InputError> {
    let mut source = TraceSource::from_bytes(content, config, DEVICE)?;
    let mut requests = Vec::new();
    while let Some(request) = source.next_request()? {
        requests.push(request);
    }
    Ok(requests)
}

fn is_sound(request: &Request) -> bool {
    let within = request.offset.checked_add(request.length).is_some_and(|end| end <= DEVICE);
    within && (request.length > 0 || request.operation == Operation::Flush)
}
