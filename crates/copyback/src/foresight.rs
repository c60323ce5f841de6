//! A pass over the workload of a run before it begins, for a placement that knows when each page dies. The order in
//! which requests come must not depend on the run: there is one drive and one flow, and nothing between the host and
//! the translation layer that writes fewer pages than the host does. The configuration is checked for that.

use crate::Error;
use crate::config::{Placement, Resolved};
use crate::host::sources;
use crate::ids::{Lpn, pages_touched, pages_within};
use crate::placement::{Foreseen, Future, MOST_ENDS};
use crate::workload::{Operation, Request};

/// Effect of the workload of `config` on each page, if its placement asks for it.
///
/// # Errors
/// If a trace cannot be read, or the workload writes and trims more pages than can be foreseen.
pub fn of_workload(config: &Resolved) -> Result<Option<Future>, Error> {
    let Placement::Oracle { .. } = config.ssd.ftl.placement else { return Ok(None) };
    let page_size = config.drive.pages.size.0;
    let mut foreseen = Foreseen::new(config.drive.capacity.logical_pages as usize);
    for mut source in sources(config)? {
        while let Some(request) = source.next_request()? {
            if !note(&mut foreseen, &request, page_size) {
                return Err(Error::Input(too_long()));
            }
        }
    }
    Ok(Some(foreseen.into_future()))
}

/// Tells what becomes of the pages of a request. False if that is too much.
fn note(foreseen: &mut Foreseen, request: &Request, page_size: u64) -> bool {
    let Request { operation, offset, length, .. } = *request;
    let end = offset + length;
    match operation {
        Operation::Write => {
            pages_touched(offset..end, page_size).map(Lpn).all(|lpn| foreseen.writes(lpn))
        }
        Operation::Trim => {
            pages_within(offset..end, page_size).map(Lpn).all(|lpn| foreseen.trims(lpn))
        }
        Operation::Read | Operation::Flush => true,
    }
}

fn too_long() -> String {
    format!(
        "ssd.ftl.placement: found a workload that writes and trims more pages than \"oracle\" can \
         foresee; allowed: {MOST_ENDS}"
    )
}
