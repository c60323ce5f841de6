//! Which class a page that is written belongs to.

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
    levels: std::collections::BTreeMap<u32, u8>,
}

impl Classes {
    pub fn new(config: &Config) -> Self {
        Self { placement: config.ssd.ftl.placement.clone(), levels: [].into() }
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
            _ => 0,
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
            _ => true,
        }
    }

    /// Whether moved pages go to blocks of this class.
    pub const fn takes_moved(&self, class: Option<u8>) -> bool {
        match (&self.placement, class) {
            (_, None) => false,
            (Placement::HostAndGcApart, Some(class)) => class == 1,
            (Placement::ByHint { handles, .. }, Some(class)) => class as u32 >= *handles,
            _ => true,
        }
    }
}
