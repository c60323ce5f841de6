//! Several drives behind one controller.

pub mod layout;
