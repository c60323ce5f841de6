//! Which block of a plane is collected.

use std::cmp::{Ordering, Reverse};

use copyback::config::{Age, AgeWeight, CollectionCost, Config, VictimPolicy};

use crate::state::State;

/// What the text says of a victim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// This one, and no other.
    This(u32),
    /// One of these: the policy draws.
    OneOf(Vec<u32>),
    /// None: the plane is left alone.
    None,
}

#[derive(Debug)]
pub struct Victims {
    policy: VictimPolicy,
    /// A block with fewer invalid pages is refused while the host can open one.
    least_invalid: u32,
}

impl Victims {
    pub fn new(config: &Config) -> Self {
        let share = config.ssd.gc.least_invalid.0;
        let summary = u32::from(config.ssd.ftl.summary_page != copyback::config::SummaryPage::None);
        let pages = config.ssd.geometry.pages_per_block - summary;
        Self {
            policy: config.ssd.gc.victim.clone(),
            least_invalid: (share * f64::from(pages)).ceil() as u32,
        }
    }

    /// Whether it may have refused all victims of a plane, and not look again before something changes there.
    pub const fn may_refuse(&self) -> bool {
        self.least_invalid > 0
    }

    /// The victim of `plane` if it is collected now. `room` is how many pages can be moved there.
    pub fn choose(&self, state: &State, plane: u32, room: u32, host_may_open: bool) -> Verdict {
        let full = state.full_blocks(plane);
        let invalid = |block: u32| state.shape.data_pages - state.valid_count(block);
        if full.iter().all(|block| invalid(*block) == 0) {
            return Verdict::None;
        }
        let has_room = |block: &u32| state.valid_count(*block) <= room;
        let is_worth_it = |block: &u32| !host_may_open || invalid(*block) >= self.least_invalid;
        let mut named = match self.named(state, &full) {
            Verdict::This(block) => vec![block],
            Verdict::OneOf(blocks) => blocks,
            Verdict::None => Vec::new(),
        };
        // What finds no room is left alone, or where the host could then never go on the emptiest block goes instead.
        if !host_may_open && !named.iter().all(has_room) {
            let mut by_number = full.clone();
            by_number.sort_unstable();
            let emptiest = by_number.into_iter().min_by_key(|block| state.valid_count(*block));
            named.extend(emptiest.filter(|block| invalid(*block) > 0));
        }
        named.retain(|block| has_room(block) && is_worth_it(block));
        named.dedup();
        match named[..] {
            [] => Verdict::None,
            [block] => Verdict::This(block),
            _ => Verdict::OneOf(named),
        }
    }

    fn named(&self, state: &State, full: &[u32]) -> Verdict {
        let valid = |block: u32| state.valid_count(block);
        let since = |block: u32| state.block(block).so_few_since;
        let best = match self.policy {
            VictimPolicy::Greedy => {
                full.iter().copied().min_by_key(|block| (valid(*block), since(*block)))
            }
            VictimPolicy::Fifo { .. } => full.first().copied(),
            VictimPolicy::WindowedGreedy { window } => {
                let window = &full[..full.len().min(window as usize)];
                let few = |block: u32| {
                    let entered = state.block(block).in_window_since.unwrap_or_default();
                    (valid(block), since(block).max(entered))
                };
                let whole = window.iter().all(|block| valid(*block) == state.shape.data_pages);
                match whole {
                    true => window.first().copied(),
                    false => window.iter().copied().min_by_key(|block| few(*block)),
                }
            }
            VictimPolicy::CostBenefit { age, weight, cost } => {
                return best_of(state, full, age, |block| benefit(state, block, age, weight, cost));
            }
            VictimPolicy::CostAgeTimes { age } => {
                return best_of(state, full, age, |block| inverse_times(state, block, age));
            }
            VictimPolicy::RandomPlus => {
                let some = |block: &u32| valid(*block) < state.shape.data_pages;
                return Verdict::OneOf(full.iter().copied().filter(some).collect());
            }
            _ => return Verdict::OneOf(full.to_vec()),
        };
        best.map_or(Verdict::None, Verdict::This)
    }

    /// Notes which blocks are among the oldest.
    pub fn note_window(&self, state: &mut State, plane: u32) {
        let VictimPolicy::WindowedGreedy { window } = self.policy else { return };
        let (step, full) = (state.step, state.full_blocks(plane));
        for block in full.into_iter().take(window as usize) {
            state.block_mut(block).in_window_since.get_or_insert(step);
        }
    }
}

/// The block that is worth most; of equals the one with fewer valid pages, then the older one, then the one that was
/// filled first. Where fractions of different numbers are equal, the text leaves to rounding which is more.
fn best_of(state: &State, full: &[u32], age: Age, worth: impl Fn(u32) -> Worth) -> Verdict {
    let facts = |block: u32| {
        let known = state.block(block);
        (state.valid_count(block), Reverse(age_of(state, block, age)), known.filled_step)
    };
    let order =
        |a: &u32, b: &u32| worth(*b).compare(&worth(*a)).then_with(|| facts(*a).cmp(&facts(*b)));
    let Some(best) = full.iter().copied().min_by(order) else { return Verdict::None };
    let inputs = |block: u32| (facts(block).0, facts(block).1, state.block(block).erases);
    let is_fraction = matches!(worth(best), Worth::Fraction(..));
    let equal: Vec<u32> = full
        .iter()
        .copied()
        .filter(|block| *block == best || inputs(*block) != inputs(best))
        .filter(|block| worth(*block).compare(&worth(best)) == Ordering::Equal)
        .collect();
    if is_fraction && equal.len() > 1 { Verdict::OneOf(equal) } else { Verdict::This(best) }
}

/// What a block is worth: a fraction, without rounding.
#[derive(Debug, Clone, Copy)]
enum Worth {
    /// It is never chosen.
    Nothing,
    Fraction(u128, u128),
    /// Nothing is better.
    Most,
}

impl Worth {
    fn compare(&self, other: &Self) -> Ordering {
        let rank = |worth: &Self| match worth {
            Self::Nothing => 0,
            Self::Fraction(..) => 1,
            Self::Most => 2,
        };
        match (self, other) {
            (Self::Fraction(a, b), Self::Fraction(c, d)) => (a * d).cmp(&(c * b)),
            _ => rank(self).cmp(&rank(other)),
        }
    }

    /// Of a block with so many valid pages of all.
    fn of(valid: u32, all: u32, fraction: impl FnOnce(u128, u128) -> (u128, u128)) -> Self {
        if valid == 0 {
            return Self::Most;
        }
        if valid == all {
            return Self::Nothing;
        }
        let (above, below) = fraction(valid.into(), all.into());
        Self::Fraction(above, below)
    }
}

fn age_of(state: &State, block: u32, age: Age) -> u64 {
    let known = state.block(block);
    match age {
        Age::SinceInvalidated => state.plane(state.shape.plane_of(block)).changes - known.lost_at,
        Age::SinceSealed => state.host_pages - known.filled_at,
        Age::SinceOpened => state.host_pages - known.opened_at,
    }
}

fn benefit(state: &State, block: u32, age: Age, weight: AgeWeight, cost: CollectionCost) -> Worth {
    let age = u128::from(age_of(state, block, age));
    Worth::of(state.valid_count(block), state.shape.data_pages, |valid, all| {
        let cost = match cost {
            CollectionCost::ValidPages => 2 * valid,
            CollectionCost::WholeBlock => all + valid,
        };
        match weight {
            AgeWeight::Linear => ((all - valid) * age, cost),
            // Both sides squared.
            AgeWeight::Sqrt => ((all - valid).pow(2) * age, cost.pow(2)),
        }
    })
}

/// One over what cost-age-times makes as small as it can.
fn inverse_times(state: &State, block: u32, age: Age) -> Worth {
    let age = u128::from(age_of(state, block, age));
    let erases = u128::from(state.block(block).erases.max(1));
    Worth::of(state.valid_count(block), state.shape.data_pages, |valid, all| {
        ((all - valid) * age, valid * erases)
    })
}
