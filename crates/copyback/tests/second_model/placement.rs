//! Which class a page that is written belongs to.

use std::collections::BTreeMap;

use copyback::config::{Config, Isolation, Placement};

use crate::state::State;

/// What is known of a page that is written.
#[derive(Debug, Clone, Copy)]
pub enum From {
    /// The host writes it, and has named this placement handle.
    Host(u16),
    /// It is moved out of this block.
    Block(u32),
}

#[derive(Debug)]
pub struct Classes {
    placement: Placement,
    /// The level of each page, for those placements that have levels.
    levels: BTreeMap<u32, u8>,
    /// When the host wrote each page last, in pages of the host.
    written_at: BTreeMap<u32, u64>,
    /// How long blocks of class 0 live on average: nothing is known at first.
    mean_life: Option<u64>,
    /// How many of the last writes of the host are known.
    queue: u64,
    /// The lives of those that were collected since that was last known.
    lives: Vec<u64>,
}

/// So many blocks of class 0 are collected until SepBIT takes their mean life.
const LIVES: usize = 16;

impl Classes {
    pub fn new(config: &Config) -> Self {
        Self {
            placement: config.ssd.ftl.placement.clone(),
            levels: [].into(),
            written_at: [].into(),
            mean_life: None,
            queue: 0,
            lives: Vec::new(),
        }
    }

    /// The class of a page that is about to be written.
    pub fn of(&self, state: &State, lpn: u32, from: From) -> u8 {
        let level = self.levels.get(&lpn).copied();
        match (&self.placement, from) {
            (Placement::HostAndGcApart, From::Block(_)) => 1,
            (Placement::ByHint { handles, .. }, From::Host(handle)) => {
                Some(handle).filter(|handle| u32::from(*handle) < *handles).unwrap_or(0) as u8
            }
            (Placement::ByHint { handles, isolation, .. }, From::Block(block)) => {
                let handles = *handles as u8;
                match (isolation, state.block(block).class) {
                    (Isolation::Persistent, Some(class)) => handles + class % handles,
                    _ => handles,
                }
            }
            (Placement::Dac { classes, .. }, From::Host(_)) => {
                let coldest_but = (*classes - 1) as u8;
                level.map_or(0, |level| (level + 1).min(coldest_but))
            }
            (Placement::Dac { .. }, From::Block(_)) => level.unwrap_or(0).saturating_sub(1),
            (Placement::SepBit, From::Host(_)) => {
                let age = self.written_at.get(&lpn).map(|at| state.host_pages - at);
                let is_young = |age: u64| self.mean_life.is_none_or(|life| age < life);
                u8::from(!age.is_some_and(|age| age < self.queue && is_young(age)))
            }
            (Placement::SepBit, From::Block(block)) if state.block(block).class == Some(0) => 2,
            (Placement::SepBit, From::Block(_)) => {
                let age = self.written_at.get(&lpn).map_or(u64::MAX, |at| state.host_pages - at);
                match self.mean_life {
                    None => 3,
                    Some(life) if age < 4 * life => 3,
                    Some(life) if age < 16 * life => 4,
                    Some(_) => 5,
                }
            }
            _ => 0,
        }
    }

    /// The host has written the page. The queue of recent writes takes it, and loses up to two, so that it is no longer
    /// than the mean life, nor than there are pages with data.
    pub fn note_write(&mut self, lpn: u32, state: &State) {
        self.written_at.insert(lpn, state.host_pages);
        let (most, data) = (self.mean_life.unwrap_or(u64::MAX), state.map.len() as u64);
        self.queue += 1;
        self.queue -= u64::from(self.queue > most.min(data));
        self.queue -= u64::from(self.queue > most);
    }

    /// A block is about to be collected.
    pub fn chosen(&mut self, state: &State, block: u32) {
        let known = state.block(block);
        if self.placement != Placement::SepBit || known.class != Some(0) {
            return;
        }
        self.lives.push(state.host_pages - known.opened_at);
        if self.lives.len() == LIVES {
            self.mean_life = Some(self.lives.drain(..).sum::<u64>() / LIVES as u64);
        }
    }

    /// The page has been written, to a block of this class.
    pub fn learn(&mut self, lpn: u32, class: u8) {
        if matches!(self.placement, Placement::Dac { .. }) {
            self.levels.insert(lpn, class);
        }
    }

    /// The host has trimmed the page.
    pub fn forget(&mut self, lpn: u32) {
        self.levels.remove(&lpn);
        self.written_at.remove(&lpn);
    }

    /// The class of all pages of the host, if there is one.
    pub fn only_of_host(&self) -> Option<u8> {
        let all = 0..self.placement.classes() as u8;
        let mut of_host = all.filter(|class| self.takes_host(Some(*class)));
        of_host.next().filter(|_| of_host.next().is_none())
    }

    /// Whether pages of the host go to blocks of this class.
    pub const fn takes_host(&self, class: Option<u8>) -> bool {
        match (&self.placement, class) {
            (_, None) => false,
            (Placement::HostAndGcApart, Some(class)) => class == 0,
            (Placement::ByHint { handles, .. }, Some(class)) => (class as u32) < *handles,
            (Placement::SepBit, Some(class)) => class < 2,
            _ => true,
        }
    }

    /// Whether moved pages go to blocks of this class.
    pub const fn takes_moved(&self, class: Option<u8>) -> bool {
        match (&self.placement, class) {
            (_, None) => false,
            (Placement::HostAndGcApart, Some(class)) => class == 1,
            (Placement::ByHint { handles, .. }, Some(class)) => class as u32 >= *handles,
            (Placement::SepBit, Some(class)) => class >= 2,
            _ => true,
        }
    }
}
