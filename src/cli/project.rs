//! The project that a subcommand works in.

use crate::hooks::Environment;
use crate::root::Root;

pub(super) fn root() -> std::io::Result<Root> {
    Ok(Root::find(Environment::of_process().project_dir.as_deref(), &std::env::current_dir()?))
}
