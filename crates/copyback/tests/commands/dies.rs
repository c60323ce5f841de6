//! Pairs of commands on a die whose channel is always free: when does it accept the second?

use copyback::config::BusArbitration;
use copyback::flash::channel::{Channel, Transfer};
use copyback::ids::DieId;
use copyback::nand::{Action, Command, Die, Operation, Slot, Times};
use copyback::units::Duration;

use crate::toy::at;

const COMMANDS: [Command; 4] = [Command::Read, Command::Program, Command::Erase, Command::Copyback];

fn times(command: Command) -> Times {
    let [transfer_in, array, transfer_out] = match command {
        Command::Read => [1, 20, 10],
        Command::Program => [11, 200, 0],
        Command::Erase => [0, 1500, 0],
        Command::Copyback => [0, 220, 0],
    }
    .map(Duration::from_us);
    Times { transfer_in, array, transfer_out }
}

/// A die and what it waits for: the array, or a transfer of a slot.
struct Rig {
    die: Die<u32>,
    pending: Vec<(u64, Option<Slot>)>,
    finished: Vec<(u32, u64)>,
}

impl Rig {
    fn new(double_register: bool) -> Self {
        Self { die: Die::new(double_register), pending: Vec::new(), finished: Vec::new() }
    }

    fn start(&mut self, command: Command, tag: u32, ns: u64) {
        self.die.start(Operation::new(command, times(command), tag, at(ns)));
        self.advance(ns);
    }

    fn advance(&mut self, ns: u64) {
        while let Some(action) = self.die.next_action(at(ns)) {
            match action {
                Action::BusIn(slot, time) | Action::BusOut(slot, time) => {
                    self.die.transfer_begun(slot, at(ns));
                    self.pending.push((ns + time.as_ns(), Some(slot)));
                }
                Action::RunArray(time) => self.pending.push((ns + time.as_ns(), None)),
                Action::Finished(operation) => self.finished.push((operation.tag, ns)),
            }
        }
    }

    fn run_until(&mut self, ns: u64) {
        while let Some(next) = self.pending.iter().map(|(time, _)| *time).min()
            && next <= ns
        {
            let first = self.pending.iter().position(|(time, _)| *time == next);
            let (_, what) = self.pending.remove(first.expect("the earliest is there"));
            match what {
                Some(slot) => self.die.transfer_done(slot, at(next)),
                None => self.die.array_done(at(next)),
            }
            self.advance(next);
        }
    }
}

/// Asserts that after `first` at 0 the die accepts `second` at `us` and not a nanosecond earlier.
#[track_caller]
fn assert_earliest(double_register: bool, first: Command, second: Command, us: u64) {
    let mut rig = Rig::new(double_register);
    rig.start(first, 1, 0);
    rig.run_until(us * 1000 - 1);
    assert!(!rig.die.accepts(second), "{first:?} then {second:?}: accepted before {us} us");
    rig.run_until(us * 1000);
    assert!(rig.die.accepts(second), "{first:?} then {second:?}: blocked at {us} us");
    rig.start(second, 2, us * 1000);
    rig.run_until(u64::MAX);
    assert!(rig.die.is_idle());
    assert_eq!(rig.finished.len(), 2);
}

#[test]
fn with_a_single_register_a_command_holds_the_die_to_its_end() {
    for second in COMMANDS {
        assert_earliest(false, Command::Read, second, 31);
        assert_earliest(false, Command::Program, second, 211);
        assert_earliest(false, Command::Erase, second, 1500);
        assert_earliest(false, Command::Copyback, second, 220);
    }
}

#[test]
fn with_a_double_register_commands_of_a_kind_overlap() {
    use Command::{Copyback, Erase, Program, Read};
    // Data leave the cache register while the array reads again ...
    assert_earliest(true, Read, Read, 21);
    assert_earliest(true, Read, Program, 31);
    assert_earliest(true, Read, Erase, 31);
    assert_earliest(true, Read, Copyback, 31);
    // ... and enter it while the array programs.
    assert_earliest(true, Program, Program, 11);
    assert_earliest(true, Program, Read, 211);
    assert_earliest(true, Program, Erase, 211);
    assert_earliest(true, Program, Copyback, 211);
    for second in COMMANDS {
        assert_earliest(true, Erase, second, 1500);
        assert_earliest(true, Copyback, second, 220);
    }
}

#[test]
fn a_cache_program_waits_for_the_array_and_says_so() {
    let mut rig = Rig::new(true);
    rig.start(Command::Program, 1, 0);
    rig.run_until(11_000);
    rig.start(Command::Program, 2, 11_000);
    rig.run_until(22_000);
    assert!(!rig.die.accepts(Command::Program), "both registers are full");
    rig.run_until(211_000);
    assert!(rig.die.accepts(Command::Program), "the second has moved into the data register");
    rig.run_until(u64::MAX);
    assert_eq!(rig.finished, [(1, 211_000), (2, 411_000)]);
}

fn transfer(die: u32) -> Transfer {
    Transfer { die: DieId(die), slot: Slot::Array, time: Duration::from_us(10) }
}

/// The dies in the order in which a channel serves them: 0 and 2 ask to send out, 1 and 3 to take
/// in, one after the other, while another transfer holds the channel.
fn order(arbitration: BusArbitration) -> Vec<u32> {
    let mut channel = Channel::new(arbitration);
    channel.ask_in(transfer(9));
    assert_eq!(channel.grant(at(0)), Some(transfer(9)));
    channel.ask_out(transfer(0));
    channel.ask_in(transfer(1));
    channel.ask_out(transfer(2));
    channel.ask_in(transfer(3));
    assert_eq!(channel.grant(at(0)), None, "one transfer at a time");
    assert_eq!(channel.release(), Some(transfer(9)));
    std::iter::from_fn(|| {
        let granted = channel.grant(at(0))?;
        assert_eq!(channel.grant(at(0)), None);
        channel.release();
        Some(granted.die.0)
    })
    .collect()
}

#[test]
fn a_channel_serves_its_dies_by_its_arbitration() {
    assert_eq!(order(BusArbitration::CommandFirst), [1, 3, 0, 2]);
    assert_eq!(order(BusArbitration::DataFirst), [0, 2, 1, 3]);
    assert_eq!(order(BusArbitration::InOrder), [0, 1, 2, 3]);
}

#[test]
fn a_transfer_that_nobody_waits_for_ends_by_itself() {
    let mut channel = Channel::new(BusArbitration::InOrder);
    channel.ask_in(transfer(1));
    assert!(channel.is_wanted());
    assert_eq!(channel.grant(at(0)), Some(transfer(1)));
    assert!(!channel.is_wanted());
    channel.hold_unobserved(at(10_000));
    assert_eq!(channel.begin_to_await(at(5_000)), None, "nobody asks");
    // Who asks when it has ended need not wait.
    channel.ask_in(transfer(2));
    assert_eq!(channel.begin_to_await(at(10_000)), None);
    assert_eq!(channel.grant(at(10_000)), Some(transfer(2)));
}

#[test]
fn who_asks_during_such_a_transfer_waits_for_its_end() {
    let mut channel = Channel::new(BusArbitration::InOrder);
    channel.ask_in(transfer(1));
    channel.grant(at(0));
    channel.hold_unobserved(at(10_000));
    channel.ask_out(transfer(2));
    assert_eq!(channel.grant(at(5_000)), None, "it is held");
    assert_eq!(channel.begin_to_await(at(5_000)), Some(at(10_000)));
    assert_eq!(channel.begin_to_await(at(6_000)), None, "it is awaited already");
    assert_eq!(channel.grant(at(6_000)), None);
    assert_eq!(channel.release(), None, "its die went on by itself");
    assert_eq!(channel.grant(at(10_000)), Some(transfer(2)));
}

#[test]
fn the_array_begins_right_behind_such_a_transfer() {
    let mut die = Die::new(false);
    die.start(alone(Command::Program));
    assert!(matches!(die.next_action(at(0)), Some(Action::BusIn(Slot::Array, _))));
    // The channel is free after 3 us, and takes 11.
    let array = die.begin_behind_transfer(Slot::Array, at(3_000), at(14_000));
    assert_eq!(array, Some(Duration::from_us(200)));
    assert!(die.next_action(at(14_000)).is_none());
    die.array_done(at(214_000));
    let Some(Action::Finished(operation)) = die.next_action(at(214_000)) else {
        panic!("the program is over");
    };
    assert_eq!(operation.waited_for_bus, Duration::from_us(3));
    assert_eq!(operation.waited_for_array, Duration::ZERO);
    assert!(die.is_idle());
}

#[test]
fn nothing_begins_behind_data_on_their_way_out() {
    let mut die = Die::new(false);
    die.start(Operation::new(
        Command::Read,
        Times { transfer_in: Duration::ZERO, ..times(Command::Read) },
        1,
        at(0),
    ));
    assert!(matches!(die.next_action(at(0)), Some(Action::RunArray(_))));
    die.array_done(at(20_000));
    assert!(matches!(die.next_action(at(20_000)), Some(Action::BusOut(Slot::Array, _))));
    assert_eq!(die.begin_behind_transfer(Slot::Array, at(20_000), at(30_000)), None);
}

/// An operation beside which nothing begins in its die.
fn alone(command: Command) -> Operation<u32> {
    let mut operation = Operation::new(command, times(command), 1, at(0));
    operation.alone = true;
    operation
}

#[test]
fn of_two_registers_the_array_takes_a_lone_program_over_at_once() {
    let mut die = Die::new(true);
    die.start(alone(Command::Program));
    assert!(matches!(die.next_action(at(0)), Some(Action::BusIn(Slot::Port, _))));
    let array = die.begin_behind_transfer(Slot::Port, at(0), at(11_000));
    assert_eq!(array, Some(Duration::from_us(200)));
    assert!(die.in_slot(Slot::Port).is_none());
    die.array_done(at(211_000));
    assert_eq!(die.ended_alone().map(|ended| ended.tag), Some(1));
}

#[test]
fn a_program_that_another_may_join_waits_for_the_die_to_be_asked() {
    let mut die = Die::new(true);
    die.start(Operation::new(Command::Program, times(Command::Program), 1, at(0)));
    assert!(matches!(die.next_action(at(0)), Some(Action::BusIn(Slot::Port, _))));
    assert_eq!(die.begin_behind_transfer(Slot::Port, at(0), at(11_000)), None);
    die.transfer_begun(Slot::Port, at(0));
    assert_eq!(die.begin_after_transfer(Slot::Port, at(11_000)), None);
}

#[test]
fn data_of_a_lone_read_leave_from_where_they_are() {
    let mut die = Die::new(true);
    die.start(alone(Command::Read));
    assert!(matches!(die.next_action(at(0)), Some(Action::BusIn(Slot::Array, _))));
    die.transfer_begun(Slot::Array, at(0));
    let array = die.begin_after_transfer(Slot::Array, at(1_000)).expect("the array goes on");
    let sensed = at(1_000) + array;
    assert_eq!(die.ask_out_after_array(at(2_000)), None, "the array is not done");
    let data = times(Command::Read).transfer_out;
    assert_eq!(die.ask_out_after_array(sensed), Some(data));
    assert!(die.in_slot(Slot::Port).is_none());
    die.transfer_begun(Slot::Array, sensed);
    assert!(die.ended_alone().is_none());
    die.transfer_done(Slot::Array, sensed + data);
    assert!(die.ended_alone().is_some());
    let program = times(Command::Program);
    assert_eq!(die.follow(Command::Program, program, 2, sensed + data), program.transfer_in);
    assert!(die.next_action(sensed + data).is_none(), "it waits for the channel already");
    assert!(die.goes_on() && die.goes_on_alone());
}

#[test]
fn on_a_channel_of_its_own_a_lone_read_ends_with_its_data() {
    let mut die = Die::new(true);
    die.start(alone(Command::Read));
    assert!(matches!(die.next_action(at(0)), Some(Action::BusIn(Slot::Array, _))));
    let array = die.begin_behind_transfer(Slot::Array, at(0), at(1_000)).expect("it goes on");
    let data = times(Command::Read).transfer_out;
    assert_eq!(die.go_out_at(at(1_000) + array), Some(data));
    die.array_done(at(1_000) + array);
    assert!(die.ended_alone().is_none(), "nothing is planned for the end of the array's work");
    die.transfer_done(Slot::Array, at(1_000) + array + data);
    assert!(die.ended_alone().is_some());
}

#[test]
fn data_that_leave_a_die_which_may_take_more_are_its_own_affair() {
    let mut die = Die::new(true);
    die.start(Operation::new(Command::Read, times(Command::Read), 1, at(0)));
    assert!(matches!(die.next_action(at(0)), Some(Action::BusIn(Slot::Array, _))));
    die.transfer_begun(Slot::Array, at(0));
    let array = die.begin_after_transfer(Slot::Array, at(1_000)).expect("nothing can begin here");
    assert_eq!(die.ask_out_after_array(at(1_000) + array), None, "another read may begin");
}
