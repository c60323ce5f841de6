//! The text formats that can be written, and the dispatch from a format to its writer.
//!
//! A new one is a file beside this one with a `Writer` in it, and a line in the table at the end of
//! this file.

use super::fit::Holds;
use super::{LineWriter, Record};

macro_rules! writers {
    ($($format:ident => $module:ident),+ $(,)?) => {
        /// The writer of a file, whatever its format.
        pub enum Writer {
            $(#[doc = concat!("See [`", stringify!($module), "`](super::", stringify!($module), ").")]
            $format(super::$module::Writer),)+
        }

        impl Writer {
            /// The names of the formats, as in the configuration.
            pub const NAMES: &[&str] = &[$(stringify!($module)),+];

            /// A writer of the format called `name`.
            pub fn named(name: &str) -> Option<Self> {
                match name {
                    $(stringify!($module) => Some(Self::$format(Default::default())),)+
                    _ => None,
                }
            }

            /// Capabilities of the format.
            pub fn holds(&self) -> Holds {
                match self {
                    $(Self::$format(_) => super::$module::Writer::HOLDS,)+
                }
            }

            /// Has a column of placement handles, if the format may.
            pub fn name_handles(&mut self) {
                match self {
                    $(Self::$format(writer) => writer.name_handles(),)+
                }
            }

            /// Appends what stands before the first request.
            pub fn head(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(match self {
                    $(Self::$format(writer) => writer.head().as_bytes(),)+
                });
            }

            /// Appends a request, which fits what the format holds.
            pub fn line(&mut self, record: &Record, out: &mut Vec<u8>) {
                match self {
                    $(Self::$format(writer) => writer.line(record, out),)+
                }
            }
        }
    };
}

writers! {
    Msr => msr,
    Spc => spc,
    Disksim => disksim,
    Blkreplay => blkreplay,
    Blkparse => blkparse,
    FioIolog => fio_iolog,
    Fiu => fiu,
    Alibaba => alibaba,
    Tencent => tencent,
    Systor17 => systor17,
    HpCsv => hp_csv,
    Pixel6a => pixel6a,
    Nexus5 => nexus5,
    Ssdsim => ssdsim,
    Mqsim => mqsim,
    Dtrs => dtrs,
    Replayer => replayer,
    Csv => csv,
}
