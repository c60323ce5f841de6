//! Checks of a generator.

use super::*;

/// Phases of bursts shorter than this part of a gap would make the generator crawl.
const MOST_PHASES_A_GAP: u64 = 10_000;

/// The faults of the generator at `key`.
pub(super) fn check(key: &str, workload: &SyntheticWorkload, faults: &mut Report) {
    faults.share(&format!("{key}.sequential_share"), workload.sequential_share);
    operations(key, workload, faults);
    sizes(key, workload, faults);
    arrivals(key, workload, faults);
    time_scale(key, workload, faults);
    bursts(key, workload, faults);
    addresses(key, workload, faults);
    limits::check(key, workload, faults);
}

fn time_scale(key: &str, workload: &SyntheticWorkload, faults: &mut Report) {
    let (key, scale) = (format!("{key}.time_scale"), workload.time_scale);
    if !(scale.is_finite() && scale > 0.0) {
        faults.add(&key, format!("found {scale}; allowed: above 0"));
    } else if scale != 1.0 && workload.inter_arrival.is_none() {
        let problem = format!(
            "found {scale} in a closed loop, which has no times between arrivals; allowed: 1, or \
             inter_arrival in place of iodepth"
        );
        faults.add(&key, problem);
    }
}

fn operations(key: &str, workload: &SyntheticWorkload, faults: &mut Report) {
    let shares = [
        ("read_share", workload.read_share),
        ("trim_share", workload.trim_share),
        ("flush_share", workload.flush_share),
    ];
    for (name, share) in shares {
        faults.share(&format!("{key}.{name}"), share);
    }
    let sum: f64 = shares.iter().map(|(_, share)| share.0).sum();
    if shares.iter().all(|(_, share)| (0.0..=1.0).contains(&share.0)) && sum > 1.0 + ROUNDING {
        let (name, _) = shares[if workload.trim_share.0 > 0.0 { 1 } else { 2 }];
        let problem = format!(
            "found read_share, trim_share and flush_share of {} in all; allowed: at most 1",
            Share(sum)
        );
        faults.add(&format!("{key}.{name}"), problem);
    }
}

fn sizes(key: &str, workload: &SyntheticWorkload, faults: &mut Report) {
    let size_key = format!("{key}.request_size");
    match &workload.request_size {
        RequestSize::ByOperation { read, write } => {
            for (name, size) in [("read", read), ("write", write)] {
                let key = format!("{size_key}.{name}");
                if matches!(**size, RequestSize::ByOperation { .. }) {
                    let problem = "found by_operation again; allowed: a size or a distribution";
                    faults.add(&key, problem);
                } else {
                    size_distribution(&key, size, faults);
                }
            }
        }
        alike => size_distribution(&size_key, alike, faults),
    }
    let multiples = match (workload.alignment, &workload.request_size) {
        (Some(alignment), _) => Some(("alignment", alignment)),
        (None, RequestSize::Fixed(size)) if *size != Size(0) => Some(("request_size", *size)),
        (None, _) => None,
    };
    if let Some((name, size)) = multiples
        && (size == Size(0) || !size.0.is_multiple_of(SMALLEST_PAGE))
    {
        faults.add(&format!("{key}.{name}"), format!("found {size}; allowed: a multiple of 512B"));
    }
}

fn size_distribution(key: &str, size: &RequestSize, faults: &mut Report) {
    let mut above_zero = |key: &str, size: Size| {
        if size == Size(0) {
            faults.add(key, "found 0B; allowed: 1B or more");
        }
    };
    match size {
        RequestSize::Fixed(size) | RequestSize::Exponential { mean: size } => {
            above_zero(key, *size);
        }
        RequestSize::Histogram { sizes, weights } => {
            for (index, size) in sizes.iter().enumerate() {
                above_zero(&format!("{key}.sizes.{index}"), *size);
            }
            weights_of(key, "sizes", sizes.len(), weights, faults);
        }
        RequestSize::ByOperation { .. } => {}
    }
}

fn arrivals(key: &str, workload: &SyntheticWorkload, faults: &mut Report) {
    let allowed =
        "allowed: one of inter_arrival (an open loop) and iodepth (a closed loop, so many at once)";
    match (&workload.inter_arrival, workload.iodepth) {
        (Some(_), Some(_)) => {
            faults.add(&format!("{key}.iodepth"), format!("found inter_arrival too; {allowed}"));
        }
        (None, None) => faults.add(key, format!("found no arrival rule; {allowed}")),
        (None, Some(_)) => {}
        (Some(gap), None) => times(&format!("{key}.inter_arrival"), gap, faults),
    }
}

fn bursts(key: &str, workload: &SyntheticWorkload, faults: &mut Report) {
    let Bursts::OnOff { on, off, background } = &workload.bursts else { return };
    let key = format!("{key}.bursts");
    let Some(gap) = &workload.inter_arrival else {
        let problem = "found bursts in a closed loop; allowed: \"none\", or inter_arrival in place \
                       of iodepth";
        return faults.add(&key, problem);
    };
    for (name, period) in [("on", on), ("off", off)] {
        let key = format!("{key}.{name}");
        if *period == TimeDistribution::Fixed(Time::default()) {
            faults.add(&key, "found 0s; allowed: more than 0s");
        }
        times(&key, period, faults);
    }
    if let Some(background) = background {
        times(&format!("{key}.background"), background, faults);
        short_gaps(&format!("{key}.background"), background, "off", off, faults);
    }
    short_gaps(&format!("{key}.on"), gap, "on", on, faults);
}

/// A gap may not span too many periods of its kind.
fn short_gaps(
    key: &str,
    gap: &TimeDistribution,
    name: &str,
    period: &TimeDistribution,
    faults: &mut Report,
) {
    let (Some(gap), Some(period)) = (typical(gap), typical(period)) else { return };
    let longest = period.0.as_ns().saturating_mul(MOST_PHASES_A_GAP);
    if gap.0.as_ns() > longest {
        let problem = format!(
            "found {name} periods of {period} and gaps of {gap}; allowed: gaps of at most {}",
            Time::from_ns(longest)
        );
        faults.add(key, problem);
    }
}

/// The mean or, of measured times, the longest; unknown as long as they are in a file.
fn typical(times: &TimeDistribution) -> Option<Time> {
    match times {
        TimeDistribution::Fixed(time)
        | TimeDistribution::Exponential { mean: time }
        | TimeDistribution::Pareto { mean: time, .. } => Some(*time),
        TimeDistribution::Histogram { times, .. } | TimeDistribution::Quantiles { times } => {
            times.iter().max().copied()
        }
        TimeDistribution::Empirical { .. } => None,
    }
}

pub(super) fn times(key: &str, distribution: &TimeDistribution, faults: &mut Report) {
    match distribution {
        TimeDistribution::Fixed(_) => {}
        TimeDistribution::Exponential { mean } => above_zero(&format!("{key}.mean"), *mean, faults),
        TimeDistribution::Pareto { mean, shape } => {
            above_zero(&format!("{key}.mean"), *mean, faults);
            if !(shape.is_finite() && *shape > 1.0) {
                let problem = format!("found {shape}; allowed: above 1, or there is no mean");
                faults.add(&format!("{key}.shape"), problem);
            }
        }
        TimeDistribution::Histogram { times, weights } => {
            some_above_zero(&format!("{key}.times"), times, faults);
            weights_of(key, "times", times.len(), weights, faults);
        }
        TimeDistribution::Quantiles { times } => {
            let key = format!("{key}.times");
            if times.len() < 2 || !times.is_sorted() {
                let problem = "found times out of order, or fewer than 2; allowed: the shortest \
                               time, any quantiles, and the longest";
                faults.add(&key, problem);
            } else {
                some_above_zero(&key, times, faults);
            }
        }
        TimeDistribution::Empirical { path } => {
            if path.as_os_str().is_empty() {
                faults.add(&format!("{key}.path"), "found \"\"; allowed: the path of a file");
            }
        }
    }
}

fn above_zero(key: &str, time: Time, faults: &mut Report) {
    if time == Time::default() {
        faults.add(key, "found 0s; allowed: more than 0s");
    }
}

fn some_above_zero(key: &str, times: &[Time], faults: &mut Report) {
    if times.iter().all(|time| *time == Time::default()) {
        faults.add(key, "found no time above 0s; allowed: one or more");
    }
}

fn weights_of(key: &str, of: &str, count: usize, weights: &[f64], faults: &mut Report) {
    let key = format!("{key}.weights");
    let sum: f64 = weights.iter().sum();
    if count == 0 || count != weights.len() {
        let problem = format!("found {} for {count} {of}; allowed: one for each", weights.len());
        faults.add(&key, problem);
    } else if !(weights.iter().all(|weight| weight.is_finite()) && sum > 0.0) {
        let found = weights.iter().map(f64::to_string).collect::<Vec<_>>().join(", ");
        faults.add(&key, format!("found {found}; allowed: numbers of 0 or more, one above 0"));
    }
}

fn addresses(key: &str, workload: &SyntheticWorkload, faults: &mut Report) {
    let (offset, footprint) = (workload.offset, workload.footprint);
    faults.share(&format!("{key}.offset"), offset);
    faults.share_above_zero(&format!("{key}.footprint"), footprint, false);
    if footprint.0 <= 1.0 && offset.0 <= 1.0 && offset.0 + footprint.0 > 1.0 + f64::EPSILON {
        let problem =
            format!("found {footprint} from offset {offset}; allowed: a sum of at most 1");
        faults.add(&format!("{key}.footprint"), problem);
    }
    let key = format!("{key}.address");
    match &workload.address {
        AddressDistribution::Uniform | AddressDistribution::RandomMap { .. } => {}
        AddressDistribution::HotCold { requests, pages, .. } => {
            faults.share(&format!("{key}.requests"), *requests);
            faults.share_above_zero(&format!("{key}.pages"), *pages, true);
        }
        AddressDistribution::Zoned { requests, pages, .. } => zones(&key, requests, pages, faults),
        AddressDistribution::Zipf { theta, .. } => {
            if !theta.is_finite() {
                faults.add(&format!("{key}.theta"), format!("found {theta}; allowed: a number"));
            }
        }
        AddressDistribution::Pareto { h, .. } => {
            faults.share_above_zero(&format!("{key}.h"), Share(*h), true);
        }
        AddressDistribution::Logs { streams } => {
            logs(&key, streams, faults);
            appended(workload, &key, faults);
        }
    }
}

fn logs(key: &str, streams: &[LogStream], faults: &mut Report) {
    let key = format!("{key}.streams");
    for (index, stream) in streams.iter().enumerate() {
        faults.share_above_zero(&format!("{key}.{index}.pages"), stream.pages, false);
        if stream.object == Size(0) {
            faults.add(&format!("{key}.{index}.object"), "found 0B; allowed: 1B or more");
        }
    }
    let sum: f64 = streams.iter().map(|stream| stream.pages.0).sum();
    if sum > 1.0 + ROUNDING {
        let problem = format!("found pages of {} in all; allowed: at most 1", Share(sum));
        faults.add(&key, problem);
    }
}

/// Writers that append decide themselves what follows what, and what is trimmed.
fn appended(workload: &SyntheticWorkload, key: &str, faults: &mut Report) {
    let found = if workload.sequential_share.0 > 0.0 {
        format!("sequential_share = {}", workload.sequential_share)
    } else if workload.sequential_run.is_some() {
        "sequential_run".to_owned()
    } else if workload.trim_share.0 > 0.0 {
        format!("trim_share = {}", workload.trim_share)
    } else if workload.trim_before_write {
        "trim_before_write".to_owned()
    } else {
        return;
    };
    let problem = format!(
        "found logs with {found}; allowed: none, as writers append by themselves, and streams say what is trimmed"
    );
    faults.add(key, problem);
}

fn zones(key: &str, requests: &[Share], pages: &[Share], faults: &mut Report) {
    if requests.is_empty() || requests.len() != pages.len() {
        let (found, zones) = (pages.len(), requests.len());
        let problem =
            format!("found {found} for {zones} shares of requests; allowed: one for each");
        return faults.add(&format!("{key}.pages"), problem);
    }
    for (name, shares) in [("requests", requests), ("pages", pages)] {
        for (index, share) in shares.iter().enumerate() {
            faults.share(&format!("{key}.{name}.{index}"), *share);
        }
        let sum: f64 = shares.iter().map(|share| share.0).sum();
        if !((1.0 - ROUNDING)..=(1.0 + ROUNDING)).contains(&sum) {
            let problem = format!("found shares of {} in all; allowed: 1", Share(sum));
            faults.add(&format!("{key}.{name}"), problem);
        }
    }
    if requests.iter().zip(pages).all(|(requests, pages)| requests.0 == 0.0 || pages.0 == 0.0) {
        let problem = "found no region with both pages and requests; allowed: one or more";
        faults.add(&format!("{key}.pages"), problem);
    }
}
