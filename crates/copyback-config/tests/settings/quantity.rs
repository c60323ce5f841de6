//! Times, sizes and rates as text.

use copyback_config::quantity::{Rate, Size, Time};

fn time(text: &str) -> Result<u64, String> {
    text.parse::<Time>().map(|time| time.0.as_ns())
}

fn size(text: &str) -> Result<u64, String> {
    text.parse::<Size>().map(|size| size.0)
}

#[test]
fn times_are_exact_or_refused() {
    let cases = [("25us", 25_000), ("1.5ms", 1_500_000), ("3 s", 3_000_000_000), ("0", 0)];
    for (text, ns) in cases.into_iter().chain([("0.2µs", 200), ("2min", 120_000_000_000)]) {
        assert_eq!(time(text), Ok(ns), "{text}");
    }
    for text in ["", "25", "us", "-1us", "0.1ns", "1..2us", ".5us", "1e3us", "NaN", "36501d"] {
        assert!(time(text).is_err(), "{text}");
    }
}

#[test]
fn sizes_follow_storage_conventions() {
    let cases = [("4KiB", 4096), ("4k", 4096), ("4K", 4096), ("2MB", 2_000_000), ("528", 528)];
    for (text, bytes) in cases.into_iter().chain([("4kB", 4000), ("1.5g", 3 << 29)]) {
        assert_eq!(size(text), Ok(bytes), "{text}");
    }
    for text in ["", "k", "-4k", "4kk", "0.3KiB", "16777216TiB", "4 µ"] {
        assert!(size(text).is_err(), "{text}");
    }
}

#[test]
fn rates_count_bytes() {
    assert_eq!("333MT/s".parse(), Ok(Rate::BytesPerSecond(333_000_000)));
    assert_eq!("1.2GB/s".parse(), Ok(Rate::BytesPerSecond(1_200_000_000)));
    assert_eq!("none".parse(), Ok(Rate::None));
    assert!("0MB/s".parse::<Rate>().is_err() && "333".parse::<Rate>().is_err());
}

#[test]
fn texts_are_the_shortest() {
    assert_eq!(Time::from_ns(183_200).to_string(), "183.2us");
    assert_eq!(Time::from_us(400).to_string(), "400us");
    assert_eq!(Size(4096).to_string(), "4KiB");
    assert_eq!(Size(528).to_string(), "528B");
    assert_eq!(Rate::BytesPerSecond(1_200_000_000).to_string(), "1.2GB/s");
}
