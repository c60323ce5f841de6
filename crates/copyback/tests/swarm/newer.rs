//! Keys that came after the first cases were drawn. They are drawn from a stream of their own, so that all else of a
//! case stays what it was.

use copyback::config::quantity::{Rate, Share, Size, Time};
use copyback::config::resolved::Drive;
use copyback::config::{
    AddressDistribution, Age, AgeWeight, AgedReadErrors, Average, CachedUnit, Clock,
    CollectionCost, CommandDelay, Config, Controller, Coordination, Counted, CountedBlocks, Cuts,
    Delay, DelayRow, DisturbedReadErrors, Expiry, Flow, Flush, FreeBlocks, GcEnd, HandleRange,
    Handles, Host, Idle, InAdvance, Ineligible, Interface, Isolation, Layout, Loader, LogStream,
    LogVictims, Logarithm, LogicalBlocks, Mapping, Margin, MoveOrder, Overwritten, PipelineOrder,
    Placement, Precondition, Preemption, Promotion, Protection, QueuedWhen, Replaced, Round,
    SlcCache, SlcTiming, Ssd, SummaryPage, Suspend, SyntheticWorkload, ThinkTime, ThresholdScope,
    ThresholdUnit, Throttle, ValidPages, VictimPolicy, WakeUp, WearCompare, WhenFull, Width,
    Within, Workload,
};

use crate::draw::Draw;
use crate::{around, array_power, failures, lines, mirrors, rain, upkeep};

/// Changes `config`, of the case of this number.
pub fn draw(config: &mut Config, number: u64, name: &str) {
    let mut draw = Draw::new(number, &format!("{name}/newer"));
    if draw.chance(0.4) {
        config.ssd.gc.threshold_scope = draw.of(&[ThresholdScope::Die, ThresholdScope::Drive]);
    }
    if draw.chance(0.3) {
        let margin = Margin::OfThreshold { of_threshold: Share(draw.share()) };
        if let Width::Threshold { margin: of_width, .. } = &mut config.ssd.gc.width {
            *of_width = margin;
        }
        config.array.protocol.target_margin = margin;
    }
    if draw.chance(0.3) {
        config.ssd.gc.end = GcEnd::OneVictim;
    }
    if let Preemption::SemiPreemptive {
        merge,
        pipeline_order,
        reorder_writes,
        high_priority_writes,
        priority_flows,
        ..
    } = &mut config.ssd.gc.preemption
    {
        *reorder_writes = draw.chance(0.3) && *merge;
        if draw.chance(0.3) && *high_priority_writes {
            *priority_flows = vec![draw.within(0, 2) as u16];
        }
        *pipeline_order = draw.of(&[
            PipelineOrder::CollectionFollows,
            PipelineOrder::HostFollows,
            PipelineOrder::Either,
            PipelineOrder::Joins,
        ]);
    }
    if draw.chance(0.6) {
        config.ssd.ftl.logical_blocks =
            logical_blocks(&mut draw, config.resolve().drive.shape.stripe_width);
    }
    if draw.chance(0.4) && config.ssd.ftl.mapping.is_page_mapping() {
        config.ssd.gc.threshold_unit = ThresholdUnit::FreePages;
    }
    if draw.chance(0.4) {
        let (blocks, share) = (draw.within(1, 3) as u32, Share(draw.share()));
        config.array.protocol.round = draw.of(&[Round::Blocks { blocks }, Round::Share { share }]);
    }
    if let Coordination::ReactiveInclusive { delay, .. } = &mut config.array.coordination
        && draw.chance(0.5)
    {
        let (quorum, used) = (Share(draw.share()), Share(draw.share()));
        *delay = Delay::UntilQuiet { outstanding: draw.within(0, 8) as u32, quorum, used };
    }
    if draw.chance(0.3) {
        config.ssd.wear.compare = WearCompare::BlockNumbers;
    }
    if draw.chance(0.2) && config.ssd.ftl.mapping.is_page_mapping() {
        config.ssd.gc.victim = VictimPolicy::Fifo {
            queued_when: draw.of(&[QueuedWhen::Filled, QueuedWhen::Opened]),
            ineligible: draw.of(&[Ineligible::Collect, Ineligible::Drop, Ineligible::Drop]),
        };
    }
    if draw.chance(0.4) && config.ssd.ftl.mapping.is_page_mapping() {
        let placement = placement(&mut draw, config);
        sort(config, placement);
        if draw.chance(0.2) {
            config.ssd.gc.invalid_threshold = Some(Share(draw.share()));
        }
    }
    if draw.chance(0.4) {
        config.ssd.gc.victim = by_age_or_class(&mut draw, config.ssd.ftl.mapping.is_page_mapping());
    }
    if draw.chance(0.15) && config.ssd.ftl.mapping.is_page_mapping() {
        let placement = with_a_say_in_victims(&mut draw);
        sort(config, placement);
        if let VictimPolicy::Fifo { .. } = config.ssd.gc.victim {
            config.ssd.gc.victim = VictimPolicy::FIFO;
        }
    }
    if draw.chance(0.3) {
        name_handles(&mut draw, &mut config.workload);
    }
    if draw.chance(0.15) {
        append(&mut draw, config);
    }
    if draw.chance(0.5) && matches!(config.ssd.ftl.placement, Placement::Sfs { .. }) {
        let least_invalid = Share(draw.of(&[0.0, 0.15, 0.6]));
        config.ssd.gc.victim = VictimPolicy::CostHotness { least_invalid };
    }
    if draw.chance(0.5) && matches!(config.ssd.ftl.placement, Placement::Oracle { .. }) {
        config.ssd.gc.victim = VictimPolicy::Foresight;
    }
    if draw.chance(0.25) && config.ssd.gc.preemption != Preemption::None {
        config.ssd.gc.preemption = Preemption::Paced {
            set_point: Share(draw.of(&[0.05, 0.5, 0.8, 0.95])),
            most_times: draw.of(&[1, 4, 100]),
            reads_ahead: draw.small_within(0, 20) as u32,
        };
    }
    cache_segments(&mut draw, config);
    if draw.chance(0.2) && config.ssd.ftl.mapping.is_page_mapping() {
        config.ssd.gc.least_invalid = Share(draw.of(&[0.05, 0.125, 0.5, 1.0]));
    }
    if draw.chance(0.25) {
        wear_data_out(&mut draw, config);
    }
    if draw.chance(0.2) {
        config.ssd.controller = controller(&mut draw);
    }
    if draw.chance(0.25) {
        slc_cache(&mut draw, config);
    }
    if draw.chance(0.1) {
        config.host.link_overhead = Time::from_ns(draw.of(&[1, 700, 7_000]));
    }
    if draw.chance(0.2) {
        map_parts_of_pages(&mut draw, config);
    }
    clock_and_victims(&mut draw, config);
    let is_of_lines = name == rain::NAME;
    if is_of_lines {
        rain::leave_out(config);
    }
    if draw.chance(0.4) || is_of_lines {
        lines::draw(&mut draw, config);
    }
    reclaim_units(config);
    rain::draw(config, number, name);
    if config.ssd.power.cuts != Cuts::None && draw.chance(0.2) {
        config.ssd.power.flush = Flush::Ignored;
    }
    if config.ssd.power.protection == Protection::None && draw.chance(0.4) {
        config.ssd.power.paired_pages = draw.of(&[2, 3, 4, 8]);
    }
    fold_for_the_sake_of_data(&mut Draw::new(number, &format!("{name}/folds")), &mut config.ssd);
    leave_time_between_refreshes(
        &mut Draw::new(number, &format!("{name}/refresh")),
        &mut config.ssd,
    );
    as_fio(&mut Draw::new(number, &format!("{name}/fio")), &mut config.workload);
    long_rests(&mut Draw::new(number, &format!("{name}/rests")), config);
    pulses(&mut Draw::new(number, &format!("{name}/pulses")), &mut config.ssd.commands.suspend);
    command_slots(&mut Draw::new(number, &format!("{name}/slots")), &mut config.host);
    fetching(&mut Draw::new(number, &format!("{name}/fetching")), &mut config.host);
    throttle(
        &mut Draw::new(number, &format!("{name}/tokens")),
        &mut Draw::new(number, &format!("{name}/throttles")),
        &mut config.ssd,
    );
    mirrors::draw(&mut Draw::new(number, &format!("{name}/mirrors")), config);
    failures::draw(&mut Draw::new(number, &format!("{name}/failures")), config);
    upkeep::draw(&mut Draw::new(number, &format!("{name}/upkeep")), config);
    array_power::draw(&mut Draw::new(number, &format!("{name}/array_power")), config);
    array_power::add_journal(&mut Draw::new(number, &format!("{name}/journal")), config);
    around::draw(&mut Draw::new(number, &format!("{name}/around")), config);
    move_order(&mut Draw::new(number, &format!("{name}/move_order")), config);
    if draw.chance(0.3) && writes_everywhere(config) {
        config.precondition.addresses = Overwritten::Workload;
    }
    if draw.chance(0.3) {
        lay_out(config);
    }
}

/// Collections in idle periods that soon count as long, where blocks are merged: else hardly any case has them.
fn long_rests(draw: &mut Draw, config: &mut Config) {
    let merges = matches!(config.ssd.ftl.mapping, Mapping::LogBlock | Mapping::Superblock { .. });
    if !merges || draw.chance(0.6) {
        return;
    }
    let advance = InAdvance {
        entries: draw.small_within(1, 64) as u32,
        short_idle: Time::default(),
        long_idle: draw.time(1, 200_000),
        margin: Margin::Free(FreeBlocks::Blocks { blocks: draw.within(0, 4) as u32 }),
    };
    let idle = draw.of(&[Idle::Advanced(advance), Idle::AdvancedDelayed(advance)]);
    let mut resting = config.clone();
    resting.ssd.gc.idle = idle;
    let text = serde_json::to_string(&resting).expect("a configuration is JSON");
    if Loader::new().json(&text).load().is_ok() {
        *config = resting;
    }
}

/// Pages that are moved LUN by LUN, where nothing else decides their order.
fn move_order(draw: &mut Draw, config: &mut Config) {
    let luns = draw.within(2, config.ssd.geometry.pages_per_block.max(2).into()) as u32;
    if draw.chance(0.8) {
        return;
    }
    let mut ordered = config.clone();
    ordered.ssd.gc.move_order = MoveOrder::ByLun { luns };
    let text = serde_json::to_string(&ordered).expect("a configuration is JSON");
    if Loader::new().json(&text).load().is_ok() {
        *config = ordered;
    }
}

/// Programs and erases that can be suspended only between pulses.
fn pulses(draw: &mut Draw, suspend: &mut Suspend) {
    let Suspend::ProgramErase { program_pulse, erase_pulse, .. } = suspend else { return };
    *program_pulse = draw.chance(0.5).then(|| draw.time(1, 300_000));
    *erase_pulse = draw.chance(0.5).then(|| draw.time(1, 1_000_000));
}

/// Writes that are throttled, where there is a buffer that may do so; by what, `kinds` decides.
fn throttle(draw: &mut Draw, kinds: &mut Draw, ssd: &mut Ssd) {
    let has_cache = Drive::of(ssd).blocks.slc > 0;
    if draw.chance(0.3) && ssd.buffer.capacity.0 > 0 && !has_cache {
        let page = Drive::of(ssd).pages.size.0;
        let burst = Size(page * draw.small_within(1, 64));
        let share = Share(0.1 + 0.9 * draw.share());
        let rate = Rate::BytesPerSecond(page * kinds.small_within(1, 100_000));
        let window = kinds.time(1, 100_000_000);
        let least = kinds.of(&[Rate::None, rate]);
        ssd.buffer.throttle = kinds.of(&[
            Throttle::Tokens { burst, share },
            Throttle::SetRate { rate },
            Throttle::RecentRate { share, least, window },
        ]);
    }
}

/// Command slots of the whole drive in the place of depths of its queues.
fn command_slots(draw: &mut Draw, host: &mut Host) {
    if host.interface == Interface::Nvme && draw.chance(0.2) {
        (host.queue_depth, host.command_slots) = (None, Some(draw.small_within(1, 64) as u32));
    }
}

/// A drive that fetches commands again when few of its slots are taken.
fn fetching(draw: &mut Draw, host: &mut Host) {
    if host.command_slots.is_some() && draw.chance(0.5) {
        host.low_watermark = Share(draw.share());
    }
}

/// Blocks as a mean-field model has them, where there is one.
fn lay_out(config: &mut Config) {
    let parts = if config.seed.is_multiple_of(2) { 2 } else { 1 };
    let laid_out = Config {
        precondition: Precondition {
            valid_pages: ValidPages::MeanField { parts },
            ..config.precondition.clone()
        },
        ..config.clone()
    };
    let text = serde_json::to_string(&laid_out).expect("a configuration is JSON");
    if Loader::new().json(&text).load().is_ok() {
        *config = laid_out;
    }
}

/// Whether a generator is sure to write to every drive.
fn writes_everywhere(config: &Config) -> bool {
    let is_one = config.array.layout == Layout::Single;
    let writes = |flow: &Flow| match flow {
        Flow::Trace(_) => false,
        // The pass that it repeats may hold no write.
        Flow::Synthetic(_) if flow.repeats_its_map() => false,
        Flow::Synthetic(flow) => {
            let others = flow.read_share.0 + flow.trim_share.0 + flow.flush_share.0;
            let is_wide = flow.footprint.0 > 0.3 && flow.sequential_share.0 < 0.9;
            others < 0.9 && (is_one || is_wide && config.array.layout != Layout::Jbod)
        }
    };
    config.workload.flows().iter().any(writes)
}

/// Maps of random blocks, ends by bytes, and pauses, as jobs of fio have them.
fn as_fio(draw: &mut Draw, workload: &mut Workload) {
    match workload {
        Workload::Trace(_) => {}
        Workload::Synthetic(synthetic) => as_fio_of(draw, synthetic),
        Workload::Flows(flows) => {
            for flow in &mut flows.flows {
                if let Flow::Synthetic(synthetic) = flow {
                    as_fio_of(draw, synthetic);
                }
            }
        }
    }
}

fn as_fio_of(draw: &mut Draw, workload: &mut SyntheticWorkload) {
    if draw.chance(0.2) && !matches!(workload.address, AddressDistribution::Logs { .. }) {
        workload.address = AddressDistribution::RandomMap { repeats: draw.chance(0.5) };
    }
    if draw.chance(0.1) {
        workload.io_size = Some(Size(draw.small_within(1, 1 << 24)));
    }
    if draw.chance(0.2) && workload.iodepth.is_some() {
        workload.thinktime = ThinkTime::Pause {
            time: draw.time(1, 1_000_000),
            blocks: draw.chance(0.7).then(|| draw.small_within(1, 100)),
            blocks_type: draw.of(&[CountedBlocks::Complete, CountedBlocks::Issue]),
            iotime: draw.chance(0.3).then(|| draw.time(1, 1_000_000)),
        };
    }
}

/// Makes reads and age the only reasons for which some caches are folded.
fn fold_for_the_sake_of_data(draw: &mut Draw, ssd: &mut Ssd) {
    if Drive::of(ssd).blocks.slc == 0 || draw.chance(0.6) {
        return;
    }
    ssd.slc_cache.dynamic = FreeBlocks::Blocks { blocks: 0 };
    ssd.slc_cache.when_full = WhenFull::WritePast;
    ssd.slc_cache.fold_below = 0;
    ssd.slc_cache.fold_after_idle = NEVER;
    // Of units no reads are counted.
    ssd.refresh.reads = ssd.ftl.mapping_unit.is_none().then(|| draw.small_within(3, 200) as u32);
    ssd.refresh.age = Some(Time::from_ns(draw.small_within(100_000, 1 << 33)));
}

/// Whether the cache is folded for no other reason.
pub fn folds_for_the_sake_of_data_alone(ssd: &Ssd) -> bool {
    ssd.slc_cache.fold_after_idle == NEVER
}

/// Makes most ages at which blocks are refreshed longer than it takes to write a plane anew: a drive that is not done
/// with one round when the next is due does little else, for as long as its case lasts.
fn leave_time_between_refreshes(draw: &mut Draw, ssd: &mut Ssd) {
    let Some(age) = ssd.refresh.age.filter(|_| draw.chance(0.95)) else { return };
    let geometry = &ssd.geometry;
    let pages = u64::from(geometry.blocks_per_plane * geometry.pages_per_block);
    let program = ssd.timing.program.slowest().0.as_ns();
    let round = pages * (program + channel_ns(ssd));
    ssd.refresh.age = Some(age.max(Time::from_ns(draw.of(&[2, 5, 20]) * round)));
}

/// How long a channel is busy while a page of each of its planes is read and programmed.
fn channel_ns(ssd: &Ssd) -> u64 {
    let geometry = &ssd.geometry;
    let planes = geometry.chips_per_channel * geometry.dies_per_chip * geometry.planes_per_die;
    match ssd.timing.transfer_rate {
        Rate::None => 0,
        Rate::BytesPerSecond(rate) => {
            2 * u64::from(planes) * geometry.page_size.0 * 1_000_000_000 / rate
        }
    }
}

/// Units of mapping that are smaller than a page.
fn map_parts_of_pages(draw: &mut Draw, config: &mut Config) {
    let ssd = &mut config.ssd;
    let unit = Size((ssd.geometry.page_size.0 / draw.of(&[2, 4, 8])).max(512));
    if !ssd.ftl.mapping.is_page_mapping()
        || ssd.ftl.summary_page != SummaryPage::None
        || !ssd.faults.are_none()
        || unit == ssd.geometry.page_size
    {
        return;
    }
    if ssd.power.protection == Protection::None && !waits_for_pages(draw, ssd) {
        return;
    }
    if ssd.gc.width.is_parallel() {
        ssd.gc.width = Width::Serial;
    }
    ssd.gc.copyback = false;
    ssd.refresh.reads = None;
    ssd.ftl.mapping_unit = Some(unit);
}

/// A buffer for the units that wait for their page, on a drive without capacitors that may have one.
fn waits_for_pages(draw: &mut Draw, ssd: &mut Ssd) -> bool {
    if ssd.buffer.capacity == Size(0) {
        ssd.buffer.capacity = Size(draw.of(&[1, 4, 64]) * ssd.geometry.page_size.0);
    }
    !matches!(ssd.ftl.mapping, Mapping::DemandPaged { .. }) && !ssd.gc.has_lines()
}

/// Which clock a placement goes by, and whose victims MultiLog takes.
fn clock_and_victims(draw: &mut Draw, config: &mut Config) {
    if let Placement::Warcip { clock, .. } | Placement::Sfs { clock, .. } =
        &mut config.ssd.ftl.placement
    {
        *clock = draw.of(&[Clock::Writes, Clock::Time]);
    }
    let is_of_plane = |victim: &VictimPolicy| {
        matches!(victim, VictimPolicy::Fifo { .. }) && *victim != VictimPolicy::FIFO
    };
    if let Placement::MultiLog { victims, .. } = &mut config.ssd.ftl.placement
        && !is_of_plane(&config.ssd.gc.victim)
    {
        *victims = draw.of(&[LogVictims::Policy, LogVictims::Own]);
    }
}

/// Data that reads and time put in danger, and blocks that are refreshed before or after that.
fn wear_data_out(draw: &mut Draw, config: &mut Config) {
    let refresh = &mut config.ssd.refresh;
    refresh.reads = draw.chance(0.6).then(|| draw.small_within(10, 5_000) as u32);
    refresh.age = draw.chance(0.6).then(|| Time::from_ns(draw.small_within(100_000, 1 << 33)));
    // No draw of these settings goes with a recovery that knows no bad blocks.
    if config.ssd.power.is_watched() {
        return;
    }
    let faults = &mut config.ssd.faults;
    if draw.chance(0.5) {
        let (share, reads) = (Share(draw.share()), draw.small_within(1, 5_000) as u32);
        faults.disturbed_read_errors = Some(DisturbedReadErrors { share, reads });
    }
    if draw.chance(0.5) {
        let (share, age) = (Share(draw.share()), Time::from_ns(draw.small_within(1_000, 1 << 33)));
        faults.aged_read_errors = Some(AgedReadErrors { share, age });
    }
}

/// Whole translation pages in the cache of a table in flash, and entries that wait outside of it.
fn cache_segments(draw: &mut Draw, config: &mut Config) {
    let page = config.resolve().drive.pages.size;
    let Mapping::DemandPaged { cache, cached_entry, unit, unwritten, .. } =
        &mut config.ssd.ftl.mapping
    else {
        return;
    };
    if draw.chance(0.5) {
        *unit = CachedUnit::Segment;
        *cache = Size(page.0 * draw.small_within(1, 8));
    }
    if draw.chance(0.5) {
        *unwritten = Size(cached_entry.0 * draw.small_within(1, 200));
    }
}

/// An hour, which is longer than any case lasts.
const NEVER: Time = Time::from_us(3_600_000_000);

/// Blocks in another cell mode, on a drive with as many logical pages that has more blocks for them.
fn slc_cache(draw: &mut Draw, config: &mut Config) {
    let ssd = &mut config.ssd;
    let (native_bits, bits) = draw.of(&[(2, 1), (3, 1), (4, 1), (4, 2)]);
    if !ssd.ftl.mapping.is_page_mapping()
        || Drive::of(ssd).thresholds.kept_for_collections == 0
        || ssd.ftl.summary_page != SummaryPage::None
        || ssd.geometry.pages_per_block * bits < native_bits
    {
        return;
    }
    ssd.gc.invalid_threshold = None;
    ssd.wear.static_threshold = 0;
    let (fixed, dynamic) = draw.of(&[(1, 0), (2, 0), (0, 3), (1, 2), (3, 8)]);
    ssd.slc_cache = SlcCache {
        fixed: FreeBlocks::Blocks { blocks: fixed },
        dynamic: FreeBlocks::Blocks { blocks: dynamic },
        dynamic_until: Share(draw.of(&[0.3, 0.75, 1.0])),
        native_bits,
        bits,
        when_full: draw.of(&[WhenFull::WritePast, WhenFull::Wait]),
        fold_below: draw.within(0, 2) as u32,
        fold_after_idle: Time::from_us(draw.small_within(1, 20_000)),
        idle_keeps: draw.within(0, 2) as u32,
        timing: SlcTiming {
            read: draw.time(1, 50_000),
            program: draw.time(1, 500_000),
            erase: draw.time(1, 3_000_000),
        },
    };
    let before = f64::from(ssd.geometry.blocks_per_plane);
    ssd.geometry.blocks_per_plane += fixed + 4;
    let logical = (1.0 - ssd.ftl.over_provisioning.0) * before;
    let after = f64::from(ssd.geometry.blocks_per_plane);
    ssd.ftl.over_provisioning = Share(1.0 - logical / after);
}

/// One that sleeps, or takes its time.
fn controller(draw: &mut Draw) -> Controller {
    let time = |draw: &mut Draw| Time::from_us(draw.within(0, 2000));
    let delay = |draw: &mut Draw| {
        let mut row = |size| {
            let mut times: Vec<_> = (0..3).map(|_| time(draw)).collect();
            times.sort();
            DelayRow { size: Size(size), times }
        };
        let rows = vec![row(512), row(16_384)];
        CommandDelay::BySize { probabilities: [0.0, 0.9, 1.0].map(Share).to_vec(), rows }
    };
    let mut controller = Controller::default();
    if draw.chance(0.6) {
        controller.wake_up = WakeUp::Sleeps { after: time(draw), time: time(draw) };
    }
    if draw.chance(0.6) {
        controller.read_delay = delay(draw);
    }
    if draw.chance(0.6) {
        controller.write_delay = delay(draw);
    }
    controller
}

/// One that says where victims come from.
fn with_a_say_in_victims(draw: &mut Draw) -> Placement {
    if draw.chance(0.5) {
        let (classes, sample) = (draw.within(3, 7) as u32, draw.small_within(1, 100) as u32);
        return Placement::Midas { classes, sample };
    }
    let count = draw.within(1, 4);
    let sizes = (0..count).map(|_| match draw.chance(0.5) {
        true => FreeBlocks::Blocks { blocks: draw.within(0, 4) as u32 },
        false => FreeBlocks::Share(Share(draw.share() / count as f64)),
    });
    Placement::Generations { sizes: sizes.collect() }
}

/// One that sorts pages. Whether the future can be known is for the configuration to say.
fn placement(draw: &mut Draw, config: &Config) -> Placement {
    let handles = draw.within(1, 4) as u32;
    let isolation = draw.of(&[Isolation::Initial, Isolation::Persistent]);
    let (classes, growth) = (draw.within(2, 6) as u32, draw.of(&[1.0, 1.5, 3.0]));
    let knows = config.array.devices == 1 && config.workload.flows().len() == 1;
    if knows && draw.chance(0.15) {
        return Placement::Oracle { classes, width: draw.of(&[0.1, 1.0]), growth };
    }
    if draw.chance(0.2) {
        return Placement::ByHint { handles, isolation, reclaim_unit: draw.of(&[1, 2, 3]) };
    }
    learning(draw)
}

/// Writers that append, in the place of random addresses, where the workload is one that may have some.
fn append(draw: &mut Draw, config: &mut Config) {
    let page = config.ssd.geometry.page_size;
    let capacity = config.resolve().bytes;
    let Workload::Synthetic(workload) = &mut config.workload else { return };
    let unit = workload.alignment_on(page).0;
    let units = (capacity as f64 * workload.footprint.0) as u64 / unit.max(1);
    // Two streams, each with room for five objects or more.
    let most = units / 12;
    if most == 0 {
        return;
    }
    let streams = (0..2).map(|_| LogStream {
        pages: Share(0.49),
        object: Size(unit * draw.small_within(1, most)),
        writers: draw.within(1, 3) as u32,
        weight: draw.of(&[0.5, 1.0, 4.0]),
        replaced: draw.of(&[Replaced::Oldest, Replaced::Random]),
        trims: draw.chance(0.5),
        handle: draw.of(&[None, Some(1), Some(7)]),
    });
    workload.address = AddressDistribution::Logs { streams: streams.collect() };
    workload.sequential_share = Share(0.0);
    workload.sequential_run = None;
    workload.trim_share = Share(0.0);
    workload.trim_before_write = false;
}

/// Placement handles of each flow, some of which no drive of the swarm has.
fn name_handles(draw: &mut Draw, workload: &mut Workload) {
    match workload {
        Workload::Trace(trace) => trace.handles = handles(draw),
        Workload::Synthetic(synthetic) => synthetic.handles = handles(draw),
        Workload::Flows(flows) => {
            for flow in &mut flows.flows {
                match flow {
                    Flow::Trace(trace) => trace.handles = handles(draw),
                    Flow::Synthetic(synthetic) => synthetic.handles = handles(draw),
                }
            }
        }
    }
}

fn handles(draw: &mut Draw) -> Handles {
    let listed: Vec<_> = (0..draw.within(1, 5)).map(|_| draw.within(0, 5) as u16).collect();
    let (gap, size) = (draw.small_within(1, 1 << 20), draw.small_within(1, 1 << 20));
    let range = |(place, handle): (usize, &u16)| HandleRange {
        offset: Size(gap + place as u64 * (size + gap)),
        size: Size(size),
        handle: *handle,
    };
    let ranges = listed.iter().enumerate().map(range).collect();
    draw.of(&[
        Handles::InTurn { handles: listed.clone() },
        Handles::Random { handles: listed },
        Handles::ByAddress { ranges },
    ])
}

/// One that learns.
fn learning(draw: &mut Draw) -> Placement {
    let classes = draw.within(2, 6) as u32;
    let period = draw.within(1, 40) as u32;
    let chunk_pages = draw.small_within(1, 256) as u32;
    let counted = draw.of(&[Counted::Runs, Counted::Pages]);
    let logarithm = draw.of(&[Logarithm::Natural, Logarithm::Binary]);
    let expiry = draw.of(&[Expiry::Demotes, Expiry::None]);
    let average = draw.of(&[Average::Fading, Average::Mean]);
    let promotion = draw.of(&[Promotion::Random, Promotion::Sure]);
    let young = Some(draw.small_within(1, 4096)).filter(|_| draw.chance(0.5));
    let (extents, hot) = (draw.small_within(1, 64) as u32, draw.within(1, 15) as u8);
    draw.of(&[
        Placement::SepBit,
        Placement::Dac { classes, young },
        Placement::Fadac { classes, average },
        Placement::Eti { extents, period, hot },
        Placement::AutoStreamMultiQueue { classes, chunk_pages, counted, logarithm, expiry },
        Placement::AutoStreamSfr { classes, chunk_pages, counted, period, logarithm },
        Placement::Warcip { classes, period, clock: Clock::Writes },
        Placement::Sfs { classes, period, clock: Clock::Writes },
        Placement::MultiLog { classes, promotion, victims: LogVictims::Policy },
    ])
}

/// Sorts pages by `placement`, on a drive with as many logical pages that has more blocks for open ones.
fn sort(config: &mut Config, placement: Placement) {
    let (geometry, ftl) = (&mut config.ssd.geometry, &mut config.ssd.ftl);
    let before = f64::from(geometry.blocks_per_plane);
    geometry.blocks_per_plane += blocks_of_open_units(&placement);
    geometry.blocks_per_plane -= blocks_of_open_units(&ftl.placement);
    ftl.placement = placement;
    let logical = (1.0 - ftl.over_provisioning.0) * before;
    ftl.over_provisioning = Share(1.0 - logical / f64::from(geometry.blocks_per_plane));
}

/// Blocks of a plane in units that are not full, those of no class included.
fn blocks_of_open_units(placement: &Placement) -> u32 {
    placement.classes() + (placement.classes() + 1) * (placement.reclaim_unit() - 1)
}

/// What reclaim units of several blocks do not go with is left out.
fn reclaim_units(config: &mut Config) {
    if config.resolve().drive.unit.together == 1 {
        return;
    }
    config.ssd.gc.least_invalid = Share(0.0);
    if let VictimPolicy::Fifo { .. } = config.ssd.gc.victim {
        config.ssd.gc.victim = VictimPolicy::FIFO;
    }
}

/// A victim policy that knows ages, a window or classes.
fn by_age_or_class(draw: &mut Draw, pages: bool) -> VictimPolicy {
    let ages = match pages {
        true => &[Age::SinceInvalidated, Age::SinceSealed, Age::SinceOpened][..],
        false => &[Age::SinceInvalidated],
    };
    let (age, d) = (draw.of(ages), draw.within(1, 12) as u32);
    let window = draw.within(1, 20) as u32;
    let weight = draw.of(&[AgeWeight::Linear, AgeWeight::Sqrt]);
    let cost = draw.of(&[CollectionCost::ValidPages, CollectionCost::WholeBlock]);
    draw.of(&[
        VictimPolicy::CostBenefit { age, weight, cost },
        VictimPolicy::CostAgeTimes { age },
        VictimPolicy::WindowedGreedy { window },
        VictimPolicy::Rga { d, within: Within::Class },
    ])
}

/// Not the default, of a drive of so many planes.
fn logical_blocks(draw: &mut Draw, planes: u64) -> LogicalBlocks {
    let divisors = (1..=planes as u32).filter(|width| planes.is_multiple_of((*width).into()));
    let planes = draw.of(&divisors.collect::<Vec<_>>());
    draw.of(&[LogicalBlocks::Contiguous, LogicalBlocks::Superpage { planes }])
}
