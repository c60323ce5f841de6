//! Reads that fail fast, and windows of drives that the array knows.

use copyback::config::quantity::Time;
use copyback::config::{Config, Coordination, ReadsAroundGc, SeveralBusy, WindowLength};

use crate::draw::Draw;

/// Changes some arrays with parity, and some windows.
pub fn draw(draw: &mut Draw, config: &mut Config) {
    let formula = config.resolve().protocol.window.length(WindowLength::Formula);
    let array = &mut config.array;
    if let Coordination::Staggered { window, guard } = &mut array.coordination {
        if let (WindowLength::Fixed(length), true) = (*window, draw.chance(0.4)) {
            *guard = Time::from_ns(length.0.as_ns() / draw.within(2, 5));
        }
        if formula.is_some() && draw.chance(0.2) {
            (*window, *guard) = (WindowLength::Formula, Time::default());
        }
        if array.layout.parities() > 0 && draw.chance(0.3) {
            array.reads_around_gc = ReadsAroundGc::Windows;
        }
    }
    if array.layout.parities() > 0 && draw.chance(0.4) {
        let round_trip = Time::from_ns(draw.of(&[0, 1_000, 60_000]));
        let several = [SeveralBusy::None, SeveralBusy::Random, SeveralBusy::LongestBusy];
        let several = draw.of(&several);
        array.reads_around_gc = ReadsAroundGc::FailFast { round_trip, several };
    }
}
