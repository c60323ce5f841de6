//! Arrays whose drives are mirrors.

use copyback::config::{
    Arrangement, Array, Config, Cuts, Failures, Layout, MirrorReads, ReadsAroundGc, Rebuild, Scrub,
};

use crate::check::{equal, holds};
use crate::draw::Draw;
use crate::run::Outcome;

/// Makes mirrors of some arrays.
pub fn draw(draw: &mut Draw, config: &mut Config) {
    if config.array.devices < 2 || draw.chance(0.65) {
        return;
    }
    let array = &mut config.array;
    array.layout = draw.of(&[Layout::Raid1, Layout::Raid10, Layout::Raid10]);
    array.reads_around_gc = ReadsAroundGc::Fixed(false);
    if array.layout == Layout::Raid10 {
        let copies = draw.within(2, u64::from(array.devices)) as u32;
        array.copies = draw.of(&[None, Some(2), Some(copies)]);
        let arrangement = draw.of(&[Arrangement::Near, Arrangement::Far, Arrangement::Offset]);
        array.arrangement = Some(arrangement).filter(|_| draw.chance(0.9));
    }
    let policy = draw.of(&[
        MirrorReads::First,
        MirrorReads::RoundRobin,
        MirrorReads::Random,
        MirrorReads::ShortestQueue,
        MirrorReads::AroundCollections,
        MirrorReads::AroundCollections,
    ]);
    array.mirror_reads = Some(policy).filter(|_| draw.chance(0.9));
    lose(draw, array);
}

/// Loses drives as long as some copy of everything is left.
fn lose(draw: &mut Draw, array: &mut Array) {
    array.failed.clear();
    for _ in 0..draw.within(0, u64::from(array.devices) - 1) {
        let drive = draw.within(0, u64::from(array.devices) - 1) as u32;
        array.failed.push(drive);
        let again = array.failed.iter().filter(|lost| **lost == drive).count() > 1;
        if again || !keeps_a_copy(array) {
            array.failed.pop();
        }
    }
    if array.failed.is_empty() {
        array.rebuild = Rebuild::None;
    }
}

/// Drives of the copies of chunk `chunk`, counted one by one.
fn drives_of(array: &Array, chunk: u64) -> Vec<u32> {
    let (devices, copies) = (u64::from(array.devices), u64::from(array.copies_of_data()));
    let first = match array.arrangement() {
        _ if array.layout == Layout::Raid1 => 0,
        Arrangement::Near => chunk * copies,
        Arrangement::Far | Arrangement::Offset => chunk,
    };
    (0..copies).map(|copy| ((first + copy) % devices) as u32).collect()
}

pub fn keeps_a_copy(array: &Array) -> bool {
    let chunks = 0..u64::from(array.devices);
    chunks
        .into_iter()
        .all(|chunk| drives_of(array, chunk).iter().any(|drive| !array.failed.contains(drive)))
}

/// The host's writes have reached every copy that is there, its reads one, drive by drive.
pub fn check(config: &Config, outcome: &Outcome) -> Result<(), String> {
    let array = &config.array;
    let repaired = outcome.summary.pointer("/array/repairs/made_up").and_then(|n| n.as_u64());
    let rebuilt = outcome.summary.pointer("/array/rebuilt_bytes").and_then(|n| n.as_u64());
    let is_told_apart = repaired.unwrap_or(0) + rebuilt.unwrap_or(0) == 0;
    let is_quiet = array.failures == Failures::None
        && array.scrub == Scrub::None
        && !array.consistency_policy.writes_ahead()
        && config.ssd.power.cuts == Cuts::None;
    if !array.layout.is_mirrored() || !is_told_apart || !is_quiet {
        return Ok(());
    }
    let devices = array.devices as usize;
    let (mut reads, mut writes, mut most_reads) = (0, vec![0; devices], vec![0; devices]);
    let rows = &outcome.requests;
    for row in 0..rows.len() {
        let (from, to) = (rows.offset[row], rows.offset[row] + rows.bytes[row]);
        for (drive, bytes) in bytes_of(config, from, to) {
            match rows.operation[row] {
                0 => most_reads[drive] += bytes,
                1 => writes[drive] += bytes,
                _ => {}
            }
        }
        reads += if rows.operation[row] == 0 { rows.bytes[row] } else { 0 };
    }
    let mut moved = [vec![0; devices], vec![0; devices]];
    let commands = &outcome.commands;
    for row in (0..commands.device.len()).filter(|row| commands.operation[*row] < 2) {
        let kind = usize::from(commands.operation[row]);
        moved[kind][usize::from(commands.device[row])] += commands.bytes[row];
    }
    let is_whole = outcome.number("/requests/count") == rows.len() as u64;
    if !is_whole {
        return Ok(());
    }
    equal("bytes read from copies", &moved[0].iter().sum::<u64>(), &reads)?;
    equal("bytes written to each copy", &moved[1], &writes)?;
    let fits = moved[0].iter().zip(&most_reads).all(|(read, most)| read <= most);
    holds("drives are read for what they hold", fits)
}

/// Bytes of a range that each drive which is there holds.
fn bytes_of(config: &Config, from: u64, to: u64) -> Vec<(usize, u64)> {
    let array = &config.array;
    let unit = match array.layout {
        Layout::Raid1 => config.resolve().drive.capacity.bytes,
        _ => array.stripe.0,
    };
    let mut bytes = Vec::new();
    for chunk in from / unit..to.div_ceil(unit) {
        let length = to.min((chunk + 1) * unit) - from.max(chunk * unit);
        let drives = drives_of(array, chunk);
        let there = drives.into_iter().filter(|drive| !array.failed.contains(drive));
        bytes.extend(there.map(|drive| (drive as usize, length)));
    }
    bytes
}
