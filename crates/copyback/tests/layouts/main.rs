//! Layouts of arrays against independent oracles: where every byte goes, with tables that are written
//! from the definition, and what parity is worth, with real bytes on small drives.

mod bytes;
mod counts;
mod field;
mod hole;
mod lost;
mod mirrors;
mod parity;
mod placement;
mod redundant;
mod scrub;
mod table;
