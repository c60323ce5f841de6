//! The Python face of the simulator: it converts and calls, nothing else.

// PyO3 hands arguments over by value.
#![allow(clippy::needless_pass_by_value)]

mod config;
mod coordinator;
mod error;
mod placement;
mod policies;
mod schedule;
#[cfg(target_os = "linux")]
mod serve;
mod simulation;
mod tables;
mod threads;
mod traces;
mod victims;

use pyo3::prelude::*;

#[cfg(unix)]
#[global_allocator]
static ALLOCATOR: copyback_memory::LastWords = copyback_memory::LastWords;

/// The compiled module `copyback._core`; `_core.pyi` describes it.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::config::{
        Config, json_schema, policies, presets, rate_bytes_per_s, reference_markdown, size_bytes,
        statistics_schema, summary_schema, time_ns, workload_presets,
    };
    #[pymodule_export]
    use super::error::{InputError, SimulationError};
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use super::serve::Server;
    #[pymodule_export]
    use super::simulation::{Found, Preparation, Progress, Simulation};
    #[pymodule_export]
    use super::tables::{TableReader, TableWriter, arrow_stream, student_quantile};
    #[pymodule_export]
    use super::traces::{
        Conversion, InputCheck, Survey, read_whole, trace_target, writable_formats,
    };

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __model__: &str = copyback::MODEL;

    #[pymodule_init]
    fn init(_module: &super::Bound<'_, super::PyModule>) -> super::PyResult<()> {
        super::error::keep_panics_quiet();
        Ok(())
    }
}
