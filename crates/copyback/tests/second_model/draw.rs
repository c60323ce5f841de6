//! A random configuration: of what the second model covers.

use copyback::config::{Config, Loader};
use rand::RngExt;

use crate::choices::Choices;

pub struct Draw(Choices);

impl Draw {
    pub fn new(number: u64, name: &str) -> Self {
        Self(Choices::random(number, name))
    }

    /// Choices that somebody has made, and then those of a number.
    pub fn made(number: u64, choices: &[u8]) -> Self {
        Self(Choices::made(choices, number, NAME))
    }

    pub fn within(&mut self, least: u64, most: u64) -> u64 {
        self.0.random_range(least..=most)
    }

    pub fn share(&mut self) -> f64 {
        self.0.random_range(0.0..1.0)
    }

    pub fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.0.random_range(0..choices.len())]
    }
}

/// What the choices of drives are called.
pub const NAME: &str = "second-model";

const ORDERS: [&str; 6] = ["CWDP", "PDWC", "DPCW", "WPCD", "PCWD", "CDPW"];

/// A configuration, and how many draws made no sense before it.
pub fn case(mut draw: Draw) -> (Config, u64) {
    (0..).find_map(|refused| Some((try_case(&mut draw)?, refused))).expect("some draw makes sense")
}

fn try_case(draw: &mut Draw) -> Option<Config> {
    let mut keys = vec![("audit".to_owned(), "true".to_owned())];
    let mut set = |key: &str, value: String| keys.push((key.to_owned(), value));
    set("seed", draw.within(0, 1 << 40).to_string());
    geometry(draw, &mut set);
    ftl(draw, &mut set);
    gc(draw, &mut set);
    workload(draw, &mut set);
    let loader = keys.iter().fold(Loader::new(), |loader, (key, value)| loader.set(key, value));
    loader.load().ok()
}

fn geometry(draw: &mut Draw, set: &mut impl FnMut(&str, String)) {
    set("ssd.geometry.channels", draw.within(1, 3).to_string());
    set("ssd.geometry.chips_per_channel", draw.within(1, 2).to_string());
    set("ssd.geometry.dies_per_chip", draw.within(1, 2).to_string());
    set("ssd.geometry.planes_per_die", draw.of(&["1", "1", "2", "3", "4"]).into());
    set("ssd.geometry.blocks_per_plane", draw.within(7, 24).to_string());
    set("ssd.geometry.pages_per_block", draw.of(&["2", "3", "4", "8", "16"]).into());
    set("ssd.commands.multi_plane", draw.of(&["true", "false", "false"]).into());
    set("ssd.timing.register", draw.of(&["single", "double"]).into());
    set("ssd.timing.erase", draw.of(&["100us", "1500us"]).into());
}

fn ftl(draw: &mut Draw, set: &mut impl FnMut(&str, String)) {
    let order = draw.of(&ORDERS);
    let plane = draw.of(&["most_free", "round_robin"]);
    let mixed = format!("{{ order = \"{order}\", plane = \"{plane}\" }}");
    let allocation = draw.of(&[order, order, "dynamic", mixed.as_str()]).to_owned();
    set("ssd.ftl.allocation", allocation);
    set("ssd.ftl.over_provisioning", (0.05 + 0.6 * draw.share() * draw.share()).to_string());
    set("ssd.ftl.free_blocks", draw.of(&["fifo", "least_worn"]).into());
    let handles = draw.within(1, 4);
    let isolation = draw.of(&["initial", "persistent"]);
    let by_hint =
        format!("{{ type = \"by_hint\", handles = {handles}, isolation = \"{isolation}\" }}");
    let dac = format!("{{ type = \"dac\", classes = {handles} }}");
    let placement =
        draw.of(&["one_class", "host_and_gc_apart", &by_hint, &by_hint, &dac, "sepbit"]);
    set("ssd.ftl.placement", placement.into());
    set(
        "ssd.ftl.summary_page",
        draw.of(&["none", "none", "{ type = \"last_page\", transfer = \"16B\" }"]).into(),
    );
    set("ssd.wear.static_threshold", draw.of(&["0", "0", "1", "3"]).into());
    set("ssd.wear.compare", draw.of(&["erase_counts", "erase_counts", "block_numbers"]).into());
}

fn victim(draw: &mut Draw) -> String {
    let age = draw.of(&["since_invalidated", "since_sealed", "since_opened"]);
    let weight = draw.of(&["linear", "sqrt"]);
    let cost = draw.of(&["valid_pages", "whole_block"]);
    let windowed = format!("{{ type = \"windowed_greedy\", window = {} }}", draw.within(1, 9));
    let benefit = format!(
        "{{ type = \"cost_benefit\", age = \"{age}\", weight = \"{weight}\", cost = \"{cost}\" }}"
    );
    let times = format!("{{ type = \"cost_age_times\", age = \"{age}\" }}");
    let choices = [
        "greedy", "greedy", "fifo", "random", "random+", "rga", &windowed, &benefit, &benefit,
        &times,
    ];
    draw.of(&choices).to_owned()
}

fn gc(draw: &mut Draw, set: &mut impl FnMut(&str, String)) {
    set("ssd.gc.victim", victim(draw));
    let soft = draw.within(0, 4).max(1);
    set("ssd.gc.soft_threshold", format!("{{ blocks = {soft} }}"));
    set("ssd.gc.hard_threshold", format!("{{ blocks = {} }}", draw.within(1, soft)));
    set("ssd.gc.hysteresis_blocks", draw.of(&["0", "0", "1", "2"]).into());
    set("ssd.gc.threshold_unit", draw.of(&["free_blocks", "free_blocks", "free_pages"]).into());
    set("ssd.gc.start", draw.of(&["at_once", "before_operation"]).into());
    set("ssd.gc.end", draw.of(&["enough", "enough", "one_victim"]).into());
    set("ssd.gc.copyback", draw.of(&["true", "false"]).into());
    set("ssd.gc.zero_cost", draw.of(&["false", "false", "true"]).into());
    set("ssd.gc.width", draw.of(&["serial", "serial", "superblock"]).into());
    set("ssd.gc.least_invalid", draw.of(&["0", "0", "0.125", "0.5"]).into());
    let preemption = draw.of(&[
        "none",
        "none",
        "{ type = \"partial\", steps = 2 }",
        "{ type = \"semi_preemptive\" }",
        "{ type = \"semi_preemptive\", merge = true, reorder = true, pipeline = true }",
        "paced",
    ]);
    set("ssd.gc.preemption", preemption.into());
    set("ssd.gc.idle", draw.of(&["none", "none", "none", "delayed", "advanced"]).into());
}

fn workload(draw: &mut Draw, set: &mut impl FnMut(&str, String)) {
    set("precondition.fill", draw.of(&["1.0", "1.0", "0.5", "0.0"]).into());
    set("precondition.overwrites", draw.of(&["0.0", "0.5", "2.0"]).into());
    set("workload.requests", draw.within(100, 800).to_string());
    set("workload.read_share", draw.of(&["0.0", "0.3", "0.6"]).into());
    set("workload.trim_share", draw.of(&["0.0", "0.0", "0.1"]).into());
    set("workload.request_size", draw.of(&["4KiB", "4KiB", "8KiB", "2KiB", "32KiB"]).into());
    set("workload.size_alignment", "512B".into());
    set("workload.inter_arrival", draw.of(&["20us", "200us", "2ms"]).into());
    set("workload.handles", "{ type = \"random\", handles = [0, 1, 2, 3, 4] }".into());
}
