//! The models of write amplification in closed form or as a small fixed point, so that devices of
//! any size can be tested. Checked against the reference table.
//!
//! `rho` is the share of the pages of full blocks that hold data.

use super::table::{Report, Row, rows};
use super::write_amplification::TABLE;

/// Blocks are collected in the order of filling (Desnoyers 2012).
pub fn fifo(rho: f64) -> f64 {
    fifo_hot_cold(rho, &[(1.0, 1.0)])
}

/// FIFO with groups of pages, each a share of the writes and a share of the pages.
pub fn fifo_hot_cold(rho: f64, groups: &[(f64, f64)]) -> f64 {
    let written = |wa: f64| -> f64 {
        let term =
            |(writes, pages): &(f64, f64)| writes / -(-(writes / pages) / (rho * wa)).exp_m1();
        groups.iter().map(term).sum()
    };
    // Falls from above to below zero as the amplification grows.
    bisect(1.0, 1e6, |wa| written(wa) - wa)
}

/// The closed form of [`fifo`].
pub fn fifo_lambert(rho: f64) -> f64 {
    let survives = -rho * lambert_w0(-(-1.0 / rho).exp() / rho);
    1.0 / (1.0 - survives)
}

/// The branch of w e^w = z that holds zero, for -1/e < z < 0.
fn lambert_w0(z: f64) -> f64 {
    bisect(0.0, -1.0, |w| w * w.exp() - z)
}

/// The block with the fewest valid pages of `b` (Desnoyers 2012).
pub fn greedy(rho: f64, b: u32) -> f64 {
    let pages = f64::from(b);
    let mut harmonic = 0.0;
    for k in (1..b).rev() {
        harmonic += 1.0 / f64::from(k + 1);
        let k = f64::from(k);
        let rate = (pages - k - k * harmonic) / (pages * rho - k);
        let rest = 1.0 - harmonic / rate;
        if rate > 0.0 && rest >= 0.0 && rest <= 1.0 / (rate * k) {
            return pages / (pages - (k - rate * k * rest));
        }
    }
    panic!("no solution for rho = {rho}, {b} pages a block");
}

/// The emptiest of `d` blocks of `b` pages, drawn with replacement (Van Houdt 2013).
pub fn d_choices(rho: f64, b: u32, d: u32) -> f64 {
    let valid = |rate: f64| -> f64 {
        // share = S_n, the share of blocks with n valid pages or more, from n = b down.
        let mut share = 0.0;
        (1..=b)
            .rev()
            .map(|n| {
                let rate = rate * f64::from(n);
                let above = share;
                let excess = |s: f64| 1.0 - s.powi(d as i32) - rate * (s - above);
                share = bisect(above, 1.0, excess);
                share
            })
            .sum()
    };
    // The faster pages die, the fewer are valid.
    let rate = bisect(1e-6, 1e3, |rate| valid(rate) - f64::from(b) * rho);
    1.0 / (rho * rate)
}

/// A zero of `f` between `above`, where it is positive, and `below`, where it is negative.
fn bisect(mut above: f64, mut below: f64, f: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..100 {
        let middle = 0.5 * (above + below);
        if f(middle) > 0.0 {
            above = middle;
        } else {
            below = middle;
        }
        if (above - below).abs() < 1e-13 * above.abs().max(below.abs()) {
            break;
        }
    }
    0.5 * (above + below)
}

/// The size of a die, which decides how much of it is idle.
#[derive(Debug, Clone, Copy)]
pub struct DieSize {
    pub user_pages: f64,
    pub blocks: u32,
    pub pages_per_block: u32,
    pub reserve: u32,
    pub hysteresis: u32,
    pub separate_frontiers: bool,
}

impl DieSize {
    fn rho(&self, wa: f64) -> f64 {
        let separate = if self.separate_frontiers { 0.5 } else { 0.0 };
        let free = f64::from(self.reserve) + 0.5 * f64::from(self.hysteresis);
        let erased = free + separate + 0.5 / wa;
        self.user_pages / ((f64::from(self.blocks) - erased) * f64::from(self.pages_per_block))
    }

    /// The amplification that satisfies `model` together with the idle pages that it leaves.
    pub fn amplification(&self, model: impl Fn(f64) -> f64) -> f64 {
        let mut wa = 2.0;
        for _ in 0..50 {
            let next = model(self.rho(wa));
            let settled = (next - wa).abs() < 1e-9 * wa;
            wa = next;
            if settled {
                break;
            }
        }
        wa
    }
}

impl From<&Row> for DieSize {
    fn from(row: &Row) -> Self {
        Self {
            user_pages: row.number("user_pages") / row.number("dies"),
            blocks: row.count("blocks_per_die"),
            pages_per_block: row.count("pages_per_block"),
            reserve: row.count("reserve"),
            hysteresis: row.count("hysteresis"),
            separate_frontiers: row.is("frontiers", "separate"),
        }
    }
}

/// Shares of writes and of pages, hot and cold.
pub fn groups(traffic: &str) -> Vec<(f64, f64)> {
    match traffic {
        "rosenblum-80/20" => vec![(0.8, 0.2), (0.2, 0.8)],
        "hotcold-90/10" => vec![(0.9, 0.1), (0.1, 0.9)],
        _ => vec![(1.0, 1.0)],
    }
}

#[test]
fn formulas_agree_with_the_table() {
    let mut report = Report::new();
    for row in rows(TABLE) {
        let size = DieSize::from(&row);
        let b = size.pages_per_block;
        let uniform = row.is("traffic", "uniform");
        let found = match row.text("policy") {
            "fifo" => size.amplification(|rho| fifo_hot_cold(rho, &groups(row.text("traffic")))),
            "greedy" if uniform => size.amplification(|rho| greedy(rho, b)),
            "dchoices" if uniform => size.amplification(|rho| d_choices(rho, b, row.count("d"))),
            _ => continue,
        };
        // The table has five decimals.
        report.compare(&super::write_amplification::name(&row), row.number("model"), found, 1e-5);
    }
    report.finish();
}

#[test]
fn fixed_points_agree_with_closed_forms() {
    let mut report = Report::new();
    for rho in [0.3, 0.5, 0.7, 0.85, 0.93, 0.98] {
        report.compare(&format!("fifo, rho {rho}"), fifo_lambert(rho), fifo(rho), 1e-9);
        let random = 1.0 / (1.0 - rho);
        report.compare(&format!("random, rho {rho}"), random, d_choices(rho, 64, 1), 1e-9);
        // So many choices are greedy.
        let many = d_choices(rho, 32, 1_000_000);
        report.compare(&format!("d to infinity, rho {rho}"), greedy(rho, 32), many, 1e-4);
    }
    report.finish();
}
