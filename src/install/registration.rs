//! What must be registered with Claude Code for a config, what is, and whether the two are in sync.

mod found;
mod limits;
mod needed;
mod sync;

pub(crate) use found::{
    Found, asks_for_trust, found, locations, on_path, program_in, project_has, runs_unasked,
};
pub(crate) use limits::over_limit;
pub(crate) use needed::{config_for, in_order, needed, reasons};
pub(crate) use sync::{Problem, fixes, out_of_sync};

#[cfg(test)]
mod tests;
