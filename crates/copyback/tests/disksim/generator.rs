//! The request streams of DiskSim's validation runs: one open process, inter-arrival times uniform
//! below 1 ms, page-aligned requests of geometric size over an eighth of the device, drawn from the
//! 48-bit generator of POSIX `drand48`.

use std::fmt;

/// Pages that the requests go to.
const PAGES: u64 = 877_363;
const SECTORS_PER_PAGE: u64 = 8;
const FIRST_SEED: u64 = 42;
const SECOND_SEED: u64 = 1_000_003;

/// A validation run.
#[derive(Debug, Clone, Copy)]
pub struct Synthetic {
    /// Requests drawn; the last is never served there, and is left out here.
    pub requests: u64,
    /// Each request follows the one before it.
    pub sequential: bool,
    /// All reads, or all writes.
    pub reads: bool,
}

/// A request, printed as a line of DiskSim's ASCII traces.
pub struct Request {
    milliseconds: f64,
    page: u64,
    pages: u64,
    read: bool,
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sector, sectors) = (self.page * SECTORS_PER_PAGE, self.pages * SECTORS_PER_PAGE);
        write!(f, "{:.6} 0 {sector} {sectors} {}", self.milliseconds, u8::from(self.read))
    }
}

/// The linear congruential generator of POSIX `drand48`.
struct Drand48(u64);

impl Drand48 {
    fn new(seed: u64) -> Self {
        Self((seed << 16) + 0x330e)
    }

    fn next(&mut self) -> f64 {
        self.0 = 0x5_deec_e66d_u64.wrapping_mul(self.0).wrapping_add(0xb) & ((1 << 48) - 1);
        self.0 as f64 / (1_u64 << 48) as f64
    }
}

/// The requests of a run.
pub fn requests(run: &Synthetic) -> impl Iterator<Item = Request> + use<> {
    let run = *run;
    let mut random = Drand48::new(FIRST_SEED);
    let mut milliseconds = 0.0;
    let (mut page, mut pages) = (0, 0);
    (0..run.requests - 1).map(move |index| {
        let follows = index > 0 && random.next() < f64::from(u8::from(run.sequential));
        milliseconds += random.next();
        if follows && page + 2 * pages < PAGES {
            page += pages;
        } else {
            random.next();
            (page, pages) = place(&mut random);
            random.next();
        }
        random.next();
        if index == 0 {
            random = Drand48::new(SECOND_SEED);
        }
        Request { milliseconds, page, pages, read: run.reads }
    })
}

/// Draws until a request lies within the pages.
fn place(random: &mut Drand48) -> (u64, u64) {
    loop {
        let page = (random.next() * PAGES as f64) as u64;
        let sectors = (-8.0 * (1.0 - random.next()).ln()) as u64;
        let pages = sectors.div_ceil(SECTORS_PER_PAGE);
        if page + pages < PAGES && pages >= 1 {
            return (page, pages);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_requests_of_rw5m() {
        let workload = Synthetic { requests: 5_000_000, sequential: false, reads: false };
        let first: Vec<String> = requests(&workload).take(3).map(|r| r.to_string()).collect();
        assert_eq!(first, EXPECTED);
    }

    /// From a dump of DiskSim's own requests.
    const EXPECTED: [&str; 3] =
        ["0.744525 0 779696 8 0", "1.072442 0 492344 8 0", "1.632493 0 2458248 24 0"];
}
