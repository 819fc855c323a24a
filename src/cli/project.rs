//! The project that a subcommand works in.

use conclaude_engine::hooks::Environment;
use conclaude_store::root::Root;

pub(super) fn root() -> std::io::Result<Root> {
    Ok(Root::find(Environment::of_process().project_dir.as_deref(), &std::env::current_dir()?))
}
