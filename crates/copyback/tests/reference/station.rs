//! A die, or some of them, under a load of single-page requests.

/// What is in the array is never suspended.
pub const NEVER: &str = "\"none\"";

/// Reads suspend programs, at no cost and as often as they come: they preempt, and programs resume.
pub const AT_NO_COST: &str =
    "{ type = \"program_erase\", suspend = \"0us\", resume = \"0us\", most = 65535 }";

/// Dies under a load of Poisson arrivals.
pub struct Station {
    pub channels: u32,
    pub chips: u32,
    /// Those of the pages of a block in turn, separated by bars.
    pub read_us: &'static str,
    pub program_us: f64,
    /// Collections take no time if there is none.
    pub erase_us: Option<f64>,
    pub transfer_rate: &'static str,
    pub register: &'static str,
    pub scheduling: &'static str,
    pub suspend: &'static str,
    /// Drives that a request is spread over, a page on each.
    pub drives: u32,
    /// The drive sleeps after so long, and needs so long to wake up.
    pub sleep_us: Option<(f64, f64)>,
    pub requests: u64,
    pub read_share: f64,
    /// Writes go on where the one before has ended.
    pub writes_in_order: bool,
    /// The mean time between requests.
    pub gap_us: f64,
}

impl Default for Station {
    /// One die without a bus, first come, first served; requests of one page at random places.
    fn default() -> Self {
        Self {
            channels: 1,
            chips: 1,
            read_us: "50",
            program_us: 0.0,
            erase_us: None,
            transfer_rate: "none",
            register: "single",
            scheduling: "in_order",
            suspend: NEVER,
            drives: 1,
            sleep_us: None,
            requests: 1_000_000,
            read_share: 1.0,
            writes_in_order: false,
            gap_us: 100.0,
        }
    }
}

impl Station {
    /// Its configuration.
    pub fn text(&self) -> String {
        let us = |us: f64| format!("{:?}", format!("{us}us"));
        let types: Vec<_> = self.read_us.split('|').map(|us| format!("\"{us}us\"")).collect();
        let (erase, zero_cost) = (us(self.erase_us.unwrap_or(0.0)), self.erase_us.is_none());
        let controller = self.sleep_us.map_or_else(String::new, |(after, time)| {
            let wake_up =
                format!("{{ type = \"sleeps\", after = {}, time = {} }}", us(after), us(time));
            format!("[ssd.controller]\nwake_up = {wake_up}")
        });
        let array = if self.drives > 1 {
            format!("[array]\nlayout = \"raid0\"\ndevices = {}\nstripe = \"4KiB\"", self.drives)
        } else {
            String::new()
        };
        format!(
            r#"
            seed = 1
            {array}
            {controller}
            [ssd.geometry]
            channels = {channels}
            chips_per_channel = {chips}
            planes_per_die = 1
            blocks_per_plane = 200
            pages_per_block = 96
            page_size = "4KiB"
            spare_size = "704B"
            [ssd.timing]
            read = [{types}]
            program = {program}
            erase = {erase}
            command = "0us"
            transfer_rate = "{transfer_rate}"
            register = "{register}"
            bus_arbitration = "in_order"
            [ssd.commands]
            suspend = {suspend}
            [ssd.gc]
            zero_cost = {zero_cost}
            [host]
            scheduling = "{scheduling}"
            queue_depth = 65536
            [precondition]
            fill = 1.0
            overwrites = 0.0
            [workload]
            type = "synthetic"
            requests = {requests}
            request_size = "{request_kib}KiB"
            alignment = "4KiB"
            read_share = {read_share}
            sequential_share = {sequential_share}
            inter_arrival = {{ type = "exponential", mean = "{mean_ns}ns" }}
            "#,
            channels = self.channels,
            chips = self.chips,
            types = types.join(", "),
            program = us(self.program_us),
            transfer_rate = self.transfer_rate,
            register = self.register,
            suspend = self.suspend,
            scheduling = self.scheduling,
            requests = self.requests,
            request_kib = 4 * self.drives,
            read_share = self.read_share,
            sequential_share = u8::from(self.writes_in_order),
            mean_ns = (1e3 * self.gap_us).round(),
        )
    }
}
