//! Which features meet. Most bugs that get past tests of each feature are meetings of two. Random cases have most pairs; those
//! that they miss are drawn for: a case that has the one is given the keys of a case that has the other.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use copyback::config::{Config, Loader};
use serde_json::Value;

use crate::draw::{Case, Draw};
use crate::features::FEATURES;
use crate::pool;
use crate::run;

/// Cases of each kind that are enough to demand meetings of.
const ENOUGH: u64 = 1000;

/// Features whose meeting no other suite has, or only in one place.
const MUST_MEET: [(&str, &str); 14] = [
    ("reads by page type", "moves by copyback"),
    ("planes that join", "wear levelled"),
    ("planes that join", "surplus pages in DRAM"),
    ("bad when new", "wear levelled"),
    ("failed erases", "wear levelled"),
    ("bad when new", "in advance"),
    ("failed erases", "in advance"),
    ("bad when new", "caught up"),
    ("failed programs", "caught up"),
    ("read-only", "caught up"),
    ("retried reads", "reads around collections"),
    ("bad when new", "reads around collections"),
    ("read-only", "RAID-0"),
    ("torn pages", "table in flash"),
];

/// Rounds of draws for what is missing, and draws for each pair in one.
const ROUNDS: u64 = 3;
const TRIES: u64 = 6;
/// Share of the pairs that the simulator accepts which must have met.
const LEAST: f64 = 0.95;

/// How a case of a kind is drawn.
type Kind = fn(u64) -> Case;

const KINDS: [Kind; 5] =
    [Case::draw, Case::draw_array, Case::draw_faults, Case::draw_with_cuts, Case::draw_lines];

/// A case that has run, and what it had.
#[derive(Clone)]
struct Seen {
    kind: usize,
    number: u64,
    has: Vec<bool>,
}

/// What became of a draw for a pair.
enum Drawn {
    /// The configuration is refused.
    Refused,
    /// It ran, and had these.
    Ran(Vec<bool>),
    /// It ended as no run may.
    Failed(String),
}

/// What is known of all pairs.
struct Table {
    /// Runs that had both.
    together: Vec<Vec<u64>>,
    /// Whether a configuration with the keys of both was accepted.
    accepted: Vec<Vec<bool>>,
    runs: u64,
}

impl Table {
    fn new() -> Self {
        let features = FEATURES.len();
        Self {
            together: vec![vec![0; features]; features],
            accepted: vec![vec![false; features]; features],
            runs: 0,
        }
    }

    fn note(&mut self, has: &[bool]) {
        self.runs += 1;
        for a in (0..has.len()).filter(|a| has[*a]) {
            for b in (0..has.len()).filter(|b| has[*b]) {
                self.together[a][b] += 1;
            }
        }
    }

    fn accept(&mut self, (a, b): (usize, usize)) {
        self.accepted[a][b] = true;
        self.accepted[b][a] = true;
    }

    /// Pairs that no run has had. Two choices of one key never meet.
    fn apart(&self) -> Vec<(usize, usize)> {
        let pairs = (0..FEATURES.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
        pairs.filter(|(a, b)| self.together[*a][*b] == 0 && !are_choices_of_one(*a, *b)).collect()
    }

    /// How many pairs have met, of how many that are accepted.
    fn shares(&self) -> (usize, usize) {
        let pairs = (0..FEATURES.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
        let met = pairs.filter(|(a, b)| self.together[*a][*b] > 0).count();
        let missing = self.apart().iter().filter(|(a, b)| self.accepted[*a][*b]).count();
        (met, met + missing)
    }

    /// A line for each feature: runs, features that it has met, those that it goes with and has not, and how many it is not
    /// accepted with.
    fn to_csv(&self) -> String {
        let mut text = String::from("feature,runs,met,missing,refused\n");
        for (a, (name, ..)) in FEATURES.iter().enumerate() {
            let others = (0..FEATURES.len()).filter(|b| *b != a);
            let (met, apart): (Vec<_>, Vec<_>) = others.partition(|b| self.together[a][*b] > 0);
            let (missing, refused): (Vec<_>, Vec<_>) =
                apart.into_iter().partition(|b| self.accepted[a][*b]);
            let missing: Vec<_> = missing.into_iter().map(|b| FEATURES[b].0).collect();
            let (runs, met, refused) = (self.together[a][a], met.len(), refused.len());
            writeln!(text, "{name:?},{runs},{met},{:?},{refused}", missing.join("; "))
                .expect("text can be written to");
        }
        text
    }
}

/// Whether two features are brought by one key, so that a configuration has the one or the other, unless it happens to
/// have both.
fn are_choices_of_one(a: usize, b: usize) -> bool {
    FEATURES[a].1.iter().any(|key| FEATURES[b].1.contains(key))
}

/// What a run of `config`, the one of `case` or one like it, has had.
fn features(case: &Case, config: &Config) -> Drawn {
    case.write_traces();
    match pool::guarded(|| run::run(config, None, 1 << 20)) {
        Ok(outcome) => Drawn::Ran(FEATURES.iter().map(|(.., has)| has(config, &outcome)).collect()),
        Err(problem) if problem.contains("panic") || problem.contains("internal error") => {
            Drawn::Failed(problem)
        }
        // Its flash does not last until it begins, or has no room for what is left to be done.
        Err(_) => Drawn::Ran(vec![false; FEATURES.len()]),
    }
}

/// `config` with these keys as `donor` has them, and more spare if it takes that.
fn with_keys(config: &Config, donor: &Config, keys: &[&str]) -> Option<Config> {
    let plain = |config: &Config| -> Value {
        serde_json::from_str(&config.to_json()).expect("a configuration is plain data")
    };
    let (mut changed, donor) = (plain(config), plain(donor));
    for key in keys {
        let pointer = format!("/{}", key.replace('.', "/"));
        let (parent, name) = pointer.rsplit_once('/')?;
        let table = changed.pointer_mut(parent)?.as_object_mut()?;
        match donor.pointer(&pointer) {
            Some(value) => table.insert(name.to_owned(), value.clone()),
            None => table.remove(name),
        };
    }
    [None, Some(0.5), Some(0.75)].into_iter().find_map(|spare| {
        if let Some(spare) = spare {
            changed["ssd"]["ftl"]["over_provisioning"] = spare.into();
        }
        Loader::new().json(&changed.to_string()).load().ok()
    })
}

/// One draw for a pair: a case with the one feature, with the keys of a case with the other.
fn draw_for((a, b): (usize, usize), seen: &[Seen], number: u64) -> Drawn {
    let mut draw = Draw::new(number, "swarm/pairs");
    let (a, b) = if draw.chance(0.5) { (a, b) } else { (b, a) };
    let mut of = |feature: usize| -> Option<&Seen> {
        let with: Vec<&Seen> = seen.iter().filter(|seen| seen.has[feature]).collect();
        (!with.is_empty()).then(|| draw.of(&with))
    };
    let (Some(base), Some(donor), false) = (of(a), of(b), FEATURES[b].1.is_empty()) else {
        return Drawn::Refused;
    };
    let (case, donor) = (KINDS[base.kind](base.number), KINDS[donor.kind](donor.number));
    match with_keys(&case.config, &donor.config, FEATURES[b].1) {
        Some(config) => match features(&case, &config) {
            Drawn::Failed(problem) => Drawn::Failed(format!(
                "{} of {}/{} with the keys of {}: {problem}",
                FEATURES[a].0, base.kind, base.number, FEATURES[b].0
            )),
            drawn => drawn,
        },
        None => Drawn::Refused,
    }
}

fn random_runs(
    numbers: &std::ops::Range<u64>,
    table: &mut Table,
    failed: &mut Vec<String>,
) -> Vec<Seen> {
    let mut seen = Vec::new();
    for (kind, draw) in KINDS.into_iter().enumerate() {
        let ran = pool::each(numbers.clone(), move |number| {
            let case = draw(number);
            Ok((number, features(&case, &case.config)))
        });
        for (number, drawn) in ran {
            match drawn {
                Drawn::Ran(has) => {
                    table.note(&has);
                    seen.push(Seen { kind, number, has });
                }
                Drawn::Failed(problem) => failed.push(format!("{kind}/{number}: {problem}")),
                Drawn::Refused => {}
            }
        }
    }
    seen.sort_by_key(|seen| (seen.kind, seen.number));
    seen
}

/// Draws for the pairs that no case of the first `numbers` of each kind has. Prints what has not met, and demands nearly all.
pub fn check(numbers: std::ops::Range<u64>) {
    let cases = numbers.end - numbers.start;
    let (mut table, mut failed) = (Table::new(), Vec::new());
    let seen = Arc::new(random_runs(&numbers, &mut table, &mut failed));
    println!("{} pairs are apart after {} runs", table.apart().len(), table.runs);
    for round in 0..ROUNDS {
        let targets = Arc::new(table.apart());
        let (pairs, cases) = (targets.clone(), seen.clone());
        let draws = 0..targets.len() as u64 * TRIES;
        let ran: BTreeMap<u64, Drawn> = pool::each(draws, move |index| {
            let pair = pairs[(index / TRIES) as usize];
            Ok((index, draw_for(pair, &cases, (round << 32) + index)))
        })
        .into_iter()
        .collect();
        for (index, drawn) in ran {
            match drawn {
                Drawn::Refused => {}
                Drawn::Ran(has) => {
                    table.accept(targets[(index / TRIES) as usize]);
                    table.note(&has);
                }
                Drawn::Failed(problem) => failed.push(problem),
            }
        }
        println!("{} pairs are apart after {} runs", table.apart().len(), table.runs);
    }
    report(&table, cases);
    let list: Vec<_> =
        failed.iter().take(20).map(|problem| &problem[..problem.len().min(300)]).collect();
    assert!(failed.is_empty(), "{} runs ended as none may:\n{}", failed.len(), list.join("\n"));
    let place = |name: &str| FEATURES.iter().position(|(other, ..)| *other == name);
    for (first, second) in MUST_MEET {
        let (a, b) = place(first).zip(place(second)).expect("they are in the table");
        let meet = table.together[a][b];
        assert!(meet > 0 || cases < ENOUGH, "no case has {first} and {second}");
    }
}

fn report(table: &Table, cases: u64) {
    let (met, legal) = table.shares();
    let csv = table.to_csv();
    println!("{csv}{met} of {legal} pairs of {} features have met", FEATURES.len());
    if let Some(file) = std::env::var_os("COPYBACK_PAIRS_TO") {
        let commit = std::env::var("COPYBACK_PAIRS_COMMIT").unwrap_or_default();
        let head = format!(
            "# commit {commit}, {cases} random cases of each of {} kinds from number 0, {} runs in all; {met} of {legal} \
             pairs of {} features have met ({:.1}%)\n",
            KINDS.len(),
            table.runs,
            FEATURES.len(),
            100.0 * met as f64 / legal as f64,
        );
        std::fs::write(file, head + &csv).expect("the file can be written");
    }
    let enough = met as f64 >= LEAST * legal as f64;
    assert!(cases < ENOUGH || enough, "only {met} of {legal} pairs have met");
}

/// What was stored of the last long run.
const STORED: &str = include_str!("pairs.csv");

/// The page of docs/ that shows it.
fn page() -> String {
    let (head, rows) = STORED.split_once('\n').expect("the first line says what was run");
    let mut text = format!(
        "# Which features meet\n\nGenerated from `crates/copyback/tests/swarm/pairs.csv`; do not edit.\n\nMost bugs that get past \
         the tests of each feature are meetings of two. A pair counts if both *acted* in one audited run: what counts a \
         feature was above zero (`crates/copyback/tests/swarm/features.rs` lists them, with their keys). Numbers are in two bins, none \
         and some; times and sizes in none. Random cases have most pairs; for each that they miss, a case that has the one is given the keys \
         of a case that has the other. *Missing* are pairs of which such a configuration was accepted and none acted with both; \
         *not accepted* those that were refused each time, and other choices of the same key.\n\n{}\n\n\
         `make pairs` measures it anew.\n\n| feature | runs | met | missing | not accepted |\n| --- | --- | --- | --- | --- |\n",
        head.trim_start_matches("# ").trim(),
    );
    for row in rows.lines().skip(1) {
        let cells: Vec<&str> = row.split('"').collect();
        let [_, name, counts, missing, refused] = cells[..] else { panic!("a row of five: {row}") };
        let counts = counts.trim_matches(',').replace(',', " | ");
        let refused = refused.trim_start_matches(',');
        let missing = if missing.is_empty() { "none" } else { missing };
        writeln!(text, "| {name} | {counts} | {missing} | {refused} |")
            .expect("text can be written to");
    }
    text
}

/// Compares the page with what is stored, or writes it.
pub fn check_page() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pairs.md");
    if std::env::var_os("COPYBACK_PAIRS_WRITE").is_some() {
        std::fs::write(&file, page()).expect("the page can be written");
    }
    let found = std::fs::read_to_string(&file).expect("the page is there");
    assert!(found == page(), "docs/pairs.md is stale: run `make pairs-page`");
}
