"""The numbers of a run: a class for each table of ``summary.json``.

Generated from the schema that the simulator tells by ``make generated``; do not edit.
"""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from copyback.data.section import Section


class SpellSummary(Section, kw_only=True):
    """The longest time in which a die did nothing but collect."""

    device: int
    """The drive."""
    die: int
    """Its die."""
    start_s: float
    """When it began, in seconds of simulated time."""
    us: float
    """How long it lasted, in microseconds."""


class RunHoldsSummary(Section, kw_only=True):
    """How long requests waited for dies that collected, and how long these collected."""

    longest_spell: SpellSummary | None
    """The longest time in which a die did nothing but collect; None if none was long enough to
    be seen.
    """
    longest_wait_us: float
    """The longest that one of them waited, in microseconds."""
    requests: int
    """Requests that waited for any."""


class DriftSummary(Section, kw_only=True):
    """How the least backlog drifts from part to part."""

    critical: float
    """What `t` exceeds by chance in one run of a hundred."""
    t: float
    """Student's t of the mean step from one part to the next."""


class BacklogSummary(Section, kw_only=True):
    """Requests that had arrived and not ended, over time."""

    at_last_arrival: int
    """When the last one arrived."""
    drift: DriftSummary | None
    """How the least drifts; None if the run is too short to tell."""
    least_by_part: list[int]
    """The least of each part of the time."""


class LoadSummary(Section, kw_only=True):
    """What an open loop asked of a drive and what it got, until the last arrival."""

    arrivals_s: float
    """From the first arrival to the last, in seconds."""
    backlog: BacklogSummary
    """Requests that had arrived and not ended."""
    drained_s: float
    """From the last arrival to the last end, in seconds."""
    offered_iops: float
    """Requests that arrived, a second."""
    served_iops: float
    """Requests that ended, a second."""
    served_lately_iops: float
    """Requests that ended in the second half of the time, a second."""
    state: Literal["sustained", "caught_up", "overload", "undecided"]
    """Whether the drive did what it was asked to as fast as it was asked."""


class SettlingSummary(Section, kw_only=True):
    """Write amplification over the run: whether it has come to rest."""

    by_part: list[float | None]
    """That of each tenth of the host's writes; None where the run was not looked at often enough
    to tell.
    """
    last_half: float
    """That of the last half."""
    settled: bool | None
    """Whether a longer run would give the same as the whole; None where that cannot be told."""
    uncertainty: float | None
    """Half of the width of a 95% confidence interval of that of the whole, as a share of it;
    None if unknown.
    """


class VerdictSummary(Section, kw_only=True):
    """What the numbers of a run can be taken for."""

    says: list[str]
    """A sentence for each finding."""
    findings: list[
        Literal[
            "starved",
            "unmapped_reads",
            "nothing_programmed",
            "overload",
            "perhaps_overload",
            "stalls",
            "nothing_collected",
            "unsettled",
        ]
    ]
    """What should be known before the numbers are read."""
    holds: RunHoldsSummary
    """How long requests waited for dies that collected."""
    load: LoadSummary | None
    """Whether the drives kept up; None if no request has a time of its own, or too few came."""
    write_amplification: SettlingSummary | None
    """Whether write amplification has settled; None if the host wrote nothing, or nothing was
    programmed.
    """


class RepairsSummary(Section, kw_only=True):
    """Uncorrectable reads of drives, and their reconstruction by the array."""

    lost: int
    """Pages that could not be reconstructed: too many drives are lost, or cannot read their part
    either.
    """
    made_up: int
    """Reads of drives which no retry could correct, and which were made up from other drives."""
    unknown_rebuilt_bytes: int
    """Bytes of replacements in whose place nothing is known, as what they are made up from could
    not be read.
    """
    written_bytes: int
    """Bytes that were written to their drives again."""


class ArraySummary(Section, kw_only=True):
    """Work of an array beside serving requests."""

    drives_missing: int
    """Drives that are lost, and not rebuilt."""
    reads_around_gc: int
    """Reads answered from other drives because theirs collected."""
    rebuilt_bytes: int
    """Bytes of lost drives that were rebuilt."""
    repairs: RepairsSummary | None
    """Repairs of pages that drives could not read, where that may happen and there is a parity."""


class BandwidthSummary(Section, kw_only=True):
    """Bandwidth over windows of one length that have ended, reads and writes together.

    The deviation is that of the population, as for response times.
    """

    coefficient_of_variation: float | None
    """Standard deviation as a share of the mean; None if nothing was read or written."""
    max_mib_per_s: float | None
    """The fastest window; None before the first has ended."""
    mean_mib_per_s: float | None
    """Mean over the windows; None before the first has ended."""
    min_mib_per_s: float | None
    """The slowest window; None before the first has ended."""
    stddev_mib_per_s: float | None
    """Standard deviation over the windows; None before the first has ended."""
    window_s: float
    """Length of a window, in seconds of simulated time."""
    windows: int
    """Windows that have ended."""


class BoundRunSummary(Section, kw_only=True):
    """A run of the placement that knows the future."""

    classes: int
    """Classes, each with an open block on every plane."""
    growth: float
    """Factor by which each class is wider than the one before."""
    victims_foreseen: bool
    """Whether victims were chosen by the future, too (`ssd.gc.victim = "foresight"`), and not as
    in the run.
    """
    write_amplification: float | None
    """Bytes programmed into flash for each that the host wrote; None if it wrote none."""


class BoundSummary(Section, kw_only=True):
    """Bound: the same configuration under a placement that knows when each page dies."""

    refused: list[str]
    """Reasons why there are no runs, or no more of them, a sentence each."""
    runs: list[BoundRunSummary]
    """Runs, by their number of classes, and the best of these with victims that are foreseen;
    empty if it was refused.
    """


class BreakdownSummary(Section, kw_only=True):
    """Where the mean response time went, in microseconds; the parts add up to it."""

    buffer: float
    """In the write buffer, or waiting for room there."""
    bus: float
    """Waiting for a channel or the host link."""
    gc_other_plane: float
    """Waiting while the die collected another of its planes."""
    gc_same_plane: float
    """Waiting while the die collected the plane that the request needs."""
    host_queue: float
    """Waiting outside the device because its queue was full."""
    late: float
    """Waiting for other host operations only because collections had delayed them."""
    queue_behind_io: float
    """Waiting for other host operations, as it would have without collections."""
    service: float
    """The request's own commands, array operations, transfers and controller overhead."""
    translation: float
    """Waiting until the page's mapping is in RAM."""


class BreakdownByClass(Section, kw_only=True):
    """Where mean response times went, in microseconds."""

    flush: BreakdownSummary | None = None
    """Of flushes, if there were any."""
    read: BreakdownSummary
    """Of reads."""
    trim: BreakdownSummary | None = None
    """Of trims, if there were any."""
    write: BreakdownSummary
    """Of writes."""


class CollectingSummary(Section, kw_only=True):
    """When a drive collected: from its first die that began to collect until none did."""

    intervals: int
    """How often."""
    us: float
    """How long together, in microseconds."""


class CommandsSummary(Section, kw_only=True):
    """Commands that were sent to a drive."""

    count: int
    """Reads and writes."""
    reads: int
    """Reads."""
    writes: int
    """Writes."""


class EnduranceSummary(Section, kw_only=True):
    """What a run asked of the flash, and how long that lasts at this rate.

    Terabytes are decimal, as on data sheets; None is what nothing written or erased leaves
    unknown.
    """

    capacity_bytes: int
    """Bytes that are offered to whoever writes."""
    dwpd: float | None
    """Drive writes a day that the flash bears through the warranty."""
    dwpd_of_this_load: float | None
    """Drive writes a day of this run."""
    erases_per_block: float
    """Erases of this run, for each block."""
    flash_bytes: float
    """Bytes that all blocks hold together, the over-provisioned ones and summary pages included."""
    measured_tbw: float | None = None
    """Terabytes that were written to the drive in its life, if that has ended."""
    most_worn_to_mean: float | None
    """Erases of the most worn block as a multiple of the mean."""
    percentage_used: float
    """Rated cycles that have been used since the drive was new, in percent."""
    rated_cycles: float
    """Erases that a block is rated for."""
    tbw: float | None
    """Terabytes that the host can write at this write amplification."""
    tbw_by_erases: float | None
    """Terabytes that the host can write at this number of erases."""
    warranty_years: float
    """Years of the warranty, of 365 days."""
    years_at_this_load: float | None
    """Years until the rated cycles are used up at the load of this run."""


class FaultsSummary(Section, kw_only=True):
    """What went wrong in the flash, and what was not carried out for that."""

    erase_failures: int
    """Block erases that failed."""
    factory_bad_blocks: int
    """Blocks that were bad from the start."""
    failed_reads: int
    """Pages that the host read in vain, parts of pages that it wrote included: they could not be
    corrected, and not be made up from parity either, or had been lost.
    """
    grown_bad_blocks: int
    """Blocks that have become bad."""
    pages_copied: int
    """Pages copied to spare blocks because a program failed."""
    pages_lost_in_moves: int
    """Pages that a move (of a collection, a fold, wear levelling or a refresh) could not
    correct, and that are lost with that.

    A read of such a page fails until the host has written all of it again, or trimmed it.
    """
    program_failures: int
    """Page programs that failed."""
    read_only_since_s: float | None
    """When the first drive became read-only, in seconds of simulated time; None if none did."""
    read_retries: list[int]
    """Pages read at last after one retry, two and so on."""
    rejected_flushes: int
    """Flushes that a read-only drive rejected."""
    rejected_trims: int
    """Trims that a read-only drive rejected."""
    rejected_writes: int
    """Writes that a read-only drive rejected."""
    uncorrectable_reads: int
    """Pages that could not be corrected after all retries."""


class FlashSummary(Section, kw_only=True):
    """Operations of the flash, in pages, those of erases in blocks."""

    copybacks: int
    """Pages moved with the copyback command."""
    erases: int
    """Blocks erased."""
    host_programs: int
    """Pages programmed for the host."""
    multi_plane_erases: int
    """Erase commands that joined several planes."""
    multi_plane_programs: int
    """Program commands that joined several planes."""
    multi_plane_reads: int
    """Read commands that joined several planes."""
    padding: int | None = None
    """Units of mapping programmed with nothing in them, as a flush, a full buffer or an erase
    waited for the others of their page; among `programs`.

    Left out if there are none.
    """
    programs: int
    """Pages programmed over the channel, for the host or moved."""
    reads: int
    """Pages read over the channel, for the host or to be moved."""


class IdleKindsSummary(Section, kw_only=True):
    """Blocks collected in idle time, by kind."""

    compaction: int
    """In long idle periods, for planes that would soon be short of space."""
    delayed: int
    """Put off when the drive was busy."""
    look_ahead: int
    """Before a gap ended that the host had announced."""
    put_off: int
    """How often a plane that was short of space was put off, or the merge of a group."""


class MovesSummary(Section, kw_only=True):
    """Pages moved by collections, by how (Shahidi et al., SC 2016)."""

    cached: int
    """Read into the device's DRAM."""
    paired: int
    """Read one after the other and programmed together."""
    single_demanding: int
    """Read and programmed alone, on the plane that needed space."""
    single_other: int
    """Read and programmed alone, on a plane that joined."""
    together: int
    """Read together and programmed together."""


class PacingSummary(Section, kw_only=True):
    """What writes of the host were charged (`ssd.gc.preemption`, `paced`).

    A step is the move of a page, or an erase.
    """

    steps_charged: float
    """Steps that the pages which the host wrote were charged."""
    steps_per_page: float | None
    """Those for each page: the rate of collections; None if none was written."""
    throttled: int
    """Writes that waited for steps before they began."""


class PlanesSummary(Section, kw_only=True):
    """How planes used their time; None if no time passed."""

    busy_share: float | None
    """Share of the time in which a plane was busy."""
    idle_share: float | None
    """Share of the time in which a plane was idle."""


class RefreshSummary(Section, kw_only=True):
    """Blocks collected for the sake of their data."""

    read_reclaims: int
    """Because so many of their pages had been read."""
    refreshes: int
    """Because their data had become too old."""


class GcSummary(Section, kw_only=True):
    """Garbage collection."""

    busy_us: float
    """Die time spent collecting, in microseconds."""
    cached_reads: int
    """Reads served from the device's DRAM, where a collection had left the page."""
    collections: int
    """Blocks collected for space."""
    erases: int
    """Blocks erased."""
    forced: int
    """Of those, blocks that the controller of an array asked for."""
    idle: int
    """Of those, blocks collected in idle time."""
    joined: int
    """Of those, blocks of planes that joined the collection of another."""
    kinds: IdleKindsSummary
    """Blocks collected in idle time, by kind."""
    lost_victims: int | None = None
    """Full blocks that the victim policy has refused for good, at the end, if it does such a
    thing.
    """
    merged_reads: int
    """Reads served from the register of a collection."""
    merged_writes: int
    """Writes that took the place of the page in the register of a collection."""
    moves: MovesSummary
    """How pages were moved."""
    on_demand: int
    """Of those, blocks of planes that were short of space."""
    pacing: PacingSummary | None = None
    """What writes were charged, where collections are paced."""
    pages_moved: int
    """Pages moved by collections and wear levelling."""
    pages_moved_per_collection: float | None
    """Pages moved for each block collected; None if none was."""
    pipelined: int
    """Operations of collections that overlapped one of the host."""
    planes: PlanesSummary
    """How planes used the time in which their die collected."""
    preemptions: int
    """How often a collection that had begun yielded to the host."""
    refresh: RefreshSummary | None = None
    """Blocks collected for the sake of their data, not for space, if reads or time do anything
    to them.
    """
    stalled_us: float
    """Die time in which writes waited for a free block although collections yield, or for room
    in a full buffer, in microseconds.
    """
    suspends: int
    """How often a read suspended a program or erase."""


class DieTimeSummary(Section, kw_only=True):
    """Die time by activity, in microseconds."""

    array_idle: float
    """Collecting because the controller of an array asked for it while the array was idle."""
    cached_pages: float
    """Writing pages that collections had left in the device's DRAM."""
    compaction: float
    """Collecting in a long idle period."""
    delayed: float
    """Collecting what was put off."""
    forced: float
    """Collecting because the controller of an array asked for it."""
    look_ahead: float
    """Collecting before a gap ended that the host had announced."""
    nothing: float
    """None of these."""
    on_demand: float
    """Collecting because the plane was short of space."""
    refresh: float | None = None
    """Collecting for the sake of data that reads or time had put in danger; absent if that took
    none.
    """
    wear_levelling: float
    """Levelling wear."""


class IdlePeriodsSummary(Section, kw_only=True):
    """Idle periods of one class."""

    die_us: DieTimeSummary
    """What the dies did meanwhile; adds up to `us`, once a die."""
    periods: int
    """How many."""
    us: float
    """How long they were together, in microseconds."""


class IdleTimeSummary(Section, kw_only=True):
    """The time in which drives had no command.

    Times of periods and `busy_us` are of drives: they add up to the simulated time, once a
    drive.
    """

    all: IdlePeriodsSummary
    """All idle periods."""
    busy_us: float
    """Time with a command, in microseconds."""
    long: IdlePeriodsSummary
    """Long periods."""
    short: IdlePeriodsSummary
    """Periods that are used and end before they are long."""
    unused: IdlePeriodsSummary
    """Periods that are too short to be used."""


class ParitySummary(Section, kw_only=True):
    """Parity of lines."""

    most_held_pages: int
    """Pages of parity that waited at once in the DRAM of a drive for their dies, at most."""
    moves_rebuilt: int
    """Pages that a collection could not correct as it moved them, and that were made up from the
    others of their stripe.

    Those that could not be made up are `faults.pages_lost_in_moves`.
    """
    pages_read_for_others: int
    """Pages read to make up those, of reads and of moves."""
    programs: int
    """Pages of parity that were programmed. They count in `write_amplification`."""
    reads_around: int
    """Pages that were read around a collection (`ssd.ftl.reads_around_gc`)."""
    reads_lost: int
    """Pages that could not be corrected and not be made up, as part of their stripe was gone or
    could not be corrected either, and those that had been lost.

    Only reads for the host count.
    """
    reads_rebuilt: int
    """Pages whose read could not be corrected, and that were made up from the others of their
    stripe.
    """
    share: float
    """Share of the flash that holds parity: one block of each die's."""
    write_amplification_without: float | None
    """Bytes programmed into flash for each that the host wrote, without those of parity; None if
    it wrote none.
    """


class LinesSummary(Section, kw_only=True):
    """What `summary.json` says of lines (`ssd.gc.unit = "line"`).

    Counted since the run began, ramp included.
    """

    borrowed_pages: int
    """Pages of the host that were written to an open block of another class, as there was
    neither a free line for theirs nor one to collect.
    """
    collected: int
    """Lines that were collected, and are free.

    A collection (`gc.collections`) is that of one of its blocks.
    """
    opened: int
    """Lines that were opened."""
    parity: ParitySummary | None = None
    """Parity, if lines have any (`ssd.ftl.rain`)."""
    valid_share: float | None
    """Share of the pages of lines that was valid when they were chosen; None if none was."""


class ResponseSummary(Section, kw_only=True):
    """Response times of one class of requests, in microseconds."""

    count: int
    """Requests."""
    max: float | None
    """The longest; None without requests."""
    mean: float | None
    """Mean; None without requests."""
    min: float | None
    """The shortest; None without requests."""
    p50: float | None
    """Half of the requests take no longer, to 0.1%; None without requests."""
    p90: float | None
    """90% of the requests take no longer."""
    p95: float | None
    """95% of the requests take no longer."""
    p99: float | None
    """99% of the requests take no longer."""
    p99_9: float | None
    """99.9% of the requests take no longer."""
    p99_99: float | None
    """99.99% of the requests take no longer."""
    stddev: float | None
    """Standard deviation of the sample; None for fewer than two requests."""
    variance: float | None
    """Variance of the sample, in square microseconds; None for fewer than two requests."""


class LostDieSummary(Section, kw_only=True):
    """What `summary.json` says of a die that was lost (`ssd.faults.lost_die`).

    Counted since the run began, ramp included; response times are those of requests that are
    measured.
    """

    after_us: ResponseSummary
    """Of those that came after that."""
    before_us: ResponseSummary
    """Response times of reads that ended before the die was lost, in microseconds."""
    degraded_reads: int
    """Reads of pages of that die that were made up for the host."""
    die: int
    """The die."""
    during_us: ResponseSummary
    """Of those that ended while it was rebuilt, or had come by the end of that."""
    lost_at_s: float | None
    """When it was lost; None if the run ended before."""
    pages_lost: int
    """Pages that could not be made up, as another page of their stripe was gone or could not be
    read: their data are lost.

    A read of such a page fails until the host has written all of it again, or trimmed it.
    """
    pages_read_to_rebuild: int
    """Pages that were read to rebuild others."""
    pages_rebuilt: int
    """Pages that were made up and programmed elsewhere since requests are measured, and those
    that could not be, with a mark.

    They count in `write_amplification`.
    """
    rebuild_s: float | None
    """How long it took to rebuild what was there; None if the run ended before."""
    unprotected_lines: int
    """Lines that were opened without parity, as every die left needed a block."""


class NvBufferSummary(Section, kw_only=True):
    """What a non-volatile buffer was used for that takes writes before merges."""

    erases: int
    """Its blocks, in which nothing was valid, that were erased."""
    full: int
    """How often it was full."""
    merges: int
    """Logical blocks that were copied to fresh blocks, with newer pages out of it."""
    most_blocks: int
    """The most blocks that it held."""
    writes: int
    """Pages written to it."""


class MappingSummary(Section, kw_only=True):
    """What it took to know where pages are, and how blocks were reclaimed.

    All is zero of a page mapping in RAM.
    """

    compactions: int
    """Superblocks whose blocks were compacted."""
    dirty_evictions: int
    """Of those, entries that had to be written back."""
    evictions: int
    """Entries that left the cache."""
    full_merges: int
    """Logical blocks that were copied to fresh blocks."""
    hit_ratio: float | None
    """Share of page operations whose mapping was in RAM; None if the table does not lie in
    flash.
    """
    hits: int
    """Page operations whose mapping was in RAM."""
    misses: int
    """Page operations that waited for their mapping."""
    nv_buffer: NvBufferSummary
    """The buffer that takes writes before merges."""
    partial_merges: int
    """Data blocks of which the rest was copied behind an update block's pages."""
    switch_merges: int
    """Update blocks that became data blocks."""
    translation_reads: int
    """Translation pages read, to fetch entries or to be updated: from flash, the register of a
    collection or DRAM.
    """
    translation_writes: int
    """Translation pages written."""


class ClassSummary(Section, kw_only=True):
    """Blocks of one class; lines, where these are collected (`ssd.gc.unit = "line"`)."""

    added_page_write_amplification: float | None
    """Part that collecting them has in `page_write_amplification`: those valid pages for each
    page that the host wrote to the drive; None if it wrote none.
    """
    block_life_pages: float | None
    """How long they had been in use by then, in pages that the host wrote to the drive, on
    average; None if there were none.
    """
    blocks_filled: int
    """Blocks that were filled."""
    page_life_pages: float | None
    """How long the pages that the host overwrote or trimmed in blocks of this class had been
    there, in pages that the host wrote to the drive, on average, as if blocks were filled
    evenly; None if there were none, or if the placement looks at who writes alone.
    """
    takes_host: bool
    """Whether they take pages that the host writes."""
    takes_moved: bool
    """Whether they take pages that collections move."""
    valid_share: float | None
    """Share of their pages that were valid when they were chosen; None if there were none."""
    victims: int
    """Blocks that were collected."""


class FdpEvents(Section, kw_only=True):
    """Events of flexible data placement."""

    invalid_placement_identifier_pages: int
    """Pages that were written with handle 0 because the host named a handle that there is not
    (Invalid Placement Identifier).
    """
    media_reallocated: int
    """Reclaim units whose valid pages were moved (Media Reallocated)."""
    media_reallocated_bytes: int
    """Bytes of these pages."""


class FdpSummary(Section, kw_only=True):
    """The counts of the log pages of NVMe 2.1's flexible data placement, since the run began.

    Bytes of handles are those of pages that hold data: a page that is written in part counts
    whole, and what a write buffer absorbs does not count.
    """

    events: FdpEvents
    """What happened that the host may want to know (FDP Events)."""
    handle_available_bytes: list[int]
    """Bytes that the units which each placement handle writes to still took at the end, over all
    reclaim groups (Reclaim Unit Handle Status, RUAMW).
    """
    handle_host_bytes: list[int]
    """Bytes that the host wrote through each placement handle, counted from handle 0."""
    handle_units_filled: list[int]
    """Units that each placement handle filled, so that it went on with another."""
    host_bytes_written: int
    """Bytes that the host wrote (FDP Statistics, HBMW); those of `host_bytes_written` of the
    drive.
    """
    media_bytes_erased: int
    """Bytes of the blocks, or lines, that were collected and so are erased (MBE)."""
    media_bytes_written: int
    """Bytes programmed into flash (MBMW); those of `media_bytes_written` of the drive."""
    reclaim_groups: int
    """Reclaim groups, each with units of its own: planes, or, where units are made of lines,
    drives.
    """
    reclaim_unit_bytes: int
    """Bytes that a reclaim unit holds (FDP Configurations, RUNS)."""


class PlacementSummary(Section, kw_only=True):
    """What `summary.json` says of a placement with several classes.

    Counted since the run began, ramp included.
    """

    classes: list[ClassSummary]
    """Blocks of each class."""
    diverted_pages: int
    """Pages that collections moved to another class, as theirs had no open block and none was
    free.
    """
    fdp: FdpSummary | None = None
    """What a drive with flexible data placement logs, if the placement goes by handles."""
    state_bytes: int
    """RAM in which the placement keeps what it knows of pages, in bytes."""


class ResponsesSummary(Section, kw_only=True):
    """Response times by operation, in microseconds."""

    all: ResponseSummary
    """Reads and writes."""
    flush: ResponseSummary | None = None
    """Flushes, if there were any."""
    read: ResponseSummary
    """Reads."""
    trim: ResponseSummary | None = None
    """Trims, if there were any."""
    write: ResponseSummary
    """Writes."""


class SlcCacheSummary(Section, kw_only=True):
    """What `summary.json` says of an SLC cache.

    Counted since the run began, ramp included; bytes are those of whole pages, and what a
    write buffer absorbs does not count.
    """

    capacity_bytes: int
    """Bytes that the cache could hold at the end, blocks that could be lent included."""
    dead_bytes: int
    """Bytes that the host overwrote or trimmed in the cache before they were folded."""
    erases: int
    """Blocks that were erased in the cache's mode. They are counted among all erases, too."""
    folded_bytes: int
    """Bytes that were folded: moved from the cache to native blocks."""
    free_bytes: int
    """Of these, bytes that could be written without folding anything."""
    lent_blocks: int
    """Native blocks that were lent to it at the end."""
    past_bytes: int
    """Bytes that it wrote past the cache, to native blocks."""
    written_bytes: int
    """Bytes that the host wrote to blocks of the cache."""


class EraseCountSummary(Section, kw_only=True):
    """Erases of a block since the device was new, over all blocks."""

    max: int
    """Most."""
    mean: float
    """Mean."""
    min: int
    """Fewest."""
    stddev: float
    """Standard deviation."""


class WearSummary(Section, kw_only=True):
    """Erases of blocks."""

    erase_count: EraseCountSummary
    """Erases of a block since the device was new."""
    levelling_runs: int
    """Blocks emptied to level wear."""


class DeviceSummary(Section, kw_only=True):
    """One drive of an array."""

    collecting: CollectingSummary
    """When it collected."""
    commands: CommandsSummary
    """Commands that the controller sent to it."""
    device: int
    """Its number, from 0."""
    endurance: EnduranceSummary | None = None
    """How long the flash lasts, if `ssd.endurance.rated_cycles` is set."""
    faults: FaultsSummary | None = None
    """What went wrong in the flash, if anything can."""
    flash: FlashSummary
    """Operations of the flash."""
    gc: GcSummary
    """Garbage collection."""
    host_bytes_written: int
    """Bytes that the host wrote; of a drive of an array, bytes that the controller wrote to it."""
    idle_time: IdleTimeSummary | None = None
    """How idle time was used, if a schedule tells idle periods apart by length."""
    lines: LinesSummary | None = None
    """What became of lines, if blocks are managed in lines."""
    lost_die: LostDieSummary | None = None
    """What became of a die that was lost, if one was to be (`ssd.faults.lost_die`)."""
    mapping: MappingSummary
    """What the mapping cost, where its table lies in flash or it binds logical pages to blocks."""
    media_bytes_written: int
    """Bytes programmed into flash: whole pages, whatever is in them, those of moves, parity,
    padding, mapping and summary pages among them.
    """
    page_write_amplification: float | None
    """Pages written to flash for each page written for the host, as theory and papers count it;
    None if there was none.
    """
    placement: PlacementSummary | None = None
    """How well the placement has sorted pages, if it has several classes."""
    requests_ended_last: int
    """Requests that ended last on this drive."""
    service_breakdown_us: BreakdownSummary
    """Where the mean of these times went, in microseconds."""
    service_us: ResponsesSummary
    """From entering the drive's queue to the end, in microseconds."""
    slc_cache: SlcCacheSummary | None = None
    """What the SLC cache was used for, if the drive has one."""
    wear: WearSummary
    """Erases of blocks."""
    write_amplification: float | None
    """Bytes programmed into flash for each that the host wrote, as SMART and NVMe count it; None
    if it wrote none.
    """


class ExcessSummary(Section, kw_only=True):
    """What requests of one class that take longer than a bound take longer, in microseconds."""

    count: int
    """Requests."""
    max: float | None
    """The longest; None without requests."""
    mean: float | None
    """Mean; None without requests."""
    min: float | None
    """The shortest; None without requests."""
    p50: float | None
    """Half of the requests take no longer, to 0.1%; None without requests."""
    p90: float | None
    """90% of the requests take no longer."""
    p95: float | None
    """95% of the requests take no longer."""
    p99: float | None
    """99% of the requests take no longer."""
    p99_9: float | None
    """99.9% of the requests take no longer."""
    p99_99: float | None
    """99.99% of the requests take no longer."""
    share: float | None
    """Such requests as a share of all of the class; None if there are none."""
    stddev: float | None
    """Standard deviation of the sample; None for fewer than two requests."""
    total: float
    """Sum of the excess."""
    variance: float | None
    """Variance of the sample, in square microseconds; None for fewer than two requests."""


class ExcessWaitSummary(Section, kw_only=True):
    """What requests take longer than a bound."""

    all: ExcessSummary
    """Reads and writes."""
    bound_us: float
    """The bound, in microseconds."""
    read: ExcessSummary
    """Reads."""
    write: ExcessSummary
    """Writes."""


class HoldsSummary(Section, kw_only=True):
    """How long requests waited for dies that collected."""

    longest_wait_us: float
    """The longest that one of them waited, in microseconds."""
    requests: int
    """Requests that waited for any."""


class FlowVerdictSummary(Section, kw_only=True):
    """What the numbers of one flow can be taken for."""

    findings: list[
        Literal[
            "starved",
            "unmapped_reads",
            "nothing_programmed",
            "overload",
            "perhaps_overload",
            "stalls",
            "nothing_collected",
            "unsettled",
        ]
    ]
    """What should be known before the numbers are read."""
    holds: HoldsSummary
    """How long requests waited for dies that collected."""
    load: LoadSummary | None
    """Whether the drives kept up; None if no request has a time of its own, or too few came."""


class RequestsSummary(Section, kw_only=True):
    """How many requests there were, and of what."""

    count: int
    """Reads and writes that were completed."""
    flushes: int
    """Flushes."""
    of_ramp: int | None = None
    """Requests that were simulated before their flows were measured, if there were any; in no
    other count.
    """
    read_bytes: int
    """Bytes read."""
    reads: int
    """Reads."""
    trims: int
    """Trims."""
    write_bytes: int
    """Bytes written."""
    write_pages: int
    """Logical pages that the writes touched, each counted for every request."""
    writes: int
    """Writes."""


class ThroughputSummary(Section, kw_only=True):
    """Requests and bytes a second, over the time in which requests were measured."""

    iops: float | None
    """Reads and writes a second; None if no time passed."""
    measured_from_s: float | None = None
    """When the first request was measured, in seconds of simulated time; None if none was."""
    measured_s: float | None = None
    """Time in which requests were measured, in seconds."""
    mib_per_s: float | None
    """Mebibytes read and written a second; None if no time passed."""
    simulated_s: float
    """Simulated time until the last request was completed, in seconds."""


class WorstOfWindows(Section, kw_only=True):
    """The longest response times of windows, in microseconds: their mean and extremes."""

    max: float | None
    """The greatest of them; None without any."""
    mean: float | None
    """Mean over these windows; None without any."""
    min: float | None
    """The least of them; None without any."""
    windows: int
    """Windows with such a request."""


class WindowSummary(Section, kw_only=True):
    """The longest response times of one window, in microseconds."""

    read: float | None
    """Of reads; None if none has ended."""
    start_s: float
    """When the window begins, in seconds of simulated time."""
    write: float | None
    """Of writes; None if none has ended."""


class WorstResponseSummary(Section, kw_only=True):
    """The longest response time of each window in which requests have ended."""

    all: WorstOfWindows
    """Reads and writes."""
    by_window: list[WindowSummary]
    """Every window in which requests have ended, in order."""
    read: WorstOfWindows
    """Reads."""
    window_s: float
    """Length of a window, in seconds of simulated time."""
    write: WorstOfWindows
    """Writes."""


class FlowSummary(Section, kw_only=True):
    """The results of one of several flows."""

    verdict: FlowVerdictSummary
    """What these numbers can be taken for."""
    bandwidth: BandwidthSummary
    """Bandwidth over windows (`metrics.bandwidth_window`)."""
    breakdown_by_class_us: BreakdownByClass
    """Where the mean response time of each operation went, in microseconds."""
    breakdown_us: BreakdownSummary
    """Where the mean response time went, in microseconds."""
    excess_wait_us: ExcessWaitSummary | None = None
    """What response times have beyond a bound, if there is one (`metrics.excess_bound`)."""
    flow: int
    """Its number, from 0."""
    measured_response_us: ResponsesSummary | None = None
    """Response times that the trace holds, in microseconds, if it holds any."""
    name: str | None = None
    """Its name, if it has one."""
    requests: RequestsSummary
    """Its requests."""
    response_us: ResponsesSummary
    """Simulated response times, in microseconds."""
    throughput: ThroughputSummary
    """Requests and bytes a second."""
    worst_response_us: WorstResponseSummary
    """The longest response time of each window (`metrics.worst_window`)."""
    write_amplification: float | UnsetType | None = UNSET
    """Bytes programmed into flash for each that the flow wrote.

    None if it wrote nothing; missing if others wrote, too: each then owns a part of what
    collections copy, and no part of the simulator says which.
    """


class RecoverySummary(Section, kw_only=True):
    """How long recoveries took, in milliseconds; zero without any."""

    max: float
    """The longest."""
    mean: float
    """On average."""
    total: float
    """Together."""


class PowerLossSummary(Section, kw_only=True):
    """Cuts of power, recoveries and what was lost, of the drive whose power is cut."""

    blocks_erased: int
    """Blocks that recoveries erased."""
    buffered_pages_lost: int
    """Pages with acknowledged writes that were in the write buffer only.

    No flush had been acknowledged for them, but for those in `flushed_pages_lost`.
    """
    cut_erases: int
    """Blocks whose erase was cut off."""
    cuts: int
    """Number of power cuts."""
    cuts_in_recovery: int
    """Cuts of those that came before the drive was back from the one before."""
    durable_pages_lost: int
    """Pages of which a durable write was lost otherwise."""
    flushed_pages_lost: int
    """Of those, pages that a flush had been acknowledged for.

    Always 0, unless `ssd.power.flush = "ignored"`.
    """
    interrupted_requests: int
    """Commands that the host had to hand in anew."""
    pages_read: int
    """Pages read to find the mapping again, if only in part."""
    paired_pages_lost: int
    """Pages of which a durable write was lost with a torn page that shares its cells.

    Always 0, unless `ssd.power.paired_pages` is above 1.
    """
    paired_pages_torn: int
    """Whole pages that these took with them, as they share cells (`ssd.power.paired_pages`)."""
    recoveries: int
    """Number of recoveries that were completed."""
    recovery_ms: RecoverySummary
    """How long that took, the time of recoveries that were cut off left out."""
    torn_pages: int
    """Pages whose program was cut off."""


class RoundsSummary(Section, kw_only=True):
    """Rounds of overwrites that prepared a device.

    The spread is that of the last rounds; None if they were too few.
    """

    deviation: float | None
    """From the mean to the one that lies farthest from it, as a share of the mean."""
    excursion: float | None
    """From the least of them to the greatest, as a share of the mean."""
    overwritten_pages: int
    """Logical pages that they overwrote."""
    reached: bool
    """Whether write amplification was steady at the end."""
    rounds: int
    """Rounds that were written."""
    slope: float | None
    """Rise of their best-fit line, as a share of the mean."""
    values: list[float]
    """Write amplification of each round."""
    write_amplification: float | None
    """Mean write amplification of the last rounds."""


class PreconditionSummary(Section, kw_only=True):
    """Preparation of the devices."""

    devices: list[RoundsSummary]
    """The rounds of each device."""


class RunRequestsSummary(Section, kw_only=True):
    """Number of requests, by kind."""

    count: int
    """Reads and writes that were completed."""
    flushes: int
    """Flushes."""
    of_ramp: int | None = None
    """Requests that were simulated before their flows were measured, if there were any; in no
    other count.
    """
    page_reads: int
    """Logical pages that drives were asked to read, each counted for every command."""
    read_bytes: int
    """Bytes read."""
    reads: int
    """Reads."""
    trimmed_pages: int
    """Logical pages trimmed that held data."""
    trims: int
    """Trims."""
    unmapped_page_reads: int
    """Pages of those that hold no data, as they were never written or were trimmed; they touch
    no flash.
    """
    unserved: int | None = None
    """Requests that had arrived and waited for a place in the queue when a rule ended the run
    (`stop`): they were not served, and are in no other count.

    Absent where no rule may end it.
    """
    write_bytes: int
    """Bytes written."""
    write_pages: int
    """Logical pages that the writes touched, each counted for every request."""
    writes: int
    """Writes."""


class SimulatorSummary(Section, kw_only=True):
    """Cost of the run."""

    command: str
    """Command that started the run."""
    commit: str | None = None
    """The commit of the checkout that it was run from, if it was, with `-dirty` if that was
    changed.
    """
    cpu_s: float
    """Time of the processor, in seconds."""
    events: int
    """Events of the simulation."""
    page_operations: int
    """Page operations in flash."""
    page_operations_per_cpu_s: int | None
    """Page operations a second of the processor's time, preparation left out; None if none was
    taken.
    """
    peak_rss_mib: float | None
    """The most memory that the process has held, in MiB; None where nobody knows."""
    precondition_cpu_s: float
    """Of that, for the preparation of the devices."""
    wall_s: float
    """Time on the clock, in seconds."""


class SteadyRates(Section, kw_only=True):
    """Rates of rounds, one after the other; None where no time passed."""

    iops: list[float | None]
    """Reads and writes a second."""
    mib_per_s: list[float | None]
    """Mebibytes read and written a second."""


class SteadyWindow(Section, kw_only=True):
    """Statistics of the last rounds of a run. The spread is None if one of them told nothing."""

    by_round: SteadyRates
    """Rates of each of these rounds."""
    deviation: float | None
    """From the mean to the value that lies farthest from it, as a share of the mean."""
    end_s: float
    """When the last ended, in seconds of simulated time."""
    excursion: float | None
    """From the least value to the greatest, as a share of the mean."""
    first_round: int
    """Number of the first of them, from 1."""
    iops: float | None
    """Reads and writes a second."""
    last_round: int
    """Number of the last."""
    max_response_us: float | None
    """The longest response time, in microseconds."""
    mean: float | None
    """Mean of the metric."""
    mean_response_us: float | None
    """Mean response time, in microseconds."""
    mib_per_s: float | None
    """Mebibytes read and written a second."""
    requests: int
    """Reads and writes that were completed."""
    slope: float | None
    """Rise of the best-fit line over the window, as a share of the mean."""
    start_s: float
    """When the first began, in seconds of simulated time."""
    write_amplification: float | None
    """Bytes programmed into flash for each that the host wrote; None if it wrote none."""


class SteadyStateSummary(Section, kw_only=True):
    """The rounds of a run that ends when they are steady."""

    ended_by: Literal["steady_state", "most_rounds", "read_only", "workload"]
    """Reason why the run ended."""
    metric: Literal["iops", "bandwidth", "mean_response", "write_amplification"]
    """Metric that was measured in each round."""
    reached: bool
    """Whether the last rounds were steady."""
    rounds: int
    """Rounds that have ended."""
    values: list[float | None]
    """The metric of each round; None where nothing was done."""
    window: SteadyWindow | None
    """The last rounds, steady or not; None if there were too few."""


class Summary(Section, kw_only=True):
    """The numbers of a run.

    Times are of the simulation, and in microseconds unless the key says otherwise.
    """

    verdict: VerdictSummary
    """Verdict on what these numbers can be taken for."""
    array: ArraySummary | None = None
    """Work of an array beside serving requests."""
    bandwidth: BandwidthSummary
    """Bandwidth over windows (`metrics.bandwidth_window`)."""
    bound: BoundSummary | None = None
    """Bound on how good the write amplification could get, if that was asked for.

    Whoever writes `summary.json` adds it.
    """
    breakdown_by_class_us: BreakdownByClass
    """Where the mean response time of each operation went, in microseconds."""
    breakdown_us: BreakdownSummary
    """Where the mean response time went, in microseconds."""
    collecting_together: list[float] | None = None
    """Share of the time with 0, 1, 2 ... drives collecting."""
    config_digest: str
    """Digest of the resolved configuration."""
    devices: list[DeviceSummary] | None = None
    """The drives of the array, one by one."""
    endurance: EnduranceSummary | None = None
    """How long the flash lasts, if `ssd.endurance.rated_cycles` is set."""
    excess_wait_us: ExcessWaitSummary | None = None
    """What response times have beyond a bound, if there is one (`metrics.excess_bound`)."""
    faults: FaultsSummary | None = None
    """What went wrong in the flash, if anything can."""
    flash: FlashSummary
    """Operations of the flash."""
    flows: list[FlowSummary] | None = None
    """The flows of the workload, if there are several."""
    gc: GcSummary
    """Garbage collection."""
    host_bytes_written: int
    """Bytes that the host wrote; of a drive of an array, bytes that the controller wrote to it."""
    idle_time: IdleTimeSummary | None = None
    """How idle time was used, if a schedule tells idle periods apart by length."""
    lines: LinesSummary | None = None
    """What became of lines, if blocks are managed in lines."""
    lost_die: LostDieSummary | None = None
    """What became of a die that was lost, if one was to be (`ssd.faults.lost_die`)."""
    mapping: MappingSummary
    """What the mapping cost, where its table lies in flash or it binds logical pages to blocks."""
    measured_response_us: ResponsesSummary | None = None
    """Response times that the trace holds, in microseconds, if it holds any."""
    media_bytes_written: int
    """Bytes programmed into flash: whole pages, whatever is in them, those of moves, parity,
    padding, mapping and summary pages among them.
    """
    notes: list[str]
    """Notes for the user: on the input, and on what is not measured."""
    page_write_amplification: float | None
    """Pages written to flash for each page written for the host, as theory and papers count it;
    None if there was none.
    """
    placement: PlacementSummary | None = None
    """How well the placement has sorted pages, if it has several classes."""
    power_loss: PowerLossSummary | None = None
    """Cuts of power, if there can be any."""
    precondition: PreconditionSummary | None = None
    """Preparation of the devices, if in rounds."""
    requests: RunRequestsSummary
    """Number of requests, by kind."""
    response_us: ResponsesSummary
    """Simulated response times, in microseconds."""
    schema: int
    """Version of this form."""
    seed: int
    """Seed of the random numbers."""
    simulator: SimulatorSummary
    """Cost of the run."""
    slc_cache: SlcCacheSummary | None = None
    """What the SLC cache was used for, if the drive has one."""
    steady_state: SteadyStateSummary | None = None
    """The rounds of a run that ends when they are steady (`stop`)."""
    throughput: ThroughputSummary
    """Requests and bytes a second."""
    version: str
    """Version of the simulator."""
    wear: WearSummary
    """Erases of blocks."""
    worst_response_us: WorstResponseSummary
    """The longest response time of each window (`metrics.worst_window`)."""
    write_amplification: float | None
    """Bytes programmed into flash for each that the host wrote, as SMART and NVMe count it; None
    if it wrote none.
    """
