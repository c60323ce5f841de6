//! Reads of mirrors against queueing theory: each drive has one die that takes 50 us, and nothing else takes any time.

use copyback::metrics::RequestColumns;

use super::support::{config, number, one_die, run};

const READ_NS: u64 = 50_000;
const REQUESTS: u64 = 400_000;

/// Poisson reads of a page each on RAID-1, which keep each of its drives busy for the share `load`.
fn reads(drives: u64, policy: &str, load: f64) -> (RequestColumns, f64) {
    let gap = READ_NS as f64 / load / drives as f64;
    let mut simulation = run(&config(&format!(
        r#"
        seed = 3
        [array]
        layout = "raid1"
        devices = {drives}
        mirror_reads = "{policy}"
        queue_depth = 65536
        {drive}
        [metrics]
        requests = true
        "#,
        drive = one_die(32, REQUESTS, gap),
    )));
    let mean =
        number(&simulation.summary().expect("it has run").to_json(), "/response_us/all/mean");
    (simulation.take_requests(), mean)
}

/// Each drive gets a Poisson process, and each read takes the same time: M/D/1, after Pollaczek and Khinchine.
#[test]
fn copies_that_are_chosen_at_random_are_m_d_1() {
    for (drives, load) in [(2, 0.3), (2, 0.6), (3, 0.5)] {
        let (_, found) = reads(drives, "random", load);
        let expected = READ_NS as f64 / 1e3 * (1.0 + load / (2.0 * (1.0 - load)));
        println!("{drives} drives at {load}: {found}, M/D/1 {expected}");
        assert!((found / expected - 1.0).abs() < 0.01, "{found}, not {expected}");
    }
}

/// Mean response in us of those who arrive at these times and join the shortest of some queues, the first of equals.
fn shortest_of(queues: usize, arrivals: &[u64]) -> f64 {
    // When those in each queue leave it.
    let mut leave = vec![std::collections::VecDeque::<u64>::new(); queues];
    let mut total = 0.0;
    for now in arrivals {
        for queue in &mut leave {
            while queue.front().is_some_and(|end| end <= now) {
                queue.pop_front();
            }
        }
        let shortest = leave.iter_mut().min_by_key(|queue| queue.len()).expect("there are some");
        let end = shortest.back().copied().unwrap_or(0).max(*now) + READ_NS;
        shortest.push_back(end);
        total += (end - now) as f64;
    }
    total / arrivals.len() as f64 / 1e3
}

#[test]
fn the_shortest_queue_is_that_of_a_model_of_queues_alone() {
    for (drives, load) in [(2, 0.5), (2, 0.8), (4, 0.8)] {
        let (requests, found) = reads(drives, "shortest_queue", load);
        let mut arrivals = requests.arrival_ns;
        arrivals.sort_unstable();
        assert_eq!(arrivals.len() as u64, REQUESTS);
        let expected = shortest_of(drives as usize, &arrivals);
        let (_, at_random) = reads(drives, "random", load);
        println!("{drives} drives at {load}: {found}, alone {expected}, at random {at_random}");
        assert!((found / expected - 1.0).abs() < 0.02, "{found}, not {expected}");
        assert!(found < 0.9 * at_random);
    }
}
