//! Placements written in Python. `copyback.policies.placing` makes them and says what is wrong with their answers; this
//! calls them, with pages as arrays.

use copyback::ids::Lpn;
use copyback::outside::{Device, Failed};
use copyback::placement::supply::{
    Answer, BlockState, ExternalPlacement, Hooks, News, Question, Updates,
};
use copyback::placement::{Class, Life, Origin};
use copyback::workload::{Handle, Hint};
use numpy::{Element, PyArray1, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList, PyTuple};

use crate::policies::{Called, InPython, Making, facts, open};

/// `copyback.FOREVER`: the age of a page that has not been written, and the time of what does not come.
const FOREVER: u64 = 1 << 60;
/// `Blocks.classes` of a block that holds no pages of a class.
const NO_CLASS: i16 = -1;

/// A placement, and the arrays of blocks that it looks at. Python owns them and sees them read-only.
#[derive(Debug)]
struct Placement {
    making: Making,
    device: Device,
    user: User,
    columns: Columns,
    /// Kept to reuse its memory.
    numbers: Vec<i64>,
}

/// The user's methods, and those of ours that say what is wrong with them. Named as in `placing.Called`.
#[derive(Debug, FromPyObject)]
struct User {
    place_host: Py<PyAny>,
    place_moved: Py<PyAny>,
    wrote: Option<Py<PyAny>>,
    moved: Option<Py<PyAny>>,
    trimmed: Option<Py<PyAny>>,
    sealed: Option<Py<PyAny>>,
    chosen: Option<Py<PyAny>>,
    collected: Option<Py<PyAny>>,
    watched: Option<Vec<u32>>,
    moves_depend_on_pages: bool,
    block: Py<PyAny>,
    failed: Py<PyAny>,
    wrong: Py<PyAny>,
    numbers: Py<PyAny>,
}

#[derive(Debug)]
struct Columns {
    classes: Py<PyArray1<i16>>,
    opened_at: Py<PyArray1<i64>>,
    sealed_at: Py<PyArray1<i64>>,
}

impl InPython for dyn ExternalPlacement {
    fn made(
        py: Python<'_>,
        making: &Making,
        (device, blocks): (Device, &[BlockState]),
    ) -> PyResult<Box<Self>> {
        let columns = Columns::new(py, blocks.len());
        columns.update(py, blocks)?;
        let (arrays, numbers) = (columns.all(py), Vec::new());
        let around = |user| Placement { making: making.clone(), device, user, columns, numbers };
        Ok(Box::new(making.call(py, facts(device), arrays, around)?))
    }
}

impl Placement {
    fn notify_in(&self, py: Python<'_>, updates: Updates<'_>) -> PyResult<bool> {
        self.columns.update(py, updates.blocks)?;
        let mut have_changed = false;
        for run in updates.news.chunk_by(News::goes_on) {
            have_changed |= self.user.notify(py, run)?;
        }
        Ok(have_changed)
    }

    fn ask_in(
        &mut self,
        py: Python<'_>,
        question: &Question<'_>,
        answers: &mut Vec<Answer>,
    ) -> PyResult<()> {
        let pages = pages_of(py, question.pages.iter().copied());
        let ages = ages_of(py, question.ages.iter().copied());
        let now = question.now;
        let (hook, answer) = match question.origin {
            Origin::Host { hint } => {
                let hint = hint.and_then(Hint::handle).map(Handle::index);
                let (hook, method) = ("place_host", &self.user.place_host);
                (hook, self.user.call(py, hook, method, (pages, ages, now, hint))?)
            }
            Origin::Moved { class } => {
                let left = class.map(Class::index);
                let (hook, method) = ("place_moved", &self.user.place_moved);
                (hook, self.user.call(py, hook, method, (pages, ages, now, left))?)
            }
        };
        self.read(hook, answer.bind(py), question, answers)
    }

    /// Reads classes, or a pair of them and of when they may be others.
    fn read(
        &mut self,
        hook: &str,
        answer: &Bound<'_, PyAny>,
        question: &Question<'_>,
        answers: &mut Vec<Answer>,
    ) -> PyResult<()> {
        let pair = answer.cast::<PyTuple>().ok().filter(|pair| pair.len() == 2);
        let (classes, until) = match pair {
            Some(pair) => (pair.get_item(0)?, Some(pair.get_item(1)?)),
            None => (answer.clone(), None),
        };
        let count = question.pages.len();
        let allowed = question.allowed();
        let (first, last) = (allowed.start, allowed.end - 1);
        if !self.take_numbers(&classes, count)? {
            return Err(self.user.wrong(
                hook,
                &classes,
                &format!("a class for each page, {count} whole numbers, or one for all, from {first} to {last}"),
            )?);
        }
        for class in &self.numbers {
            let number = usize::try_from(*class).ok().filter(|number| allowed.contains(number));
            let Some(class) = number else {
                let found = class.into_pyobject(answer.py())?;
                return Err(self.user.wrong(
                    hook,
                    &found,
                    &format!("classes from {first} to {last}"),
                )?);
            };
            answers.push(Answer { class, until: None });
        }
        match until.filter(|until| !until.is_none()) {
            Some(until) => self.read_until(hook, &until, answers),
            None => Ok(()),
        }
    }

    /// Takes one whole number for all, or `count` of them. Returns whether that is what was answer.
    fn take_numbers(&mut self, answer: &Bound<'_, PyAny>, count: usize) -> PyResult<bool> {
        self.numbers.clear();
        if let Some(one) = one_number(answer) {
            self.numbers.resize(count, one);
            return Ok(true);
        }
        Ok(self.user.read_numbers(answer, &mut self.numbers)? && self.numbers.len() == count)
    }

    fn read_until(
        &mut self,
        hook: &str,
        until: &Bound<'_, PyAny>,
        answers: &mut [Answer],
    ) -> PyResult<()> {
        if !self.take_numbers(until, answers.len())? {
            return Err(self.user.wrong(hook, until, &format!(
                "as the second of a pair when the classes may be others: None, a whole number, or {} of them",
                answers.len()
            ))?);
        }
        for (answer, until) in answers.iter_mut().zip(&self.numbers) {
            answer.until = Some(u64::try_from(*until).unwrap_or(0));
        }
        Ok(())
    }
}

impl ExternalPlacement for Called<Placement> {
    fn hooks(&self) -> Hooks {
        let User { wrote, moved, trimmed, sealed, chosen, collected, watched, .. } =
            &self.policy.user;
        let bit = |class: &u32| 1_u128.checked_shl(*class).unwrap_or(0);
        Hooks {
            wrote: wrote.is_some(),
            moved: moved.is_some(),
            trimmed: trimmed.is_some(),
            sealed: sealed.is_some(),
            chosen: chosen.is_some(),
            collected: collected.is_some(),
            watched: watched
                .as_ref()
                .map_or(u128::MAX, |classes| classes.iter().map(bit).fold(0, |all, one| all | one)),
            moves_depend_on_pages: self.policy.user.moves_depend_on_pages,
        }
    }

    fn notify(&mut self, updates: Updates<'_>) -> Result<bool, Failed> {
        self.in_python(|py, placement| placement.notify_in(py, updates))
    }

    fn ask(
        &mut self,
        updates: Updates<'_>,
        question: &Question<'_>,
        answers: &mut Vec<Answer>,
    ) -> Result<bool, Failed> {
        self.in_python(|py, placement| {
            let have_changed = placement.notify_in(py, updates)?;
            placement.ask_in(py, question, answers)?;
            Ok(have_changed)
        })
    }

    fn anew(&self, blocks: &[BlockState]) -> Result<Box<dyn ExternalPlacement>, Failed> {
        let Placement { making, device, .. } = &self.policy;
        making.policy((*device, blocks))
    }
}

impl User {
    /// Tells of pages to which the same has happened, or of a block. Returns whether answers do not hold any more.
    fn notify(&self, py: Python<'_>, run: &[News]) -> PyResult<bool> {
        let pages = || pages_of(py, run.iter().filter_map(page));
        let ages = || ages_of(py, run.iter().filter_map(age));
        let Some(first) = run.first() else { return Ok(false) };
        match *first {
            News::Wrote { now, .. } => {
                self.call_hook(py, "wrote", &self.wrote, (pages(), ages(), now))
            }
            News::Trimmed { now, .. } => {
                self.call_hook(py, "trimmed", &self.trimmed, (pages(), ages(), now))
            }
            News::Moved { left, .. } => {
                self.call_hook(py, "moved", &self.moved, (pages(), left.map(Class::index)))
            }
            News::Sealed(block) => {
                self.call_hook(py, "sealed", &self.sealed, (self.block(py, block)?,))
            }
            News::Chosen { block, now } => {
                self.call_hook(py, "chosen", &self.chosen, (self.block(py, block)?, now))
            }
            News::Collected { block, now } => {
                self.call_hook(py, "collected", &self.collected, (self.block(py, block)?, now))
            }
        }
    }

    fn call_hook<'py>(
        &self,
        py: Python<'py>,
        hook: &str,
        method: &Option<Py<PyAny>>,
        arguments: impl PyCallArgs<'py>,
    ) -> PyResult<bool> {
        let Some(method) = method else { return Ok(false) };
        let answer = self.call(py, hook, method, arguments)?;
        if answer.is_none(py) {
            return Ok(false);
        }
        answer.is_truthy(py).map_err(|error| self.fault(py, hook, error))
    }

    /// Calls a method of the user's; what it raises is the user's fault.
    fn call<'py>(
        &self,
        py: Python<'py>,
        hook: &str,
        method: &Py<PyAny>,
        arguments: impl PyCallArgs<'py>,
    ) -> PyResult<Py<PyAny>> {
        method.call1(py, arguments).map_err(|error| self.fault(py, hook, error))
    }

    fn fault(&self, py: Python<'_>, hook: &str, error: PyErr) -> PyErr {
        // With its traceback.
        let value = error.clone_ref(py).into_value(py);
        let fault = self.failed.call1(py, (hook, value));
        fault.map_or_else(|error| error, |fault| PyErr::from_value(fault.into_bound(py)))
    }

    /// The fault that an answer is.
    fn wrong(&self, hook: &str, answer: &Bound<'_, PyAny>, allowed: &str) -> PyResult<PyErr> {
        let fault = self.wrong.call1(answer.py(), (hook, answer, allowed))?;
        Ok(PyErr::from_value(fault.into_bound(answer.py())))
    }

    fn block(&self, py: Python<'_>, block: Life) -> PyResult<Py<PyAny>> {
        let Life { block, class, opened, sealed, valid } = block;
        self.block.call1(py, (block.0, class.index(), opened, sealed, valid))
    }

    /// Reads whole numbers of whatever form. Returns whether they are.
    fn read_numbers(&self, from: &Bound<'_, PyAny>, into: &mut Vec<i64>) -> PyResult<bool> {
        if let Ok(array) = from.cast::<PyArray1<i64>>() {
            read_array(array, into, |number| number);
        } else if let Ok(array) = from.cast::<PyArray1<bool>>() {
            read_array(array, into, i64::from);
        } else if let Ok(list) = from.cast::<PyList>()
            && let Ok(numbers) = list.extract::<Vec<i64>>()
        {
            into.extend(numbers);
        } else {
            let array = self.numbers.call1(from.py(), (from,))?;
            let Ok(array) = array.bind(from.py()).cast::<PyArray1<i64>>() else { return Ok(false) };
            read_array(array, into, |number| number);
        }
        Ok(true)
    }
}

impl Columns {
    fn new(py: Python<'_>, blocks: usize) -> Self {
        let numbers = || PyArray1::from_vec(py, vec![FOREVER as i64; blocks]).unbind();
        Self {
            classes: PyArray1::from_vec(py, vec![NO_CLASS; blocks]).unbind(),
            opened_at: numbers(),
            sealed_at: numbers(),
        }
    }

    /// In the order in which `copyback.policies.placement.Blocks` names them.
    fn all<'py>(&self, py: Python<'py>) -> [Bound<'py, PyAny>; 3] {
        [
            self.classes.bind(py).clone().into_any(),
            self.opened_at.bind(py).clone().into_any(),
            self.sealed_at.bind(py).clone().into_any(),
        ]
    }

    fn update(&self, py: Python<'_>, changed: &[BlockState]) -> PyResult<()> {
        if changed.is_empty() {
            return Ok(());
        }
        let mut classes = open(py, &self.classes)?;
        let (mut opened_at, mut sealed_at) =
            (open(py, &self.opened_at)?, open(py, &self.sealed_at)?);
        let (classes, opened_at) = (classes.as_slice_mut()?, opened_at.as_slice_mut()?);
        let sealed_at = sealed_at.as_slice_mut()?;
        for BlockState { block, class, opened, sealed } in changed {
            let place = block.index();
            classes[place] = class.map_or(NO_CLASS, |class| class.index() as i16);
            let sealed = sealed.filter(|_| class.is_some());
            opened_at[place] = class.map_or(FOREVER, |_| *opened) as i64;
            sealed_at[place] = sealed.unwrap_or(FOREVER) as i64;
        }
        Ok(())
    }
}

/// The number that `answer` is, if it is one.
fn one_number(answer: &Bound<'_, PyAny>) -> Option<i64> {
    // To ask an array or a list whether it is a number raises an error, which takes longer than all the rest.
    let is_array = || answer.cast::<PyUntypedArray>().is_ok_and(|array| array.ndim() > 0);
    let may_be_one =
        answer.is_instance_of::<PyInt>() || !(is_array() || answer.is_instance_of::<PyList>());
    may_be_one.then(|| answer.extract::<i64>().ok()).flatten()
}

/// Reads the elements of `array`.
fn read_array<T: Element + Copy>(
    array: &Bound<'_, PyArray1<T>>,
    into: &mut Vec<i64>,
    number: impl Fn(T) -> i64,
) {
    // A copy needs no lock on the array; one that is strided can't be copied at once.
    match array.to_vec() {
        Ok(copy) => into.extend(copy.into_iter().map(number)),
        Err(_) => into.extend(array.readonly().as_array().iter().map(|one| number(*one))),
    }
}

const fn page(news: &News) -> Option<Lpn> {
    match news {
        News::Wrote { lpn, .. } | News::Trimmed { lpn, .. } | News::Moved { lpn, .. } => Some(*lpn),
        News::Sealed(_) | News::Chosen { .. } | News::Collected { .. } => None,
    }
}

const fn age(news: &News) -> Option<Option<u64>> {
    match news {
        News::Wrote { age, .. } | News::Trimmed { age, .. } => Some(*age),
        _ => None,
    }
}

fn pages_of(py: Python<'_>, pages: impl Iterator<Item = Lpn>) -> Bound<'_, PyArray1<i64>> {
    array(py, pages.map(|page| i64::from(page.0)))
}

fn ages_of(py: Python<'_>, ages: impl Iterator<Item = Option<u64>>) -> Bound<'_, PyArray1<i64>> {
    array(py, ages.map(|age| age.map_or(FOREVER, |age| age.min(FOREVER)) as i64))
}

fn array(py: Python<'_>, numbers: impl Iterator<Item = i64>) -> Bound<'_, PyArray1<i64>> {
    let numbers: Vec<i64> = numbers.collect();
    PyArray1::from_slice(py, &numbers)
}
