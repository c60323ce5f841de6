"""The numbers of a run: a class for each table of ``summary.json``.

Generated from the schema that the simulator tells by ``make generated``; do not edit.
"""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from copyback.data.section import Compared, Section, Shown


class SpellSummary(Section, kw_only=True):
    """The longest time in which a die did nothing but collect."""

    device: int
    """The drive."""
    die: int
    """Number of the die."""
    start_s: float
    """When it began, in seconds of simulated time."""
    us: float
    """Duration, in microseconds."""


class RunHoldsSummary(Section, kw_only=True):
    """Waits of requests for dies that collected, and the times for which these collected."""

    longest_spell: SpellSummary | None
    """The longest time in which a die did nothing but collect; None if none was long enough to
    be seen.
    """
    longest_wait_us: float
    """The longest that one of them waited, in microseconds."""
    requests: int
    """Requests that waited for any."""


class DriftSummary(Section, kw_only=True):
    """Drift of the least backlog from part to part."""

    critical: float
    """Critical value: `t` exceeds it by chance in one run of a hundred."""
    t: float
    """Student's t of the mean step from one part to the next."""


class BacklogSummary(Section, kw_only=True):
    """Requests that had arrived and not ended, over time."""

    at_last_arrival: int
    """When the last one arrived."""
    drift: DriftSummary | None
    """Drift of the least backlog; None if the run is too short to tell."""
    least_by_part: list[int]
    """The least of each part of the time."""


class LoadSummary(Section, kw_only=True):
    """Load of an open loop and throughput of the drive, until the last arrival."""

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
    """Write amplification of each tenth of the host's writes; None where the run was not looked
    at often enough to tell.
    """
    last_half: float
    """Write amplification of the last half."""
    settled: bool | None
    """Whether a longer run would give the same as the whole; None where that cannot be told."""
    uncertainty: float | None
    """Half of the width of a 95% confidence interval of that of the whole, as a share of it;
    None if unknown.
    """


class VerdictSummary(Section, kw_only=True):
    """Verdict on the numbers of a run."""

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
            "bursts",
            "nothing_collected",
            "unsettled",
        ]
    ]
    """Findings to be known before the numbers are read."""
    holds: RunHoldsSummary
    """Waits of requests for dies that collected."""
    load: LoadSummary | None
    """Whether the drives kept up; None if no request has a time of its own, or too few came."""
    write_amplification: SettlingSummary | None
    """Whether write amplification has settled; None if the host wrote nothing, or nothing was
    programmed.
    """


class ConsistencySummary(Section, kw_only=True):
    """Cuts of power of an array, and what came of them."""

    log_bytes: int
    """Bytes of bitmaps, partial parity or a journal that were written to all drives together."""
    longest_resync_us: float
    """Time from the cut to the end of the longest resync, in microseconds."""
    resync_read_bytes: int
    """Bytes that resyncs read of all drives together."""
    resyncs: int
    """Number of resyncs that came to their end."""
    torn_left: int
    """Number of those whose parity and data, or copies, may still disagree."""
    torn_writes: int
    """Number of writes of a stripe that a cut left half done. Of mirrors: of writes."""
    write_hole_bytes: int
    """Bytes of data on missing drives that nobody was writing and that are reconstructed
    wrongly, as parity and data disagree: the write hole.
    """


class FailureSummary(Section, kw_only=True):
    """Failure of a drive."""

    at_us: float
    """When it failed, in microseconds from the start of the run."""
    cause: Literal["time", "end_of_life"]
    """Cause of the failure."""
    drive: int
    """The drive, counted from 0."""
    rebuilt_us: float | None
    """When the replacement held all that it should, in microseconds from the start of the run;
    None if it never did.
    """
    replaced_by: int | None
    """Drive that has taken its place; None if no spare was left."""


class LossSummary(Section, kw_only=True):
    """Data that an array has lost: more drives had failed than its layout makes up for."""

    at_us: float
    """When they were lost, in microseconds from the start of the run.

    No further request enters then.
    """
    bytes: int
    """Bytes of the array's address space that are on no drive and can be made up from none."""


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


class ScrubsSummary(Section, kw_only=True):
    """Passes over all drives of an array, to find pages that cannot be read."""

    completed: int
    """Number of passes that came to the end of the drives."""
    cut_short: int
    """Number of passes that ended before, or did not begin, as a drive was missing."""
    read_bytes: int
    """Bytes that were read, of all drives together."""


class ArraySummary(Section, kw_only=True):
    """Work of an array beside serving requests."""

    consistency: ConsistencySummary | None = None
    """Cuts of power. Absent where power does not fail and nothing is written for that day."""
    drives_missing: int
    """Drives that are lost, and not rebuilt."""
    failures: list[FailureSummary] | None = None
    """Drives that have failed in the run, in order of time.

    Absent where none can (`array.failures`).
    """
    lost: LossSummary | None = None
    """Data that are lost, as too many drives have failed. Absent if none are."""
    reads_around_gc: int
    """Reads answered from other drives because theirs collected."""
    rebuilt_bytes: int
    """Bytes of lost drives that were rebuilt."""
    repairs: RepairsSummary | None
    """Repairs of pages that drives could not read, where that may happen and others hold them."""
    scrubs: ScrubsSummary | None = None
    """Scrubs. Absent where there are none (`array.scrub`)."""


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


class PartTimes(Section, kw_only=True):
    """Sums of the parts of response times, in nanoseconds."""

    buffer: int
    """In the write buffer, or waiting for room there."""
    bus: int
    """Waiting for a channel or the host link."""
    gc_other_plane: int
    """Waiting while the die collected another of its planes."""
    gc_same_plane: int
    """Waiting while the die collected the plane that the request needs."""
    host_queue: int
    """Waiting outside the device, because its queue was full or it was off."""
    late: int
    """Waiting for other host operations only because collections had delayed them."""
    queue_behind_io: int
    """Waiting for other host operations, as it would have without collections."""
    service: int
    """The requests' own commands, array operations, transfers and controller overhead."""
    translation: int
    """Waiting until the page's mapping is in RAM."""


class BandSummary(Section, kw_only=True):
    """Requests whose response times lie between two percentiles, and what these times went to."""

    above: float
    """Percentile that the band was to begin at: 0, 50, 90, 99, 99.9 or 99.99."""
    count: int
    """Requests in it."""
    from_percentile: float
    """Percentile that it does begin at: so many percent of the requests were faster."""
    from_us: float
    """Response time that it begins above, in microseconds."""
    time_ns: PartTimes
    """Sums of the parts of their response times, in nanoseconds."""
    to_percentile: float
    """Percentile that it ends at."""
    to_us: float
    """Response time that it ends at, in microseconds."""


class BlameSummary(Section, kw_only=True):
    """Parts of the response times by operation, in bands from one percentile to the next."""

    all: list[BandSummary]
    """Reads and writes."""
    flush: list[BandSummary] | None = None
    """Flushes, if there were any."""
    read: list[BandSummary]
    """Reads."""
    trim: list[BandSummary] | None = None
    """Trims, if there were any."""
    write: list[BandSummary]
    """Writes."""


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
    """Parts of the mean response time, in microseconds; they add up to it."""

    buffer: float
    """In the write buffer, or waiting for room there."""
    bus: float
    """Waiting for a channel or the host link."""
    gc_other_plane: float
    """Waiting while the die collected another of its planes."""
    gc_same_plane: float
    """Waiting while the die collected the plane that the request needs."""
    host_queue: float
    """Waiting outside the device, because its queue was full or it was off."""
    late: float
    """Waiting for other host operations only because collections had delayed them."""
    queue_behind_io: float
    """Waiting for other host operations, as it would have without collections."""
    service: float
    """The request's own commands, array operations, transfers and controller overhead."""
    translation: float
    """Waiting until the page's mapping is in RAM."""


class BreakdownByClass(Section, kw_only=True):
    """Parts of mean response times, in microseconds."""

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
    """Number of intervals."""
    us: float
    """Sum of the intervals, in microseconds."""


class CommandsSummary(Section, kw_only=True):
    """Commands that were sent to a drive."""

    count: int
    """Reads and writes."""
    reads: int
    """Reads."""
    writes: int
    """Writes."""


class EnduranceSummary(Section, kw_only=True):
    """Wear by a run, and the lifetime of the flash at this rate.

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
    """Faults of the flash, and commands that were rejected for them."""

    SHOWN = (
        Shown(
            "grown_bad_blocks",
            label="Bad blocks",
            row="{grown_bad_blocks:count} grown bad blocks, {factory_bad_blocks:count} when new",
        ),
        Shown(
            "program_failures",
            label="Failures",
            row="{program_failures:count} programs failed ({pages_copied:count} pages copied), {erase_failures:count} erases",
        ),
    )
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

    SHOWN = (
        Shown("reads", label="Page reads", row="{reads:count}"),
        Shown("programs", label="Page programs", row="{programs:count}"),
        Shown("copybacks", label="Copybacks", row="{copybacks:count}"),
        Shown(
            "erases",
            label="Block erases",
            row="{erases:count}",
            head="erases",
            cell="{erases:count}",
        ),
    )
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
    """Number of times that the collection of a plane short of space was deferred, or the merge
    of a group.
    """


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
    """Charges to writes of the host (`ssd.gc.preemption`, `paced`).

    A step is the move of a page, or an erase.
    """

    steps_charged: float
    """Steps that the pages which the host wrote were charged."""
    steps_per_page: float | None
    """Steps for each page: the GC rate; None if none was written."""
    throttled: int
    """Writes that waited for steps before they began."""


class PlanesSummary(Section, kw_only=True):
    """Use of the planes' time; None if no time passed."""

    busy_share: float | None
    """Share of the time in which a plane was busy."""
    idle_share: float | None
    """Share of the time in which a plane was idle."""


class RefreshSummary(Section, kw_only=True):
    """Blocks collected for the sake of their data."""

    SHOWN = (
        Shown("read_reclaims", label="Read reclaims", row="{read_reclaims:count}"),
        Shown("refreshes", label="Blocks refreshed for age", row="{refreshes:count}"),
    )
    read_reclaims: int
    """Because so many of their pages had been read."""
    refreshes: int
    """Because their data had become too old."""


class GcSummary(Section, kw_only=True):
    """Garbage collection."""

    LINE = "Collections"
    SHOWN = (
        Shown(
            "collections",
            label="Collections",
            row="{collections:count}",
            phrase="{collections:count}",
        ),
        Shown(
            "pages_moved",
            label="Pages moved",
            row="{pages_moved:count}",
            phrase="{pages_moved:count} pages moved",
        ),
        Shown(
            "pages_moved_per_collection",
            label="Moved per collection",
            row="{pages_moved_per_collection:decimal}",
        ),
        Shown("erases", phrase="{erases:count} erases"),
        Shown("busy_us", label="Die time", row="{busy_us:time_us}"),
        Shown("refresh", is_table=True),
    )
    busy_us: float
    """Die time spent collecting, in microseconds."""
    cached_reads: int
    """Reads served from the device's DRAM, where a collection had left the page."""
    collections: int
    """Blocks collected for space."""
    erases: int
    """Blocks erased."""
    forced: int
    """Blocks of those that the controller of an array asked for."""
    idle: int
    """Blocks of those collected in idle time."""
    joined: int
    """Blocks of those on planes that joined the collection of another."""
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
    """Moves of pages, by their way."""
    on_demand: int
    """Blocks of those on planes that were short of space."""
    pacing: PacingSummary | None = None
    """Charges to writes, where collections are paced."""
    pages_moved: int
    """Pages moved by collections and wear levelling."""
    pages_moved_per_collection: float | None
    """Pages moved for each block collected; None if none was."""
    pipelined: int
    """Operations of collections that overlapped one of the host."""
    planes: PlanesSummary
    """Use of the time in which their die collected by planes."""
    preemptions: int
    """Number of times that a collection that had begun yielded to the host."""
    refresh: RefreshSummary | None = None
    """Blocks collected for the sake of their data, not for space, if reads or time do anything
    to them.
    """
    stalled_us: float
    """Die time in which writes waited for a free block although collections yield, or for room
    in a full buffer, in microseconds.
    """
    suspends: int
    """Number of times that a read suspended a program or erase."""


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
    """Time without any of these activities."""
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
    """Activity of the dies meanwhile; adds up to `us`, once a die."""
    periods: int
    """Number of periods."""
    us: float
    """Sum of the periods, in microseconds."""


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

    SHOWN = (
        Shown("programs", label="Parity programmed", row="{programs:count} pages"),
        Shown(
            "write_amplification_without",
            condition="write_amplification_without",
            label="Write amplification without parity",
            row="{write_amplification_without:.2f}",
        ),
        Shown(
            "reads_around",
            condition="reads_around > 0",
            label="Read around collections",
            row="{reads_around:count} pages",
        ),
        Shown(
            "reads_rebuilt",
            condition="reads_rebuilt > 0",
            label="Made up, as they could not be corrected",
            row="{reads_rebuilt:count} pages",
        ),
        Shown(
            "reads_lost",
            condition="reads_lost > 0",
            label="Lost, as they could not be made up either",
            row="{reads_lost:count} pages",
        ),
        Shown(
            "moves_rebuilt",
            condition="moves_rebuilt > 0",
            label="Made up for a move, as they could not be corrected",
            row="{moves_rebuilt:count} pages",
        ),
    )
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
    """Summary of lines for `summary.json` (`ssd.gc.unit = "line"`).

    Counted since the run began, ramp included.
    """

    SHOWN = (
        Shown("opened", label="Lines opened", row="{opened:count}"),
        Shown("collected", label="Lines collected", row="{collected:count}"),
        Shown(
            "valid_share",
            condition="valid_share",
            label="Valid of a line collected",
            row="{valid_share:share}",
        ),
        Shown(
            "borrowed_pages",
            condition="borrowed_pages > 0",
            label="Pages in a line of another class",
            row="{borrowed_pages:count}",
        ),
        Shown("parity", is_table=True),
    )
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

    SHOWN = (
        Shown("mean", head="mean", cell="{mean:time_us}"),
        Shown("p50", head="p50", cell="{p50:time_us}"),
        Shown("p99", head="p99", cell="{p99:time_us}"),
        Shown("p99_9", head="p99.9", cell="{p99_9:time_us}"),
        Shown("p99_99", head="p99.99", cell="{p99_99:time_us}"),
        Shown("max", head="max", cell="{max:time_us}"),
    )
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
    """Summary of a die that was lost for `summary.json` (`ssd.faults.lost_die`).

    Counted since the run began, ramp included; response times are those of requests that are
    measured.
    """

    SHOWN = (
        Shown(
            "pages_lost",
            condition="pages_lost > 0",
            label="Pages that are lost",
            row="{pages_lost:count}",
        ),
        Shown(
            "unprotected_lines",
            condition="unprotected_lines > 0",
            label="Lines without parity",
            row="{unprotected_lines:count}",
        ),
    )
    after_us: ResponseSummary
    """Response times of reads that came after that."""
    before_us: ResponseSummary
    """Response times of reads that ended before the die was lost, in microseconds."""
    degraded_reads: int
    """Reads of pages of that die that were made up for the host."""
    die: int
    """The die."""
    during_us: ResponseSummary
    """Response times of reads that ended while it was rebuilt, or had come by the end of that."""
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
    """Time to rebuild the die's data, in seconds; None if the run ended before."""
    unprotected_lines: int
    """Lines that were opened without parity, as every die left needed a block."""


class NvBufferSummary(Section, kw_only=True):
    """Use of a non-volatile buffer that takes writes before merges."""

    erases: int
    """Blocks of the buffer without a valid page that were erased."""
    full: int
    """Number of times that it was full."""
    merges: int
    """Logical blocks that were copied to fresh blocks, with newer pages out of it."""
    most_blocks: int
    """The most blocks that it held."""
    writes: int
    """Pages written to it."""


class MappingSummary(Section, kw_only=True):
    """Cost of finding pages, and of reclaiming blocks. All is zero of a page mapping in RAM."""

    LINE = "Mapping: {label}: {}"
    SHOWN = (
        Shown("hit_ratio", condition="hit_ratio", label="Found in RAM", row="{hit_ratio:share}"),
        Shown(
            "evictions",
            condition="hit_ratio",
            label="Entries evicted",
            row="{evictions:count}, {dirty_evictions:count} changed",
        ),
        Shown(
            "translation_reads",
            condition="hit_ratio",
            label="Translation pages read",
            row="{translation_reads:count}",
        ),
        Shown(
            "translation_writes",
            condition="hit_ratio",
            label="Translation pages written",
            row="{translation_writes:count}",
        ),
    )
    compactions: int
    """Superblocks whose blocks were compacted."""
    dirty_evictions: int
    """Entries of those that had to be written back."""
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

    SHOWN = (
        Shown("blocks_filled", head="filled", cell="{blocks_filled:rate}", meaning="blocks filled"),
        Shown("victims", head="victims", cell="{victims:rate}", meaning="blocks collected"),
        Shown(
            "valid_share",
            head="valid",
            cell="{valid_share:share}",
            meaning="share of their pages that was valid when they were chosen",
        ),
        Shown(
            "added_page_write_amplification",
            head="adds",
            cell="{added_page_write_amplification:factor}",
            meaning="pages of these that were moved, for each page that the host wrote",
        ),
        Shown(
            "block_life_pages",
            head="block life",
            cell="{block_life_pages:rate}",
            meaning="pages that the host wrote while a block was in use, until it was chosen",
        ),
        Shown(
            "page_life_pages",
            head="page life",
            cell="{page_life_pages:rate}",
            meaning="pages that the host wrote while a page that it overwrote or trimmed was there",
        ),
    )
    added_page_write_amplification: float | None
    """Part that collecting them has in `page_write_amplification`: those valid pages for each
    page that the host wrote to the drive; None if it wrote none.
    """
    block_life_pages: float | None
    """Mean time for which they had been in use by then, in pages that the host wrote to the
    drive; None if there were none.
    """
    blocks_filled: int
    """Blocks that were filled."""
    page_life_pages: float | None
    """Mean life of the pages that the host overwrote or trimmed in blocks of this class, in
    pages that the host wrote to the drive, as if blocks were filled evenly; None if there
    were none, or if the placement looks at who writes alone.
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
    """Events that the host may want to know of (FDP Events)."""
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
    """Summary of a placement with several classes for `summary.json`.

    Counted since the run began, ramp included.
    """

    LINE = "Classes: {label}: {}"
    SHOWN = (
        Shown(
            "state_bytes",
            condition="state_bytes > 0",
            label="Kept about pages",
            row="{state_bytes:size}",
        ),
        Shown(
            "diverted_pages",
            condition="diverted_pages > 0",
            label="Pages put elsewhere",
            row="{diverted_pages:count}",
        ),
    )
    classes: list[ClassSummary]
    """Blocks of each class."""
    diverted_pages: int
    """Pages that collections moved to another class, as theirs had no open block and none was
    free.
    """
    fdp: FdpSummary | None = None
    """Log of a drive with flexible data placement, if the placement goes by handles."""
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
    """Summary of an SLC cache for `summary.json`.

    Counted since the run began, ramp included; bytes are those of whole pages, and what a
    write buffer absorbs does not count.
    """

    LINE = "SLC cache"
    SHOWN = (
        Shown(
            "written_bytes",
            label="Written to the SLC cache",
            row="{written_bytes:size}",
            phrase="{written_bytes:size} written to it",
        ),
        Shown(
            "past_bytes",
            label="Written past it",
            row="{past_bytes:size}",
            phrase="{past_bytes:size} past it",
        ),
        Shown(
            "folded_bytes",
            label="Folded",
            row="{folded_bytes:size}",
            phrase="{folded_bytes:size} folded",
        ),
        Shown(
            "dead_bytes",
            label="Died in it",
            row="{dead_bytes:size}",
            phrase="{dead_bytes:size} died in it",
        ),
        Shown(
            "free_bytes",
            label="Free in it at the end",
            row="{free_bytes:size} of {capacity_bytes:size}",
            phrase="{free_bytes:size} of {capacity_bytes:size} free at the end",
        ),
    )
    capacity_bytes: int
    """Bytes that the cache could hold at the end, blocks that could be lent included."""
    dead_bytes: int
    """Bytes that the host overwrote or trimmed in the cache before they were folded."""
    erases: int
    """Blocks that were erased in the cache's mode. They are counted among all erases, too."""
    folded_bytes: int
    """Bytes that were folded: moved from the cache to native blocks."""
    free_bytes: int
    """Bytes of these that could be written without folding anything."""
    lent_blocks: int
    """Native blocks that were lent to it at the end."""
    past_bytes: int
    """Bytes that it wrote past the cache, to native blocks."""
    written_bytes: int
    """Bytes that the host wrote to blocks of the cache."""


class EraseCountSummary(Section, kw_only=True):
    """Erases of a block since the device was new, over all blocks."""

    SHOWN = (
        Shown("mean", label="Mean", row="{mean:decimal}"),
        Shown("stddev", label="Spread", row="{stddev:decimal} (std. deviation)"),
        Shown("min", label="Least and most", row="{min:count} and {max:count}"),
    )
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

    SHOWN = (
        Shown("erase_count", is_table=True),
        Shown("levelling_runs", label="Levelling runs", row="{levelling_runs:count}"),
    )
    erase_count: EraseCountSummary
    """Erases of a block since the device was new."""
    levelling_runs: int
    """Blocks emptied to level wear."""


class DeviceSummary(Section, kw_only=True):
    """One drive of an array."""

    SHOWN = (
        Shown(
            "host_bytes_written",
            phrase="{host_bytes_written:size} by host, {media_bytes_written:size} to flash",
        ),
        Shown("media_bytes_written", label="Bytes programmed", row="{media_bytes_written:size}"),
        Shown(
            "write_amplification",
            label="Write amplification",
            row="{write_amplification:amplification}",
            phrase="write amplification {write_amplification:amplification}",
            head="WA",
            cell="{write_amplification:factor}",
        ),
        Shown(
            "page_write_amplification",
            label="The same in pages",
            row="{page_write_amplification:factor}",
        ),
        Shown("flash", is_table=True),
        Shown("gc", is_table=True),
        Shown("mapping", is_table=True),
        Shown("wear", is_table=True),
        Shown("faults", is_table=True),
        Shown("lines", is_table=True),
        Shown("lost_die", is_table=True),
        Shown("placement", is_table=True),
        Shown("slc_cache", is_table=True),
    )
    collecting: CollectingSummary
    """When it collected."""
    commands: CommandsSummary
    """Commands that the controller sent to it."""
    device: int
    """Number of the drive, from 0."""
    endurance: EnduranceSummary | None = None
    """Lifetime of the flash, if `ssd.endurance.rated_cycles` is set."""
    faults: FaultsSummary | None = None
    """Faults of the flash, if there can be any."""
    flash: FlashSummary
    """Operations of the flash."""
    gc: GcSummary
    """Garbage collection."""
    host_bytes_written: int
    """Bytes that the host wrote; of a drive of an array, bytes that the controller wrote to it."""
    idle_time: IdleTimeSummary | None = None
    """Use of idle time, if a schedule tells idle periods apart by length."""
    lines: LinesSummary | None = None
    """Counts of lines, if blocks are managed in lines."""
    lost_die: LostDieSummary | None = None
    """Report on a die that was lost, if one was to be (`ssd.faults.lost_die`)."""
    mapping: MappingSummary
    """Cost of the mapping, where its table lies in flash or it binds logical pages to blocks."""
    media_bytes_written: int
    """Bytes programmed into flash: whole pages, whatever is in them, those of moves, parity,
    padding, mapping and summary pages among them.
    """
    page_write_amplification: float | None
    """Pages written to flash for each page written for the host, as theory and papers count it;
    None if there was none.
    """
    placement: PlacementSummary | None = None
    """Quality of the placement's sorting, if it has several classes."""
    requests_ended_last: int
    """Requests that ended last on this drive."""
    service_blame: BlameSummary | None = None
    """Parts of the times of commands from one percentile to the next.

    Results of earlier versions have none.
    """
    service_breakdown_us: BreakdownSummary
    """Parts of the mean of these times, in microseconds."""
    service_us: ResponsesSummary
    """From entering the drive's queue to the end, in microseconds."""
    slc_cache: SlcCacheSummary | None = None
    """Use of the SLC cache, if the drive has one."""
    wear: WearSummary
    """Erases of blocks."""
    write_amplification: float | None
    """Bytes programmed into flash for each that the host wrote, as SMART and NVMe count it; None
    if it wrote none.
    """


class ExcessSummary(Section, kw_only=True):
    """Excess of the requests of one class that take longer than a bound, in microseconds."""

    SHOWN = (
        Shown("mean", head="mean", cell="{mean:time_us}"),
        Shown("p50", head="p50", cell="{p50:time_us}"),
        Shown("p99", head="p99", cell="{p99:time_us}"),
        Shown("p99_9", head="p99.9", cell="{p99_9:time_us}"),
        Shown("p99_99", head="p99.99", cell="{p99_99:time_us}"),
        Shown("max", head="max", cell="{max:time_us}"),
    )
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
    """Share of these requests among all of the class; None if there are none."""
    stddev: float | None
    """Standard deviation of the sample; None for fewer than two requests."""
    total: float
    """Sum of the excess."""
    variance: float | None
    """Variance of the sample, in square microseconds; None for fewer than two requests."""


class ExcessWaitSummary(Section, kw_only=True):
    """Time that requests take beyond a bound."""

    all: ExcessSummary
    """Reads and writes."""
    bound_us: float
    """The bound, in microseconds."""
    read: ExcessSummary
    """Reads."""
    write: ExcessSummary
    """Writes."""


class HoldsSummary(Section, kw_only=True):
    """Waits of requests for dies that collected."""

    longest_wait_us: float
    """The longest that one of them waited, in microseconds."""
    requests: int
    """Requests that waited for any."""


class FlowVerdictSummary(Section, kw_only=True):
    """Verdict on the numbers of one flow."""

    findings: list[
        Literal[
            "starved",
            "unmapped_reads",
            "nothing_programmed",
            "overload",
            "perhaps_overload",
            "stalls",
            "bursts",
            "nothing_collected",
            "unsettled",
        ]
    ]
    """Findings to be known before the numbers are read."""
    holds: HoldsSummary
    """Waits of requests for dies that collected."""
    load: LoadSummary | None
    """Whether the drives kept up; None if no request has a time of its own, or too few came."""


class RequestsSummary(Section, kw_only=True):
    """Number of requests, by kind."""

    SHOWN = (
        Shown("count", label="Requests", row="{count:count}"),
        Shown("reads", label="Reads", row="{reads:count}, {read_bytes:size}"),
        Shown("writes", label="Writes", row="{writes:count}, {write_bytes:size}"),
    )
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
    trim_bytes: int | None = None
    """Bytes that the trims named, if there were any."""
    trims: int
    """Trims."""
    write_bytes: int
    """Bytes written."""
    write_pages: int
    """Logical pages that the writes touched, each counted for every request."""
    writes: int
    """Writes."""


class TailSummary(Section, kw_only=True):
    """Slowest reads and writes, and what their response times went to."""

    above: float
    """Percentile that they lie above: 99.9, or 99 or 90 where fewer than ten requests lie above
    that.
    """
    count: int
    """Requests above it."""
    time_ns: PartTimes
    """Sums of the parts of their response times, in nanoseconds."""


class ThroughputSummary(Section, kw_only=True):
    """Requests and bytes a second, over the time in which requests were measured."""

    LINE = "Throughput"
    SHOWN = (
        Shown("iops", phrase="{iops:rate} IOPS", head="IOPS", cell="{iops:decimal}"),
        Shown(
            "mib_per_s",
            phrase="{mib_per_s:decimal} MiB/s",
            head="MiB/s",
            cell="{mib_per_s:decimal}",
        ),
        Shown("simulated_s", label="Simulated time", row="{simulated_s:time_s}"),
    )
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

    SHOWN = (
        Shown("requests", is_table=True),
        Shown("throughput", is_table=True),
    )
    verdict: FlowVerdictSummary
    """Verdict on what these numbers can be taken for."""
    bandwidth: BandwidthSummary
    """Bandwidth over windows (`metrics.bandwidth_window`)."""
    blame: BlameSummary | None = None
    """Parts of response times from one percentile to the next: what the tail waits for.

    Results of earlier versions have none.
    """
    breakdown_by_class_us: BreakdownByClass
    """Parts of the mean response time of each operation, in microseconds."""
    breakdown_us: BreakdownSummary
    """Parts of the mean response time, in microseconds."""
    excess_wait_us: ExcessWaitSummary | None = None
    """Excess of response times over a bound, if there is one (`metrics.excess_bound`)."""
    flow: int
    """Number of the flow, from 0."""
    measured_response_us: ResponsesSummary | None = None
    """Response times that the trace holds, in microseconds, if it holds any."""
    name: str | None = None
    """Name of the flow, if it has one."""
    requests: RequestsSummary
    """Number of its requests, by kind."""
    response_us: ResponsesSummary
    """Simulated response times, in microseconds."""
    tail: TailSummary | None = None
    """Tail of the response times of reads and writes; absent if there are too few, and in
    results of earlier versions.
    """
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
    """Times of recoveries, in milliseconds; zero without any."""

    max: float
    """The longest."""
    mean: float
    """On average."""
    total: float
    """Together."""


class PowerLossSummary(Section, kw_only=True):
    """Cuts of power, recoveries and what was lost, of all drives together."""

    SHOWN = (
        Shown("pages_read", label="Pages read for that", row="{pages_read:count}"),
        Shown("torn_pages", label="Torn pages", row="{torn_pages:count}"),
        Shown("cut_erases", label="Erases cut off", row="{cut_erases:count}"),
        Shown(
            "interrupted_requests",
            label="Requests handed in anew",
            row="{interrupted_requests:count}",
        ),
        Shown(
            "buffered_pages_lost", label="Buffered pages lost", row="{buffered_pages_lost:count}"
        ),
        Shown(
            "flushed_pages_lost",
            condition="flushed_pages_lost > 0",
            label="Of these, flushed",
            row="{flushed_pages_lost:count}",
        ),
        Shown(
            "paired_pages_torn",
            condition="paired_pages_torn > 0",
            label="Whole pages torn with others",
            row="{paired_pages_torn:count}",
        ),
        Shown(
            "paired_pages_lost",
            condition="paired_pages_torn > 0",
            label="Durable pages lost with them",
            row="{paired_pages_lost:count}",
        ),
        Shown("durable_pages_lost", label="Durable pages lost", row="{durable_pages_lost:count}"),
    )
    blocks_erased: int
    """Blocks that recoveries erased."""
    buffered_pages_lost: int
    """Pages with acknowledged writes that were in the write buffer only.

    No flush had been acknowledged for them, but for those in `flushed_pages_lost`.
    """
    cut_erases: int
    """Blocks whose erase was cut off."""
    cuts: int
    """Number of power cuts. A cut takes all drives at once."""
    cuts_in_recovery: int
    """Cuts of those that came before a drive was back from the one before."""
    durable_pages_lost: int
    """Pages of which a durable write was lost otherwise."""
    flushed_pages_lost: int
    """Pages of those for which a flush had been acknowledged.

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
    """Times of the recoveries, those that were cut off left out."""
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

    SHOWN = (
        Shown("count", label="Requests", row="{count:count}"),
        Shown("reads", label="Reads", row="{reads:count}, {read_bytes:size}"),
        Shown("writes", label="Writes", row="{writes:count}, {write_bytes:size}"),
    )
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
    trim_bytes: int | None = None
    """Bytes that the trims named, if there were any."""
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


class SettledSummary(Section, kw_only=True):
    """Rounds of a run that ends when what it reports has settled."""

    most_rounds: int
    """Most rounds that there could be."""
    reached: bool
    """Whether a longer run would not change the verdict."""
    round: int
    """Requests of a round."""
    rounds: int
    """Rounds that have ended."""


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

    SHOWN = (
        Shown(
            "host_bytes_written",
            phrase="{host_bytes_written:size} by host, {media_bytes_written:size} to flash",
        ),
        Shown("media_bytes_written", label="Bytes programmed", row="{media_bytes_written:size}"),
        Shown(
            "write_amplification",
            label="Write amplification",
            row="{write_amplification:amplification}",
            phrase="write amplification {write_amplification:amplification}",
            head="WA",
            cell="{write_amplification:factor}",
        ),
        Shown(
            "page_write_amplification",
            label="The same in pages",
            row="{page_write_amplification:factor}",
        ),
    )
    verdict: VerdictSummary
    """Verdict on what these numbers can be taken for."""
    array: ArraySummary | None = None
    """Work of an array beside serving requests."""
    bandwidth: BandwidthSummary
    """Bandwidth over windows (`metrics.bandwidth_window`)."""
    blame: BlameSummary | None = None
    """Parts of response times from one percentile to the next: what the tail waits for.

    Results of earlier versions have none.
    """
    bound: BoundSummary | None = None
    """Bound on how good the write amplification could get, if that was asked for.

    Whoever writes `summary.json` adds it.
    """
    breakdown_by_class_us: BreakdownByClass
    """Parts of the mean response time of each operation, in microseconds."""
    breakdown_us: BreakdownSummary
    """Parts of the mean response time, in microseconds."""
    collecting_together: list[float] | None = None
    """Share of the time with 0, 1, 2 ... drives collecting."""
    config_digest: str
    """Digest of the resolved configuration."""
    devices: list[DeviceSummary] | None = None
    """The drives of the array, one by one."""
    endurance: EnduranceSummary | None = None
    """Lifetime of the flash, if `ssd.endurance.rated_cycles` is set."""
    excess_wait_us: ExcessWaitSummary | None = None
    """Excess of response times over a bound, if there is one (`metrics.excess_bound`)."""
    faults: FaultsSummary | None = None
    """Faults of the flash, if there can be any."""
    flash: FlashSummary
    """Operations of the flash."""
    flows: list[FlowSummary] | None = None
    """The flows of the workload, if there are several."""
    gc: GcSummary
    """Garbage collection."""
    host_bytes_written: int
    """Bytes that the host wrote; of a drive of an array, bytes that the controller wrote to it."""
    idle_time: IdleTimeSummary | None = None
    """Use of idle time, if a schedule tells idle periods apart by length."""
    lines: LinesSummary | None = None
    """Counts of lines, if blocks are managed in lines."""
    lost_die: LostDieSummary | None = None
    """Report on a die that was lost, if one was to be (`ssd.faults.lost_die`)."""
    mapping: MappingSummary
    """Cost of the mapping, where its table lies in flash or it binds logical pages to blocks."""
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
    """Quality of the placement's sorting, if it has several classes."""
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
    settled: SettledSummary | None = None
    """The rounds of a run that ends when what it reports has settled (`workload.requests`)."""
    simulator: SimulatorSummary
    """Cost of the run."""
    slc_cache: SlcCacheSummary | None = None
    """Use of the SLC cache, if the drive has one."""
    steady_state: SteadyStateSummary | None = None
    """The rounds of a run that ends when they are steady (`stop`)."""
    tail: TailSummary | None = None
    """Tail of the response times of reads and writes; absent if there are too few, and in
    results of earlier versions.
    """
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


#: What runs are compared by; those of which less is better come first.
COMPARED = (
    Compared("mean", "response_us.all.mean", "time_us"),
    Compared("p99", "response_us.all.p99", "time_us"),
    Compared("p99.9", "response_us.all.p99_9", "time_us"),
    Compared("p99.99", "response_us.all.p99_99", "time_us"),
    Compared("max", "response_us.all.max", "time_us"),
    Compared("WA", "write_amplification", "factor"),
    Compared("erases", "flash.erases", "count"),
    Compared("IOPS", "throughput.iops", "decimal", more_is_better=True),
    Compared("MiB/s", "throughput.mib_per_s", "decimal", more_is_better=True),
)
