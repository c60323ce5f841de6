//! Placement handle of a request that names none, as `workload.handles` says.
//!
//! As fio does, only writes take a handle: a read draws no number and takes no turn.

use crate::rng::{Stream, stream};
use crate::synthetic::draw::below;
use crate::{Handle, Hint, Operation, Request};
use copyback_config::{HandleRange, Handles};

/// Gives the requests of a flow their hints.
pub struct Hints {
    flow: usize,
    rule: Rule,
}

enum Rule {
    Flow,
    InTurn { handles: Vec<Handle>, next: usize },
    Random { handles: Vec<Handle>, stream: Box<Stream> },
    ByAddress(Vec<Range>),
}

/// Writes that start at these bytes.
struct Range {
    first: u64,
    end: u64,
    handle: Handle,
}

impl Hints {
    /// Draws handles for the flow at `flow`; the names of its random streams begin with `name`.
    pub fn new(config: &Handles, flow: usize, seed: u64, name: &str) -> Self {
        let listed = |handles: &[u16]| handles.iter().copied().map(Handle).collect();
        let rule = match config {
            Handles::Flow => Rule::Flow,
            Handles::InTurn { handles } => Rule::InTurn { handles: listed(handles), next: 0 },
            Handles::Random { handles } => Rule::Random {
                handles: listed(handles),
                stream: Box::new(stream(seed, &format!("{name}/handle"))),
            },
            Handles::ByAddress { ranges } => Rule::ByAddress(sorted(ranges)),
        };
        Self { flow, rule }
    }

    /// Whether handles are more than the number of the flow.
    pub const fn are_named(&self) -> bool {
        !matches!(self.rule, Rule::Flow)
    }

    /// Says of a request who asks for it, and the handle if it names none and is a write.
    #[inline(always)]
    pub fn stamp(&mut self, request: &mut Request) {
        let named = request.hint.and_then(Hint::handle);
        let handle = match (&self.rule, named) {
            (Rule::Flow, None) => Some(Handle(self.flow as u16)),
            (_, None) if request.operation == Operation::Write => Some(self.draw(request.offset)),
            _ => named,
        };
        request.hint = Some(Hint::new(self.flow, handle));
    }

    fn draw(&mut self, offset: u64) -> Handle {
        match &mut self.rule {
            Rule::Flow => Handle(self.flow as u16),
            Rule::InTurn { handles, next } => {
                let handle = handles[*next];
                *next = if *next + 1 < handles.len() { *next + 1 } else { 0 };
                handle
            }
            Rule::Random { handles, stream } => {
                handles[below(stream, handles.len() as u64) as usize]
            }
            Rule::ByAddress(ranges) => {
                let behind = ranges.partition_point(|range| range.first <= offset);
                let range = behind.checked_sub(1).map(|index| &ranges[index]);
                range.filter(|range| offset < range.end).map_or(Handle(0), |range| range.handle)
            }
        }
    }
}

fn sorted(ranges: &[HandleRange]) -> Vec<Range> {
    let of = |range: &HandleRange| Range {
        first: range.offset.0,
        end: range.offset.0.saturating_add(range.size.0),
        handle: Handle(range.handle),
    };
    let mut ranges: Vec<_> = ranges.iter().map(of).collect();
    ranges.sort_by_key(|range| range.first);
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use copyback_config::quantity::Size;
    use copyback_config::units::Instant;

    fn request(operation: Operation, offset: u64, handle: Option<u16>) -> Request {
        let hint = handle.map(|handle| Hint::new(0, Some(Handle(handle))));
        let arrival = Instant::START;
        Request { arrival, operation, offset, length: 4096, measured: None, hint }
    }

    fn stamped(hints: &mut Hints, mut request: Request) -> (usize, Option<u16>) {
        hints.stamp(&mut request);
        let hint = request.hint.unwrap();
        (hint.flow(), hint.handle().map(|handle| handle.0))
    }

    fn of_writes(config: &Handles, offsets: &[u64]) -> Vec<u16> {
        let mut hints = Hints::new(config, 5, 1, "workload/5");
        let write = |offset: &u64| request(Operation::Write, *offset, None);
        offsets.iter().map(|offset| stamped(&mut hints, write(offset)).1.unwrap()).collect()
    }

    #[test]
    fn without_a_rule_the_handle_is_the_number_of_the_flow() {
        assert_eq!(of_writes(&Handles::Flow, &[0, 4096]), [5, 5]);
    }

    #[test]
    fn writes_take_turns_and_reads_take_none() {
        let mut hints = Hints::new(&Handles::InTurn { handles: vec![4, 2, 2] }, 0, 1, "workload/0");
        let mut next = |operation| stamped(&mut hints, request(operation, 0, None)).1;
        let writes = [Operation::Write; 2].map(&mut next);
        assert_eq!((writes, next(Operation::Read)), ([Some(4), Some(2)], None));
        assert_eq!([Operation::Write; 3].map(next), [Some(2), Some(4), Some(2)]);
    }

    #[test]
    fn random_handles_are_of_the_list_and_all_alike() {
        let drawn = of_writes(&Handles::Random { handles: vec![1, 7] }, &[0; 1000]);
        let sevens = drawn.iter().filter(|handle| **handle == 7).count();
        assert_eq!(drawn.iter().filter(|handle| **handle == 1).count(), 1000 - sevens);
        // Four standard deviations of 1000 fair draws.
        assert!(sevens.abs_diff(500) < 64, "{sevens}");
    }

    #[test]
    fn a_range_is_where_the_write_starts_and_elsewhere_is_handle_0() {
        let range =
            |offset, size, handle| HandleRange { offset: Size(offset), size: Size(size), handle };
        let ranges = vec![range(8192, 4096, 2), range(0, 4096, 1)];
        let handles = of_writes(&Handles::ByAddress { ranges }, &[0, 4095, 4096, 8192, 12_288]);
        assert_eq!(handles, [1, 1, 0, 2, 0]);
    }

    #[test]
    fn what_a_trace_names_goes_first() {
        for config in [Handles::Flow, Handles::InTurn { handles: vec![4] }] {
            let mut hints = Hints::new(&config, 2, 1, "workload/2");
            let named = request(Operation::Write, 0, Some(9));
            assert_eq!(stamped(&mut hints, named), (2, Some(9)));
        }
    }
}
