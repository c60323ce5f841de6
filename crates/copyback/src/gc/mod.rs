//! Garbage collection as independent choices: who is the victim ([`victim`]), when a collection
//! starts and yields ([`schedule`]), how wide it is ([`width`]), what others ask for ([`permit`]), and
//! the resumable work itself: of one plane ([`job`]), and of several in step ([`lanes`]). What moves is the mapping's answer:
//! [`ReclaimPlan`](crate::ftl::ReclaimPlan). Victims and schedules may come from outside ([`external`]).

pub mod external;
pub mod job;
pub mod lanes;
pub mod permit;
pub mod victim;
pub mod width;
