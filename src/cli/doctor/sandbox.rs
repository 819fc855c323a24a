//! The sandbox that `enforce` needs: its programs, settings that switch it off, and whether it refuses protected files.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::health::is_inside;
use super::{Check, Installation, Status};
use crate::cli::consent::agrees;
use crate::cli::out::Out;
use crate::cli::rule_enforcement;
use conclaude_checks::enforce::CompiledRules;
use conclaude_core::config::DEFAULT_SHELL;
use conclaude_core::dialect::claude::is_process;
use conclaude_core::dialect::claude::sandbox::effective::{SandboxGap, overriding_option};
use conclaude_core::dialect::claude::sandbox::{DENY_READ, DENY_WRITE, SettingsEntry};
use conclaude_core::file_pattern::Location;
use conclaude_core::rule::Rule;
use conclaude_core::text::clean_line;
use conclaude_engine::install::enforcement::EnforcedSettings;
use conclaude_engine::install::local_file::Exclusion;
use conclaude_engine::install::registration::on_path;
use conclaude_engine::sandbox::{self, PROGRAMS, ProbeBinds, SandboxProgram};
use conclaude_os::budget::Budget;
use conclaude_os::git::EntryFilter;
use conclaude_os::process::{self, CommandSpec, FinishedCommand, Retention, ancestors};
use conclaude_os::{files, git};
use shell_effects::{Extent, quoted_if_needed};

const ABOUT: &str = "sandbox";

/// Files that are named in one line.
const MAX_NAMED: usize = 3;

pub(super) fn all(installation: &Installation, json: bool, yes: bool) -> io::Result<Vec<Check>> {
    let Installation { root, project, loaded, .. } = installation;
    if !loaded.config.enforcers().sandbox {
        return Ok(Vec::new());
    }
    // Errors of compiling are reported with the rules.
    let Some(Ok(compiled)) = rule_enforcement::compiled(root, project, loaded) else { return Ok(Vec::new()) };
    let mut checks = if cfg!(target_os = "linux") { usable(installation, &compiled) } else { untested() };
    let is_installed = EnforcedSettings::is_installed(project);
    if is_installed {
        let can_run = !checks.iter().any(|check| check.status == Status::Problem);
        let effective = sandbox::effective(project);
        let gap = effective.and_then(|effective| sandbox::holds(&effective, &compiled)).err();
        checks.push(settings(gap, can_run));
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

/// Whether a sandbox can be made here, and refuses protected files.
fn usable(installation: &Installation, compiled: &CompiledRules) -> Vec<Check> {
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
    for SandboxProgram { name: program, package, version: option } in PROGRAMS {
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

/// Whether `bwrap` may make user namespaces. Without them Claude Code starts, but every command fails.
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

/// A file that a rule protects.
struct ProbeTarget {
    path: PathBuf,
    writes: bool,
    rule: Rule,
}

/// The number of rules that are tried.
const MAX_TARGETS: usize = 20;

/// Tries in `bwrap` to use one file of each rule, with the binds that the settings cause in Claude Code.
fn probe(installation: &Installation, compiled: &CompiledRules) -> Check {
    let Installation { project, root, .. } = installation;
    let effective =
        if EnforcedSettings::is_installed(project) { sandbox::effective(project).ok() } else { None };
    let effective = effective.filter(|effective| effective.is_enabled());
    let targets = if effective.is_some() { targets(&root.folder, compiled) } else { Vec::new() };
    let effective = effective.unwrap_or_default();
    let binds = ProbeBinds { sandbox: &effective, project };
    let own = quoted(project);
    let mut options = format!("--ro-bind / / --dev /dev --bind {own} {own}");
    for path in binds.writable() {
        options.push_str(&format!(" --bind {0} {0}", quoted(&path)));
    }
    let mut script = String::new();
    for (index, ProbeTarget { path, writes, .. }) in targets.iter().enumerate() {
        let file = quoted(path);
        if *writes {
            if let Some(around) = binds.unwritable(path) {
                options.push_str(&format!(" --ro-bind {0} {0}", quoted(&around)));
            }
            // That opens the file and writes nothing.
            script.push_str(&format!("(: >> {file}) 2>/dev/null && echo used {index}; "));
        } else {
            if binds.is_unreadable(path) {
                options.push_str(&format!(" --ro-bind /dev/null {file}"));
            }
            script.push_str(&format!("(: < {file}) 2>/dev/null && echo used {index}; "));
        }
    }
    script.push_str("echo tried");
    let tried = run(&format!("bwrap --unshare-user {options} sh -c {}", quoted_if_needed(&script)));
    judged(&tried, &targets, project)
}

/// The results of the attempts.
fn judged(tried: &FinishedCommand, targets: &[ProbeTarget], project: &Path) -> Check {
    let said = tried.stdout.excerpt(None).unwrap_or_default();
    let done = |line: &str| said.lines().any(|said| said == line);
    let fix = "bwrap --version  # then report it, with the output of `conclaude doctor`";
    if !done("tried") {
        let why = tried.stderr.excerpt(Some(1)).map(|text| clean_line(&text)).unwrap_or_default();
        return Check::problem(ABOUT, format!("a sandbox like Claude Code's cannot be made: {why}"), fix);
    }
    let used = targets.iter().enumerate().filter(|(index, _)| done(&format!("used {index}")));
    let used: Vec<String> = used
        .map(|(_, target)| {
            let doing = if target.writes { "changing" } else { "reading" };
            format!("{doing} {} ({})", super::short(&target.path, project), target.rule)
        })
        .collect();
    if !used.is_empty() {
        let text = format!("a sandbox with these settings allows {}", used.join(", "));
        return Check::problem(ABOUT, text, "conclaude install --enforce");
    }
    let mut files: Vec<String> = targets.iter().map(|target| super::short(&target.path, project)).collect();
    files.dedup();
    if files.is_empty() {
        Check::good(ABOUT, "a sandbox like Claude Code's can be made")
    } else {
        let text = format!("a sandbox with these settings refuses what it should: {}", files.join(", "));
        Check::good(ABOUT, text)
    }
}

fn quoted(path: &Path) -> String {
    quoted_if_needed(&path.to_string_lossy())
}

/// One file of each rule that the operating system enforces.
fn targets(root: &Path, compiled: &CompiledRules) -> Vec<ProbeTarget> {
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let filter = EntryFilter { known: &[], looks_into: &|_| false };
    let entries = git::entries(&root, &filter, &Budget::of_hook()).unwrap_or_default();
    let inside = entries.into_iter().filter(|entry| !entry.is_directory).map(|entry| root.join(entry.path));
    let outside = compiled.entries.iter().filter(|entry| entry.is_at(&DENY_WRITE) || entry.is_at(&DENY_READ));
    let outside =
        outside.filter_map(SettingsEntry::text).filter(|text| text.starts_with('/')).map(PathBuf::from);
    let mut found: Vec<ProbeTarget> = Vec::new();
    for path in inside.chain(outside) {
        let location = location(&root, &path);
        for writes in [false, true] {
            let Some(rule) = compiled.covering(&location, writes) else { continue };
            let is_known = found.iter().any(|one| one.rule == rule.rule && one.writes == writes);
            if !is_known && compiled.denies(rule, &location, writes) && files::is_plain_file(&path) {
                found.push(ProbeTarget { path: path.clone(), writes, rule: rule.rule.clone() });
            }
        }
        if found.len() >= MAX_TARGETS {
            break;
        }
    }
    found
}

fn location(root: &Path, path: &Path) -> Location {
    let below = path.strip_prefix(root).ok().map(|below| below.to_string_lossy().into_owned());
    Location { absolute: path.to_string_lossy().into_owned(), relative: below, ..Location::default() }
}

/// Whether the settings make the sandbox hold for every command.
fn settings(gap: Option<SandboxGap>, can_run: bool) -> Check {
    match gap {
        None if !can_run => Check::good(
            ABOUT,
            "the settings have all rules that can be compiled, but the sandbox cannot run yet",
        ),
        None => Check::good(ABOUT, "it holds for every command, with all rules that can be compiled"),
        Some(gap @ (SandboxGap::Missing { .. } | SandboxGap::NotListed(_) | SandboxGap::NotCompiled(_))) => {
            Check::problem(
                ABOUT,
                format!("rules are enforced by the hook only: {gap}"),
                "conclaude install --enforce",
            )
        }
        Some(SandboxGap::Unreadable { file, why }) => {
            let text = format!("what counts is not known, since {file} cannot be read: {why}");
            Check::problem(ABOUT, text, format!("${{EDITOR:-vi}} {file}"))
        }
        Some(
            gap @ (SandboxGap::Switched { .. }
            | SandboxGap::Loosened { .. }
            | SandboxGap::Readable { .. }
            | SandboxGap::Doubtful { .. }),
        ) => {
            let text = format!("it does not hold for every command, so guards ask as before: {gap}");
            Check::warning(ABOUT, text, "remove that setting, if you do not need it")
        }
    }
}

/// Whether this session of Claude Code was started with other settings.
fn command_line() -> Option<Check> {
    let lines = ancestors::command_lines();
    if !lines.iter().any(|line| is_process(line)) {
        return None;
    }
    let option = lines.iter().find_map(|line| overriding_option(line))?;
    let text = format!(
        "this session of Claude Code was started with `--{option}`, which may switch the sandbox off: guards ask as before"
    );
    Some(Check::warning(ABOUT, text, "start Claude Code without it"))
}

/// Tracked files that no command may read: git cannot read them either.
fn tracked(installation: &Installation, compiled: &CompiledRules) -> Option<Check> {
    let root = &installation.root.folder;
    let extent =
        Extent { tracked: true, untracked: false, ignored: false, only_changed: false, untracks: false };
    let files = git::files_of(root, extent, &Budget::of_hook()).ok()??;
    let denied = files.iter().filter_map(|file| file.strip_prefix(root).ok()?.to_str());
    let denied: Vec<&str> =
        denied.filter(|path| compiled.covering(&location(root, &root.join(path)), false).is_some()).collect();
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

/// Makes git ignore the files that the sandbox shows in place of missing ones, if the user agrees.
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
    if !yes && (json || !is_agreed(&list)?) {
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

fn is_agreed(list: &str) -> io::Result<bool> {
    if !io::stdin().is_terminal() || !Out::is_terminal() {
        return Ok(false);
    }
    let question = format!("Make git ignore what the sandbox shows in place of missing files ({list})?");
    agrees(&mut Out::stdout(), &question)
}
