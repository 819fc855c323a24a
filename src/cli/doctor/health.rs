//! Checks the state, the audit trail and the version of Claude Code.

use std::path::Path;
use std::time::Duration;

use super::{Check, Installation};
use conclaude_core::config::{Bounded, DEFAULT_SHELL};
use conclaude_core::dialect::claude::limits::{OLDEST_VERSION, TESTED_VERSION};
use conclaude_core::text::{clean_line, count};
use conclaude_engine::hooks::switch;
use conclaude_engine::install::registration::on_path;
use conclaude_engine::install::settings::SWITCH;
use conclaude_os::budget::Budget;
use conclaude_os::environment::Variables;
use conclaude_os::files;
use conclaude_os::process::{self, CommandSpec, Retention};
use conclaude_store::audit::{self, Trail};
use conclaude_store::store;
use shell_effects::quoted_if_needed;

pub(super) fn switched_off() -> Option<Check> {
    let variables = Variables::of_process();
    let value = switch::off(&variables)?;
    let text =
        format!("{SWITCH}={value} is set here: in a session that inherits it, every event is switched off");
    Some(Check::warning("switch", text, format!("unset {SWITCH}")))
}

/// Whether the state can be written.
pub(super) fn state(installation: &Installation) -> Vec<Check> {
    let folder = installation.root.folder.join(store::FOLDER);
    let shown = folder.display();
    if folder.symlink_metadata().is_ok() && !files::is_real_folder(&folder) {
        let text = format!("{shown} is not a folder: blocks cannot be counted, and nothing is recorded");
        return vec![Check::problem("state", text, format!("mv {shown} {shown}.aside"))];
    }
    let writable = if folder.is_dir() { folder.clone() } else { installation.root.folder.clone() };
    if let Err(error) = can_write(&writable) {
        let text = format!("nothing can be written to {}: {error}", writable.display());
        return vec![Check::problem("state", text, format!("chmod u+rwx {}", writable.display()))];
    }
    let links = ["state", "outbox", "audit"].into_iter().map(|name| folder.join(name));
    let mut wrong: Vec<Check> = links
        .filter(|path| path.symlink_metadata().is_ok() && !files::is_real_folder(path))
        .map(|path| {
            Check::problem(
                "state",
                format!("{} is not a folder", path.display()),
                format!("mv {0} {0}.aside", path.display()),
            )
        })
        .collect();
    if wrong.is_empty() {
        let sessions = std::fs::read_dir(folder.join("state")).into_iter().flatten().flatten();
        let sessions = sessions.filter(|entry| entry.file_name().len() == 64).count() as u64;
        wrong.push(Check::good(
            "state",
            format!("{shown} can be written; {} remembered", count(sessions, "session")),
        ));
    }
    wrong
}

fn can_write(folder: &Path) -> std::io::Result<()> {
    tempfile::NamedTempFile::new_in(folder).map(drop)
}

/// Whether the audit trail can be written and is intact.
pub(super) fn audit(installation: &Installation) -> Vec<Check> {
    let config = installation.effective_config().audit.unwrap_or_default();
    if config.enabled == Some(false) {
        return vec![Check::good("audit", "switched off in the config")];
    }
    let trail =
        Trail::of(&installation.root.folder, config.max_file_bytes.map(|bytes| Bounded::get(bytes).into()));
    if trail.folder().is_dir()
        && let Err(error) = can_write(trail.folder())
    {
        let text = format!("the trail cannot be written: {error}");
        return vec![Check::problem("audit", text, format!("chmod u+rwx {}", trail.folder().display()))];
    }
    match audit::verify(&trail) {
        Err(error) => vec![Check::problem(
            "audit",
            format!("the trail cannot be read: {error}"),
            "conclaude audit reset  # quarantines it and starts a new one",
        )],
        Ok(verdict) => match verdict.problem {
            Some(problem) => vec![Check::problem(
                "audit",
                problem,
                "conclaude audit reset  # quarantines it and starts a new one",
            )],
            None => {
                let whole = format!("{}, the chain is intact", count(verdict.good, "record"));
                match verdict.warnings.first() {
                    Some(warning) => vec![Check::warning(
                        "audit",
                        format!("{whole}, but {warning}"),
                        "conclaude audit verify",
                    )],
                    None => vec![Check::good("audit", whole)],
                }
            }
        },
    }
}

/// The installed version of Claude Code.
pub(super) fn client(installation: &Installation) -> Check {
    let Some(path) = on_path("claude") else {
        let text = "`claude` is not on the PATH, so its version is not known";
        return Check::warning("claude", text, "npm install -g @anthropic-ai/claude-code");
    };
    if is_inside(&path, &installation.root.folder) || is_inside(&path, &installation.project) {
        let text =
            format!("{} is inside the project: it was not run, so its version is not known", path.display());
        return Check::warning("claude", text, "remove that folder from the PATH, then look again");
    }
    let script = format!("{} --version", quoted_if_needed(&path.to_string_lossy()));
    let spec = CommandSpec {
        script: &script,
        shell: DEFAULT_SHELL,
        cwd: Path::new("/"),
        env: &[],
        stdin: b"",
        timeout: Some(Budget::unlimited().at_least(Duration::from_secs(15))),
        stdout: Retention::Shown(500),
        stderr: Retention::Nothing,
    };
    let finished = process::run(&spec, None);
    let said = finished.stdout.excerpt(Some(1)).map(|text| clean_line(&text)).unwrap_or_default();
    let said = said.trim_end_matches(" (Claude Code)").to_owned();
    match version_of(&said) {
        None => Check::warning(
            "claude",
            format!("{} does not print its version: it {}", path.display(), finished.status.describe()),
            format!("{script} # see what it says"),
        ),
        Some(version) if version < OLDEST_VERSION => Check::problem(
            "claude",
            format!("Claude Code {said} is too old: its subagents cannot be distinguished reliably"),
            "claude update",
        ),
        Some(_) if said == TESTED_VERSION => Check::good("claude", format!("Claude Code {said}")),
        Some(_) => {
            Check::good("claude", format!("Claude Code {said}; conclaude is tested with {TESTED_VERSION}"))
        }
    }
}

/// Whether a file came with the project, by its name or through a link.
pub(super) fn is_inside(path: &Path, project: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    !path.is_absolute() || path.starts_with(project) || real(path).starts_with(real(project))
}

fn version_of(text: &str) -> Option<[u64; 3]> {
    let number = text.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    let mut parts = number.split(['.', '-']).map(|part| part.parse().ok());
    Some([parts.next()??, parts.next()??, parts.next()??])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_compared_as_numbers() {
        assert_eq!(version_of("2.1.325 (Claude Code)"), Some([2, 1, 325]));
        assert!(
            version_of("2.1.9").unwrap() < OLDEST_VERSION && version_of("2.1.100").unwrap() > OLDEST_VERSION
        );
        assert_eq!(version_of("what?"), None);
        assert_eq!(version_of("2.x.3"), None);
    }
}
