//! Checks of a workload.

use super::*;

/// The faults of `[workload]`.
pub(super) fn check(workload: &Workload, array: &Array, faults: &mut Report) {
    let flows = workload.flows();
    for index in 0..flows.len() {
        let key = match workload {
            Workload::Flows(_) => format!("workload.flows.{index}"),
            _ => "workload".to_owned(),
        };
        flows::check(&key, index, &flows, faults);
        handles::check(&key, flows[index].handles(), faults);
    }
    match workload {
        Workload::Trace(workload) => trace("workload", workload, array, faults),
        Workload::Synthetic(workload) => synthetic::check("workload", workload, faults),
        Workload::Flows(flows) => {
            names(flows, faults);
            for (index, flow) in flows.flows.iter().enumerate() {
                let key = format!("workload.flows.{index}");
                match flow {
                    Flow::Trace(workload) => trace(&key, workload, array, faults),
                    Flow::Synthetic(workload) => synthetic::check(&key, workload, faults),
                }
            }
        }
    }
}

/// Flows have names all or none.
fn names(flows: &FlowsWorkload, faults: &mut Report) {
    let (names, flows) = (flows.names.len(), flows.flows.len());
    if names > 0 && names != flows {
        let problem =
            format!("found {names}; allowed: a name for each of the {flows} flows, or none");
        faults.add("workload.names", problem);
    }
}

fn trace(key: &str, workload: &TraceWorkload, array: &Array, faults: &mut Report) {
    let scale = workload.time_scale;
    if !(scale.is_finite() && scale > 0.0) {
        faults.add(&format!("{key}.time_scale"), format!("found {scale}; allowed: above 0"));
    }
    if workload.path.as_os_str().is_empty() {
        faults.add(&format!("{key}.path"), "found \"\"; allowed: the path of a trace file");
    }
    if let Some(TraceFormat::Disksim { size_unit: Size(0), .. }) = workload.format {
        faults.add(&format!("{key}.format.size_unit"), "found 0B; allowed: 1B or more");
    }
    if let Some(TraceFormat::Csv(format)) = &workload.format
        && let Err((name, found, allowed)) = format.columns()
    {
        faults.add(&format!("{key}.format.{name}"), format!("found {found}; allowed: {allowed}"));
    }
    shaping(key, workload, faults);
    device_layout(key, workload, array, faults);
}

/// The keys that choose a part of the trace, repeat it and lay it on the device.
fn shaping(key: &str, workload: &TraceWorkload, faults: &mut Report) {
    let start = workload.from.unwrap_or_default();
    if let Some(end) = workload.until.filter(|end| *end <= start) {
        let allowed = format!("found {end}; allowed: more than from, {start}");
        faults.add(&format!("{key}.until"), allowed);
    }
    if workload.clock_jumps == (ClockJumps::Close { longest: Time::default() }) {
        faults.add(&format!("{key}.clock_jumps.longest"), "found 0s; allowed: more than 0s");
    }
    if let BeyondDevice::Compact { extent: Size(extent) } = workload.beyond_device
        && !(extent.is_power_of_two() && BeyondDevice::EXTENTS.contains(&extent))
    {
        let problem = format!("found {}; allowed: a power of two, 4KiB to 1GiB", Size(extent));
        faults.add(&format!("{key}.beyond_device.extent"), problem);
    }
}

/// Checks the places of the trace's devices: a region, or a drive, for each.
fn device_layout(key: &str, workload: &TraceWorkload, array: &Array, faults: &mut Report) {
    let DeviceLayout::Concatenate { size } = workload.device_layout else { return };
    let listed = workload.devices.len();
    let on_drives = array.layout == Layout::Jbod;
    let compact = matches!(workload.beyond_device, BeyondDevice::Compact { .. });
    match size {
        Some(Size(0)) => {
            faults.add(&format!("{key}.device_layout.size"), "found 0B; allowed: 1B or more");
        }
        None if on_drives && listed > array.devices as usize => {
            let drives = array.devices;
            let problem = format!(
                "found {listed}; allowed: at most one for each of the array's {drives} drives, or \
                 a size in device_layout"
            );
            faults.add(&format!("{key}.devices"), problem);
        }
        None if !on_drives && listed == 0 && !compact => {
            let problem = "found no size; allowed: a size, a list in devices to share the \
                           capacity, or an array of layout jbod";
            faults.add(&format!("{key}.device_layout.size"), problem);
        }
        _ => {}
    }
}
