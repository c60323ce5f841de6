//! Faults of the simulator as Python exceptions.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use copyback::Error;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

pyo3::create_exception!(
    copyback,
    InputError,
    PyValueError,
    "The user's input is at fault; str() has one line a fault."
);
pyo3::create_exception!(
    copyback,
    SimulationError,
    PyRuntimeError,
    "The machine or the simulator is at fault."
);

thread_local! {
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps what a panic says for [`run`] instead of printing it, unless `COPYBACK_DEBUG` is set.
pub fn keep_panics_quiet() {
    if std::env::var_os("COPYBACK_DEBUG").is_some() {
        return;
    }
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if PANIC.try_with(|kept| *kept.borrow_mut() = Some(panic.to_string())).is_err() {
            default(panic);
        }
    }));
}

/// Runs the simulator without the GIL; an error or a panic becomes an exception.
pub fn run<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T, Error> + Send) -> PyResult<T> {
    let outcome = py.detach(|| catch_unwind(AssertUnwindSafe(work)));
    match outcome {
        Ok(result) => result.map_err(exception),
        Err(_) => {
            let message = PANIC.with_borrow_mut(Option::take).unwrap_or_default();
            let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
            Err(SimulationError::new_err(format!("internal error: {line}")))
        }
    }
}

/// The exception that stands for `error`.
fn exception(error: Error) -> PyErr {
    match error {
        Error::Input(lines) => InputError::new_err(lines),
        other => SimulationError::new_err(other.to_string()),
    }
}
