//! Jobs on threads of this process.

use std::num::NonZeroUsize;
use std::thread;

use copyback::executor::{Executor, Job};

/// As many threads as it is told, each for one job.
#[derive(Debug)]
pub struct Threads(pub NonZeroUsize);

impl Executor for Threads {
    fn width(&self) -> usize {
        self.0.get()
    }

    fn run(&self, jobs: Vec<Job<'_>>) {
        thread::scope(|scope| {
            let mut jobs = jobs.into_iter();
            let here = jobs.next();
            for job in jobs {
                scope.spawn(job);
            }
            here.into_iter().for_each(|job| job());
        });
    }
}
