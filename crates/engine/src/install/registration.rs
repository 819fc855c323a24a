//! What must be registered with Claude Code for a config, what is, and whether the two are in sync.

mod current;
mod requirements;
mod sync;

pub use current::{
    ScopeSettings, asks_for_trust, current, locations, on_path, program_in, project_has, runs_unasked,
};
pub use requirements::{config_for, in_order, needed, over_limit, reasons};
pub use sync::{Problem, fixes, out_of_sync};

#[cfg(test)]
mod tests;
