//! Types of other crates: of the configuration, of the workload, and histograms.

use hdrhistogram::Histogram;

use crate::config::quantity::Rate;
use crate::config::{
    Age, AgeWeight, BusArbitration, CollectionCost, GcEnd, GcStart, PipelineOrder, QueuedWhen,
    Resolved, RoundLength, SteadyMetric, WearCompare,
};
use crate::rng::{Lot, Stream};
use crate::units::{Duration, Instant, TotalTime};
use crate::workload::{Handle, Hint, Operation, Request};

use super::{Checkpointed, Loaded, Reader, Writer};

macro_rules! as_numbers {
    ($($Type:ident: $number:ty, $to:ident, $of:ident;)+) => {$(
        impl Checkpointed for $Type {
            fn keep(&self, out: &mut Writer<'_>) {
                self.$to().keep(out);
            }

            fn load(from: &mut Reader<'_>) -> Loaded<Self> {
                <$number>::load(from).map(Self::$of)
            }
        }
    )+};
}

as_numbers! {
    Instant: u64, as_ns, from_ns;
    Duration: u64, as_ns, from_ns;
    TotalTime: u128, as_ns, from_ns;
}

macro_rules! as_json {
    ($($Type:ty),+ $(,)?) => {$(
        impl Checkpointed for $Type {
            fn keep(&self, out: &mut Writer<'_>) {
                serde_json::to_string(self).expect("it has a text").keep(out);
            }

            fn load(from: &mut Reader<'_>) -> Loaded<Self> {
                serde_json::from_str(&String::load(from)?).map_err(Into::into)
            }
        }
    )+};
}

// There are few of each, and none in a table.
as_json!(
    Age,
    AgeWeight,
    BusArbitration,
    CollectionCost,
    GcEnd,
    GcStart,
    PipelineOrder,
    QueuedWhen,
    RoundLength,
    SteadyMetric,
    WearCompare
);
as_json!(Lot, Stream);

impl Checkpointed for Rate {
    fn keep(&self, out: &mut Writer<'_>) {
        let bytes_per_second = match self {
            Self::None => None,
            Self::BytesPerSecond(rate) => Some(*rate),
        };
        bytes_per_second.keep(out);
    }

    fn load(from: &mut Reader<'_>) -> Loaded<Self> {
        Ok(Option::load(from)?.map_or(Self::None, Self::BytesPerSecond))
    }
}

/// Reads nothing: the configuration is that of the resumed run.
impl Checkpointed for Resolved {
    fn keep(&self, _: &mut Writer<'_>) {}

    fn load(from: &mut Reader<'_>) -> Loaded<Self> {
        Ok(from.config().clone())
    }
}

impl Checkpointed for Operation {
    fn keep(&self, out: &mut Writer<'_>) {
        out.variant(self.number());
    }

    fn load(from: &mut Reader<'_>) -> Loaded<Self> {
        let number = from.variant()?;
        Self::ALL.get(usize::from(number)).copied().ok_or_else(|| from.unknown_variant())
    }
}

impl Checkpointed for Hint {
    fn keep(&self, out: &mut Writer<'_>) {
        self.flow().keep(out);
        self.handle().map(|handle| handle.0).keep(out);
    }

    fn load(from: &mut Reader<'_>) -> Loaded<Self> {
        let flow = Checkpointed::load(from)?;
        Ok(Self::new(flow, Option::<u16>::load(from)?.map(Handle)))
    }
}

impl Checkpointed for Request {
    fn keep(&self, out: &mut Writer<'_>) {
        let Self { arrival, operation, offset, length, measured, hint } = self;
        arrival.keep(out);
        operation.keep(out);
        offset.keep(out);
        length.keep(out);
        measured.keep(out);
        hint.keep(out);
    }

    fn load(from: &mut Reader<'_>) -> Loaded<Self> {
        Ok(Self {
            arrival: Checkpointed::load(from)?,
            operation: Checkpointed::load(from)?,
            offset: Checkpointed::load(from)?,
            length: Checkpointed::load(from)?,
            measured: Checkpointed::load(from)?,
            hint: Checkpointed::load(from)?,
        })
    }
}

/// One that grows with its values.
impl Checkpointed for Histogram<u64> {
    fn keep(&self, out: &mut Writer<'_>) {
        self.sigfig().keep(out);
        self.high().keep(out);
        out.len(self.iter_recorded().count());
        for value in self.iter_recorded() {
            value.value_iterated_to().keep(out);
            value.count_at_value().keep(out);
        }
    }

    fn load(from: &mut Reader<'_>) -> Loaded<Self> {
        let (digits, high) = (u8::load(from)?, u64::load(from)?);
        let bounded = Self::new_with_bounds(1, high, digits);
        let mut histogram = bounded.map_err(|_| from.unknown_variant())?;
        histogram.auto(true);
        for _ in 0..from.len()? {
            let (value, count) = (u64::load(from)?, u64::load(from)?);
            histogram.record_n(value, count).map_err(|_| from.unknown_variant())?;
        }
        Ok(histogram)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use crate::config::quantity::Time;
    use crate::rng;

    use super::*;

    /// Writes a value and reads it again.
    fn again<T: Checkpointed>(value: &T) -> T {
        let (mut bytes, config) = (Vec::new(), crate::config::Config::default().resolve());
        let mut out = Writer::new(&mut bytes);
        value.keep(&mut out);
        out.finish().expect("memory takes what is written");
        let mut bytes = bytes.as_slice();
        T::load(&mut Reader::new(&mut bytes, &config, Vec::new())).expect("it was written")
    }

    fn is_the_same<T: Checkpointed + Debug>(value: &T) {
        assert_eq!(format!("{:?}", again(value)), format!("{value:?}"));
    }

    #[test]
    fn choices_of_a_configuration_are_read_as_they_were_written() {
        is_the_same(&[BusArbitration::CommandFirst, BusArbitration::InOrder]);
        is_the_same(&[GcStart::AtOnce, GcStart::BeforeOperation]);
        is_the_same(&[GcEnd::Enough, GcEnd::OneVictim]);
        is_the_same(&[PipelineOrder::Either, PipelineOrder::Joins]);
        is_the_same(&[WearCompare::EraseCounts, WearCompare::BlockNumbers]);
        is_the_same(&[RoundLength::Requests(7), RoundLength::Time(Time::from_us(7))]);
        is_the_same(&[SteadyMetric::Iops, SteadyMetric::MeanResponse, SteadyMetric::Bandwidth]);
        is_the_same(&[Rate::None, Rate::BytesPerSecond(333_000_001)]);
    }

    #[test]
    fn a_stream_of_random_numbers_goes_on_where_it_was() {
        let stream = rng::stream(7, "a stream");
        assert_eq!(again(&stream), stream);
        let lot = Lot::new(7, "a lot");
        assert_eq!(again(&lot).share([1, 2, 3]), lot.share([1, 2, 3]));
    }

    #[test]
    fn a_histogram_counts_on() {
        let mut histogram = Histogram::new(3).expect("three digits are allowed");
        for value in [0, 1, 2047, 2048, 70_001, 70_002, 123_456_789] {
            histogram.record(value).expect("it grows");
        }
        let mut other = again(&histogram);
        assert_eq!((&other, other.high()), (&histogram, histogram.high()));
        for grown in [&mut histogram, &mut other] {
            grown.record(1 << 50).expect("it grows");
        }
        assert_eq!(other, histogram);
    }
}
