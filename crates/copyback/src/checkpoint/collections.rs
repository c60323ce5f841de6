//! What is made of any number of values. The order of hash tables, whose values nobody goes through, may change.

use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};
use std::hash::{BuildHasher, Hash};

use copyback_memory::with_capacity;
use hashbrown::HashMap;
use hashlink::LinkedHashMap;
use smallvec::{Array, SmallVec};

use super::{Checkpointed, Loaded, Reader, Writer};

/// Writes how many there are, and each.
fn keep_all<'a, T: Checkpointed + 'a>(
    values: impl ExactSizeIterator<Item = &'a T>,
    out: &mut Writer<'_>,
) {
    out.len(values.len());
    values.for_each(|value| value.keep(out));
}

impl<T: Checkpointed> Checkpointed for Vec<T> {
    fn keep(&self, out: &mut Writer<'_>) {
        keep_all(self.iter(), out);
    }

    fn load(from: &mut Reader<'_>) -> Loaded<Self> {
        let len = from.len()?;
        let mut values = with_capacity(len);
        for _ in 0..len {
            values.push(T::load(from)?);
        }
        Ok(values)
    }
}

impl<T: Checkpointed> Checkpointed for VecDeque<T> {
    fn keep(&self, out: &mut Writer<'_>) {
        keep_all(self.iter(), out);
    }

    fn load(from: &mut Reader<'_>) -> Loaded<Self> {
        Vec::load(from).map(Self::from)
    }
}

impl<T: Checkpointed, A: Array<Item = T>> Checkpointed for SmallVec<A> {
    fn keep(&self, out: &mut Writer<'_>) {
        keep_all(self.iter(), out);
    }

    fn load(from: &mut Reader<'_>) -> Loaded<Self> {
        (0..from.len()?).map(|_| T::load(from)).collect()
    }
}

impl<T: Checkpointed + Ord> Checkpointed for BinaryHeap<T> {
    fn keep(&self, out: &mut Writer<'_>) {
        keep_all(self.iter(), out);
    }

    fn load(from: &mut Reader<'_>) -> Loaded<Self> {
        // A heap already, of which nothing moves.
        Vec::load(from).map(Self::from)
    }
}

impl<T: Checkpointed + Ord> Checkpointed for BTreeSet<T> {
    fn keep(&self, out: &mut Writer<'_>) {
        keep_all(self.iter(), out);
    }

    fn load(from: &mut Reader<'_>) -> Loaded<Self> {
        (0..from.len()?).map(|_| T::load(from)).collect()
    }
}

macro_rules! maps {
    ($($Map:ident<K, V $(, $S:ident)?> of $($bound:path)|+;)+) => {$(
        impl<K: Checkpointed $(+ $bound)+, V: Checkpointed $(, $S: BuildHasher + Default)?> Checkpointed
            for $Map<K, V $(, $S)?>
        {
            fn keep(&self, out: &mut Writer<'_>) {
                out.len(self.len());
                for (key, value) in self {
                    key.keep(out);
                    value.keep(out);
                }
            }

            fn load(from: &mut Reader<'_>) -> Loaded<Self> {
                (0..from.len()?).map(|_| Ok((K::load(from)?, V::load(from)?))).collect()
            }
        }
    )+};
}

maps! {
    BTreeMap<K, V> of Ord;
    HashMap<K, V, S> of Eq | Hash;
    LinkedHashMap<K, V, S> of Eq | Hash;
}
