//! Garbage collection as independent choices: when a collection starts and yields ([`schedule`]), how wide it is
//! ([`width`]), what others ask for ([`permit`]), and the resumable work itself: of one plane ([`job`]), and of
//! several in step ([`lanes`]). Who is the victim is the translation layer's question ([`crate::victim`]), and what
//! moves the mapping's answer: [`ReclaimPlan`](crate::ftl::ReclaimPlan). Schedules may come from outside
//! ([`external`]).

pub mod external;
pub mod job;
pub mod lanes;
pub mod permit;
pub mod schedule;
pub mod width;
