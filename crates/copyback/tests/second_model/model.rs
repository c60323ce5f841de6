//! The second model of a drive that maps pages. It is told what the drive does, and says of each choice whether it is the
//! one that the text asks for.

use copyback::config::{Allocation, Config, GcEnd, Idle, Preemption, Width};
use copyback::purpose::Reason;
use copyback::told::Told;
use copyback::workload::Hint;

use crate::allocation;
use crate::free::Opening;
use crate::levelling::Levelling;
use crate::placement::{Classes, From};
use crate::shape::Shape;
use crate::state::{Stage, State};
use crate::thresholds::Thresholds;
use crate::victims::{Verdict, Victims};

/// Choices that were compared, by what was chosen.
pub type Compared = std::collections::BTreeMap<&'static str, u64>;

pub struct Model {
    pub state: State,
    allocation: Allocation,
    opening: Opening,
    classes: Classes,
    victims: Victims,
    levelling: Levelling,
    thresholds: Thresholds,
    /// Pages of a victim are moved in order.
    in_order: bool,
    /// The host waits until no plane of the die needs space.
    host_waits: bool,
    /// A command may program pages of several planes.
    joins_planes: bool,
    /// A write may take the place of the page that a collection has in the register, on the plane where it lies.
    merges: bool,
    /// The plane of each die that was collected last on demand, if that is known.
    last_collected: Vec<Option<u32>>,
    /// Planes are collected one after the other, and the host waits for all of them.
    takes_turns: bool,
    /// Whether the drive has been prepared.
    runs: bool,
    /// The plane of each die to which the host has written last.
    last_plane: Vec<Option<u32>>,
    /// The class whose next block has to be opened now, as the host has filled the last.
    opens_next: Option<(u32, Option<u8>)>,
    /// The block that was opened in the last step, and whether the host could have opened it.
    just_opened: Option<(u32, bool)>,
    /// The block that wear levelling was to empty in a plane after its last erase.
    levels_next: Vec<Option<u32>>,
    /// The plane to which the last step wrote a page of the host.
    just_written: Option<u32>,
    /// The page of the host that has just been written: it counts from the next choice on.
    not_counted: u64,
    held_back: Vec<Told>,
    /// For who looks into a difference.
    pub prints: bool,
    pub compared: Compared,
}

impl Model {
    pub fn new(config: &Config) -> Self {
        let gc = &config.ssd.gc;
        let state = State::new(Shape::new(&config.ssd));
        let planes = state.planes.len();
        let is_serial = matches!(gc.width, Width::Serial | Width::Superblock);
        let reorders = matches!(
            gc.preemption,
            Preemption::SemiPreemptive { reorder, reorder_writes, .. } if reorder || reorder_writes
        );
        Self {
            allocation: config.ssd.ftl.allocation,
            opening: Opening::new(config),
            classes: Classes::new(config),
            victims: Victims::new(config),
            levelling: Levelling::new(config),
            thresholds: Thresholds::new(config),
            in_order: is_serial && !reorders,
            takes_turns: is_serial
                && !gc.zero_cost
                && gc.preemption == Preemption::None
                && gc.idle == Idle::None,
            host_waits: gc.preemption == Preemption::None
                && gc.idle == Idle::None
                && gc.end == GcEnd::Enough,
            merges: matches!(gc.preemption, Preemption::SemiPreemptive { merge: true, .. }),
            joins_planes: config.resolve().drive.shape.planes_per_command > 1,
            last_collected: vec![None; planes],
            runs: false,
            last_plane: vec![None; planes],
            opens_next: None,
            just_opened: None,
            levels_next: vec![None; planes],
            just_written: None,
            not_counted: 0,
            held_back: Vec::new(),
            prints: std::env::var_os("COPYBACK_SECOND_REPLAY").is_some(),
            compared: Compared::new(),
            state,
        }
    }

    /// The drive has told this. Blocks that it opens are told before the page that they are opened for, or behind: a
    /// block into which the page does not go was opened once it had been written.
    pub fn listen(&mut self, told: Told) -> Result<(), String> {
        let goes_to = match told {
            Told::Opened { .. } => {
                self.held_back.push(told);
                return Ok(());
            }
            Told::Written { ppn, .. } | Told::Moved { to: ppn, .. } => {
                Some(self.state.shape.block_of(ppn.index() as u32))
            }
            _ => None,
        };
        let (before, behind): (Vec<_>, Vec<_>) = std::mem::take(&mut self.held_back)
            .into_iter()
            .partition(|opened| !self.is_behind(opened, goes_to));
        let mut lazily = Vec::new();
        for opened in before {
            match self.opens_next {
                Some(_) => self.hear_or_say(opened)?,
                None => lazily.push(opened),
            }
        }
        if let Told::Written { ppn, .. } = told {
            let plane = self.plane_of(ppn.index() as u32);
            self.check_before_write(&told, plane).map_err(|problem| {
                format!("before {told:?}: {problem}{}", self.state.describe(plane))
            })?;
        }
        lazily.into_iter().chain([told]).chain(behind).try_for_each(|told| self.hear_or_say(told))
    }

    /// Hears what was told, and says in which step if that differs.
    fn hear_or_say(&mut self, told: Told) -> Result<(), String> {
        let step = self.state.step;
        if self.prints {
            println!("{step}: {told:?}");
        }
        self.hear(&told).map_err(|problem| {
            let plane = match told {
                Told::Chosen { plane, .. } => Some(plane.0),
                Told::Written { ppn, .. } => Some(self.plane_of(ppn.index() as u32)),
                _ => None,
            };
            let known = plane.map(|plane| self.state.describe(plane)).unwrap_or_default();
            format!("step {step}, {told:?}: {problem}{known}")
        })
    }

    /// Whether a block was opened once a page had been written to block `goes_to`, and had filled it.
    fn is_behind(&self, opened: &Told, goes_to: Option<u32>) -> bool {
        let (Told::Opened { block, .. }, Some(goes_to)) = (opened, goes_to) else { return false };
        let shape = &self.state.shape;
        let is_of_plane = shape.plane_of(block.0) == shape.plane_of(goes_to);
        block.0 != goes_to && is_of_plane && self.state.room_in(goes_to) == 1
    }

    /// The drive has told all. Returns what was compared.
    pub fn end(mut self) -> Result<Compared, String> {
        for told in std::mem::take(&mut self.held_back) {
            self.hear(&told)?;
        }
        self.demand_next_block()?;
        Ok(self.compared)
    }

    /// What the drive did next. Says what it should have done, if that is something else.
    fn hear(&mut self, told: &Told) -> Result<(), String> {
        self.state.step += 1;
        if !matches!(told, Told::Opened { .. }) {
            self.demand_next_block()?;
            self.state.host_pages += std::mem::take(&mut self.not_counted);
        }
        match *told {
            Told::Written { lpn, ppn, hint } => {
                self.written(lpn.0, ppn.index() as u32, named_by(hint))
            }
            Told::Moved { lpn, from, to } => {
                self.moved(lpn.0, from.index() as u32, to.index() as u32)
            }
            Told::Trimmed { lpn } => self.trimmed(lpn.0),
            Told::Opened { block, class } => {
                self.opened(block.0, class.map(|class| class.index() as u8))
            }
            Told::Chosen { plane, victim, reason, joins } => {
                self.chosen(plane.0, victim.0, reason, joins)
            }
            Told::Erased { block } => self.erased(block.0),
        }?;
        self.just_written = match *told {
            Told::Written { ppn, .. } => Some(self.plane_of(ppn.index() as u32)),
            Told::Opened { .. } => self.just_written,
            _ => None,
        };
        Ok(())
    }

    fn plane_of(&self, ppn: u32) -> u32 {
        self.state.shape.plane_of(self.state.shape.block_of(ppn))
    }

    /// Counts a comparison.
    fn compare<T: PartialEq + std::fmt::Debug>(
        &mut self,
        what: &'static str,
        theirs: &T,
        ours: &T,
    ) -> Result<(), String> {
        *self.compared.entry(what).or_default() += 1;
        if theirs == ours {
            return Ok(());
        }
        Err(format!("{what}: the simulator has {theirs:?}, the second model {ours:?}"))
    }

    fn demand_next_block(&mut self) -> Result<(), String> {
        match self.opens_next.take() {
            Some((plane, class)) => Err(format!(
                "next block: the host has filled its open block of class {class:?} on plane {plane}; the \
                 simulator has opened none, the second model the next at once"
            )),
            None => Ok(()),
        }
    }

    fn opened(&mut self, block: u32, class: Option<u8>) -> Result<(), String> {
        if self.opens_next.is_none() {
            self.state.host_pages += std::mem::take(&mut self.not_counted);
        }
        let plane = self.state.shape.plane_of(block);
        let ours = self.opening.next(&self.state, plane);
        self.compare("block opened", &Some(block), &ours)?;
        let host_may = self.opening.host_may_open(&self.state, plane);
        let has_one = self.state.plane(plane).open.contains_key(&class);
        self.compare("class has an open block already", &has_one, &false)?;
        if let Some(expected) = self.opens_next.take() {
            self.compare("next block of the host", &(plane, class), &expected)?;
            self.state.plane_mut(plane).is_lent = false;
        } else {
            self.just_opened = Some((block, host_may));
        }
        self.state.open(block, class);
        self.settle_plane(plane);
        Ok(())
    }

    /// Checks that `ppn` is the next page of the open block of `class` on its plane, and says whether the block was
    /// opened for it.
    fn check_place(&mut self, ppn: u32, class: Option<u8>) -> Result<Option<bool>, String> {
        let block = self.state.shape.block_of(ppn);
        let plane = self.state.shape.plane_of(block);
        let open = self.state.plane(plane).open.get(&class).copied();
        self.compare("open block of the class", &Some(block), &open)?;
        let next = block * self.state.shape.pages + self.state.block(block).written;
        self.compare("page of the block", &ppn, &next)?;
        let opened = self.just_opened.take();
        let needed = opened.is_none_or(|(opened, _)| opened == block);
        self.compare("block opened for a page", &needed, &true)?;
        Ok(opened.map(|(_, may)| may))
    }

    fn written(&mut self, lpn: u32, ppn: u32, from: From) -> Result<(), String> {
        let plane = self.plane_of(ppn);
        let sorted = self.classes.of(&self.state, lpn, from);
        let class = Some(sorted);
        if self.check_place(ppn, class)?.is_some() {
            self.state.plane_mut(plane).is_lent = false;
        }
        let fills = self.state.put(lpn, ppn);
        self.classes.note_write(lpn, &self.state);
        self.not_counted = 1;
        self.settle_plane(plane);
        let die = self.state.shape.die_of(plane) as usize;
        self.last_plane[die] = Some(plane);
        self.classes.learn(lpn, sorted);
        self.open_after(plane, class, fills);
        Ok(())
    }

    /// What has to hold before the host writes a page to `plane`.
    fn check_before_write(&mut self, told: &Told, plane: u32) -> Result<(), String> {
        let Told::Written { lpn, hint, .. } = *told else { return Ok(()) };
        if hint.is_some() && !self.runs {
            self.runs = true;
            self.last_collected.fill(None);
        }
        self.demand_next_block()?;
        self.state.host_pages += std::mem::take(&mut self.not_counted);
        self.check_host_may(plane)?;
        let class = Some(self.classes.of(&self.state, lpn.0, named_by(hint)));
        let has_place = self.host_has_place(plane, class);
        self.compare("host has a place on the plane", &true, &has_place)?;
        self.check_plane(lpn.0, plane, class)
    }

    /// Whether `plane` takes a page of the host of this class: it has an open block for it, or may open one; and what a
    /// collection has still to move finds room, where it shares the block.
    fn host_has_place(&self, plane: u32, class: Option<u8>) -> bool {
        let known = self.state.plane(plane);
        let is_open = known.open.contains_key(&class);
        let left: u32 = known.victims.iter().map(|victim| self.state.valid_count(*victim)).sum();
        let shares = self.classes.takes_moved(class) && !known.victims.is_empty();
        let leaves_room =
            !self.opening.guards_lent(&self.state, plane) && left < self.room_for_moves(plane);
        (is_open || self.opening.host_may_open(&self.state, plane)) && (!shares || leaves_room)
    }

    /// The next block of `class` is opened at once if one `is_wanted` and the host may open one.
    fn open_after(&mut self, plane: u32, class: Option<u8>, is_wanted: bool) {
        if is_wanted && self.opening.host_may_open(&self.state, plane) {
            self.opens_next = Some((plane, class));
        }
    }

    fn check_plane(&mut self, lpn: u32, plane: u32, class: Option<u8>) -> Result<(), String> {
        let planes = allocation::planes_for(&self.state, self.allocation, lpn);
        let die = self.state.shape.die_of(plane);
        let may = planes.contains(&plane);
        self.compare("plane by the address", &may, &true)?;
        let old = self.state.map.get(&lpn).map(|ppn| self.plane_of(*ppn));
        let merges =
            self.merges && old == Some(plane) && !self.state.plane(plane).victims.is_empty();
        if planes.len() == 1 || self.joins_planes || merges {
            return Ok(());
        }
        let mut accepting = self.state.shape.planes_of_die(die);
        accepting.retain(|plane| self.host_has_place(*plane, class));
        let last = self.last_plane[die as usize];
        let ours =
            allocation::next_plane(&self.state, self.allocation, die, last, class, &accepting);
        let all = self.state.shape.planes_of_die(die).into_iter();
        let known: String = all.map(|plane| self.state.describe(plane)).collect();
        let differs = self.compare("plane of the die", &Some(plane), &ours);
        differs.map_err(|problem| format!("{problem} after {last:?}{known}"))
    }

    /// Checks that no plane of the die has to be collected before the host writes to `plane`.
    fn check_host_may(&mut self, plane: u32) -> Result<(), String> {
        let die = self.state.shape.die_of(plane);
        let joins = self.joins_planes
            && self.just_written.is_some_and(|last| self.state.shape.die_of(last) == die);
        if !self.host_waits || joins {
            return Ok(());
        }
        for other in self.state.shape.planes_of_die(die) {
            let under_way = self.state.plane(other).victims.clone();
            self.compare("collections before the host writes", &Vec::new(), &under_way)?;
            let is_due = self.state.plane(other).is_short;
            if let (true, false, Verdict::This(victim)) =
                (is_due, self.victims.may_refuse(), self.verdict(other))
            {
                let known = self.state.describe(other);
                let differs = self.compare("victims before the host writes", &None, &Some(victim));
                differs.map_err(|problem| problem + &known)?;
            }
        }
        Ok(())
    }

    fn verdict(&self, plane: u32) -> Verdict {
        let room = self.room_for_moves(plane);
        let may = self.opening.host_may_open(&self.state, plane);
        self.victims.choose(&self.state, plane, room, may)
    }

    fn room_for_moves(&self, plane: u32) -> u32 {
        let known = self.state.plane(plane);
        let open = known.open.iter().filter(|(class, _)| self.classes.takes_moved(**class));
        let rests: u32 = open.map(|(_, block)| self.state.room_in(*block)).sum();
        rests + known.free.len() as u32 * self.state.shape.data_pages
    }

    fn moved(&mut self, lpn: u32, from: u32, to: u32) -> Result<(), String> {
        let (block, plane) = (self.state.shape.block_of(from), self.plane_of(from));
        let lies = self.state.map.get(&lpn).copied();
        self.compare("page moved from", &Some(from), &lies)?;
        self.compare("plane moved to", &self.plane_of(to), &plane)?;
        let is_victim = self.state.plane(plane).victims.contains(&block);
        self.compare("block of the page moved", &is_victim, &true)?;
        if self.in_order {
            let next = self.state.valid_pages(block).first().copied();
            self.compare("page moved next", &Some(from), &next)?;
        }
        let sorted = self.classes.of(&self.state, lpn, From::Block(block));
        let class = Some(sorted);
        let place = self.place_of_moved(plane, class);
        if self.check_place(to, place)?.is_some() && self.classes.takes_host(place) {
            self.state.plane_mut(plane).is_lent = true;
        }
        let fills = self.state.put(lpn, to);
        self.settle_plane(plane);
        self.open_after(plane, place, fills && self.classes.takes_host(place));
        self.classes.learn(lpn, sorted);
        Ok(())
    }

    /// The class of the block that a moved page of `class` goes to: its own, or where there is no block for it and none
    /// free, that of the open block with most room.
    fn place_of_moved(&mut self, plane: u32, class: Option<u8>) -> Option<u8> {
        let known = self.state.plane(plane);
        if known.open.contains_key(&class) || !known.free.is_empty() {
            return class;
        }
        *self.compared.entry("page without a block of its class").or_default() += 1;
        let open = known.open.iter().filter(|(class, _)| self.classes.takes_moved(**class));
        open.max_by_key(|(_, block)| self.state.room_in(**block)).map_or(class, |(class, _)| *class)
    }

    fn trimmed(&mut self, lpn: u32) -> Result<(), String> {
        let ppn = self.state.map.remove(&lpn).ok_or_else(|| format!("page {lpn} holds no data"))?;
        self.state.lose(ppn);
        self.classes.forget(lpn);
        self.settle_plane(self.plane_of(ppn));
        Ok(())
    }

    fn chosen(
        &mut self,
        plane: u32,
        victim: u32,
        reason: Reason,
        joins: bool,
    ) -> Result<(), String> {
        let expected = self.levels_next[plane as usize].take();
        let levels = self.levelling.wanted(&self.state, plane);
        match reason {
            Reason::WearLevelling => {
                self.compare("block that levels wear", &Some(victim), &levels)?;
            }
            // What has changed since the erase may have called for it too late.
            _ => {
                let missed = expected.filter(|expected| levels == Some(*expected));
                self.compare("no block that levels wear", &None, &missed)?;
                self.check_victim(plane, victim)?;
            }
        }
        if reason == Reason::OnDemand && !joins {
            let is_due = self.state.plane(plane).is_short;
            self.compare("plane calls for a collection", &true, &is_due)?;
            self.check_turn(plane)?;
        }
        self.classes.chosen(&self.state, victim);
        self.state.choose(victim);
        self.settle_plane(plane);
        Ok(())
    }

    /// Planes of a die that are short of space are collected in turn, going round from the one after the last. A plane that is
    /// short and has nothing to give may have had its turn unheard, so that nothing is known until the next is collected.
    fn check_turn(&mut self, plane: u32) -> Result<(), String> {
        let die = self.state.shape.die_of(plane) as usize;
        let mut planes = self.state.shape.planes_of_die(die as u32);
        let first =
            self.last_collected[die].map(|last| (last % self.state.shape.planes + 1) as usize);
        planes.retain(|other| self.state.plane(*other).is_short);
        let all_give = planes.iter().all(|other| self.verdict(*other) != Verdict::None);
        let is_known = self.runs && self.takes_turns && !self.victims.may_refuse();
        self.last_collected[die] = all_give.then_some(plane);
        if let (true, true, Some(first)) = (is_known, all_give, first) {
            let place = |other: &u32| (other % self.state.shape.planes) as usize;
            let next = planes.iter().min_by_key(|other| (place(other) < first, place(other)));
            self.compare("plane whose turn it is", &Some(plane), &next.copied())?;
        }
        Ok(())
    }

    fn check_victim(&mut self, plane: u32, victim: u32) -> Result<(), String> {
        match self.verdict(plane) {
            Verdict::OneOf(blocks) => {
                self.compare("victim among", &blocks.contains(&victim), &true)
            }
            Verdict::This(block) => self.compare("victim", &Some(victim), &Some(block)),
            Verdict::None => self.compare("victim", &Some(victim), &None),
        }
    }

    fn erased(&mut self, block: u32) -> Result<(), String> {
        let plane = self.state.shape.plane_of(block);
        let left = self.state.valid_pages(block);
        self.compare("pages left in an erased block", &left, &Vec::new())?;
        let stage = self.state.block(block).stage;
        self.compare("stage of an erased block", &stage, &Stage::Victim)?;
        self.state.erase(block);
        self.settle_plane(plane);
        self.levels_next[plane as usize] = self.levelling.wanted(&self.state, plane);
        let class = self.classes.only_of_host();
        let has_none = class.is_some() && !self.state.plane(plane).open.contains_key(&class);
        self.open_after(plane, class, has_none);
        Ok(())
    }

    fn settle_plane(&mut self, plane: u32) {
        self.victims.note_window(&mut self.state, plane);
        let may = self.opening.host_may_open(&self.state, plane);
        self.thresholds.look(&mut self.state, plane, may);
        let known = self.state.plane(plane);
        if known.is_short && known.victims.is_empty() && self.verdict(plane) == Verdict::None {
            self.last_collected[self.state.shape.die_of(plane) as usize] = None;
        }
    }
}

/// The placement handle of a page of the host: the one that it names, or the number of its flow.
fn named_by(hint: Option<Hint>) -> From {
    let named = hint.and_then(|hint| Some(hint.handle()?.index()));
    From::Host(named.or(hint.map(Hint::flow)).unwrap_or(0) as u16)
}
