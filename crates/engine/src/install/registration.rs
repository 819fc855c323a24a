//! What must be registered with Claude Code for a config, what is, and whether the two are in sync.

mod current;
mod deferral;
mod requirements;
mod sync;

pub use current::{ScopeSettings, asks_for_trust, current, locations, on_path, program_in, runs_unasked};
pub use deferral::{RegisteredCall, is_handled_by_project};
pub use requirements::{config_for, in_order, needed, over_limit, reasons};
pub use sync::{Problem, fixes, out_of_sync};

#[cfg(test)]
mod tests;
