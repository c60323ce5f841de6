//! Checkpoints of collections of values. The order of hash tables, whose values nobody goes through, may
//! change.

use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};
use std::hash::{BuildHasher, Hash};

use copyback_memory::with_capacity;
use hashbrown::HashMap;
use hashlink::LinkedHashMap;
use smallvec::{Array, SmallVec};

use super::{Checkpointed, Loaded, Reader, Writer};

// Built by the calls that runs make of them, which are compiled anyway: to collect sorts, or looks for a hole.

macro_rules! collections {
    ($($Collection:ident<T> $(of $bound:path)?, by $add:ident;)+) => {$(
        impl<T: Checkpointed $(+ $bound)?> Checkpointed for $Collection<T> {
            fn keep(&self, out: &mut Writer<'_>) {
                out.len(self.len());
                for value in self {
                    value.keep(out);
                }
            }

            fn load(from: &mut Reader<'_>) -> Loaded<Self> {
                let mut values = Self::new();
                for _ in 0..from.len()? {
                    values.$add(T::load(from)?);
                }
                Ok(values)
            }
        }
    )+};
}

collections! {
    // In the order of its memory, in which no value moves up.
    BinaryHeap<T> of Ord, by push;
    BTreeSet<T> of Ord, by insert;
    VecDeque<T>, by push_back;
}

impl<T: Checkpointed> Checkpointed for Vec<T> {
    fn keep(&self, out: &mut Writer<'_>) {
        out.len(self.len());
        for value in self {
            value.keep(out);
        }
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

impl<T: Checkpointed, A: Array<Item = T>> Checkpointed for SmallVec<A> {
    fn keep(&self, out: &mut Writer<'_>) {
        out.len(self.len());
        for value in self {
            value.keep(out);
        }
    }

    fn load(from: &mut Reader<'_>) -> Loaded<Self> {
        let mut values = Self::new();
        for _ in 0..from.len()? {
            values.push(T::load(from)?);
        }
        Ok(values)
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
                let mut values = Self::default();
                for _ in 0..from.len()? {
                    let (key, value) = (K::load(from)?, V::load(from)?);
                    values.insert(key, value);
                }
                Ok(values)
            }
        }
    )+};
}

maps! {
    BTreeMap<K, V> of Ord;
    HashMap<K, V, S> of Eq | Hash;
    LinkedHashMap<K, V, S> of Eq | Hash;
}
