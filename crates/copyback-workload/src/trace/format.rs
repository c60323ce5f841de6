//! The formats, and the dispatch from a format to the parser of its lines.
//!
//! A new format is a file beside this one with a `Parser` in it, a line in [`TraceFormat`], and a
//! line in the table at the end of this file.

use super::devices::Selector;
use super::fault::Fault;
use super::number;
use super::record::{Record, SECTOR};
pub use copyback_config::TraceFormat;
use copyback_config::quantity::Size;
use copyback_config::{BlkparseAction, CsvFormat};

/// Parser of a text format. A parser is made anew for each file and is fed its lines in order, without line
/// ends, blank lines left out.
pub trait LineParser: Default {
    /// Optional: takes what the configuration says about the format.
    fn configure(&mut self, _format: &TraceFormat) {}

    /// Whether a line is certainly of this format. Must not accept a look-alike.
    fn recognises(line: &[u8]) -> bool;

    /// Optional: whether a file that starts with `head` is certainly of this binary format.
    fn recognises_start(_head: &[u8]) -> bool {
        false
    }

    /// Optional: what the next call of `parse` should get. Binary formats ask for bytes.
    #[inline]
    fn wants(&self) -> Piece {
        Piece::Line
    }

    /// The request on this line; `None` if the line is part of a header.
    fn parse(&mut self, line: &[u8]) -> Result<Option<Record>, Fault>;

    /// Optional: where it is, for a format that reads its file by itself.
    fn rows_read(&self) -> Option<RowsRead> {
        None
    }

    /// Optional: whether rows may name placement handles.
    fn names_handles(&self) -> bool {
        false
    }

    /// Optional: what the user should know about the lines so far, a sentence each.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Optional: checks at the end of the file what no single line can show.
    fn at_end(&self) -> Result<(), Fault> {
        Ok(())
    }

    /// Optional: whether the piece behind one that was refused is surely the start of a row.
    fn can_go_on(&self) -> bool {
        true
    }

    /// Optional: whether rows stand in the order in which requests completed, or nearly, not arrived.
    /// Then they are put in order of arrival.
    const BY_COMPLETION: bool = false;

    /// Optional: how a device is named, for messages.
    const DEVICE: &'static str = "a device's number";

    /// Optional: which devices `name` stands for; `None` if it is no name of one.
    fn selector(name: &[u8]) -> Option<Selector> {
        let hexadecimal = name.strip_prefix(b"0x");
        hexadecimal.map_or_else(|| number::whole(name), number::hexadecimal).map(Selector::only)
    }
}

/// Progress of a format that reads its file by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowsRead {
    /// The last row handed out, from 1; 0 before the first.
    pub row: u64,
    /// Rows in all.
    pub rows: u64,
}

/// Piece of input that a parser is fed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece {
    /// A line, without its end.
    Line,
    /// Bytes: this number of them, up to 64 KiB.
    Bytes(usize),
    /// No input: the parser reads its file by itself.
    Nothing,
    /// No more input: the parser has read all of its file.
    End,
}

macro_rules! formats {
    ($($format:ident $({ $($key:tt: $default:expr),+ })? => $module:ident),+ $(,)?) => {
        /// The parser of a file, whatever its format.
        #[derive(Debug)]
        pub enum Parser {
            $(#[doc = concat!("See [`", stringify!($module), "`](super::", stringify!($module), ").")]
            $format(super::$module::Parser),)+
        }

        impl Parser {
            /// Every format, with its keys at their defaults, and its name in the configuration.
            pub const FORMATS: &[(TraceFormat, &str)] =
                &[$((TraceFormat::$format $({ $($key: $default),+ })?, stringify!($module))),+];

            /// The name of a format in the configuration.
            pub fn name(format: &TraceFormat) -> &'static str {
                match format {
                    $(TraceFormat::$format { .. } => stringify!($module),)+
                }
            }

            /// A parser for the start of a file.
            pub fn new(format: &TraceFormat) -> Self {
                let mut parser = match format {
                    $(TraceFormat::$format { .. } => Self::$format(Default::default()),)+
                };
                match &mut parser {
                    $(Self::$format(parser) => parser.configure(format),)+
                }
                parser
            }

            /// Whether `line` is certainly of this format.
            pub fn recognises(format: &TraceFormat, line: &[u8]) -> bool {
                match format {
                    $(TraceFormat::$format { .. } => super::$module::Parser::recognises(line),)+
                }
            }

            /// Whether a file that starts with `head` is certainly of this binary format.
            pub fn recognises_start(format: &TraceFormat, head: &[u8]) -> bool {
                match format {
                    $(TraceFormat::$format { .. } => {
                        super::$module::Parser::recognises_start(head)
                    })+
                }
            }

            /// Piece that the next call of `parse` should get.
            #[inline]
            pub fn wants(&self) -> Piece {
                match self {
                    $(Self::$format(parser) => parser.wants(),)+
                }
            }

            /// The request on the next line; `None` if it is part of a header.
            #[inline]
            pub fn parse(&mut self, line: &[u8]) -> Result<Option<Record>, Fault> {
                match self {
                    $(Self::$format(parser) => parser.parse(line),)+
                }
            }

            /// Progress in the file, if the format reads its file by itself.
            pub fn rows_read(&self) -> Option<RowsRead> {
                match self {
                    $(Self::$format(parser) => parser.rows_read(),)+
                }
            }

            /// Whether rows may name placement handles.
            pub fn names_handles(&self) -> bool {
                match self {
                    $(Self::$format(parser) => parser.names_handles(),)+
                }
            }

            /// Notes for the user about the lines so far.
            pub fn notes(&self) -> Vec<String> {
                match self {
                    $(Self::$format(parser) => parser.notes(),)+
                }
            }

            /// Checks at the end of the file what no single line can show.
            pub fn at_end(&self) -> Result<(), Fault> {
                match self {
                    $(Self::$format(parser) => parser.at_end(),)+
                }
            }

            /// Whether the piece behind one that was refused is surely the start of a row.
            pub fn can_go_on(&self) -> bool {
                match self {
                    $(Self::$format(parser) => parser.can_go_on(),)+
                }
            }

            /// Whether rows stand in the order in which requests completed, or nearly, not arrived.
            pub fn is_by_completion(&self) -> bool {
                match self {
                    $(Self::$format(_) => <super::$module::Parser as LineParser>::BY_COMPLETION,)+
                }
            }

            /// Selects the devices of a trace in `format` that the name stands for; the error says how a device
            /// is named.
            pub fn selector(format: &TraceFormat, name: &[u8]) -> Result<Selector, &'static str> {
                match format {
                    $(TraceFormat::$format { .. } => super::$module::Parser::selector(name)
                        .ok_or(<super::$module::Parser as LineParser>::DEVICE),)+
                }
            }
        }
    };
}

formats! {
    Msr => msr,
    Spc => spc,
    Disksim { size_unit: Size(SECTOR), time_unit: None } => disksim,
    Blkreplay => blkreplay,
    Blkparse { action: BlkparseAction::Queued, fields: None } => blkparse,
    BlockEvents { action: BlkparseAction::Issued } => block_events,
    FioIolog => fio_iolog,
    FioLatency => fio_latency,
    Biosnoop => biosnoop,
    Etw => etw,
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
    Replayer { time_unit: None } => replayer,
    Flashnet => flashnet,
    Csv { 0: CsvFormat::EMPTY } => csv,
    LibcachesimCsv { operation: None, object_unit: None } => libcachesim_csv,
    HpSrt => hp_srt,
    Vscsi => vscsi,
    Blktrace { action: BlkparseAction::Queued } => blktrace,
    Libcachesim { operation: None, object_unit: None } => libcachesim,
    Parquet => parquet,
}
