//! Where the bytes of an array lie, laid out unit by unit as the definition says it.

use copyback::config::{self, quantity::Size};
use copyback::layout::Layout;

/// What a unit of a drive holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    P,
    Q,
    /// A data unit, by its place among those of its stripe.
    Data(usize),
}

/// A small array: what `Layout` is made from, and what is known about it by other means.
#[derive(Debug, Clone)]
pub struct Table {
    pub kind: config::Layout,
    pub devices: usize,
    pub unit: usize,
    pub device_bytes: usize,
    /// Of each stripe, what each drive holds.
    pub stripes: Vec<Vec<Role>>,
    /// Where each byte of the array lies: drive and offset.
    pub places: Vec<(usize, usize)>,
}

impl Table {
    pub fn new(kind: config::Layout, devices: usize, unit: usize, device_bytes: usize) -> Self {
        let stripes: Vec<_> = match kind.is_striped() {
            true => (0..device_bytes / unit).map(|number| stripe(kind, devices, number)).collect(),
            false => Vec::new(),
        };
        let mut places = Vec::new();
        for (number, roles) in stripes.iter().enumerate() {
            for data in 0..devices {
                let Some(device) = roles.iter().position(|role| *role == Role::Data(data)) else {
                    break;
                };
                places.extend((0..unit).map(|row| (device, number * unit + row)));
            }
        }
        if !kind.is_striped() {
            let all = |device| (0..device_bytes).map(move |offset| (device, offset));
            places.extend((0..devices).flat_map(all));
        }
        Self { kind, devices, unit, device_bytes, stripes, places }
    }

    pub fn layout(&self) -> Layout {
        let array = config::Array {
            layout: self.kind,
            devices: self.devices as u32,
            stripe: Size(self.unit as u64),
            ..config::Array::default()
        };
        Layout::new(&array, self.device_bytes as u64)
    }

    pub fn parities(&self) -> usize {
        self.kind.parities() as usize
    }

    /// The drives of P, Q and the data units of the stripe that `offset` of any drive lies in.
    pub fn device_of(&self, offset: usize, role: Role) -> usize {
        let roles = &self.stripes[offset / self.unit];
        roles.iter().position(|found| *found == role).expect("the stripe has such a unit")
    }

    /// The parities of a stripe.
    pub fn parity_roles(&self) -> &'static [Role] {
        &[Role::P, Role::Q][..self.parities()]
    }
}

/// Left-symmetric: parity starts on the last drive and moves left; the units that follow, from the
/// drive to its right and around, are Q and the data.
fn stripe(kind: config::Layout, devices: usize, number: usize) -> Vec<Role> {
    let mut order: Vec<Role> = [Role::P, Role::Q][..kind.parities() as usize].to_vec();
    order.extend((0..devices - order.len()).map(Role::Data));
    if kind.parities() > 0 {
        order.rotate_left(1);
        order.rotate_left(number % devices);
    }
    order
}
