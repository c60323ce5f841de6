"""Reason why a request was late: what its dies did meanwhile, in words and as a drawing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from copyback.words import describe, units, waits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from copyback.result import Result

    Json = dict[str, Any]

#: Width of the drawing, in units in which less than one is not seen.
WIDTH = 1_000

#: Width below which an operation is drawn together with its neighbours.
SEEN = 5

#: Lanes drawn for a request; sentences that say what it waited for.
MOST_LANES = 6
MOST_REASONS = 5

#: Collections named in a sentence of their own, of those that one wait met.
MOST_NAMED = 2

#: Blocks of a collection that a sentence lists.
MOST_BLOCKS = 4

#: Shapes of a lane: what is drawn, and how the key calls it.
KEYS = {
    "own": "this request",
    "host_read": "other reads of the host",
    "host_write": "other writes of the host",
    "gc": "collection",
    "ahead": "what it waited behind waits itself",
    "other": "mapping, buffer, wear levelling",
    "suspend": "suspended",
}

#: Where in a lane what is drawn.
TOPS = {"held": 0, "array": 4, "channel": 20, "waits": 30}
HEIGHTS = {"held": 34, "array": 14, "channel": 6, "waits": 4}

#: Parts of a response time that no wait tells of.
ELSEWHERE = {
    "service": "took {time} for its own commands, array operations and transfers",
    "bus": "waited {time} for the channel or the host link",
    "buffer": "spent {time} in the write buffer",
    "translation": "waited {time} for the mapping of its page",
    "host_queue": "waited {time} while the drive was off",
}

#: Waits for something else than a die: `behind` is who it was for, `drive` names the drive.
WAITS = {
    "update": "for an earlier write of the same page{behind}",
    "mapping": "for the mapping of its page{behind}",
    "buffer": "for room in the write buffer{drive}{behind}",
    "flush": "for earlier writes to leave the write buffer{drive}{behind}",
    "drive_queue": "for a place in the queue{drive}, which was full{behind}",
    "stripe": "for its stripe{behind}",
    "host_queue": "outside, because the queue was full or the drive off{behind}",
}

#: Who may be waited for, if it is no request.
OTHERS = {
    "destage": "a page on its way to flash",
    "mapping": "a page of the mapping table",
}


@dataclass(frozen=True)
class Shape:
    """A rectangle in a lane, in units of the drawing."""

    x: float
    width: float
    kind: str
    title: str
    on: str


@dataclass(frozen=True)
class Lane:
    """Activity of a die from the arrival of a request to its end."""

    label: str
    shapes: tuple[Shape, ...]
    known_from: float

    @property
    def summary(self) -> str:
        """Share of each kind of operation, for readers who cannot see the drawing."""
        taken: dict[str, float] = {}
        for shape in self.shapes:
            if shape.on == "array":
                taken[shape.kind] = taken.get(shape.kind, 0.0) + shape.width
        told = [f"{KEYS[kind]} {units.share(width / WIDTH)}" for kind, width in taken.items()]
        return ", ".join(told) or "nothing"


@dataclass(frozen=True)
class Late:
    """A slow request."""

    number: int
    title: str
    response: str
    reasons: tuple[str, ...]
    parts: tuple[describe.Part, ...]
    lanes: tuple[Lane, ...]
    hidden_lanes: int
    end: str


def context(result: Result) -> list[Late] | None:
    """Return the slow requests of a run, the slowest first; None if it kept none."""
    if result.slowest is None:
        return None
    several = result.summary.devices is not None
    return [late(request, several_drives=several) for request in result.slowest]


def late(request: Json, *, several_drives: bool) -> Late:
    """Return what the page shows of a request."""
    lanes = [lane(request, die, several_drives=several_drives) for die in _slowest_first(request)]
    took = units.time_us(request["response_us"])
    return Late(
        number=request["request"],
        title=(
            f"{request['operation'].capitalize()} of {units.size(request['bytes'])} at "
            f"{units.time_s(request['arrival_us'] / 1e6)}"
        ),
        response=took,
        reasons=tuple(reasons(request, several_drives=several_drives)[:MOST_REASONS]),
        parts=tuple(describe.parts(request["breakdown_us"])),
        lanes=tuple(lanes[:MOST_LANES]),
        hidden_lanes=max(len(lanes) - MOST_LANES, 0),
        end=took,
    )


def _slowest_first(request: Json) -> list[Json]:
    """Return the dies of a request: first those that were waited for longest."""
    waited: dict[tuple[int, int], float] = {}
    for wait in _all_waits(request["waits"]):
        place = wait["device"], wait["die"]
        waited[place] = max(waited.get(place, 0.0), wait["end_us"] - wait["begin_us"])
    dies: list[Json] = request["dies"]
    return sorted(dies, key=lambda die: -waited.get((die["device"], die["die"]), 0.0))


def _all_waits(waits: list[Json]) -> Iterator[Json]:
    """Yield waits, and those of all that was waited for."""
    for wait in waits:
        yield wait
        if wait["behind"] is not None:
            yield from _all_waits(wait["behind"]["waits"])


def reasons(request: Json, *, several_drives: bool) -> list[str]:
    """Return what a request waited for, in words, the longest first.

    Parameters
    ----------
    request
        As in ``slowest.json``.
    several_drives
        Whether a die needs the name of its drive.

    Returns
    -------
    list of str
        Of the waits that decided when it ended, and of the parts that have no die.
    """
    found = timed_reasons(request, several_drives=several_drives)
    told = [text for _, text in found[:MOST_REASONS]]
    if rest := found[MOST_REASONS:]:
        time = units.time_us(sum(time for time, _ in rest))
        told.append(f"and {len(rest)} more of such, {time} together")
    return told


def timed_reasons(request: Json, *, several_drives: bool) -> list[tuple[float, str]]:
    """Return the sentences, and the microseconds that each tells of; the longest first."""
    waits_told = deciding(request["waits"])
    found: list[tuple[float, str]] = []
    for key, sentence in ELSEWHERE.items():
        in_waits = sum(wait["breakdown_us"].get(key, 0.0) for wait in waits_told)
        time = request["breakdown_us"].get(key, 0.0) - in_waits
        if time > 0:
            found.append((time, sentence.format(time=units.time_us(time))))
    for wait in waits_told:
        found += reasons_of_wait(wait, several_drives=several_drives)
    return sorted(found, key=lambda reason: -reason[0])


def deciding(waits: list[Json]) -> list[Json]:
    """Return the waits that decided when a request ended, the last first.

    That of the page operation that got its die last; before it those that it had to wait for: its
    own for another die or another write, or that of the first phase of a write under parity.
    """
    chain: list[Json] = []
    # One that took no time would precede itself.
    left = [wait for wait in waits if wait["end_us"] > wait["begin_us"]]
    while left:
        last = max(left, key=lambda wait: (wait["end_us"], -wait["begin_us"]))
        chain.append(last)
        left = [wait for wait in left if wait["end_us"] <= last["begin_us"]]
    return chain


def reasons_of_wait(wait: Json, *, several_drives: bool) -> list[tuple[float, str]]:
    """Return what a wait was for, in sentences, and the microseconds that each tells of."""
    if wait["for"] in WAITS:
        return [_reason_elsewhere(wait, several_drives=several_drives)]
    parts = wait["breakdown_us"]
    if wait["for"] == "any_die":
        return [
            (time, sentence.format(time=units.time_us(parts[key])))
            for key, sentence in UNPLACED.items()
            if (time := parts.get(key))
        ]
    place = _place(wait["device"], wait["die"], several_drives=several_drives)
    met = collections_met(wait)
    found = [
        (time, f"waited {units.time_us(time)} for {naming(collection, place)}")
        for time, collection in met[:MOST_NAMED]
    ]
    rest = parts.get("gc_same_plane", 0.0) + parts.get("gc_other_plane", 0.0)
    rest -= sum(time for time, _ in found)
    if len(met) > MOST_NAMED:
        found.append((rest, f"waited {units.time_us(rest)} for more collections on {place}"))
    for key, sentence in BEHIND.items():
        if time := parts.get(key):
            found.append((time, sentence.format(time=units.time_us(time), place=place)))
    return found


#: Waits for other page operations on a die.
BEHIND = {
    "queue_behind_io": "waited {time} behind other requests on {place}",
    "late": "waited {time} behind requests on {place} that collections had delayed",
}

#: Waits for no die in particular.
UNPLACED = {
    "gc_other_plane": "waited {time} while dies collected that could have taken it",
    "late": "waited {time} for a die, behind writes that collections had delayed",
    "queue_behind_io": "waited {time} for a die that could take it",
}


def _reason_elsewhere(wait: Json, *, several_drives: bool) -> tuple[float, str]:
    """Return how long a wait for something else than a die took, and its sentence."""
    time = wait["end_us"] - wait["begin_us"]
    late = wait["breakdown_us"].get("late", 0.0)
    share = f", {units.time_us(late)} of it because of collections" if late else ""
    phrase = _elsewhere(wait, several_drives=several_drives)
    return time, f"waited {units.time_us(time)} {phrase}{share}"


def _elsewhere(wait: Json, *, several_drives: bool) -> str:
    drive = f" of drive {wait['device']}" if several_drives and wait["device"] is not None else ""
    behind = _behind(wait, several_drives=several_drives)
    return WAITS[wait["for"]].format(drive=drive, behind=behind)


def _behind(wait: Json, *, several_drives: bool) -> str:
    """Return who was waited for, and what they had waited for themselves longest."""
    behind = wait["behind"]
    if behind is None:
        return ""
    who = _name(behind["who"], behind["request"])
    if not behind["others"]:
        return f", behind {who}{_had_waited(', which', behind, several_drives=several_drives)}"
    first = _name("request", behind["first"])
    had_waited = _had_waited("", behind, several_drives=several_drives)
    row = f", behind {who} and {units.count(behind['others'])} more in a row"
    return f"{row}, the first of which, {first},{had_waited}" if had_waited else row


def _had_waited(who: str, behind: Json, *, several_drives: bool) -> str:
    """Return what somebody had waited for longest; nothing if they had not waited."""
    if not behind["waits"]:
        return ""
    longest = behind["waits"][0]
    time = units.time_us(longest["end_us"] - longest["begin_us"])
    return f"{who} had waited {time} {_story(longest, several_drives=several_drives)}"


def _name(who: str, request: int | None) -> str:
    """Return how a sentence calls somebody who was waited for."""
    return OTHERS[who] if request is None else f"request {units.count(request)}"


def _story(wait: Json, *, several_drives: bool) -> str:
    """Return what somebody else had waited for."""
    if wait["for"] in WAITS:
        return _elsewhere(wait, several_drives=several_drives)
    if wait["for"] == "any_die":
        return "for a die that could take it"
    place = _place(wait["device"], wait["die"], several_drives=several_drives)
    met = collections_met(wait)
    if not met:
        return f"behind other requests on {place}"
    parts = wait["breakdown_us"]
    collecting = parts.get("gc_same_plane", 0.0) + parts.get("gc_other_plane", 0.0)
    time, collection = met[0]
    named = naming(collection, place)
    if len(met) == 1:
        return f"for {place}, {units.time_us(collecting)} of it for {named}"
    return (
        f"for {place}, {units.time_us(collecting)} of it for {units.count(len(met))} or more "
        f"collections, {units.time_us(time)} for {named}"
    )


def collections_met(wait: Json) -> list[tuple[float, Json]]:
    """Return the collections during a wait for a die, and for how long each; longest first."""
    return [(met["time_us"], met) for met in wait["collections"]]


def naming(collection: Json, place: str) -> str:
    """Return how a sentence calls a collection on a die."""
    blocks = collection["blocks"]
    listed = ", ".join(str(block) for block in blocks[:MOST_BLOCKS])
    more = ", …" if len(blocks) > MOST_BLOCKS else ""
    pages = sum(collection["valid_pages"])
    kind = collection["kind"].replace("_", " ")
    return (
        f"a {kind} of block{'s' * (len(blocks) > 1)} {listed}{more} "
        f"on {place} ({waits.ACTIVITIES[collection['reason']]}, "
        f"{units.count(pages)} valid page{'s' * (pages != 1)})"
    )


def _place(device: int, die: int, *, several_drives: bool) -> str:
    return f"die {die} of drive {device}" if several_drives else f"die {die}"


def lane(request: Json, die: Json, *, several_drives: bool) -> Lane:
    """Return the drawing of a die."""
    begin, length = request["arrival_us"], max(request["response_us"], 1e-9)

    def shape(span: Json, kind: str, title: str, on: str) -> Shape:
        start = max((span["begin_us"] - begin) / length, 0.0)
        end = min((span["end_us"] - begin) / length, 1.0)
        return Shape(start * WIDTH, max(end - start, 0.0) * WIDTH, kind, title, on)

    label = _place(die["device"], die["die"], several_drives=several_drives)
    held = [shape(span, "gc", naming(span, label), "held") for span in die["collections"]]
    done = [
        shape(span, kind_of(span, request["request"]), title_of(span), span["on"])
        for span in die["operations"]
        if span["begin_us"] < begin + length
    ]
    place = die["device"], die["die"]
    own = {id(wait) for wait in request["waits"]}
    own_waits = [
        shape(wait, kind, KEYS[kind] if kind == "ahead" else "waits", "waits")
        for wait in _all_waits(request["waits"])
        if (wait["device"], wait["die"]) == place and wait["end_us"] > begin
        for kind in ["own" if id(wait) in own else "ahead"]
    ]
    known = max((die["known_since_us"] - begin) / length, 0.0) * WIDTH
    return Lane(label, (*held, *joined(done), *own_waits), known)


def kind_of(span: Json, request: int) -> str:
    """Return the shape of an operation."""
    if request in span["requests"]:
        return "own"
    return span["class"] if span["class"] in KEYS else "other"


def title_of(span: Json) -> str:
    """Return what is told of an operation."""
    label = f"{span['class'].replace('_', ' ')}: {span['command']}"
    where = ", ".join(f"block {block}" for block in span["blocks"])
    time = units.time_us(span["end_us"] - span["begin_us"])
    how = ", then suspended" if span["suspended"] else ""
    return f"{label}{', ' if where else ''}{where}, {time}{how}"


def joined(shapes: list[Shape]) -> list[Shape]:
    """Return the shapes with neighbours of one kind joined where nobody could tell them apart."""
    drawn: list[Shape] = []
    for place in ("array", "channel"):
        row: list[Shape] = []
        for shape in (shape for shape in shapes if shape.on == place):
            if row and _look_as_one(row[-1], shape):
                begin, end = row[-1].x, shape.x + shape.width
                shape = Shape(begin, end - begin, shape.kind, KEYS[shape.kind], place)
                row.pop()
            row.append(shape)
        drawn += row
    return drawn


def _look_as_one(left: Shape, right: Shape) -> bool:
    gap = right.x - (left.x + left.width)
    return left.kind == right.kind and gap < 1 and min(left.width, right.width) < SEEN
