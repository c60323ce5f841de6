//! Numbers, and what is made of a fixed number of values.

use std::cmp::Reverse;
use std::num::{NonZeroU8, NonZeroU32, NonZeroU64};
use std::ops::Range;

use super::{Checkpointed, Loaded, Reader, Writer};

macro_rules! numbers {
    ($($number:ty),+) => {$(
        impl Checkpointed for $number {
            #[inline(never)]
            fn keep(&self, out: &mut Writer<'_>) {
                out.bytes(&self.to_le_bytes());
            }

            #[inline(never)]
            fn load(from: &mut Reader<'_>) -> Loaded<Self> {
                from.array().map(Self::from_le_bytes)
            }
        }
    )+};
}

numbers!(u8, u16, u32, u64, u128, i64, i128, f64);

impl Checkpointed for usize {
    fn keep(&self, out: &mut Writer<'_>) {
        (*self as u64).keep(out);
    }

    fn load(from: &mut Reader<'_>) -> Loaded<Self> {
        u64::load(from).map(|number| number as Self)
    }
}

impl Checkpointed for bool {
    fn keep(&self, out: &mut Writer<'_>) {
        u8::from(*self).keep(out);
    }

    fn load(from: &mut Reader<'_>) -> Loaded<Self> {
        u8::load(from).map(|number| number != 0)
    }
}

macro_rules! non_zero {
    ($($NonZero:ident of $number:ty;)+) => {$(
        impl Checkpointed for $NonZero {
            fn keep(&self, out: &mut Writer<'_>) {
                self.get().keep(out);
            }

            fn load(from: &mut Reader<'_>) -> Loaded<Self> {
                Self::new(<$number>::load(from)?).ok_or_else(|| from.unknown_variant())
            }
        }
    )+};
}

non_zero! {
    NonZeroU8 of u8;
    NonZeroU32 of u32;
    NonZeroU64 of u64;
}

impl Checkpointed for () {
    fn keep(&self, _: &mut Writer<'_>) {}

    fn load(_: &mut Reader<'_>) -> Loaded<Self> {
        Ok(())
    }
}

impl Checkpointed for String {
    fn keep(&self, out: &mut Writer<'_>) {
        out.len(self.len());
        out.bytes(self.as_bytes());
    }

    fn load(from: &mut Reader<'_>) -> Loaded<Self> {
        let mut bytes = vec![0; from.len()?];
        from.fill(&mut bytes)?;
        Self::from_utf8(bytes).map_err(|_| from.unknown_variant())
    }
}

impl<T: Checkpointed> Checkpointed for Option<T> {
    fn keep(&self, out: &mut Writer<'_>) {
        self.is_some().keep(out);
        if let Some(value) = self {
            value.keep(out);
        }
    }

    fn load(from: &mut Reader<'_>) -> Loaded<Self> {
        bool::load(from)?.then(|| T::load(from)).transpose()
    }
}

impl<T: Checkpointed> Checkpointed for Box<T> {
    fn keep(&self, out: &mut Writer<'_>) {
        (**self).keep(out);
    }

    fn load(from: &mut Reader<'_>) -> Loaded<Self> {
        T::load(from).map(Self::new)
    }
}

impl<T: Checkpointed> Checkpointed for Reverse<T> {
    fn keep(&self, out: &mut Writer<'_>) {
        self.0.keep(out);
    }

    fn load(from: &mut Reader<'_>) -> Loaded<Self> {
        T::load(from).map(Self)
    }
}

impl<T: Checkpointed> Checkpointed for Range<T> {
    fn keep(&self, out: &mut Writer<'_>) {
        self.start.keep(out);
        self.end.keep(out);
    }

    fn load(from: &mut Reader<'_>) -> Loaded<Self> {
        Ok(T::load(from)?..T::load(from)?)
    }
}

impl<T: Checkpointed, const N: usize> Checkpointed for [T; N] {
    fn keep(&self, out: &mut Writer<'_>) {
        self.iter().for_each(|value| value.keep(out));
    }

    fn load(from: &mut Reader<'_>) -> Loaded<Self> {
        let mut values = Vec::with_capacity(N);
        for _ in 0..N {
            values.push(T::load(from)?);
        }
        values.try_into().map_err(|_| from.unknown_variant())
    }
}

macro_rules! tuples {
    ($(($($part:ident $index:tt),+))+) => {$(
        impl<$($part: Checkpointed),+> Checkpointed for ($($part,)+) {
            fn keep(&self, out: &mut Writer<'_>) {
                $(self.$index.keep(out);)+
            }

            fn load(from: &mut Reader<'_>) -> Loaded<Self> {
                Ok(($($part::load(from)?,)+))
            }
        }
    )+};
}

tuples!((A 0, B 1) (A 0, B 1, C 2));
