//! What a generator must satisfy.

use super::*;

/// The faults of the generator at `key`.
pub(super) fn check(key: &str, workload: &SyntheticWorkload, faults: &mut Report) {
    faults.at_least_one(&format!("{key}.requests"), workload.requests);
    faults.share(&format!("{key}.read_share"), workload.read_share);
    faults.share(&format!("{key}.sequential_share"), workload.sequential_share);
    sizes(key, workload, faults);
    arrivals(key, workload, faults);
    addresses(key, workload, faults);
}

fn sizes(key: &str, workload: &SyntheticWorkload, faults: &mut Report) {
    let (RequestSize::Fixed(size) | RequestSize::Exponential { mean: size }) =
        workload.request_size;
    if size == Size(0) {
        faults.add(&format!("{key}.request_size"), "found 0B; allowed: 1B or more");
    }
    let multiples = match (workload.alignment, workload.request_size) {
        (Some(alignment), _) => Some(("alignment", alignment)),
        (None, RequestSize::Fixed(size)) if size != Size(0) => Some(("request_size", size)),
        (None, _) => None,
    };
    if let Some((name, size)) = multiples
        && (size == Size(0) || !size.0.is_multiple_of(SMALLEST_PAGE))
    {
        faults.add(&format!("{key}.{name}"), format!("found {size}; allowed: a multiple of 512B"));
    }
}

fn arrivals(key: &str, workload: &SyntheticWorkload, faults: &mut Report) {
    let allowed =
        "allowed: one of inter_arrival (an open loop) and iodepth (a closed loop, so many at once)";
    match (workload.inter_arrival, workload.iodepth) {
        (Some(_), Some(_)) => {
            faults.add(&format!("{key}.iodepth"), format!("found inter_arrival too; {allowed}"));
        }
        (None, None) => faults.add(key, format!("found no arrival rule; {allowed}")),
        (None, Some(depth)) => faults.at_least_one(&format!("{key}.iodepth"), depth.into()),
        (Some(InterArrival::Exponential { mean }), None) if mean == Time::default() => {
            faults.add(&format!("{key}.inter_arrival.mean"), "found 0s; allowed: more than 0s");
        }
        (Some(_), None) => {}
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
    if let AddressDistribution::HotCold { requests, pages } = workload.address {
        faults.share(&format!("{key}.address.requests"), requests);
        faults.share_above_zero(&format!("{key}.address.pages"), pages, true);
    }
}
