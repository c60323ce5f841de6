//! The mapping table in a file: four bytes an entry, little endian, in chunks. Read entry by entry, a
//! table of a hundred million would take longer than all else.

use std::borrow::Cow;
use std::fmt;

use copyback_memory::extend;

use serde::de::{Error, SeqAccess, Visitor};
use serde::ser::SerializeSeq;
use serde::{Deserializer, Serializer};
use serde_bytes::{ByteBuf, Bytes};

use crate::ids::Ppn;

/// Entries of a chunk: 4 KiB, what a decoder of a state file holds at once.
const CHUNK: usize = 1024;
const ENTRY: usize = size_of::<u32>();

pub fn serialize<S: Serializer>(table: &[Option<Ppn>], serializer: S) -> Result<S::Ok, S::Error> {
    let mut bytes = Vec::with_capacity(CHUNK * ENTRY);
    let mut chunks = serializer.serialize_seq(Some(table.len().div_ceil(CHUNK)))?;
    for chunk in table.chunks(CHUNK) {
        bytes.clear();
        bytes.extend(chunk.iter().flat_map(|page| Ppn::to_entry(*page).to_le_bytes()));
        chunks.serialize_element(Bytes::new(&bytes))?;
    }
    chunks.end()
}

pub fn deserialize<'de, D: Deserializer<'de>>(
    reader: D,
) -> Result<Cow<'static, [Option<Ppn>]>, D::Error> {
    reader.deserialize_seq(Table).map(Cow::Owned)
}

struct Table;

impl<'de> Visitor<'de> for Table {
    type Value = Vec<Option<Ppn>>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("chunks of a mapping table")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut chunks: A) -> Result<Self::Value, A::Error> {
        let mut table = Vec::new();
        while let Some(bytes) = chunks.next_element::<ByteBuf>()? {
            let (entries, rest) = bytes.as_chunks::<ENTRY>();
            if !rest.is_empty() {
                return Err(Error::invalid_length(bytes.len(), &self));
            }
            let pages = entries.iter().map(|entry| Ppn::from_entry(u32::from_le_bytes(*entry)));
            extend(&mut table, pages);
        }
        table.shrink_to_fit();
        Ok(table)
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Saved(#[serde(with = "super")] Cow<'static, [Option<Ppn>]>);

    #[test]
    fn a_table_of_several_chunks_is_read_as_it_was_written() {
        let entry = |index| (index % 3 > 0).then(|| Ppn::from_index(index));
        let table = Saved((0..5 * CHUNK / 2).map(entry).collect());
        let bytes = postcard::to_stdvec(&table).expect("memory takes any bytes");
        assert_eq!(postcard::from_bytes(&bytes), Ok(table));
    }
}
