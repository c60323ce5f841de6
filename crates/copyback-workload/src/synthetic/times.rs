//! Spans of time drawn from a distribution, in whole nanoseconds.

use std::fs;
use std::path::Path;

use rand_distr::{Distribution, Exp1, weighted::WeightedAliasIndex};

use super::draw::{below, fraction};
use crate::InputError;
use crate::rng::Stream;
use copyback_config::TimeDistribution;
use copyback_config::quantity::Time;
use copyback_config::units::Duration;

/// Draws times.
pub struct Times {
    distribution: Spans,
    /// Fraction of a nanosecond that rounding cut off the last time; added to the next, so that rounding adds
    /// no drift.
    carried_ns: f64,
    stream: Stream,
}

enum Spans {
    Fixed(Duration),
    Exponential { mean_ns: f64 },
    Pareto { least_ns: f64, power: f64 },
    Histogram { times_ns: Vec<u64>, which: Box<WeightedAliasIndex<f64>> },
    Quantiles { times_ns: Vec<f64> },
}

impl Times {
    /// Times of the distribution; `key` is that of the configuration, for messages.
    ///
    /// # Errors
    /// If the file of an empirical distribution cannot be read or makes no sense.
    pub fn new(
        distribution: &TimeDistribution,
        key: &str,
        stream: Stream,
    ) -> Result<Self, InputError> {
        let ns = |time: &Time| time.0.as_ns();
        let distribution = match distribution {
            TimeDistribution::Fixed(time) => Spans::Fixed(time.0),
            TimeDistribution::Exponential { mean } => {
                Spans::Exponential { mean_ns: ns(mean) as f64 }
            }
            TimeDistribution::Pareto { mean, shape } => Spans::Pareto {
                least_ns: ns(mean) as f64 * (shape - 1.0) / shape,
                power: -1.0 / shape,
            },
            TimeDistribution::Histogram { times, weights } => {
                histogram(times.iter().map(ns).collect(), weights.clone(), || key.into())?
            }
            TimeDistribution::Quantiles { times } => {
                Spans::Quantiles { times_ns: times.iter().map(|time| ns(time) as f64).collect() }
            }
            TimeDistribution::Empirical { path } => {
                let (times_ns, weights) = read(path)?;
                histogram(times_ns, weights, || path.display().to_string())?
            }
        };
        Ok(Self { distribution, carried_ns: 0.0, stream })
    }

    /// The next time. One that is longer than any the clock has room for is beyond its end all the same.
    #[inline]
    pub fn draw(&mut self) -> Duration {
        let exact_ns = match &self.distribution {
            Spans::Fixed(time) => return *time,
            Spans::Histogram { times_ns, which } => {
                return Duration::from_ns(times_ns[which.sample(&mut self.stream)]);
            }
            Spans::Exponential { mean_ns } => {
                let draw: f64 = Exp1.sample(&mut self.stream);
                draw * *mean_ns
            }
            Spans::Pareto { least_ns, power } => {
                least_ns * (1.0 - fraction(&mut self.stream)).powf(*power)
            }
            Spans::Quantiles { times_ns } => between_quantiles(times_ns, &mut self.stream),
        };
        let exact_ns = (exact_ns + self.carried_ns).min(Duration::LONGEST.as_ns() as f64);
        let whole_ns = exact_ns as u64;
        self.carried_ns = exact_ns - whole_ns as f64;
        Duration::from_ns(whole_ns)
    }
}

fn between_quantiles(times_ns: &[f64], stream: &mut Stream) -> f64 {
    let index = below(stream, times_ns.len() as u64 - 1) as usize;
    let (low, high) = (times_ns[index], times_ns[index + 1]);
    low + (high - low) * fraction(stream)
}

fn histogram(
    times_ns: Vec<u64>,
    weights: Vec<f64>,
    place: impl Fn() -> String,
) -> Result<Spans, InputError> {
    match WeightedAliasIndex::new(weights) {
        Ok(which) => Ok(Spans::Histogram { times_ns, which: Box::new(which) }),
        Err(error) => Err(InputError {
            place: place(),
            problem: format!(
                "{error}; allowed: weights of 0 or more, one above 0, with a finite sum"
            ),
        }),
    }
}

/// Times in nanoseconds and how often each comes.
fn read(path: &Path) -> Result<(Vec<u64>, Vec<f64>), InputError> {
    let place = path.display().to_string();
    let text = fs::read_to_string(path).map_err(|error| InputError {
        place: place.clone(),
        problem: format!("cannot read: {error}"),
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let lines = (1..).zip(text.lines().map(str::trim));
    let values = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let (mut times_ns, mut weights) = (Vec::new(), Vec::new());
    for (number, line) in values {
        let fault = |problem| InputError { place: format!("{place}:{number}"), problem };
        let (time, weight) = read_line(line).map_err(fault)?;
        times_ns.push(time.0.as_ns());
        weights.push(weight);
    }
    if times_ns.iter().all(|&ns| ns == 0) {
        let problem = "found no time above 0; allowed: one with its unit a line, such as 25us";
        return Err(InputError { place, problem: problem.into() });
    }
    Ok((times_ns, weights))
}

fn read_line(line: &str) -> Result<(Time, f64), String> {
    let (time, weight) = line.split_once(',').unwrap_or((line, "1"));
    let time = time.parse().map_err(|fault| format!("found {time:?}; {fault}"))?;
    match weight.trim().parse::<f64>() {
        Ok(number) if number.is_finite() && number >= 0.0 => Ok((time, number)),
        _ => Err(format!("found {weight:?} after the comma; allowed: a weight of 0 or more")),
    }
}
