//! Step files on disk: found inside the project, read, and changed under a lock.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Step;
use crate::paths::real_path;
use conclaude_core::finding::{Code, Finding};
use conclaude_os::budget::Budget;
use conclaude_os::files;

/// No step file that someone writes is larger.
const MAX_BYTES: u64 = 16 << 20;
const LOCK_WAIT: Duration = Duration::from_secs(10);

/// The real path of a marker's step file, which must be inside the root also after following links.
///
/// # Errors
/// A finding that says why not.
pub fn locate(root: &Path, step_file: &str) -> Result<PathBuf, Finding> {
    let real_root = real_path(root);
    let path = real_path(&root.join(step_file));
    if path != real_root && path.starts_with(&real_root) {
        return Ok(path);
    }
    Err(Finding::new(
        Code::StepFileOutsideProject,
        format!("{step_file} lies outside the project {}", root.display()),
        "name a step file inside the project, relative to its root",
    ))
}

/// Reads a step file, and gives its text as well.
///
/// # Errors
/// A finding that says why not.
pub fn read(path: &Path, named: &str) -> Result<(Step, String), Finding> {
    let invalid = |reason: String| {
        let fix = "fix the JSON; `conclaude des new` makes a valid step file";
        Finding::new(Code::StepFileInvalid, format!("{named}: {reason}"), fix)
    };
    match files::read_text(path, MAX_BYTES) {
        Ok(text) => Step::parse(&text).map(|step| (step, text)).map_err(invalid),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let fix = "name an existing step file in DES-STEP-FILE, or make it with `conclaude des new`";
            Err(Finding::new(Code::StepFileMissing, format!("{named} does not exist"), fix))
        }
        Err(error) => Err(invalid(error.to_string())),
    }
}

/// Reads a step file, changes it and writes it back, all under a lock: parallel agents lose no update.
///
/// # Errors
/// When it cannot be read, locked or written, or when the change refuses.
pub fn update<T>(
    path: &Path,
    lock: &Path,
    change: impl FnOnce(&mut Step) -> Result<T, String>,
) -> Result<T, String> {
    let described = |error: io::Error| format!("{}: {error}", path.display());
    let budget = Budget::unlimited();
    let held = files::lock(lock, budget.at_least(LOCK_WAIT), &budget).map_err(described)?;
    let _lock = held.ok_or_else(|| {
        format!("{}: another process has held its lock for {} s", path.display(), LOCK_WAIT.as_secs())
    })?;
    let text = files::read_text(path, MAX_BYTES).map_err(described)?;
    let mut step = Step::parse(&text).map_err(|reason| format!("{}: {reason}", path.display()))?;
    let done = change(&mut step)?;
    write(path, &step, &text).map_err(described)?;
    Ok(done)
}

/// Writes the step in the manner of the text that it replaces: its indentation, its last newline, its rights.
///
/// # Errors
/// When it cannot be written; the file is then as it was.
pub fn write(path: &Path, step: &Step, before: &str) -> io::Result<()> {
    let first_indent = before.lines().find(|line| line.starts_with([' ', '\t']) && !line.trim().is_empty());
    let indent: String = first_indent.map_or_else(
        || "  ".to_owned(),
        |line| line.chars().take_while(|c| matches!(c, ' ' | '\t')).collect(),
    );
    let mut content = step.render(&indent)?;
    if before.is_empty() || before.ends_with('\n') {
        content.push(b'\n');
    }
    files::replace(path, &content)
}
