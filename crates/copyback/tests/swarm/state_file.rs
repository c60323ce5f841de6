//! Saved states that have been cut short or changed.

use copyback::{Error, state};

use crate::draw::{Case, Draw};
use crate::run::prepared;

const DAMAGES: u64 = 60;

/// Damages the saved state of a case in many ways; each must be refused as bad input.
pub fn damage(case: &Case) -> Result<(), String> {
    let mut draw = Draw::new(case.number, "swarm/damage");
    let path = case.file("damaged");
    let config = case.config.resolve();
    state::save(&config, &prepared(&config), &path).map_err(|e| e.to_string())?;
    let whole = std::fs::read(&path).expect("the state was just saved");
    for _ in 0..DAMAGES {
        let (damaged, what) = damaged(&mut draw, &whole);
        std::fs::write(&path, damaged).expect("the case's folder is writable");
        match state::load(&config, &path) {
            Err(Error::Input(text)) if text.contains(&*path.to_string_lossy()) => {}
            Err(error) => return Err(format!("{what}: {error:?}")),
            Ok(_) => return Err(format!("{what}: accepted")),
        }
    }
    Ok(())
}

fn damaged(draw: &mut Draw, whole: &[u8]) -> (Vec<u8>, String) {
    let mut bytes = whole.to_vec();
    let place = draw.within(0, whole.len() as u64 - 1) as usize;
    // Half of the damage falls on the header, which is short.
    let place = if draw.chance(0.5) { place % 40 } else { place };
    let what = match draw.within(0, 3) {
        0 => {
            bytes.truncate(place);
            "cut"
        }
        1 => {
            bytes[place] ^= 1 << draw.within(0, 7);
            "a bit flipped"
        }
        2 => {
            bytes.insert(place, draw.within(0, 255) as u8);
            "a byte added"
        }
        _ => {
            bytes.remove(place);
            "a byte removed"
        }
    };
    (bytes, format!("{what} at byte {place} of {}", whole.len()))
}
