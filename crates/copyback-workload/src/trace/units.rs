//! Guess of the unit of the times in lines of numbers, where the lines alone are there to tell.
//!
//! DiskSim's five columns, with times in milliseconds, have been taken over by others with times in seconds or
//! microseconds. Three things tell them apart: no clock resolves less than a nanosecond, so that nine digits behind the
//! point are seconds; what no drive can have seen is not what was meant; and of units that are left, the one counts in
//! which requests come about as fast as in the traces that people have. What was taken is told.

use copyback_config::{TimeUnit, TraceFormat};

use super::columns::{Columns, Separator};
use super::detect::lines_of;
use super::format::Parser;
use super::number;
use super::plausible::{Bytes, Rate, Reading};

/// The unit of DiskSim and of IODA's replayer, which counts unless another fits better.
const DOCUMENTED: TimeUnit = TimeUnit::Ms;
/// Units that are tried, each a thousand times the next.
const TRIED: [TimeUnit; 3] = [TimeUnit::S, TimeUnit::Ms, TimeUnit::Us];
/// Between two requests, in nanoseconds: the middle of published block traces, of which most lie within a factor of 30.
const USUAL_GAP_NS: f64 = 3e6;
/// Factor by which another unit must be nearer to the usual gap than milliseconds are.
const MUCH_NEARER: f64 = 100.0;
/// Factor like `MUCH_NEARER`, of times with more than three digits behind the point: a millisecond is seldom
/// cut into more.
const NEARER: f64 = 10.0;
/// Shortest credible gap, in nanoseconds: where a tenth of the gaps is shorter, the unit is wrong.
const SHORT_GAP_NS: f64 = 500.0;
/// Fewer gaps say nothing.
const ENOUGH: usize = 16;
/// Longer numbers are sums of floating point, whose last digits mean nothing.
const EXACT_DIGITS: usize = 15;

/// Reason for a unit.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Why {
    /// Number of digits behind the point.
    Digits(usize),
    /// In milliseconds, so many requests a second would not be plausible.
    Rate(f64),
    /// Documentation of the format.
    Documented,
}

/// `format` with the unit that the times in the first lines of `head` have, if its lines name none.
pub fn settled(format: &TraceFormat, head: &[u8]) -> TraceFormat {
    match unit_of(format) {
        Some(None) => with_unit(format, judged(format, head).0),
        _ => format.clone(),
    }
}

/// Note for the user about the units of a format that was detected: which were assumed, and why, where its
/// lines name none; what is odd about them else.
pub fn taken(format: &TraceFormat, head: &[u8]) -> Option<String> {
    let Some(Some(unit)) = unit_of(format) else { return too_fast(format, head) };
    let reading = Reading::of(format, lines_of(head));
    let rate = Rate(reading.per_second());
    let why = match judged(format, head).1 {
        Why::Digits(digits) => format!("{digits} digits behind the point"),
        Why::Rate(rate) => format!("in milliseconds, {} a second", Rate(rate)),
        Why::Documented => format!("as those of {}", Parser::name(format)),
    };
    let other = if unit == DOCUMENTED { TimeUnit::S } else { DOCUMENTED }.key();
    let (size, otherwise) = match format {
        TraceFormat::Disksim { .. } => (
            "512-byte sectors",
            format!("{{ type = \"disksim\", time_unit = \"{other}\", size_unit = \"4KiB\" }}"),
        ),
        _ => ("bytes", format!("{{ type = \"replayer\", time_unit = \"{other}\" }}")),
    };
    Some(format!(
        "its numbers name no units: times were taken for {} ({why}), sizes for {size}, so that the first lines have {rate} \
         requests a second of {} each; if that is wrong, set workload.format, for example to {otherwise}",
        unit.name(),
        Bytes(reading.mean_bytes()),
    ))
}

/// Oddity of the times of a format that the user has named without a unit.
pub fn odd_in(format: &TraceFormat, head: &[u8]) -> Option<String> {
    if unit_of(format)?.is_some() {
        return None;
    }
    let (unit, _) = judged(format, head);
    let rate = |unit| Rate(Reading::of(&with_unit(format, unit), lines_of(head)).per_second());
    (unit != DOCUMENTED).then(|| {
        format!(
            "its times are in milliseconds, as those of {}, which makes {} requests a second; they look like {}, which \
             would make {}: workload.format.time_unit = \"{}\" reads them so",
            Parser::name(format),
            rate(DOCUMENTED),
            unit.name(),
            rate(unit),
            unit.key(),
        )
    })
}

/// Oddity of the times of a format that names its unit and was detected.
fn too_fast(format: &TraceFormat, head: &[u8]) -> Option<String> {
    let rate = Reading::of(format, lines_of(head)).too_many_per_second()?;
    Some(format!(
        "its times, in the unit of {}, make {} requests a second, more than any drive serves; if they count another \
         unit, workload.time_scale multiplies the times between requests",
        Parser::name(format),
        Rate(rate),
    ))
}

/// The unit that a format without one in its lines was given, if it was; `None` of other formats.
fn unit_of(format: &TraceFormat) -> Option<Option<TimeUnit>> {
    match format {
        TraceFormat::Disksim { time_unit, .. } | TraceFormat::Replayer { time_unit } => {
            Some(*time_unit)
        }
        _ => None,
    }
}

fn with_unit(format: &TraceFormat, unit: TimeUnit) -> TraceFormat {
    let mut format = format.clone();
    if let TraceFormat::Disksim { time_unit, .. } | TraceFormat::Replayer { time_unit } =
        &mut format
    {
        *time_unit = Some(unit);
    }
    format
}

/// The unit of the times in the first lines of `head`, and why.
fn judged(format: &TraceFormat, head: &[u8]) -> (TimeUnit, Why) {
    let requests = lines_of(head).filter(|line| Parser::recognises(format, line));
    let times: Vec<_> = requests.filter_map(Time::of).collect();
    let digits = Digits::of(&times);
    let fits = |unit: &TimeUnit| digits.shown <= unit.places() as usize;
    let fitting: Vec<_> = TRIED.into_iter().filter(fits).collect();
    if !fitting.contains(&DOCUMENTED) {
        return (TimeUnit::S, Why::Digits(digits.shown));
    }
    let reading = |unit: TimeUnit| Reading::of(&with_unit(format, unit), lines_of(head));
    let Some(gaps) = Gaps::of(&times) else { return (DOCUMENTED, Why::Documented) };
    let may_be = |unit: &TimeUnit| {
        let is_sound = || reading(*unit).odd().is_none();
        *unit == DOCUMENTED || in_ns(gaps.short, *unit) >= SHORT_GAP_NS && is_sound()
    };
    let left: Vec<_> = fitting.into_iter().filter(may_be).collect();
    match nearest(&left, gaps, if digits.used > 3 { NEARER } else { MUCH_NEARER }) {
        DOCUMENTED => (DOCUMENTED, Why::Documented),
        unit => (unit, Why::Rate(reading(DOCUMENTED).per_second())),
    }
}

/// The unit in which gaps are nearest to the usual one; another than the documented has to be so much nearer.
fn nearest(units: &[TimeUnit], gaps: Gaps, nearer: f64) -> TimeUnit {
    let distance = |unit: TimeUnit| {
        let ratio = in_ns(gaps.typical, unit) / USUAL_GAP_NS;
        ratio.max(1.0 / ratio) * if unit == DOCUMENTED { 1.0 } else { nearer }
    };
    let units = units.iter().copied();
    units.min_by(|one, other| distance(*one).total_cmp(&distance(*other))).unwrap_or(DOCUMENTED)
}

/// A time as it stands in a line.
#[derive(Debug, Clone, Copy)]
struct Time {
    /// In billionths of the unit.
    value: u64,
    /// Digits in all, behind the point, and behind it up to the last that is no zero.
    digits: usize,
    shown: usize,
    used: usize,
}

impl Time {
    fn of(line: &[u8]) -> Option<Self> {
        let text = Columns::new(line, Separator::Blanks, "").text().ok()?;
        let value = number::decimal(text, TimeUnit::S.places())?;
        let point = memchr::memchr(b'.', text).unwrap_or(text.len());
        let fraction = text.get(point + 1..).unwrap_or_default();
        let used = fraction.iter().rposition(|digit| *digit != b'0').map_or(0, |last| last + 1);
        Some(Self { value, digits: point + fraction.len(), shown: fraction.len(), used })
    }
}

/// Digits behind the point of all times.
#[derive(Debug, Clone, Copy, Default)]
struct Digits {
    shown: usize,
    used: usize,
}

impl Digits {
    /// Digits behind the point; zero where they are only what floating point leaves.
    fn of(times: &[Time]) -> Self {
        let most = |digits: fn(&Time) -> usize| times.iter().map(digits).max().unwrap_or(0);
        let (shown, used) = (most(|time| time.shown), most(|time| time.used));
        let are_of_one_width = times.iter().all(|time| time.shown == shown);
        let are_exact = times.iter().all(|time| time.digits < EXACT_DIGITS);
        if are_of_one_width || are_exact { Self { shown, used } } else { Self::default() }
    }
}

/// Gaps between requests that do not come at once, in units of the times.
#[derive(Debug, Clone, Copy)]
struct Gaps {
    /// Between the mean, which pauses stretch, and the median, which bursts shorten.
    typical: f64,
    /// A tenth is shorter.
    short: f64,
}

impl Gaps {
    /// `None` if there are few, or the times are not in order.
    fn of(times: &[Time]) -> Option<Self> {
        let pairs = times.windows(2).map(|pair| pair[1].value.checked_sub(pair[0].value));
        let mut gaps: Vec<u64> = pairs.flatten().collect();
        let are_in_order = 10 * gaps.len() >= 9 * times.len().saturating_sub(1);
        gaps.retain(|gap| *gap > 0);
        if gaps.len() < ENOUGH || !are_in_order {
            return None;
        }
        gaps.sort_unstable();
        let sum: u128 = gaps.iter().map(|gap| u128::from(*gap)).sum();
        let mean = sum as f64 / times.len() as f64;
        let median = gaps[gaps.len() / 2] as f64;
        Some(Self {
            typical: (mean * median).sqrt() * 1e-9,
            short: gaps[gaps.len() / 10] as f64 * 1e-9,
        })
    }
}

fn in_ns(time: f64, unit: TimeUnit) -> f64 {
    time * 10_f64.powi(unit.places() as i32)
}
