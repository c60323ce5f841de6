//! Policies from outside of this crate, such as classes written in Python: the one bridge to them. A configuration names such a
//! policy; a [supplier](Supply) makes it, for each drive or array its own, with facts and a stream of random choices. A
//! [slot](Slot) holds it.
//!
//! All kinds are made, saved and refused alike. A kind says which facts its policies are made from and told, and what they
//! choose:
//!
//! | kind | choices |
//! | --- | --- |
//! | [`ExternalVictims`](crate::victim::supply::ExternalVictims) | blocks to collect |
//! | [`ExternalPlacement`](crate::placement::supply::ExternalPlacement) | classes of pages |
//! | [`ExternalSchedule`](crate::scheduler::when::supply::ExternalSchedule) | operations that go before those of a collection |
//! | [`ExternalCoordinator`](crate::array::coordination::supply::ExternalCoordinator) | orders to the drives of an array |
//!
//! The user mends what is broken in them, so a failure ends the run with a message and is no panic: the first [`Failed`] is kept
//! until the loop that advances the run looks, and until then a policy of ours decides.

use std::fmt::Debug;
use std::sync::OnceLock;

use crate::checkpoint::{Checkpointed, Loaded, Reader, Writer};
use crate::ids::SsdId;
use crate::rng::Stream;

/// A policy from outside has failed; says how, in a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Failed(pub String);

impl Failed {
    /// Failure of a run that was not supplied with the policy that is configured under `key`.
    pub fn not_supplied(key: &str) -> Self {
        Self(format!(
            "{key}: found a policy in Python, which this program has not; allowed: the others"
        ))
    }
}

/// Description of the device that a policy is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Device {
    /// Identifier of the drive.
    pub id: SsdId,
    /// Dies of the drive.
    pub dies: usize,
    /// Planes of a die that are managed apart.
    pub planes_per_die: u32,
    /// Blocks of a plane.
    pub blocks_per_plane: u32,
    /// Pages of a block that hold data.
    pub pages_per_block: u32,
    /// Logical pages; those that hold the mapping are behind the host's.
    pub logical_pages: usize,
}

/// Policy from outside, as files of drives and checkpoints hold it.
pub trait Policy: Debug + Send + Sync {
    /// Memory of the policy, for a file, with what it was notified of.
    ///
    /// # Errors
    /// If that can't be written down.
    fn memory(&self) -> Result<Vec<u8>, Failed>;

    /// Remembers, newly made, what a file tells.
    ///
    /// # Errors
    /// If no policy like this can have told it.
    fn remember(&mut self, memory: &[u8]) -> Result<(), Failed>;
}

/// Kind of policies that may come from outside.
pub trait Kind: Policy {
    /// Key of the configuration that names such a policy.
    const KEY: &'static str;

    /// Facts that a policy is made with.
    type Facts<'a>;
}

/// Makes the policies of a kind that a configuration names and this crate does not have.
pub trait Supply<P: Kind + ?Sized> {
    /// A policy made with `facts`. Its random choices follow from `random`.
    ///
    /// # Errors
    /// If there is none.
    fn supply(&self, _facts: P::Facts<'_>, _random: Stream) -> Result<Box<P>, Failed> {
        Err(Failed::not_supplied(P::KEY))
    }
}

/// Has no policies: what a program without Python supplies.
#[derive(Debug, Clone, Copy)]
pub struct NoSupplier;

impl<P: Kind + ?Sized> Supply<P> for NoSupplier {}

/// Slot of a policy from outside, until it fails.
#[derive(Debug)]
pub struct Slot<P: Kind + ?Sized> {
    policy: Option<Box<P>>,
    /// Reason why the policy is not called any more, if it has failed. Only the first failure counts.
    failed: OnceLock<Failed>,
    /// Memory to be restored once the policy is there.
    memory: Option<Vec<u8>>,
}

impl<P: Kind + ?Sized> Default for Slot<P> {
    fn default() -> Self {
        Self { policy: None, failed: OnceLock::new(), memory: None }
    }
}

impl<P: Kind + ?Sized> Slot<P> {
    /// Takes the policy, which remembers what a file has told.
    ///
    /// # Errors
    /// If it can't; it is not asked then.
    pub fn install(&mut self, mut policy: Box<P>) -> Result<(), Failed> {
        let memory = self.memory.take();
        let outcome = memory.map_or(Ok(()), |memory| policy.remember(&memory));
        self.policy = Some(policy);
        self.noted(outcome.clone());
        outcome
    }

    /// The policy, if there is one yet.
    pub fn policy(&self) -> Option<&P> {
        self.policy.as_deref()
    }

    /// Asks the policy. `None` if it fails, has failed, or is not there.
    pub fn ask<T>(&mut self, question: impl FnOnce(&mut P) -> Result<T, Failed>) -> Option<T> {
        if self.failed.get().is_some() {
            return None;
        }
        let answer = match &mut self.policy {
            Some(policy) => question(policy),
            None => Err(Failed::not_supplied(P::KEY)),
        };
        self.noted(answer)
    }

    /// Records a failure. Returns what there is if there is none.
    pub fn noted<T>(&self, outcome: Result<T, Failed>) -> Option<T> {
        outcome.map_err(|failed| self.failed.set(failed)).ok()
    }

    /// Reason why the policy is not called any more, if it has failed.
    pub fn failed(&self) -> Option<Failed> {
        self.failed.get().cloned()
    }

    /// Memory of the policy, for a file of prepared drives; empty if it fails.
    pub fn memory(&self) -> Vec<u8> {
        self.noted(self.try_memory()).unwrap_or_default()
    }

    fn try_memory(&self) -> Result<Vec<u8>, Failed> {
        match (self.failed(), &self.policy) {
            (Some(failed), _) => Err(failed),
            (None, Some(policy)) => policy.memory(),
            (None, None) => Ok(self.memory.clone().unwrap_or_default()),
        }
    }

    /// Keeps what a file tells until the policy is there.
    pub fn remember(&mut self, memory: Vec<u8>) {
        self.memory = Some(memory);
    }
}

/// Saves the memory alone: the caller that resumes a run supplies the policy again.
impl<P: Kind + ?Sized> Checkpointed for Slot<P> {
    fn keep(&self, out: &mut Writer<'_>) {
        let memory = self.try_memory().map_err(|failed| out.fail(&failed));
        memory.unwrap_or_default().keep(out);
    }

    fn load(from: &mut Reader<'_>) -> Loaded<Self> {
        Ok(Self { memory: Some(Vec::load(from)?), ..Self::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Remembers the last file, and answers with it.
    #[derive(Debug)]
    struct Echo(Result<Vec<u8>, Failed>);

    trait Answers: Policy {
        fn answer(&mut self) -> Result<Vec<u8>, Failed>;
    }

    impl Kind for dyn Answers {
        const KEY: &'static str = "echo";
        type Facts<'a> = ();
    }

    impl Policy for Echo {
        fn memory(&self) -> Result<Vec<u8>, Failed> {
            self.0.clone()
        }

        fn remember(&mut self, memory: &[u8]) -> Result<(), Failed> {
            self.0 = self.0.clone().map(|_| memory.to_vec());
            self.memory().map(drop)
        }
    }

    impl Answers for Echo {
        fn answer(&mut self) -> Result<Vec<u8>, Failed> {
            self.memory()
        }
    }

    fn broken(why: &str) -> Echo {
        Echo(Err(Failed(why.to_owned())))
    }

    #[test]
    fn what_a_file_tells_waits_for_the_policy() {
        let mut slot = Slot::<dyn Answers>::default();
        slot.remember(vec![7]);
        assert_eq!(slot.memory(), [7], "it may be saved before there is a policy");
        slot.install(Box::new(Echo(Ok(Vec::new())))).expect("it remembers");
        assert_eq!(slot.ask(|policy| policy.answer()), Some(vec![7]));
        assert_eq!((slot.memory(), slot.failed()), (vec![7], None));
    }

    #[test]
    fn a_policy_that_has_failed_is_asked_no_more() {
        let mut slot = Slot::<dyn Answers>::default();
        slot.install(Box::new(broken("first"))).expect("there is nothing to remember");
        assert_eq!(slot.ask(|policy| policy.answer()), None);
        assert_eq!(slot.ask(|_| Ok(1)), None);
        slot.noted(Err::<(), _>(Failed("second".to_owned())));
        assert_eq!(slot.failed(), Some(Failed("first".to_owned())));
        assert_eq!(slot.memory(), [0_u8; 0]);
    }

    #[test]
    fn a_policy_that_cannot_remember_or_be_saved_has_failed() {
        let mut slot = Slot::<dyn Answers>::default();
        slot.remember(vec![7]);
        let refused = slot.install(Box::new(broken("forgets"))).expect_err("it can't remember");
        assert_eq!(slot.failed(), Some(refused));
        let mut slot = Slot::<dyn Answers>::default();
        slot.install(Box::new(broken("forgets"))).expect("there is nothing to remember");
        assert_eq!(slot.failed(), None);
        assert_eq!(slot.memory(), [0_u8; 0]);
        assert_eq!(slot.failed(), Some(Failed("forgets".to_owned())));
    }

    #[test]
    fn without_a_policy_the_key_is_refused() {
        let mut slot = Slot::<dyn Answers>::default();
        assert_eq!(slot.ask(|policy| policy.answer()), None);
        assert_eq!(slot.failed(), Some(Failed::not_supplied("echo")));
        let none: Result<Box<dyn Answers>, _> =
            NoSupplier.supply((), crate::rng::stream(1, "echo"));
        assert_eq!(none.map(drop), Err(Failed::not_supplied("echo")));
    }
}
