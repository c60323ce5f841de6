//! Jobs on threads of this process.

use std::num::NonZeroUsize;

use copyback::config::Config;
use copyback::executor::{Executor, Job};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Pool of threads: the caller's, and others that wait for jobs, of which a run hands out thousands.
#[derive(Debug)]
pub struct Threads {
    width: NonZeroUsize,
    /// Other threads; `None` if there is only the caller's, or the system gives no more.
    others: Option<ThreadPool>,
}

impl Threads {
    /// No more than a configuration has drives.
    pub fn new(most: NonZeroUsize, config: &Config) -> Self {
        let drives = NonZeroUsize::new(config.array.devices as usize);
        let width = drives.map_or(most, |drives| most.min(drives));
        let pool = ThreadPoolBuilder::new().num_threads(width.get() - 1);
        let others = (width.get() > 1).then(|| pool.build().ok()).flatten();
        Self { width, others }
    }
}

impl Executor for Threads {
    fn width(&self) -> usize {
        if self.others.is_some() { self.width.get() } else { 1 }
    }

    fn run(&self, jobs: Vec<Job<'_>>) {
        let mut jobs = jobs.into_iter();
        let here = jobs.next();
        let Some(others) = &self.others else {
            return here.into_iter().chain(jobs).for_each(|job| job());
        };
        others.in_place_scope(|scope| {
            for job in jobs {
                scope.spawn(|_| job());
            }
            here.into_iter().for_each(|job| job());
        });
    }
}
