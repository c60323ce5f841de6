//! Survey of a trace's addresses: a replay gets those of the trace or, where these reach beyond the device, the
//! touched ones packed. To find out, the trace is read once before it is replayed.

use super::TraceSource;
use super::addresses::Addresses;
use super::bounds::{Beyond, Bounds};
use super::compact::Compact;
use super::footprint::Footprint;
use super::plausible::Bytes;
use super::space::Space;
use crate::InputError;
use copyback_config::quantity::Size;
use copyback_config::{BeyondDevice, TraceWorkload};

/// The extents that are tried, one after the other, where the user leaves it to us: the larger, the
/// more stays together as it was. Less than a large page would put strangers on a page.
const EXTENTS: [u64; 3] = [1 << 20, 128 << 10, 16 << 10];

/// The addresses of a replay of `config` on a device of `capacity` bytes. `read` gives the trace for
/// these addresses; it is `None` for a pipe, which can be read only once.
///
/// # Errors
/// If the configuration makes no sense, the trace can't be read to its end, or it has no room.
pub fn addresses(
    config: &TraceWorkload,
    capacity: u64,
    name: &str,
    read: Option<impl Fn(Addresses) -> Result<TraceSource, InputError>>,
) -> Result<Addresses, InputError> {
    let fault = |(key, problem)| InputError { place: format!("workload.{key}"), problem };
    let space = Space::new(config, capacity).map_err(fault)?;
    let straight =
        |beyond| Addresses::Straight { space, bounds: Bounds::new(space.bytes(), beyond) };
    match (config.beyond_device, read) {
        (BeyondDevice::Refuse, _) => Ok(straight(Beyond::Refused)),
        (BeyondDevice::Wrap, _) => Ok(straight(Beyond::Wrapped)),
        // No address is beyond the end of all of them.
        (BeyondDevice::Fit, _) if space.bytes() == u64::MAX => Ok(straight(Beyond::Refused)),
        (BeyondDevice::Fit, None) => Ok(straight(Beyond::RefusedOfPipe)),
        (BeyondDevice::Fit, Some(read)) => match fitted(&read, space)? {
            Fitted::Straight => Ok(straight(Beyond::Refused)),
            Fitted::Compact(addresses) => Ok(addresses),
            Fitted::TooLarge(footprint) => Err(too_large(name, &footprint)),
        },
        (BeyondDevice::Compact { .. }, None) => Err(fault((
            "beyond_device",
            "found \"compact\", which reads the trace twice, and a pipe; expected a file"
                .to_owned(),
        ))),
        (BeyondDevice::Compact { extent: Size(extent) }, Some(read)) => {
            let footprint = surveyed(&read, space, extent)?;
            let note = touched(&footprint);
            let compact = Compact::new(&footprint).ok_or_else(|| too_large(name, &footprint))?;
            Ok(Addresses::Compact { compact, note, left_out: 0 })
        }
    }
}

enum Fitted {
    /// Every address lies on the device.
    Straight,
    Compact(Addresses),
    TooLarge(Footprint),
}

fn fitted(
    read: &impl Fn(Addresses) -> Result<TraceSource, InputError>,
    space: Space,
) -> Result<Fitted, InputError> {
    let mut found = None;
    for extent in EXTENTS {
        let footprint = surveyed(read, space, extent)?;
        if footprint.reach() <= space.bytes() {
            return Ok(Fitted::Straight);
        }
        if let Some(compact) = Compact::new(&footprint) {
            let note = moved(&footprint);
            return Ok(Fitted::Compact(Addresses::Compact { compact, note, left_out: 0 }));
        }
        found = Some(footprint);
    }
    Ok(found.map_or(Fitted::Straight, Fitted::TooLarge))
}

/// Reads the trace to its end for what it touches.
fn surveyed(
    read: &impl Fn(Addresses) -> Result<TraceSource, InputError>,
    space: Space,
    extent: u64,
) -> Result<Footprint, InputError> {
    let mut source = read(Addresses::Survey(Footprint::new(space, extent)))?;
    while source.read_request()?.is_some() {}
    match source.addresses {
        Addresses::Survey(footprint) => Ok(footprint),
        Addresses::Straight { .. } | Addresses::Compact { .. } => {
            unreachable!("a source keeps its addresses")
        }
    }
}

fn touched(footprint: &Footprint) -> String {
    let extent = Size(footprint.extent());
    format!(
        "{} extents of {extent} are touched, and lie one after the other in order of address",
        footprint.touched()
    )
}

fn moved(footprint: &Footprint) -> String {
    format!(
        "its addresses reach {}, beyond the {} that there are for them; so they were moved: {} \
         (workload.beyond_device = \"refuse\" ends the run instead, \"wrap\" folds them)",
        Bytes(footprint.reach()),
        Bytes(footprint.space().bytes()),
        touched(footprint),
    )
}

#[cold]
fn too_large(name: &str, footprint: &Footprint) -> InputError {
    let space = footprint.space();
    let problem = format!(
        "footprint: found addresses up to {} with more touched, in extents of {}, than the {} \
         that there are for them; expected a larger drive, a part of the trace (workload.limit, until, devices), \
         or workload.beyond_device = \"wrap\"",
        Bytes(footprint.reach()),
        Size(footprint.extent()),
        Bytes(space.bytes()),
    );
    InputError { place: name.to_owned(), problem }
}
