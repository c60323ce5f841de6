//! Devices, volumes or storage units that the rows name, and which of them are replayed.

use std::collections::BTreeMap;

use super::number;

/// Devices told apart; of more, only their presence is known.
const MOST: usize = 1000;

/// The devices that a name in the configuration stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Selector {
    /// Value that the numbers of the selected devices share.
    pub value: u64,
    /// The bits of it that count.
    pub mask: u64,
}

impl Selector {
    /// The device of this number alone.
    pub fn only(value: u64) -> Self {
        Self { value, mask: u64::MAX }
    }

    fn matches(self, device: u64) -> bool {
        device & self.mask == self.value
    }
}

/// Description of a Linux device's name, for messages.
pub const MAJOR_MINOR: &str = "a device such as \"8,0\" (major,minor)";

/// The number of the device `major,minor`.
pub fn major_minor(name: &[u8]) -> Option<u64> {
    let comma = memchr::memchr(b',', name)?;
    Some(device_number(number::whole(&name[..comma])?, number::whole(&name[comma + 1..])?))
}

/// The number of the device `major,minor`, as Linux has it.
pub const fn device_number(major: u64, minor: u64) -> u64 {
    major << 20 ^ minor
}

/// The devices met so far.
#[derive(Debug, Default)]
pub struct Devices {
    /// Selected devices, in the order of the configuration; all of them if empty.
    wanted: Vec<Selector>,
    /// For each of these, whether it was met.
    met: Vec<bool>,
    last: Option<(u64, Option<usize>)>,
    seen: BTreeMap<u64, Option<usize>>,
}

impl Devices {
    /// Replays those that `wanted` select, or all if it is empty.
    pub fn new(wanted: Vec<Selector>) -> Self {
        Self { met: vec![false; wanted.len()], wanted, ..Self::default() }
    }

    /// The place of `device` in the list of those that are replayed, or in the order of their first
    /// requests if all are; `None` if it isn't replayed. Of more than 1000 that are not listed, all
    /// others have the last place.
    #[inline]
    pub fn place(&mut self, device: u64) -> Option<usize> {
        match self.last {
            Some((last, place)) if last == device => place,
            _ => self.changed(device),
        }
    }

    fn changed(&mut self, device: u64) -> Option<usize> {
        let place = match self.seen.get(&device) {
            Some(place) => *place,
            None => self.new_device(device),
        };
        self.last = Some((device, place));
        place
    }

    fn new_device(&mut self, device: u64) -> Option<usize> {
        let place = if self.wanted.is_empty() {
            Some(self.seen.len())
        } else {
            self.wanted.iter().position(|selector| selector.matches(device))
        };
        if let Some(met) = place.and_then(|place| self.met.get_mut(place)) {
            *met = true;
        }
        if self.seen.len() < MOST {
            self.seen.insert(device, place);
        }
        place
    }

    /// Number of devices met that are replayed, up to 1000.
    pub fn count(&self) -> usize {
        self.seen.values().flatten().count()
    }

    /// The places in the list of those that were not met.
    pub fn missing(&self) -> impl Iterator<Item = usize> {
        self.met.iter().enumerate().filter(|(_, met)| !**met).map(|(place, _)| place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_in_order_of_appearance() {
        let mut devices = Devices::default();
        assert_eq!([7, 7, 3, 7, 9].map(|device| devices.place(device)), [0, 0, 1, 0, 2].map(Some));
        assert_eq!(devices.count(), 3);
    }

    #[test]
    fn those_that_are_listed_in_their_order() {
        let low = Selector { value: 2, mask: 0xff };
        let mut devices = Devices::new(vec![Selector::only(9), low, Selector::only(4)]);
        let places = [0x102, 9, 5, 9, 0x302].map(|device| devices.place(device));
        assert_eq!(places, [Some(1), Some(0), None, Some(0), Some(1)]);
        assert_eq!(devices.count(), 3);
        assert_eq!(devices.missing().collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn many_devices_take_bounded_memory() {
        let mut devices = Devices::default();
        for device in 0..5000 {
            assert_eq!(devices.place(device), Some((device as usize).min(MOST)));
        }
        assert_eq!((devices.count(), devices.seen.len()), (MOST, MOST));
    }

    #[test]
    fn linux_devices() {
        assert_eq!(major_minor(b"8,33"), Some(8 << 20 | 33));
        assert_eq!(major_minor(b"8"), None);
    }
}
