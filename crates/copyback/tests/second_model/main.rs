//! A second model of the choices that the simulator makes: which plane, block and page. It is naive and slow, knows no time
//! but what it is told, and was written from the documentation by somebody who had not read the engine. It is told what a
//! drive does, and says at the first choice that differs what it would have chosen.
//!
//! ```text
//! COPYBACK_SECOND_REPLAY=<number> cargo test -p copyback --test second_model -- --nocapture
//! ```
//!
//! `COPYBACK_SECOND_RUNS` says how many random drives there are, `COPYBACK_SECOND_SEED` the first number.

mod allocation;
mod arrays;
mod beside;
#[path = "../swarm/choices.rs"]
mod choices;
mod copies;
mod draw;
mod free;
mod levelling;
mod model;
mod placement;
mod plans;
mod shape;
mod state;
mod thresholds;
mod victims;

use copyback::config::Config;

use beside::run_beside;
use draw::Draw;
use model::Compared;

/// Random drives of a usual run; `make test-long` has 4,000. What they compare least often of [`OFTEN`], they compare 60,000 times.
const RUNS: u64 = 500;
/// What a usual run compares a thousand times or more: a model that is told nothing agrees with everything.
const OFTEN: [&str; 13] = [
    "block opened",
    "next block of the host",
    "open block of the class",
    "page of the block",
    "host has a place on the plane",
    "plane by the address",
    "plane of the die",
    "page moved next",
    "victim",
    "victim among",
    "plane calls for a collection",
    "block that levels wear",
    "pages left in an erased block",
];
/// Failures that are listed.
const LISTED: usize = 60;

fn environment(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}: found {text:?}; allowed: a number")))
}

fn examine(number: u64) -> Result<Compared, String> {
    let (config, _) = draw::case(Draw::new(number, draw::NAME));
    let outcome = std::panic::catch_unwind(|| run_beside(&config));
    let outcome = outcome.unwrap_or_else(|_| Err("panic".to_owned()));
    outcome.map_err(|problem| {
        let (first, rest) = problem.split_once('\n').unwrap_or((&problem, ""));
        format!("{first}\n    {}\n{rest}", in_brief(&config))
    })
}

/// The keys that say most about a drive's choices.
fn in_brief(config: &Config) -> String {
    let (ftl, gc) = (&config.ssd.ftl, &config.ssd.gc);
    format!(
        "{:?}, {:?}, {:?}, {:?}, {:?}, {:?}, {:?}, {:?}, {:?}",
        ftl.allocation,
        ftl.placement,
        gc.victim,
        gc.preemption,
        gc.idle,
        gc.width,
        gc.threshold_unit,
        gc.end,
        config.ssd.wear
    )
}

#[test]
fn choices_that_somebody_makes() {
    for number in 0..50_u64 {
        // The number, and some choices of which none is the least or the greatest.
        let bytes: Vec<u8> = (0..200_u64).map(|place| (number * 37 + place * 101) as u8).collect();
        if let Err(problem) = beside::examine(&bytes) {
            panic!("{problem}");
        }
    }
}

#[test]
fn drives_choose_what_the_text_says() {
    if let Some(number) = environment("COPYBACK_SECOND_REPLAY") {
        let (config, refused) = draw::case(Draw::new(number, draw::NAME));
        println!("{}\n{refused} draws before it made no sense", config.to_toml());
        println!("{:#?}", run_beside(&config));
        return;
    }
    let first = environment("COPYBACK_SECOND_SEED").unwrap_or(0);
    let runs = environment("COPYBACK_SECOND_RUNS").unwrap_or(RUNS);
    let numbers: Vec<u64> = (first..first + runs).collect();
    let halves: Vec<_> = numbers
        .chunks(numbers.len().div_ceil(2))
        .map(|half| {
            let half = half.to_vec();
            std::thread::spawn(move || {
                half.into_iter().map(|number| (number, examine(number))).collect::<Vec<_>>()
            })
        })
        .collect();
    let outcomes: Vec<_> =
        halves.into_iter().flat_map(|half| half.join().expect("panics are caught")).collect();
    let mut compared = Compared::new();
    for (what, count) in outcomes.iter().flat_map(|(_, outcome)| outcome.iter().flatten()) {
        *compared.entry(what).or_default() += count;
    }
    compared.iter().for_each(|(what, count)| println!("{count:9} {what}"));
    if runs >= RUNS {
        for what in OFTEN {
            let count = compared.get(what).copied().unwrap_or(0);
            assert!(count > 1_000, "{what}: compared only {count} times");
        }
    }
    let failures: Vec<_> = outcomes
        .iter()
        .filter_map(|(number, outcome)| Some((number, outcome.as_ref().err()?)))
        .collect();
    let list: String = failures
        .iter()
        .take(LISTED)
        .map(|(number, problem)| format!("{number}: {problem}\n"))
        .collect();
    assert!(
        failures.is_empty(),
        "{} of {runs} drives choose something else\n{list}",
        failures.len()
    );
}

/// Random arrays of a usual run.
const ARRAYS: u64 = 400;

#[test]
fn arrays_send_the_commands_that_the_text_says() {
    if let Some(number) = environment("COPYBACK_SECOND_REPLAY") {
        let config = arrays::case(number);
        println!("{}\n{:?}", config.to_toml(), arrays::run_beside(&config));
        return;
    }
    let first = environment("COPYBACK_SECOND_SEED").unwrap_or(0);
    let runs = environment("COPYBACK_SECOND_RUNS").unwrap_or(ARRAYS);
    let (mut compared, mut failures) = ([0; 4], Vec::new());
    for number in first..first + runs {
        let config = arrays::case(number);
        match arrays::run_beside(&config) {
            Ok(counts) => compared.iter_mut().zip(counts).for_each(|(all, some)| *all += some),
            Err(problem) => failures.push(format!("{number}: {problem}\n    {:?}\n", config.array)),
        }
    }
    println!("reads, writes, trims, flushes compared: {compared:?}");
    let (count, shown) = (failures.len(), failures.len().min(LISTED));
    assert!(
        count == 0,
        "{count} of {runs} arrays do something else\n{}",
        failures[..shown].concat()
    );
    assert!(runs < ARRAYS || compared.iter().all(|count| *count > 200), "{compared:?}");
}

/// Files that are no part of the model: they draw configurations and run them.
const NO_MODEL: [&str; 4] = ["arrays.rs", "beside.rs", "draw.rs", "main.rs"];

#[test]
fn the_page_of_the_model_has_its_lines() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(root.join("tests/second_model")).expect("the folder is there");
    let paths = files.map(|file| file.expect("a file").path());
    let of_model = paths.filter(|path| !NO_MODEL.iter().any(|name| path.ends_with(name)));
    let text = |path: &std::path::Path| std::fs::read_to_string(path).expect("text");
    let lines: usize = of_model.map(|path| text(&path).lines().count()).sum();
    let page = text(&root.join("../../docs/second-opinion.md"));
    let told = format!("a test counts {lines} lines");
    assert!(page.contains(&told), "docs/second-opinion.md: should say {told:?}");
}
