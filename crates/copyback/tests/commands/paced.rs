//! Paced collections.
use crate::toy::Toy;
use crate::semi_preemptive;

#[test]
fn explore() {
    let mut toy = semi_preemptive::collecting("\"paced\"", &[]);
    eprintln!("{:?}", toy.ssd.counters().pacing);
    let writes: Vec<(u32, u32)> = (0..12).map(|n| (2 + n, (n * 5 + 1) % 16)).collect();
    toy.writes(212_000, &writes);
    toy.run();
    eprintln!("{:#?}", toy.log);
    eprintln!("{:?}", toy.ssd.counters().pacing);
}
