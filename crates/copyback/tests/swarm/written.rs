//! Bytes written by the host and bytes programmed into flash: write amplification is their ratio, of a drive, of an array
//! and over time.

use copyback::config::{Config, SummaryPage};
use serde_json::Value;

use crate::check::{equal, holds};
use crate::run::Outcome;

/// Checks write amplification against counts of requests and of flash operations.
pub fn check(config: &Config, outcome: &Outcome) -> Result<(), String> {
    let whole = &outcome.summary;
    equal("bytes of the host", &whole["host_bytes_written"], &whole["requests"]["write_bytes"])?;
    of_drives(config, whole)?;
    let devices = whole["devices"].as_array().map(Vec::as_slice).unwrap_or_default();
    devices.iter().try_for_each(|device| of_drives(config, device))?;
    if !devices.is_empty() {
        let media: u64 = devices.iter().map(|device| number(device, "/media_bytes_written")).sum();
        equal("bytes of all drives", &media, &number(whole, "/media_bytes_written"))?;
    }
    over_time(whole, outcome)
}

fn number(of: &Value, pointer: &str) -> u64 {
    let value = of.pointer(pointer).and_then(Value::as_u64);
    value.unwrap_or_else(|| panic!("no number {pointer}"))
}

fn of_drives(config: &Config, work: &Value) -> Result<(), String> {
    let page = config.resolve().drive.pages.counted_size.0;
    let (host, media) = (number(work, "/host_bytes_written"), number(work, "/media_bytes_written"));
    let programs = number(work, "/flash/programs") + number(work, "/flash/copybacks");
    let (host_programs, moved) =
        (number(work, "/flash/host_programs"), number(work, "/gc/pages_moved"));
    holds("pages of the host and moved ones are programmed", programs >= host_programs + moved)?;
    equal("whole pages", &(media % page), &0)?;
    let summary_pages = (media / page).checked_sub(programs).ok_or("fewer bytes than programs")?;
    let may_have_some = config.ssd.ftl.summary_page != SummaryPage::None;
    // One for each block that is filled, be it with pages left out: first, and after each erase.
    let erases = number(work, "/flash/erases") + erased_by_recoveries(work);
    let most = if may_have_some { blocks(config) + erases } else { 0 };
    holds(&format!("{summary_pages} summary pages, at most {most}"), summary_pages <= most)?;
    let expected = (host > 0).then(|| media as f64 / host as f64);
    equal("write amplification", &work["write_amplification"].as_f64(), &expected)
}

fn erased_by_recoveries(work: &Value) -> u64 {
    work.pointer("/power_loss/blocks_erased").and_then(Value::as_u64).unwrap_or(0)
}

/// Blocks of the drives, each of which may have been partly filled before the run.
fn blocks(config: &Config) -> u64 {
    let config = config.resolve();
    copyback::nand::Geometry::new(&config).blocks() as u64
        * u64::from(config.drive.shape.striped_planes)
        * u64::from(config.array.devices)
}

/// What the rows of the series add up to: what ramps wrote, too.
fn over_time(whole: &Value, outcome: &Outcome) -> Result<(), String> {
    let rows = outcome.series_sum("media_bytes") as u64;
    let measured = number(whole, "/media_bytes_written");
    holds(&format!("rows of {rows} bytes for {measured}"), rows >= measured)
}
