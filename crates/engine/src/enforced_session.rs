//! Commands of ours that run outside the sandbox use the config of the session. A config in a folder that Claude made could name
//! any command.

use std::path::{Path, PathBuf};

use crate::install::enforcement::EnforcedSettings;
use conclaude_core::dialect::claude::is_process;
use conclaude_core::dialect::claude::variables::OF_AGENTS;
use conclaude_os::environment::Variables;
use conclaude_os::process::ancestors;
use conclaude_store::root::Root;

/// The folder of the session that runs this process, if its rules are enforced and its config differs from this project's.
#[must_use]
pub fn of_other_config(root: &Root, variables: &Variables) -> Option<PathBuf> {
    let client = ancestors::all().into_iter().find(|process| is_process(&process.arguments));
    match client {
        Some(client) => other_config(root, &client.folder?),
        // If processes are hidden, the config above this folder is used.
        None if OF_AGENTS.iter().any(|name| variables.is_set(name)) => {
            let around = root.config.as_deref().unwrap_or(&root.folder).ancestors().skip(2);
            around.map(Path::to_owned).find(|folder| EnforcedSettings::is_installed(folder))
        }
        None => None,
    }
}

fn other_config(root: &Root, session: &Path) -> Option<PathBuf> {
    if !session.ancestors().any(EnforcedSettings::is_installed) {
        return None;
    }
    let real = |root: &Root| root.config.as_ref().and_then(|config| config.canonicalize().ok());
    let is_same = real(&Root::find(Some(session), session)) == real(root);
    if is_same { None } else { Some(session.to_owned()) }
}
