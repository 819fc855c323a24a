//! The sandbox that `enforce` needs: its programs, what switches it off, and whether it refuses what it should.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::health::is_inside;
use super::{Check, Installation, Status};
use crate::cli::enforced;
use crate::cli::out::Out;
use conclaude_checks::enforce::Compiled;
use conclaude_core::dialect::claude::sandbox::effective::{SandboxGap, is_client, overriding_option};
use conclaude_core::dialect::claude::sandbox::{DENY_WRITE, SettingsEntry};
use conclaude_core::file_pattern::Location;
use conclaude_core::text::clean_line;
use conclaude_engine::install::enforcement::EnforcedSettings;
use conclaude_engine::install::local_file::Exclusion;
use conclaude_engine::install::registration::on_path;
use conclaude_engine::sandbox;
use conclaude_os::budget::Budget;
use conclaude_os::git;
use conclaude_os::process::{self, CommandSpec, DEFAULT_SHELL, FinishedCommand, Retention, ancestors};
use shell_effects::{Extent, quoted_if_needed};

const ABOUT: &str = "sandbox";

/// The programs that Claude Code's sandbox needs on Linux, with their packages and the option for their version.
const PROGRAMS: [(&str, &str, &str); 2] = [("bwrap", "bubblewrap", "--version"), ("socat", "socat", "-V")];

/// Files that are named in one line.
const MAX_NAMED: usize = 3;

pub(super) fn all(installation: &Installation, json: bool, yes: bool) -> io::Result<Vec<Check>> {
    let Installation { root, project, loaded, .. } = installation;
    if !loaded.config.enforcers().sandbox {
        return Ok(Vec::new());
    }
    // Why rules cannot be compiled is reported with them.
    let Some(Ok(compiled)) = enforced::compiled(root, project, loaded) else { return Ok(Vec::new()) };
    let mut checks = if cfg!(target_os = "linux") { usable(installation, &compiled) } else { untested() };
    let is_installed = EnforcedSettings::is_installed(project);
    if is_installed {
        let effective = sandbox::effective(project);
        checks.push(settings(effective.and_then(|effective| sandbox::holds(&effective, &compiled)).err()));
        checks.extend(command_line());
    } else {
        // Nothing needs it yet.
        checks.iter_mut().filter(|check| check.status == Status::Problem).for_each(|check| {
            check.status = Status::Warning;
        });
    }
    checks.extend(tracked(installation, &compiled));
    checks.extend(placeholders(installation, json, yes)?);
    Ok(checks)
}

/// Whether a sandbox can be made here, and refuses what it should.
fn usable(installation: &Installation, compiled: &Compiled) -> Vec<Check> {
    let mut checks = programs(installation);
    if checks.iter().any(|check| check.status == Status::Problem) {
        return checks;
    }
    checks.push(namespaces().unwrap_or_else(|| probe(installation, compiled)));
    checks
}

fn untested() -> Vec<Check> {
    let text = "the same settings count here, but conclaude is tested with the sandbox of Linux only";
    vec![Check::warning(ABOUT, text, "try it: let Claude run a command that reads a protected file")]
}

/// Whether the programs are there.
fn programs(installation: &Installation) -> Vec<Check> {
    let (mut versions, mut checks) = (Vec::new(), Vec::new());
    for (program, package, option) in PROGRAMS {
        let Some(path) = on_path(program) else {
            let text = format!(
                "`{program}` is not installed: Claude Code does not start with the settings of `enforce`"
            );
            let fix = format!("apt-get install {package}  # or the same package of your system");
            checks.push(Check::problem(ABOUT, text, fix));
            continue;
        };
        if is_inside(&path, &installation.root.folder) || is_inside(&path, &installation.project) {
            let text = format!("{} is inside the project, and the sandbox would run it", path.display());
            checks.push(Check::problem(ABOUT, text, "remove that folder from the PATH, then look again"));
            continue;
        }
        let said = run(&format!("{} {option}", quoted_if_needed(&path.to_string_lossy())));
        let said = said.stdout.excerpt(None).unwrap_or_default();
        let number = said.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
        versions.push(format!("{program} {}", clean_line(number.unwrap_or("of an unknown version"))));
    }
    if checks.is_empty() {
        checks.push(Check::good(ABOUT, format!("its programs are installed: {}", versions.join(", "))));
    }
    checks
}

fn run(script: &str) -> FinishedCommand {
    let spec = CommandSpec {
        script,
        shell: DEFAULT_SHELL,
        cwd: Path::new("/"),
        env: &[],
        stdin: b"",
        timeout: Some(Budget::unlimited().at_least(Duration::from_secs(15))),
        stdout: Retention::Shown(2_000),
        stderr: Retention::Shown(2_000),
    };
    process::run(&spec, None)
}

/// Whether `bwrap` may make user namespaces. Without them Claude Code starts, and every command fails.
fn namespaces() -> Option<Check> {
    let tried = run("bwrap --unshare-user --ro-bind / / true");
    if tried.status.is_success() {
        return None;
    }
    let why = tried.stderr.excerpt(Some(1)).map(|text| clean_line(&text)).unwrap_or_default();
    let text = format!("`bwrap` cannot make a user namespace, so every command of Claude fails: {why}");
    let fix = "sysctl kernel.apparmor_restrict_unprivileged_userns kernel.unprivileged_userns_clone  # 0 and 1 allow it";
    Some(Check::problem(ABOUT, text, fix))
}

/// Tries to read and to write protected files in `bwrap`, with the binds that Claude Code makes.
fn probe(installation: &Installation, compiled: &Compiled) -> Check {
    let unreadable = unreadable_file(installation, compiled);
    let unwritable = unwritable_file(installation, compiled);
    let project = quoted(&installation.project);
    let mut binds = format!("--ro-bind / / --dev /dev --bind {project} {project}");
    let mut script = String::new();
    if let Some(file) = &unreadable {
        binds.push_str(&format!(" --ro-bind /dev/null {}", quoted(file)));
        script.push_str(&format!("(: < {}) 2>/dev/null && echo read; ", quoted(file)));
    }
    if let Some(file) = &unwritable {
        binds.push_str(&format!(" --ro-bind {0} {0}", quoted(file)));
        // That opens the file and writes nothing.
        script.push_str(&format!("(: >> {}) 2>/dev/null && echo written; ", quoted(file)));
    }
    script.push_str("echo tried");
    let tried = run(&format!("bwrap --unshare-user {binds} sh -c {}", quoted_if_needed(&script)));
    let said = tried.stdout.excerpt(None).unwrap_or_default();
    let files: Vec<String> = [&unreadable, &unwritable]
        .into_iter()
        .flatten()
        .map(|file| super::short(file, &installation.project))
        .collect();
    let fix = "bwrap --version  # then report it, with the output of `conclaude doctor`";
    let done = |word: &str| said.lines().any(|line| line == word);
    if !done("tried") {
        let why = tried.stderr.excerpt(Some(1)).map(|text| clean_line(&text)).unwrap_or_default();
        Check::problem(ABOUT, format!("a sandbox like Claude Code's cannot be made: {why}"), fix)
    } else if done("read") || done("written") {
        Check::problem(
            ABOUT,
            format!("a sandbox like Claude Code's does not protect {}", files.join(", ")),
            fix,
        )
    } else if files.is_empty() {
        Check::good(ABOUT, "a sandbox like Claude Code's can be made; there is no protected file to try")
    } else {
        Check::good(
            ABOUT,
            format!("a sandbox like Claude Code's refuses what it should: {}", files.join(", ")),
        )
    }
}

fn quoted(path: &Path) -> String {
    quoted_if_needed(&path.to_string_lossy())
}

/// A file that no command may read.
fn unreadable_file(installation: &Installation, compiled: &Compiled) -> Option<PathBuf> {
    let root = &installation.root.folder;
    let entries = git::entries(root, &Budget::of_hook()).ok()?;
    let mut files = entries.into_iter().filter(|entry| !entry.is_directory);
    let file = files.find(|entry| {
        let location = location(root, &entry.path);
        compiled.covering(&location, false).is_some() && root.join(&entry.path).is_file()
    })?;
    Some(root.join(file.path))
}

fn location(root: &Path, path: &str) -> Location {
    Location {
        absolute: root.join(path).to_string_lossy().into_owned(),
        relative: Some(path.to_owned()),
        in_worktree: None,
        is_directory: false,
    }
}

/// A file that no command may change.
fn unwritable_file(installation: &Installation, compiled: &Compiled) -> Option<PathBuf> {
    let listed = compiled.entries.iter().filter(|entry| entry.is_at(&DENY_WRITE));
    let texts = listed.filter_map(SettingsEntry::text);
    let mut paths = texts.map(|path| installation.project.join(path.trim_start_matches("./")));
    paths.find(|path| path.is_file())
}

/// Whether the settings make the sandbox hold for every command.
fn settings(gap: Option<SandboxGap>) -> Check {
    match gap {
        None => Check::good(ABOUT, "it holds for every command, with all rules that can be compiled"),
        Some(gap @ (SandboxGap::Missing { .. } | SandboxGap::NotListed(_) | SandboxGap::NotCompiled(_))) => {
            Check::problem(
                ABOUT,
                format!("rules are kept by the hook only: {gap}"),
                "conclaude install --enforce",
            )
        }
        Some(SandboxGap::Unreadable { file, why }) => {
            let text = format!("what counts is not known, since {file} cannot be read: {why}");
            Check::problem(ABOUT, text, format!("${{EDITOR:-vi}} {file}"))
        }
        Some(
            gap @ (SandboxGap::Switched { .. } | SandboxGap::Loosened { .. } | SandboxGap::Readable { .. }),
        ) => {
            let text = format!("it does not hold for every command, so guards ask as before: {gap}");
            Check::warning(ABOUT, text, "remove that setting, if you do not need it")
        }
    }
}

/// Whether this session of Claude Code was started with other settings.
fn command_line() -> Option<Check> {
    let lines = ancestors::command_lines();
    if !lines.iter().any(|line| is_client(line)) {
        return None;
    }
    let option = lines.iter().find_map(|line| overriding_option(line))?;
    let text = format!(
        "this session of Claude Code was started with `--{option}`, which may switch the sandbox off: guards ask as before"
    );
    Some(Check::warning(ABOUT, text, "start Claude Code without it"))
}

/// Tracked files that no command may read: git cannot read them either.
fn tracked(installation: &Installation, compiled: &Compiled) -> Option<Check> {
    let root = &installation.root.folder;
    let extent = Extent { tracked: true, untracked: false, ignored: false, only_changed: false };
    let files = git::files_of(root, extent, &Budget::of_hook()).ok()??;
    let denied = files.iter().filter_map(|file| file.strip_prefix(root).ok()?.to_str());
    let denied: Vec<&str> =
        denied.filter(|path| compiled.covering(&location(root, path), false).is_some()).collect();
    let (first, more) = denied.split_at_checked(MAX_NAMED).unwrap_or((&denied, &[]));
    let file = first.first()?;
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    let text = format!(
        "git tracks {}{more}, which commands may not read: in the sandbox git sees them as changed, and `git add -A` fails",
        first.join(", ")
    );
    let fix =
        format!("git rm --cached {}  # or free it: `unreadableFiles: [\"!{file}\"]`", quoted_if_needed(file));
    Some(Check::warning(ABOUT, text, fix))
}

/// Makes git ignore what the sandbox shows in place of missing files, if the user agrees.
fn placeholders(installation: &Installation, json: bool, yes: bool) -> io::Result<Option<Check>> {
    let exclusion = match Exclusion::of_placeholders(&installation.root.folder) {
        Ok(Some(exclusion)) => exclusion,
        Ok(None) => return Ok(None),
        Err(error) => {
            let fix = "git add the files that you changed, by name";
            return Ok(Some(Check::warning(ABOUT, format!("{PLACEHOLDERS}: {error}"), fix)));
        }
    };
    let list = exclusion.path().display().to_string();
    if !yes && (json || !agrees(&list)?) {
        return Ok(Some(Check::warning(
            ABOUT,
            PLACEHOLDERS,
            format!("conclaude doctor --yes  # adds them to {list}"),
        )));
    }
    Ok(Some(match exclusion.apply() {
        Ok(()) => Check::good(
            ABOUT,
            format!("git ignores now what the sandbox shows in place of missing files ({list})"),
        ),
        Err(error) => Check::warning(ABOUT, format!("{PLACEHOLDERS}: {error}"), format!("ls -l {list}")),
    }))
}

const PLACEHOLDERS: &str = "the sandbox shows `.bashrc`, `.mcp.json` and others where there is no such file, so `git add -A` fails in it";

fn agrees(list: &str) -> io::Result<bool> {
    if !io::stdin().is_terminal() || !Out::is_terminal() {
        return Ok(false);
    }
    let mut out = Out::stdout();
    write!(out, "Make git ignore what the sandbox shows in place of missing files ({list})? [y/N] ")?;
    out.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
