//! Exact sequences of commands and their times on toy devices. The latencies are chosen so that a
//! time tells what it is made of:
//!
//! ```text
//! command 1 us, page over the channel 10 us, read 20 us, program 200 us, erase 1500 us
//! ```

mod buffer;
mod buffered;
mod collections;
mod dies;
mod faults;
mod fifo;
mod host_operations;
mod idle;
mod idle_merges;
mod instants;
mod least_invalid;
mod lines;
mod logical_blocks;
mod lost_die;
mod lost_pages;
mod made_up_moves;
mod meetings;
mod merges;
mod move_order;
mod multi_plane;
mod paced;
mod parallel;
mod partial;
mod permits;
mod power;
mod rain;
mod refresh;
mod scan;
mod semi_preemptive;
mod slc_cache;
mod suspend;
mod threshold_scope;
mod toy;
mod translation;
mod victims;
mod victims_by_age;
mod victims_in_groups;
mod victims_in_units;
