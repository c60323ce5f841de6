//! Who said what when: each scheme of coordination as sequences of messages, and with drives that
//! answer.

mod array;
mod drives;
mod proactive_idle;
mod proactive_soft_limit;
mod reactive_inclusive;
mod reactive_selective;
mod script;
mod staggered;
