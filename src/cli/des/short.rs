//! Steps by the start of their name: `01` instead of `steps/01-01.json`.

use std::path::{Path, PathBuf};

use anyhow::anyhow;

use super::project::DesProject;
use super::status;
use conclaude_core::text::clean_line;

/// The step file that is meant: the path as typed, or the one listed step whose name starts so.
pub(super) fn resolve(project: &DesProject, typed: &Path) -> anyhow::Result<PathBuf> {
    let text = typed.to_string_lossy();
    if typed.is_absolute() || text.is_empty() || typed.metadata().is_ok_and(|file| !file.is_dir()) {
        return Ok(typed.to_owned());
    }
    let (mut exact, mut found) = (Vec::new(), Vec::new());
    for path in status::step_files(&project.root.work) {
        let (_, name) = project.step(&path)?;
        let compared = if text.contains('/') { name.as_str() } else { file_name(&name) };
        if compared.strip_suffix(".json") == Some(&*text) {
            exact.push((path, name));
        } else if compared.starts_with(&*text) {
            found.push((path, name));
        }
    }
    // A whole name is meant, even if others start with it.
    match if exact.is_empty() { found } else { exact }.as_slice() {
        [(path, _)] => Ok(path.clone()),
        // A path that is not there is reported as such by whoever reads it.
        [] if typed.extension().is_some() => Ok(typed.to_owned()),
        [] => Err(anyhow!(
            "no step file {text}, and none whose name starts with that; `conclaude des status` lists them"
        )),
        several => {
            let names: Vec<String> = several.iter().map(|(_, name)| clean_line(name)).collect();
            Err(anyhow!("{text} may be one of {}: say which", names.join(", ")))
        }
    }
}

fn file_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}
