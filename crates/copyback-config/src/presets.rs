//! Named configurations to start from: drives, and workloads. Each file's header says where its
//! numbers come from and what had to be chosen.

mod devices;
mod workloads;

/// A named configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preset {
    /// Name for `preset = "..."`.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    /// The file, as TOML.
    pub text: &'static str,
}

/// The presets that `preset` at the top names: drives, some with a workload.
pub const fn devices() -> &'static [Preset] {
    devices::ALL
}

/// The presets that `workload.preset` names.
pub const fn workloads() -> &'static [Preset] {
    workloads::ALL
}

/// The drive of that name.
pub fn device(name: &str) -> Option<&'static Preset> {
    devices().iter().find(|preset| preset.name == name)
}

/// The workload of that name.
pub fn workload(name: &str) -> Option<&'static Preset> {
    workloads().iter().find(|preset| preset.name == name)
}
