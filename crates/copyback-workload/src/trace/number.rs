//! Exact numbers from text: whole, hexadecimal, and decimal with a fixed number of places. No
//! floating point, so that a time read back is the time written.

/// A whole number in decimal digits, and nothing else.
pub fn whole(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    let mut value: u64 = 0;
    // Up to 19 digits cannot overflow.
    if text.len() <= 19 {
        for &byte in text {
            value = value * 10 + digit(byte)?;
        }
        return Some(value);
    }
    for &byte in text {
        value = value.checked_mul(10)?.checked_add(digit(byte)?)?;
    }
    Some(value)
}

/// A whole number in hexadecimal digits, with or without `0x`.
pub fn hexadecimal(text: &[u8]) -> Option<u64> {
    let digits = text.strip_prefix(b"0x").unwrap_or(text);
    if digits.is_empty() || digits.len() > 16 {
        return None;
    }
    digits
        .iter()
        .try_fold(0, |value, &byte| Some(value << 4 | u64::from(char::from(byte).to_digit(16)?)))
}

/// A decimal such as `12.3456`, times ten to the power `places`. Digits beyond that are rounded,
/// half up. The point needs a digit before or after it.
pub fn decimal(text: &[u8], places: u32) -> Option<u64> {
    let point = memchr::memchr(b'.', text).unwrap_or(text.len());
    let fraction = text.get(point + 1..).unwrap_or_default();
    if point == 0 && fraction.is_empty() {
        return None;
    }
    let units = if point == 0 { 0 } else { whole(&text[..point])? };
    units.checked_mul(10_u64.pow(places))?.checked_add(scaled_fraction(fraction, places)?)
}

/// The digits after the point, times ten to the power `places`.
fn scaled_fraction(digits: &[u8], places: u32) -> Option<u64> {
    let kept = digits.len().min(places as usize);
    let mut value = 0;
    for &byte in &digits[..kept] {
        value = value * 10 + digit(byte)?;
    }
    value *= 10_u64.pow(places - kept as u32);
    let Some((&next, rest)) = digits[kept..].split_first() else { return Some(value) };
    rest.iter().try_for_each(|&byte| digit(byte).map(|_| ()))?;
    Some(value + u64::from(digit(next)? >= 5))
}

fn digit(byte: u8) -> Option<u64> {
    let value = byte.wrapping_sub(b'0');
    (value < 10).then_some(u64::from(value))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn whole_numbers() {
        assert_eq!(whole(b"0"), Some(0));
        assert_eq!(whole(b"007"), Some(7));
        assert_eq!(whole(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(whole(b"18446744073709551616"), None);
        for bad in ["", "-1", "+1", "1.0", "1e3", " 1", "0x1", "\u{661}"] {
            assert_eq!(whole(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn hexadecimal_numbers() {
        assert_eq!(hexadecimal(b"1"), Some(1));
        assert_eq!(hexadecimal(b"0x1F"), Some(31));
        assert_eq!(hexadecimal(b"ffffffffffffffff"), Some(u64::MAX));
        for bad in ["", "0x", "g", "-1", "10000000000000000"] {
            assert_eq!(hexadecimal(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn decimals_are_exact_and_round_half_up() {
        assert_eq!(decimal(b"3599.890074831", 9), Some(3_599_890_074_831));
        assert_eq!(decimal(b"26.214000", 6), Some(26_214_000));
        assert_eq!(decimal(b"7", 9), Some(7_000_000_000));
        assert_eq!(decimal(b"7.", 3), Some(7000));
        assert_eq!(decimal(b".5", 3), Some(500));
        assert_eq!(decimal(b"0.0004", 3), Some(0));
        assert_eq!(decimal(b"0.0005", 3), Some(1));
        assert_eq!(decimal(b"0.9999", 3), Some(1000));
        for bad in
            ["", ".", "-1.5", "1.5.2", "1.x", "1.0000x", "1e5", "nan", "1,5", "99999999999.0"]
        {
            assert_eq!(decimal(bad.as_bytes(), 9), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(ns in 0_u64..=u64::MAX) {
            let text = format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
            prop_assert_eq!(decimal(text.as_bytes(), 9), Some(ns));
            prop_assert_eq!(whole(ns.to_string().as_bytes()), Some(ns));
            prop_assert_eq!(hexadecimal(format!("{ns:x}").as_bytes()), Some(ns));
        }
    }
}
