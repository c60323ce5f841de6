//! Policies written in Python: makes them, asks them, and carries what they remember. The classes of
//! `copyback.policies.bridge` make and check them.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};

use copyback::outside::{Device, Failed, Kind, Policy, Supply};
use copyback::rng::{self, Stream};
use numpy::{Element, PyArray1, PyArrayMethods, PyReadwriteArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Exception that Python has raised in a policy, for the caller of the run: it may be a signal's.
#[derive(Debug, Clone, Default)]
pub struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    /// The exception, if there was one, else `error`.
    pub fn or(&self, error: PyErr) -> PyErr {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or(error)
    }

    /// Keeps what was raised.
    fn keep<T>(&self, outcome: PyResult<T>) -> Result<T, Failed> {
        outcome.map_err(|error| {
            let failed = Failed(error.to_string());
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            failed
        })
    }
}

/// The functions that make the policies of a run.
#[derive(Debug)]
pub struct Policies {
    makers: Makers,
    raised: Raised,
}

/// Constructors of policies, by the key of the configuration that names them. Made by `suppliers.suppliers`.
pub type Makers = BTreeMap<String, Py<PyAny>>;

impl Policies {
    pub fn new(makers: Option<Makers>, raised: Raised) -> Self {
        Self { makers: makers.unwrap_or_default(), raised }
    }
}

/// Kind of policies that may be written in Python.
pub trait InPython: Kind {
    /// The policy that `making` makes with `facts`.
    fn made(py: Python<'_>, making: &Making, facts: Self::Facts<'_>) -> PyResult<Box<Self>>;
}

impl<P: InPython + ?Sized> Supply<P> for Policies {
    fn supply(&self, facts: P::Facts<'_>, random: Stream) -> Result<Box<P>, Failed> {
        let make = self.makers.get(P::KEY).ok_or_else(|| Failed::not_supplied(P::KEY))?;
        let make = Arc::new(Python::attach(|py| make.clone_ref(py)));
        let seed = rng::seed_for_others(random);
        Making { make, seed, raised: self.raised.clone() }.policy(facts)
    }
}

/// Constructor of a policy.
#[derive(Debug, Clone)]
pub struct Making {
    make: Arc<Py<PyAny>>,
    seed: [u64; 4],
    raised: Raised,
}

impl Making {
    /// Makes the policy with `facts`.
    pub fn policy<P: InPython + ?Sized>(&self, facts: P::Facts<'_>) -> Result<Box<P>, Failed> {
        self.raised.keep(Python::attach(|py| P::made(py, self, facts)))
    }

    /// Makes the policy with facts, and with arrays that it looks at. `around` says what is called, given its methods.
    pub fn call<'py, M, T>(
        &self,
        py: Python<'py>,
        facts: impl IntoPyObject<'py>,
        columns: impl IntoPyObject<'py>,
        around: impl FnOnce(M) -> T,
    ) -> PyResult<Called<T>>
    where
        M: for<'a> FromPyObject<'a, 'py>,
    {
        let made = self.make.call1(py, (facts, self.seed, columns))?;
        let (methods, keeper): (Bound<'py, PyAny>, Keeper) = made.extract(py)?;
        let policy = around(methods.extract().map_err(Into::into)?);
        Ok(Called { policy, keeper, raised: self.raised.clone() })
    }
}

/// A policy: what is called of it, and what it remembers.
#[derive(Debug)]
pub struct Called<T> {
    pub policy: T,
    keeper: Keeper,
    raised: Raised,
}

/// Memory of a policy. Named as in `keeping.Keeper`.
#[derive(Debug, FromPyObject)]
struct Keeper {
    state: Py<PyAny>,
    restore: Py<PyAny>,
}

impl<T> Called<T> {
    /// Asks it something, in Python.
    pub fn in_python<A>(
        &mut self,
        question: impl FnOnce(Python<'_>, &mut T) -> PyResult<A>,
    ) -> Result<A, Failed> {
        self.raised.keep(Python::attach(|py| question(py, &mut self.policy)))
    }
}

impl<T: Debug + Send + Sync> Policy for Called<T> {
    fn memory(&self) -> Result<Vec<u8>, Failed> {
        self.raised.keep(Python::attach(|py| {
            let state = self.keeper.state.call0(py)?;
            Ok(state.bind(py).cast::<PyBytes>()?.as_bytes().to_vec())
        }))
    }

    fn remember(&mut self, memory: &[u8]) -> Result<(), Failed> {
        self.raised.keep(Python::attach(|py| {
            self.keeper.restore.call1(py, (PyBytes::new(py, memory),)).map(drop)
        }))
    }
}

/// In the order in which `copyback.policies.Device` names them.
pub const fn facts(device: Device) -> (u16, usize, u32, u32, u32, usize) {
    let Device { id, dies, planes_per_die, blocks_per_plane, pages_per_block, logical_pages } =
        device;
    (id.0, dies, planes_per_die, blocks_per_plane, pages_per_block, logical_pages)
}

/// A column of numbers that Python owns, to be written.
pub fn open<'py, T: Element>(
    py: Python<'py>,
    column: &Py<PyArray1<T>>,
) -> PyResult<PyReadwriteArray1<'py, T>> {
    Ok(column.bind(py).try_readwrite()?)
}
