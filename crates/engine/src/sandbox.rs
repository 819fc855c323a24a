//! Whether Claude Code's sandbox holds for every command of a session, so that guards need not ask what a command will touch.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use thiserror::Error;

use crate::install::registration;
use crate::install::scope::Scope;
use crate::install::settings;
use conclaude_checks::enforce::CompiledRules;
use conclaude_core::dialect::claude::is_process;
use conclaude_core::dialect::claude::layout;
use conclaude_core::dialect::claude::sandbox::effective::{
    ALLOW_WRITE, EffectiveSandbox, OTHER_SETTINGS_VARIABLES, SandboxGap, SettingsSource, overriding_option,
};
use conclaude_core::dialect::claude::sandbox::{
    ALLOW_READ, DENY_READ, DENY_WRITE, SANDBOX, SettingsEntry, is_pattern,
};
use conclaude_core::file_pattern::{FilePattern, Location};
use conclaude_os::environment::Variables;
use conclaude_os::files;
use conclaude_os::process::ancestors;
use conclaude_store::root::claude_folder;
use shell_effects::SimpleCommand;
use shell_effects::glob::escaped;

/// A settings file is never this large.
const MAX_BYTES: u64 = 4 << 20;

/// Why a question is asked although the config has the sandbox enforce its rules.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum WhyAsked {
    #[error(transparent)]
    Gap(#[from] SandboxGap),
    #[error("Claude Code was started with `--{0}`, so other settings may count")]
    Option(String),
    #[error("the rules are compiled for Claude Code, and this is {0}")]
    OtherClient(&'static str),
    #[error("it is unknown how Claude Code was started")]
    UnknownClient,
    #[error("`{0}` is set: the sandbox may not be used there")]
    Foreign(&'static str),
    #[error("`sandbox.excludedCommands` has `{0}`, which may be for this command")]
    Excluded(String),
    #[error("the command asks to run without the sandbox")]
    Unsandboxed,
    #[error("copies of protected files in a worktree are not protected by the sandbox")]
    Worktree,
    #[error("{0} is enforced by the hook only")]
    HookOnly(String),
    #[error("the sandbox does not protect {0}")]
    Unkept(String),
    #[error(
        "`{0}` is not installed, and without it commands of a session that runs already are not in the sandbox"
    )]
    NoProgram(&'static str),
}

/// A program that Claude Code's sandbox needs on Linux.
pub struct SandboxProgram {
    pub name: &'static str,
    pub package: &'static str,
    /// Its option that prints the version.
    pub version: &'static str,
}

pub const PROGRAMS: [SandboxProgram; 2] = [
    SandboxProgram { name: "bwrap", package: "bubblewrap", version: "--version" },
    SandboxProgram { name: "socat", package: "socat", version: "-V" },
];

/// The missing programs. Only Linux needs any.
pub fn missing_programs() -> impl Iterator<Item = &'static SandboxProgram> {
    let needed: &[SandboxProgram] = if cfg!(target_os = "linux") { &PROGRAMS } else { &[] };
    needed.iter().filter(|program| registration::on_path(program.name).is_none())
}

/// The first of them. A session that is already running then continues without a sandbox, whatever the settings say.
#[must_use]
pub fn missing_program() -> Option<&'static str> {
    missing_programs().next().map(|program| program.name)
}

/// The settings of a session that concern the sandbox.
///
/// # Errors
/// If a file cannot be read: then they are unknown.
pub fn effective(project: &Path) -> Result<EffectiveSandbox, SandboxGap> {
    read(project, Path::new(layout::MANAGED_FOLDER))
}

/// Like `effective`, with the administrator's settings in this folder.
fn read(project: &Path, managed: &Path) -> Result<EffectiveSandbox, SandboxGap> {
    let mut sources = Vec::new();
    for path in settings_files(project, managed) {
        let unreadable = |why: String| SandboxGap::Unreadable { file: path.display().to_string(), why };
        let text = match files::read_text(&path, MAX_BYTES) {
            Ok(text) => text,
            Err(error) if is_absent(&error) => continue,
            Err(error) => return Err(unreadable(error.to_string())),
        };
        let text = text.trim_start_matches('\u{feff}');
        if text.trim().is_empty() {
            continue;
        }
        let json: Value = serde_json::from_str(text).map_err(|error| unreadable(error.to_string()))?;
        // Settings from a server are stored with their checksum.
        let json = match json.get("settings") {
            Some(settings) if path.ends_with(layout::SERVED_SETTINGS) => settings.clone(),
            _ => json,
        };
        let name = path.strip_prefix(project).unwrap_or(&path).display().to_string();
        let doubt = settings::doubt(&json);
        sources.push(SettingsSource { name, json, doubt });
    }
    Ok(EffectiveSandbox { sources })
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The settings files, the strongest last: those of the user, the project, and the administrator.
fn settings_files(project: &Path, managed: &Path) -> Vec<PathBuf> {
    let own = [Scope::User, Scope::Project, Scope::Local].into_iter().filter_map(|scope| scope.path(project));
    let mut parts: Vec<PathBuf> = std::fs::read_dir(managed.join(layout::MANAGED_PARTS))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    parts.sort();
    let served = claude_folder().map(|folder| folder.join(layout::SERVED_SETTINGS));
    own.chain([managed.join(layout::MANAGED_SETTINGS)]).chain(parts).chain(served).collect()
}

/// Checks whether the process of Claude Code may use other settings.
///
/// # Errors
/// If it may, or if that is unknown.
pub fn ordinary_client(variables: &Variables) -> Result<(), WhyAsked> {
    if let Some(name) = OTHER_SETTINGS_VARIABLES.iter().find(|name| variables.is_set(name)) {
        return Err(WhyAsked::Foreign(name));
    }
    let lines = ancestors::command_lines();
    if let Some(option) = lines.iter().find_map(|line| overriding_option(line)) {
        return Err(WhyAsked::Option(option.to_owned()));
    }
    if lines.iter().any(|line| is_process(line)) { Ok(()) } else { Err(WhyAsked::UnknownClient) }
}

/// Whether the sandbox holds for every command here, and has every compiled rule.
///
/// # Errors
/// The reason why it does not.
pub fn holds(sandbox: &EffectiveSandbox, compiled: &CompiledRules) -> Result<(), SandboxGap> {
    let is_of_sandbox = |entry: &&SettingsEntry| entry.keys.first().is_some_and(|key| key == SANDBOX);
    let entries = || compiled.entries.iter().filter(is_of_sandbox);
    let own: Vec<&str> =
        entries().filter(|entry| entry.is_at(&ALLOW_READ)).filter_map(SettingsEntry::text).collect();
    if let Some(gap) = sandbox.gap(&own) {
        return Err(gap);
    }
    if let Some(entry) = entries().find(|entry| !sandbox.has(entry)) {
        return Err(SandboxGap::NotListed(entry.to_string()));
    }
    // Entries of a file that may be ignored do not count.
    let certain = sandbox.certain();
    if certain.gap(&own).is_none() && entries().all(|entry| certain.has(entry)) {
        return Ok(());
    }
    match sandbox.ignorable_file() {
        None => Ok(()),
        Some(gap) => Err(gap),
    }
}

/// Whether no entry of `excludedCommands` may take a call with these commands out of the sandbox.
///
/// # Errors
/// Names the entry.
pub fn includes(sandbox: &EffectiveSandbox, commands: &[SimpleCommand]) -> Result<(), WhyAsked> {
    let words: Vec<&[String]> = commands.iter().map(|command| command.words.as_slice()).collect();
    match sandbox.excluding(&words) {
        None => Ok(()),
        Some(entry) => Err(WhyAsked::Excluded(entry.to_owned())),
    }
}

/// How the sandbox of some settings keeps commands from a file, as options of `bwrap`.
pub struct ProbeBinds<'a> {
    pub sandbox: &'a EffectiveSandbox,
    pub project: &'a Path,
}

impl ProbeBinds<'_> {
    /// The path that an entry names.
    fn path(&self, entry: &str) -> PathBuf {
        let expanded = files::expand_home(entry);
        let below = expanded.strip_prefix("./").map(Path::to_owned).unwrap_or(expanded);
        self.project.join(below)
    }

    /// The directories that are writable in addition to the project.
    pub fn writable(&self) -> Vec<PathBuf> {
        let entries = self.sandbox.list(&ALLOW_WRITE).map(|(_, entry)| self.path(entry));
        entries.filter(|path| path.exists() && path.parent().is_some()).collect()
    }

    /// The path around a file that is made read-only. `None` if the settings let commands write it. On Linux patterns have no
    /// effect.
    pub fn unwritable(&self, file: &Path) -> Option<PathBuf> {
        let entries = self.sandbox.list(&DENY_WRITE).map(|(_, entry)| entry);
        let mut paths = entries.filter(|entry| !is_pattern(entry)).map(|entry| self.path(entry));
        paths.find(|path| file.starts_with(path))
    }

    /// Whether the settings keep commands from reading a file.
    pub fn is_unreadable(&self, file: &Path) -> bool {
        let covers = |entry: &str| {
            let path = self.path(entry);
            if !is_pattern(entry) {
                return file.starts_with(path);
            }
            let project = escaped(self.project.to_string_lossy().trim_matches('/'));
            let pattern = match entry.strip_prefix('/') {
                Some(absolute) => format!("//{absolute}"),
                None => format!("//{project}/{}", entry.trim_start_matches("./")),
            };
            let location = Location { absolute: file.to_string_lossy().into_owned(), ..Location::default() };
            FilePattern::new(&pattern, None).is_ok_and(|pattern| pattern.surely_covers(&location))
        };
        let is_in = |keys: &[&str]| self.sandbox.list(keys).any(|(_, entry)| covers(entry));
        is_in(&DENY_READ) && !is_in(&ALLOW_READ)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A project, and the settings of an administrator.
    struct ManagedProject {
        folder: tempfile::TempDir,
    }

    impl ManagedProject {
        fn new(files: &[(&str, &str)]) -> ManagedProject {
            let folder = tempfile::tempdir().unwrap();
            for (name, text) in files {
                let path = folder.path().join(name);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            }
            ManagedProject { folder }
        }

        fn read(&self) -> Result<EffectiveSandbox, SandboxGap> {
            read(&self.folder.path().join("project"), &self.folder.path().join("managed"))
        }
    }

    const ON: &str = r#"{"sandbox": {"enabled": true, "failIfUnavailable": true, "allowUnsandboxedCommands": false,
        "autoAllowBashIfSandboxed": false}}"#;

    #[test]
    fn the_settings_of_an_administrator_win() {
        let own = ("project/.claude/settings.local.json", ON);
        assert_eq!(ManagedProject::new(&[own]).read().unwrap().gap(&[]), None);
        for file in ["managed/managed-settings.json", "managed/managed-settings.d/10-a.json"] {
            let off = ManagedProject::new(&[own, (file, r#"{"sandbox": {"enabled": false}}"#)]);
            let gap = off.read().unwrap().gap(&[]).unwrap().to_string();
            assert!(gap.ends_with("has `sandbox.enabled: false`") && gap.contains("managed"), "{gap}");
            let on = ManagedProject::new(&[
                ("project/.claude/settings.local.json", r#"{"sandbox": {"enabled": false}}"#),
                (file, ON),
            ]);
            assert_eq!(on.read().unwrap().gap(&[]), None, "{file}");
            let broken = ManagedProject::new(&[own, (file, "{")]);
            assert!(matches!(broken.read(), Err(SandboxGap::Unreadable { .. })), "{file}");
        }
        // If there are several parts, the last one counts. A file without the JSON extension does not.
        let parts = ManagedProject::new(&[
            ("managed/managed-settings.json", ON),
            ("managed/managed-settings.d/10-a.json", r#"{"sandbox": {"enabled": false}}"#),
            (
                "managed/managed-settings.d/20-b.json",
                r#"{"sandbox": {"enabled": true, "excludedCommands": ["docker *"]}}"#,
            ),
            ("managed/managed-settings.d/README", "{"),
        ]);
        let found = parts.read().unwrap();
        assert_eq!((found.gap(&[]), found.excluding(&[])), (None, Some("docker *")));
    }

    #[test]
    fn a_file_that_claude_code_may_ignore_keeps_nothing() {
        let compiled = CompiledRules::default();
        let kept = |text: &str| {
            let found = ManagedProject::new(&[("project/.claude/settings.local.json", text)]).read().unwrap();
            holds(&found, &compiled).map_err(|gap| gap.to_string())
        };
        assert_eq!(kept(ON), Ok(()));
        let with = |more: &str| format!("{},{more}}}", ON.trim_end_matches('}').to_owned() + "}");
        for (more, expected) in [
            (
                r#""model": "opus", "hooks": {"Stop": []}, "permissions": {"allow": ["Bash"], "defaultMode": "plan"}"#,
                None,
            ),
            (r#""model": 5"#, Some("`model` must be a string")),
            (r#""permissions": {"allow": 5}"#, Some("`permissions` must be an object of lists")),
            (
                r#""permissions": {"defaultMode": "nope"}"#,
                Some("`permissions.defaultMode` must be a permission mode"),
            ),
            (r#""permissions": {"newKey": 1}"#, Some("what `permissions.newKey` must be is not known")),
            (r#""newKey": 1"#, Some("what `newKey` must be is not known")),
            (r#""disableAllHooks": "x""#, Some("`disableAllHooks` must be true or false")),
            (
                r#""hooks": {"PreToolUse": [{"matcher": 5, "hooks": []}]}"#,
                Some("`hooks.PreToolUse` has an entry that it cannot read"),
            ),
            (r#""hooks": {"Stop": 5}"#, Some("`hooks.Stop` has an entry that it cannot read")),
        ] {
            let expected = expected.map_or(Ok(()), |why| {
                Err(format!("Claude Code may ignore .claude/settings.local.json as a whole: {why}"))
            });
            assert_eq!(kept(&with(more)), expected, "{more}");
        }
        for (more, why) in [
            (r#""excludedCommands": 5"#, "`sandbox.excludedCommands` must be a list of strings"),
            (r#""network": 5"#, "`sandbox.network` must be an object"),
            (
                r#""filesystem": {"denyWrite": ["a", 5]}"#,
                "`sandbox.filesystem.denyWrite` must be a list of strings",
            ),
            (r#""credentials": 5"#, "what `sandbox.credentials` must be is not known"),
        ] {
            let text = format!("{}, {more}}}}}", ON.trim_end_matches('}'));
            let gap = kept(&text).unwrap_err();
            assert!(gap.ends_with(why), "{gap}");
        }
        // Another file that may be ignored changes nothing.
        let user = ManagedProject::new(&[
            ("project/.claude/settings.json", r#"{"newKey": 1}"#),
            ("project/.claude/settings.local.json", ON),
        ]);
        assert_eq!(holds(&user.read().unwrap(), &compiled), Ok(()));
    }

    #[test]
    fn a_probe_has_the_binds_of_the_settings() {
        let text = r#"{"sandbox": {"filesystem": {
            "denyWrite": ["./Cargo.lock", "./gen", "/data/x", "./*.toml"],
            "denyRead": ["**/.env*", "./secrets", "/srv/*.pem"], "allowRead": ["./.env.example"]}}}"#;
        let managed = ManagedProject::new(&[("project/.claude/settings.local.json", text)]);
        let (project, sandbox) = (managed.folder.path().join("project"), managed.read().unwrap());
        let binds = ProbeBinds { sandbox: &sandbox, project: &project };
        for (file, around) in [
            ("Cargo.lock", Some(project.join("Cargo.lock"))),
            ("gen/a/b.rs", Some(project.join("gen"))),
            ("/data/x", Some("/data/x".into())),
            ("data/x", None),
            ("a.toml", None),
            ("generic", None),
        ] {
            assert_eq!(binds.unwritable(&project.join(file)), around, "{file}");
        }
        for (file, expected) in [
            (".env", true),
            ("sub/.env.local", true),
            (".env.example", false),
            ("secrets/a", true),
            ("/srv/a.pem", true),
            ("srv/a.pem", false),
            ("README.md", false),
        ] {
            assert_eq!(binds.is_unreadable(&project.join(file)), expected, "{file}");
        }
    }
}
