//! Bytes in a file, in chunks that a decoder of a state file can hold.

use serde::{Deserialize, Deserializer, Serializer};
use serde_bytes::{ByteBuf, Bytes};

const CHUNK: usize = 4096;

pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(bytes.chunks(CHUNK).map(Bytes::new))
}

pub fn deserialize<'de, D: Deserializer<'de>>(reader: D) -> Result<Vec<u8>, D::Error> {
    let chunks = Vec::<ByteBuf>::deserialize(reader)?;
    Ok(chunks.into_iter().flat_map(ByteBuf::into_vec).collect())
}
