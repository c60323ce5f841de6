//! Executor of jobs that have nothing to do with each other. This crate starts no thread: whoever calls it may
//! hand in something that does.

use std::fmt::Debug;

/// A job that shares nothing with those beside it.
pub type Job<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Carries out jobs. What they give does not depend on their order, nor on how many go on at once.
pub trait Executor: Debug + Send + Sync {
    /// Number of jobs that it carries out at once.
    fn width(&self) -> usize;

    /// Carries out all of them.
    fn run(&self, jobs: Vec<Job<'_>>);
}

/// One job after the other, where it is called.
#[derive(Debug)]
pub struct InTurn;

impl Executor for InTurn {
    fn width(&self) -> usize {
        1
    }

    fn run(&self, jobs: Vec<Job<'_>>) {
        for job in jobs {
            job();
        }
    }
}
