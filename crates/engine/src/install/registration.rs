//! The registrations that a config needs, the existing ones, and whether both are in sync.

mod current;
mod deferral;
mod requirements;
mod sync;

pub use current::{
    ScopeSettings, asks_for_trust, current, current_of, locations, on_path, plugin, program_in, runs_unasked,
};
pub use deferral::{RegisteredCall, is_handled_by_client, is_handled_by_project, is_handled_by_settings};
pub use requirements::{config_for, in_order, needed, over_limit, reasons};
pub use sync::{Problem, differences, fixes, out_of_sync};

#[cfg(test)]
mod tests;
