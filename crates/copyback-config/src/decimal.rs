//! Exact decimal numbers with a unit: "1.5ms" is a whole number of nanoseconds or it is refused.

/// A unit: its spelling and how many base units it holds.
pub(super) type Unit = (&'static str, u64);

/// Reads `text` as a decimal number and one of `units`. `what` names the quantity in the message,
/// `base` the smallest unit that is counted.
pub(super) fn parse(text: &str, units: &[Unit], what: &str, base: &str) -> Result<u64, String> {
    let text = text.trim();
    if text.starts_with('-') {
        return Err(format!("{what} cannot be negative"));
    }
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = (&text[..end], text[end..].trim());
    if number.is_empty() {
        return Err(format!("{what} starts with a number and ends with a unit"));
    }
    let Some(&(_, factor)) = units.iter().find(|(name, _)| *name == unit) else {
        let names: Vec<_> = units.iter().map(|(name, _)| *name).collect();
        let fault = if unit.is_empty() { "needs a unit" } else { "has no such unit" };
        return Err(format!("{what} {fault} (allowed: {})", names.join(", ")));
    };
    multiply(number, factor, what, base)
}

fn multiply(number: &str, factor: u64, what: &str, base: &str) -> Result<u64, String> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    if whole.is_empty() || fraction.is_empty() || fraction.contains('.') {
        return Err(format!("{number:?} is not a decimal number"));
    }
    let too_large = || format!("{what} is too large");
    let fraction = fraction.trim_end_matches('0');
    let scale = 10u128.checked_pow(fraction.len() as u32).ok_or_else(too_large)?;
    let digits: u128 = format!("{whole}{fraction}").parse().map_err(|_| too_large())?;
    let product = digits.checked_mul(factor.into()).ok_or_else(too_large)?;
    if product % scale != 0 {
        return Err(format!("{what} must be a whole number of {base}"));
    }
    u64::try_from(product / scale).map_err(|_| too_large())
}

/// The shortest text that [`parse`] reads back as `value`; among equals one without a fraction, then
/// the largest unit.
pub(super) fn shortest(value: u64, units: &[Unit]) -> String {
    let texts = units.iter().filter_map(|&(unit, factor)| in_unit(value, factor, unit));
    texts.min_by_key(|text| (text.len(), text.contains('.'))).unwrap_or_else(|| value.to_string())
}

/// `value` in one unit, if a decimal number can say it exactly.
fn in_unit(value: u64, factor: u64, unit: &str) -> Option<String> {
    let (whole, rest) = (value / factor, value % factor);
    if rest == 0 {
        return Some(format!("{whole}{unit}"));
    }
    let digits = factor.ilog10() as usize;
    if 10u64.pow(digits as u32) != factor {
        return None;
    }
    let fraction = format!("{rest:0digits$}");
    Some(format!("{whole}.{}{unit}", fraction.trim_end_matches('0')))
}
