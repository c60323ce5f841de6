//! Checks of an array.

use super::*;
use crate::quantity::Rate;

/// Drives are counted in 16 bits; so many are more than any controller has.
const MOST_DEVICES: u32 = 1024;
const STRIPE_STEP: Size = Size(4096);

/// The faults of `[array]`, each key for itself and against its neighbours.
pub(super) fn check(array: &Array, faults: &mut Report) {
    devices(array, faults);
    stripe(array, faults);
    listed("array.failed", &array.failed, array.devices, faults);
    listed("array.protocol.silent", &array.protocol.silent, array.devices, faults);
    lost(array, faults);
    mirrors::check(array, faults);
    scrub(array, faults);
    failures::check(array, faults);
    slow_drives::check(array, faults);
    coordination(&array.coordination, faults);
    round(array.protocol.round, faults);
    for (key, margin) in [
        ("array.protocol.register_margin", array.protocol.register_margin),
        ("array.protocol.target_margin", array.protocol.target_margin),
    ] {
        if let Some(share) = margin.share() {
            faults.share(key, share);
        }
    }
}

/// Checks the records of each drive by itself.
pub(super) fn records(config: &Config, faults: &mut Report) {
    let Config { array, metrics, .. } = config;
    for (key, is_asked) in
        [("metrics.collections", metrics.collections), ("metrics.commands", metrics.commands)]
    {
        if is_asked && array.devices == 1 {
            let problem = "found true; allowed: with several drives (array.devices), as it tells them \
                           apart";
            faults.add(key, problem);
        }
    }
}

/// Stripe and drives against one another.
pub(super) fn space(config: &Resolved, faults: &mut Report) {
    let array = &config.array;
    let device = config.drive.capacity.bytes;
    if array.layout.is_striped() && array.stripe.0 > device {
        let (found, device) = (array.stripe, Size(device));
        let problem = format!("found {found}; allowed: at most a drive's {device}");
        faults.add("array.stripe", problem);
    }
    mirrors::space(config, faults);
    consistency::space(config, faults);
    if array.coordination == Coordination::Uncoordinated {
        return;
    }
    windows::check(config, faults);
    let (register, target) = (config.protocol.register, config.protocol.target);
    let reserve = config.drive.blocks.reserve;
    if target < register {
        let problem = format!(
            "found {target} free blocks in all, fewer than the {register} at which drives register; \
             allowed: at least array.protocol.register_margin"
        );
        faults.add("array.protocol.target_margin", problem);
    } else if target > reserve {
        let problem = format!(
            "found {target} free blocks of a plane in all; allowed: at most the {reserve} of a plane \
             that is full of data"
        );
        faults.add("array.protocol.target_margin", problem);
    }
}

fn devices(array: &Array, faults: &mut Report) {
    let (found, least) = (array.devices, array.layout.least_devices());
    let most = if array.layout == Layout::Single { 1 } else { MOST_DEVICES };
    if found >= least && found <= most {
        return;
    }
    let problem = match array.layout {
        Layout::Single => format!("found {found}; allowed: 1, or another array.layout"),
        _ => format!("found {found}; allowed: {least} to {MOST_DEVICES} with this layout"),
    };
    faults.add("array.devices", problem);
}

fn stripe(array: &Array, faults: &mut Report) {
    let stripe = array.stripe;
    if stripe.0 == 0 || !stripe.0.is_multiple_of(STRIPE_STEP.0) {
        let problem = format!("found {stripe}; allowed: a multiple of {STRIPE_STEP}");
        faults.add("array.stripe", problem);
    }
}

/// Drives that are named: each there, and once.
fn listed(key: &str, named: &[u32], devices: u32, faults: &mut Report) {
    if let Some(device) = named.iter().find(|device| **device >= devices) {
        let last = devices.saturating_sub(1);
        faults.add(key, format!("found drive {device}; allowed: 0 to {last}"));
    }
    let is_again = |(place, device): (usize, &u32)| named[..place].contains(device);
    if let Some((_, device)) = named.iter().enumerate().find(|named| is_again(*named)) {
        faults.add(key, format!("found drive {device} twice; allowed: once"));
    }
}

fn lost(array: &Array, faults: &mut Report) {
    if let Some(problem) = too_many_lost(array) {
        faults.add("array.failed", problem);
    }
    reads_around::check(array, faults);
    let Some(unit) = array.rebuild.unit() else { return };
    if array.failed.is_empty() && array.spares == 0 {
        let problem = "found a rebuild of no drive; allowed: with array.failed or array.spares";
        faults.add("array.rebuild", problem);
    }
    if let Rebuild::Throttled { least, most, .. } = array.rebuild {
        throttle("array.rebuild", (least, most), faults);
    }
    steps("array.rebuild", "unit", unit, array, faults);
}

/// Scrubs by themselves and against the layout.
fn scrub(array: &Array, faults: &mut Report) {
    let Scrub::Throttled { least, most, unit, .. } = array.scrub else { return };
    if !array.layout.is_redundant() {
        let problem = "found scrubs; allowed: with copies or parity (raid1, raid10, raid5, raid6)";
        faults.add("array.scrub", problem);
    }
    throttle("array.scrub", (least, most), faults);
    steps("array.scrub", "unit", unit, array, faults);
}

/// Bytes of a drive that are handled at a time: the key `name` in the table `key`.
pub(super) fn steps(key: &str, name: &str, unit: Size, array: &Array, faults: &mut Report) {
    // Mirrors that are not striped have no stripe unit.
    let (step, what) = match array.layout {
        Layout::Raid1 => (STRIPE_STEP, ""),
        _ => (array.stripe, "the stripe unit of "),
    };
    if unit.0 == 0 || !unit.0.is_multiple_of(step.0.max(1)) {
        let problem = format!("found {unit}; allowed: a multiple of {what}{step}");
        faults.add(&format!("{key}.{name}"), problem);
    }
}

/// Rates while requests come, and while none do.
pub(super) fn throttle(key: &str, (least, most): (Rate, Rate), faults: &mut Report) {
    let is_more = match (least, most) {
        (_, Rate::None) => false,
        (Rate::None, _) => true,
        (Rate::BytesPerSecond(least), Rate::BytesPerSecond(most)) => least > most,
    };
    if is_more {
        let problem = format!("found {least}; allowed: at most {key}.most of {most}");
        faults.add(&format!("{key}.least"), problem);
    }
}

fn too_many_lost(array: &Array) -> Option<String> {
    let (lost, spare) = (array.failed.len(), array.layout.parities());
    if array.layout.is_mirrored() {
        return mirrors::too_many_lost(array);
    }
    (lost > spare as usize).then(|| match spare {
        0 => "found a lost drive; allowed: none without copies or parity (raid1, raid10, raid5, raid6)"
            .to_owned(),
        _ => format!("found {lost} lost drives; allowed: at most {spare} with this layout"),
    })
}

fn round(round: Round, faults: &mut Report) {
    match round {
        Round::Blocks { blocks: 0 } => {
            faults.add("array.protocol.round.blocks", "found 0; allowed: at least 1");
        }
        Round::Share { share } => faults.share("array.protocol.round.share", share),
        Round::UntilTarget | Round::Blocks { .. } => {}
    }
}

fn coordination(coordination: &Coordination, faults: &mut Report) {
    let none = |time: Time| time == Time::default();
    let mut more_than_zero = |key: &str, time: Time| {
        if none(time) {
            faults.add(&format!("array.coordination.{key}"), "found 0s; allowed: more than 0s");
        }
    };
    match coordination {
        Coordination::Uncoordinated
        | Coordination::ReactiveInclusive { delay: Delay::None, .. }
        | Coordination::ReactiveSelective => {}
        Coordination::ReactiveInclusive {
            delay: Delay::UntilQuiet { quorum, used, .. }, ..
        } => {
            faults.share("array.coordination.delay.quorum", *quorum);
            faults.share("array.coordination.delay.used", *used);
        }
        Coordination::ProactiveIdle { check, .. } => more_than_zero("check", *check),
        Coordination::ProactiveSoftLimit { period, quorum, .. } => {
            more_than_zero("period", *period);
            faults.share("array.coordination.quorum", *quorum);
        }
        Coordination::Staggered { window, .. } => {
            if let WindowLength::Fixed(window) = window {
                more_than_zero("window", *window);
            }
        }
        Coordination::Python { policy, parameters } => {
            python::check("array.coordination", policy, parameters, faults);
        }
    }
}
