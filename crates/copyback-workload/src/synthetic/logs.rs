//! Writers that append: each fills an object of its own, and begins the next one in the place of one that is full.
//!
//! So do caches that keep objects in large files, logs, and trees that merge sorted files: what is written together is
//! overwritten together.

use std::collections::VecDeque;

use rand_distr::{Distribution, weighted::WeightedAliasIndex};

use super::draw::below;
use crate::rng::Stream;
use crate::{Handle, InputError};
use copyback_config::{LogStream, Replaced};

/// The writers of all streams.
pub struct Logs {
    streams: Vec<Log>,
    writers: Vec<Writer>,
    /// Draws which writer is next.
    which: WeightedAliasIndex<f64>,
    random: Stream,
}

/// One stream: a region, cut into objects.
struct Log {
    /// First unit of the log.
    first: u64,
    /// Units of an object.
    object: u64,
    /// Number of objects that the log has room for.
    places: u64,
    /// Places that have been taken; those behind are new.
    taken: u64,
    /// Objects that are full, the oldest first.
    full: VecDeque<u32>,
    replaced: Replaced,
    trims: bool,
    handle: Handle,
}

#[derive(Clone, Copy)]
struct Writer {
    stream: usize,
    /// The place of its object, and how many units of it are written.
    open: Option<(u64, u64)>,
}

/// Next write of a log's writer, in units.
#[derive(Debug, PartialEq, Eq)]
pub struct Append {
    /// First unit.
    pub start: u64,
    /// Length of the write, in units.
    pub length: u64,
    /// The object that is trimmed before, by its first unit and its units.
    pub trimmed: Option<(u64, u64)>,
    /// The handle of the stream.
    pub handle: Handle,
}

impl Logs {
    /// The writers of `streams`, at `key` of the configuration, whose regions follow each other in `units` units of
    /// `alignment` bytes.
    ///
    /// # Errors
    /// If objects are no multiples of a unit, or a region has room for too few of them.
    pub fn new(
        streams: &[LogStream],
        key: &str,
        (units, alignment): (u64, u64),
        random: Stream,
    ) -> Result<Self, InputError> {
        let (mut logs, mut writers, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        let (mut share, mut first) = (0.0, 0);
        for (index, stream) in streams.iter().enumerate() {
            share += stream.pages.0;
            let end = ((units as f64 * share).round() as u64).clamp(first, units);
            let key = format!("{key}.{index}.object");
            logs.push(Log::new(stream, index, &key, first..end, alignment)?);
            let count = stream.writers as usize;
            writers.extend(vec![Writer { stream: index, open: None }; count]);
            weights.extend(vec![stream.weight; count]);
            first = end;
        }
        let which = WeightedAliasIndex::new(weights);
        let which = which.expect("a checked configuration has writers with weights above 0");
        Ok(Self { streams: logs, writers, which, random })
    }

    /// The next write, of `length` units at most: of an object that ends before, less.
    pub fn append(&mut self, length: u64) -> Append {
        let writer = &mut self.writers[self.which.sample(&mut self.random)];
        let log = &mut self.streams[writer.stream];
        let (trimmed, (place, written)) = match writer.open {
            Some(open) => (None, open),
            None => {
                let (place, is_new) = log.next_place(&mut self.random);
                let trims = log.trims && !is_new;
                (trims.then(|| (log.start_of(place), log.object)), (place, 0))
            }
        };
        let length = length.min(log.object - written);
        let is_full = written + length == log.object;
        if is_full {
            log.full.push_back(place as u32);
        }
        writer.open = (!is_full).then_some((place, written + length));
        Append { start: log.start_of(place) + written, length, trimmed, handle: log.handle }
    }
}

impl Log {
    fn new(
        stream: &LogStream,
        index: usize,
        key: &str,
        region: std::ops::Range<u64>,
        alignment: u64,
    ) -> Result<Self, InputError> {
        let bytes = stream.object.0;
        let fault = |expected: String| InputError {
            place: key.to_owned(),
            problem: format!("found {bytes} bytes; expected {expected}"),
        };
        if !bytes.is_multiple_of(alignment) {
            return Err(fault(format!("a multiple of the alignment, {alignment}")));
        }
        let object = bytes / alignment;
        let (units, least) = (region.end - region.start, u64::from(stream.writers) + 1);
        let places = units / object;
        if places < least || u32::try_from(places).is_err() {
            let (region, most) = (units * alignment, u32::MAX);
            return Err(fault(format!(
                "{least} to {most} objects in the {region} bytes of the stream, one more than it has writers or more"
            )));
        }
        Ok(Self {
            first: region.start,
            object,
            places,
            taken: 0,
            full: VecDeque::new(),
            replaced: stream.replaced,
            trims: stream.trims,
            handle: Handle(stream.handle.unwrap_or(index as u16)),
        })
    }

    const fn start_of(&self, place: u64) -> u64 {
        self.first + place * self.object
    }

    /// Place of the next object, and whether it is the first one there.
    fn next_place(&mut self, random: &mut Stream) -> (u64, bool) {
        if self.taken < self.places {
            self.taken += 1;
            return (self.taken - 1, true);
        }
        let full = self.full.len() as u64;
        let place = match self.replaced {
            Replaced::Oldest => self.full.pop_front(),
            Replaced::Random => self.full.swap_remove_back(below(random, full) as usize),
        };
        (u64::from(place.expect("there are more places than writers")), false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::stream;
    use copyback_config::quantity::{Share, Size};

    fn of(object: u64, writers: u32, replaced: Replaced) -> LogStream {
        LogStream {
            pages: Share(0.5),
            object: Size(object),
            writers,
            weight: 1.0,
            replaced,
            trims: false,
            handle: None,
        }
    }

    fn logs(streams: &[LogStream]) -> Result<Logs, InputError> {
        Logs::new(streams, "key", (16, 4096), stream(1, "logs"))
    }

    fn starts(logs: &mut Logs, count: usize) -> Vec<u64> {
        (0..count).map(|_| logs.append(1).start).collect()
    }

    #[test]
    fn one_writer_in_the_order_of_age_goes_round() {
        let mut logs = logs(&[of(8192, 1, Replaced::Oldest)]).unwrap();
        let round = Vec::from_iter(0..8);
        assert_eq!([starts(&mut logs, 8), starts(&mut logs, 8)], [round.clone(), round]);
    }

    #[test]
    fn objects_are_replaced_whole_and_in_any_order() {
        let mut logs = logs(&[of(16_384, 1, Replaced::Random)]).unwrap();
        assert_eq!(starts(&mut logs, 8), Vec::from_iter(0..8));
        let mut places = Vec::new();
        for _ in 0..50 {
            let object = starts(&mut logs, 4);
            assert_eq!(object, Vec::from_iter(object[0]..object[0] + 4));
            places.push(object[0]);
        }
        assert!(places.contains(&0) && places.contains(&4));
    }

    #[test]
    fn a_write_ends_with_its_object_and_a_trim_is_of_a_whole_one() {
        let stream = LogStream { trims: true, handle: Some(7), ..of(12_288, 1, Replaced::Oldest) };
        let mut logs = logs(&[stream]).unwrap();
        let append = |start, length, trimmed| Append { start, length, trimmed, handle: Handle(7) };
        let lengths: Vec<_> = (0..4).map(|_| logs.append(2)).collect();
        let expected =
            [append(0, 2, None), append(2, 1, None), append(3, 2, None), append(5, 1, None)];
        assert_eq!(lengths, expected);
        assert_eq!(logs.append(2), append(0, 2, Some((0, 3))));
        assert_eq!(logs.append(2), append(2, 1, None));
    }

    #[test]
    fn writers_of_a_stream_have_objects_of_their_own_and_streams_regions() {
        let streams = [of(8192, 2, Replaced::Oldest), of(4096, 1, Replaced::Random)];
        let mut logs = logs(&streams).unwrap();
        let mut counts = [0_u32; 2];
        for _ in 0..3000 {
            let Append { start, handle, .. } = logs.append(1);
            assert_eq!(start / 8, u64::from(handle.0));
            counts[handle.index()] += 1;
        }
        // Two writers against one; four standard deviations of 3000 draws.
        assert!(counts[0].abs_diff(2000) < 104, "{counts:?}");
    }

    #[test]
    fn says_what_has_no_room() {
        let fault = |stream| logs(&[stream]).map(|_| ()).unwrap_err().to_string();
        assert_eq!(
            fault(of(16_384, 2, Replaced::Oldest)),
            "key.0.object: found 16384 bytes; expected 3 to 4294967295 objects in the 32768 bytes \
             of the stream, one more than it has writers or more"
        );
        assert_eq!(
            fault(of(5000, 1, Replaced::Oldest)),
            "key.0.object: found 5000 bytes; expected a multiple of the alignment, 4096"
        );
    }
}
