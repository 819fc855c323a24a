//! The sandbox that results from all settings files, and the gaps through which a command could leave it.

use serde_json::{Map, Value};
use thiserror::Error;

use super::{ALLOW_READ, EXCLUDED_COMMANDS, SANDBOX, SWITCHES, SettingsEntry, at, texts};

/// A settings file.
#[derive(Clone, Debug)]
pub struct SettingsSource {
    /// Its name in messages.
    pub name: String,
    pub json: Value,
    /// Why Claude Code may ignore the whole file.
    pub doubt: Option<String>,
}

/// The sandbox of all settings files. The last file wins; lists are joined.
#[derive(Clone, Debug, Default)]
pub struct EffectiveSandbox {
    pub sources: Vec<SettingsSource>,
}

/// Why the sandbox does not hold for every command.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SandboxGap {
    #[error("no settings file has `{key}: {wanted}`")]
    Missing { key: String, wanted: bool },
    #[error("{file} has `{key}: {}`", !wanted)]
    Switched { file: String, key: String, wanted: bool },
    #[error("{file} has `{key}`, which may let commands out of the sandbox")]
    Loosened { file: String, key: String },
    #[error("{file} lets commands read `{path}` (`sandbox.filesystem.allowRead`)")]
    Readable { file: String, path: String },
    #[error("{file} cannot be read: {why}")]
    Unreadable { file: String, why: String },
    #[error("Claude Code may ignore {file} as a whole: {why}")]
    Doubtful { file: String, why: String },
    #[error("the rules cannot be compiled: {0}")]
    NotCompiled(String),
    #[error("no settings file has `{0}`")]
    NotListed(String),
}

/// The keys that certainly open no gap, by the object that contains them.
const HARMLESS: [(&[&str], &[&str]); 3] = [
    (
        &[SANDBOX],
        &[
            "enabled",
            "failIfUnavailable",
            "allowUnsandboxedCommands",
            "autoAllowBashIfSandboxed",
            "excludedCommands",
            "filesystem",
            "network",
            "credentials",
            "ignoreViolations",
            "ripgrep",
        ],
    ),
    (
        &[SANDBOX, "filesystem"],
        &["allowRead", "allowWrite", "denyRead", "denyWrite", "allowManagedReadPathsOnly"],
    ),
    (
        // A socket may lead to a server, such as Docker, that reads and writes files for its clients.
        &[SANDBOX, "network"],
        &[
            "allowedDomains",
            "deniedDomains",
            "allowLocalBinding",
            "allowManagedDomainsOnly",
            "strictAllowlist",
            "httpProxyPort",
            "socksProxyPort",
        ],
    ),
];

/// Missing files that the sandbox shows as devices, so that no command creates them. `git add -A` fails on them.
pub const PLACEHOLDERS: [&str; 21] = [
    ".bash_profile",
    ".bashrc",
    ".claude/agents",
    ".claude/commands",
    ".claude/hooks",
    ".claude/launch.json",
    ".claude/loop.md",
    ".claude/output-styles",
    ".claude/routines",
    ".claude/scheduled_tasks.json",
    ".claude/skills",
    ".claude/workflows",
    ".gitconfig",
    ".gitmodules",
    ".idea",
    ".mcp.json",
    ".profile",
    ".ripgreprc",
    ".vscode",
    ".zprofile",
    ".zshrc",
];

/// The list of directories that commands may write to.
pub const ALLOW_WRITE: [&str; 3] = [SANDBOX, "filesystem", "allowWrite"];

/// Variables that change the settings: they select other settings files, or mark remote sessions, which start without a sandbox
/// in any case.
pub const OTHER_SETTINGS_VARIABLES: [&str; 3] =
    ["CLAUDE_CODE_REMOTE", "CLAUDE_CODE_ENVIRONMENT_KIND", "CLAUDE_CODE_MANAGED_SETTINGS_PATH"];

impl EffectiveSandbox {
    /// The settings from those files that Claude Code certainly reads.
    #[must_use]
    pub fn certain(&self) -> EffectiveSandbox {
        EffectiveSandbox {
            sources: self.sources.iter().filter(|source| source.doubt.is_none()).cloned().collect(),
        }
    }

    /// A file that Claude Code may ignore.
    #[must_use]
    pub fn ignorable_file(&self) -> Option<SandboxGap> {
        let gap = |source: &SettingsSource| {
            Some(SandboxGap::Doubtful { file: source.name.clone(), why: source.doubt.clone()? })
        };
        self.sources.iter().rev().find_map(gap)
    }

    /// A switch, and the file that sets it.
    fn switch(&self, keys: &[&str]) -> Option<(&SettingsSource, &Value)> {
        self.sources.iter().rev().find_map(|source| Some((source, at(&source.json, keys)?)))
    }

    /// Whether the sandbox is enabled at all.
    #[must_use]
    pub fn is_enabled(&self) -> bool {
        self.switch(&super::ENABLED).is_some_and(|(_, value)| *value == Value::Bool(true))
    }

    /// The entries of a list, with their files.
    pub fn list(&self, keys: &[&str]) -> impl Iterator<Item = (&SettingsSource, &str)> {
        self.sources
            .iter()
            .flat_map(move |source| texts(&source.json, keys).map(move |entry| (source, entry)))
    }

    /// Whether a file has this entry.
    #[must_use]
    pub fn has(&self, entry: &SettingsEntry) -> bool {
        self.sources.iter().any(|source| entry.is_in(&source.json))
    }

    /// The first gap for any command. Our own entries of `allowRead` are not a gap.
    #[must_use]
    pub fn gap(&self, own_allow_read: &[&str]) -> Option<SandboxGap> {
        self.switched().or_else(|| self.loosened()).or_else(|| {
            let (source, path) = self.list(&ALLOW_READ).find(|(_, path)| !own_allow_read.contains(path))?;
            Some(SandboxGap::Readable { file: source.name.clone(), path: path.to_owned() })
        })
    }

    /// A switch whose value does not make the sandbox hold for every command.
    #[must_use]
    pub fn switched(&self) -> Option<SandboxGap> {
        SWITCHES.iter().find_map(|(keys, wanted)| {
            let key = keys.join(".");
            match self.switch(keys) {
                Some((_, Value::Bool(value))) if value == wanted => None,
                Some((source, _)) => {
                    Some(SandboxGap::Switched { file: source.name.clone(), key, wanted: *wanted })
                }
                None => Some(SandboxGap::Missing { key, wanted: *wanted }),
            }
        })
    }

    /// A setting that weakens the sandbox, or whose effect is unknown.
    fn loosened(&self) -> Option<SandboxGap> {
        let loosened = |source: &SettingsSource, key: String| {
            Some(SandboxGap::Loosened { file: source.name.clone(), key })
        };
        for source in &self.sources {
            for (keys, harmless) in HARMLESS {
                let object = at(&source.json, keys).and_then(Value::as_object).into_iter().flatten();
                let is_set =
                    |value: &Value| !matches!(value, Value::Null | Value::Bool(false)) && !is_empty(value);
                for (key, _) in object.filter(|(_, value)| is_set(value)) {
                    if !harmless.contains(&key.as_str()) {
                        return loosened(source, format!("{}.{key}", keys.join(".")));
                    }
                }
            }
        }
        let (source, _) =
            self.list(&ALLOW_WRITE).find(|(_, path)| path.trim_end_matches(['/', '*']).is_empty())?;
        loosened(source, format!("{}: [\"/\"]", ALLOW_WRITE.join(".")))
    }

    /// The entry of `excludedCommands` that may take a call out of the sandbox. That requires an entry for every command of the
    /// call.
    #[must_use]
    pub fn excluding(&self, commands: &[&[String]]) -> Option<&str> {
        let matching = |words: &[String]| {
            let mut entries = self.list(&EXCLUDED_COMMANDS).map(|(_, entry)| entry);
            entries.find(|entry| may_exclude(entry, words))
        };
        let mut found = None;
        for words in commands {
            found = Some(matching(words)?);
        }
        if commands.is_empty() { self.list(&EXCLUDED_COMMANDS).map(|(_, entry)| entry).next() } else { found }
    }
}

/// Whether an entry of `excludedCommands` may match a command with these words. Claude Code looks into wrappers such as
/// `timeout`, so the program may be any of the words.
fn may_exclude(entry: &str, words: &[String]) -> bool {
    let program = entry.split([' ', ':']).next().unwrap_or_default();
    match program.split_once('*') {
        Some((start, _)) => words.is_empty() || words.iter().any(|word| word.starts_with(start)),
        None => words.is_empty() || words.iter().any(|word| word == program),
    }
}

fn is_empty(value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty) || value.as_object().is_some_and(Map::is_empty)
}

/// An option of Claude Code's command line that replaces or extends the settings of the files.
#[must_use]
pub fn overriding_option(arguments: &[String]) -> Option<&str> {
    let options = arguments.iter().filter_map(|argument| argument.strip_prefix("--"));
    let names = options.map(|option| option.split('=').next().unwrap_or(option));
    names.into_iter().find(|name| name.contains("setting") || name.contains("sandbox"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sandbox(sources: &[Value]) -> EffectiveSandbox {
        let sources = sources.iter().enumerate();
        let source = |(at, json): (usize, &Value)| SettingsSource {
            name: format!("{at}"),
            json: json.clone(),
            doubt: None,
        };
        EffectiveSandbox { sources: sources.map(source).collect() }
    }

    fn mandatory() -> Value {
        json!({"sandbox": {
            "enabled": true, "failIfUnavailable": true, "allowUnsandboxedCommands": false,
            "autoAllowBashIfSandboxed": false,
            "filesystem": {"denyRead": ["**/.env*"], "allowRead": ["./.env.example"], "denyWrite": ["./Cargo.lock"]},
            "network": {"allowedDomains": ["*"]}, "excludedCommands": ["conclaude des run *", "docker:*"],
        }})
    }

    #[test]
    fn what_lets_commands_out_is_a_gap() {
        let own = ["./.env.example"];
        assert_eq!(sandbox(&[json!({}), mandatory()]).gap(&own), None);
        for (other, expected) in [
            (json!({"sandbox": {"enabled": false}}), "1 has `sandbox.enabled: false`"),
            (json!({"sandbox": {"enabled": "yes"}}), "1 has `sandbox.enabled: false`"),
            (json!({"sandbox": {"failIfUnavailable": false}}), "1 has `sandbox.failIfUnavailable: false`"),
            (
                json!({"sandbox": {"allowUnsandboxedCommands": true}}),
                "1 has `sandbox.allowUnsandboxedCommands: true`",
            ),
            (
                json!({"sandbox": {"autoAllowBashIfSandboxed": true}}),
                "1 has `sandbox.autoAllowBashIfSandboxed: true`",
            ),
            (
                json!({"sandbox": {"filesystem": {"disabled": true}}}),
                "1 has `sandbox.filesystem.disabled`, which may let commands out of the sandbox",
            ),
            (
                json!({"sandbox": {"enableWeakerNestedSandbox": true}}),
                "1 has `sandbox.enableWeakerNestedSandbox`, which may let commands out of the sandbox",
            ),
            (
                json!({"sandbox": {"network": {"allowUnixSockets": ["/run/docker.sock"]}}}),
                "1 has `sandbox.network.allowUnixSockets`, which may let commands out of the sandbox",
            ),
            (
                json!({"sandbox": {"filesystem": {"allowWrite": ["/"]}}}),
                "1 has `sandbox.filesystem.allowWrite: [\"/\"]`, which may let commands out of the sandbox",
            ),
            (
                json!({"sandbox": {"filesystem": {"allowRead": ["."]}}}),
                "1 lets commands read `.` (`sandbox.filesystem.allowRead`)",
            ),
        ] {
            let gap = sandbox(&[mandatory(), other.clone()]).gap(&own);
            assert_eq!(gap.map(|gap| gap.to_string()).as_deref(), Some(expected), "{other}");
        }
        let gap = sandbox(&[json!({"sandbox": {"enabled": true}})]).gap(&own);
        assert_eq!(gap.unwrap().to_string(), "no settings file has `sandbox.failIfUnavailable: true`");
    }

    #[test]
    fn a_later_file_wins_and_harmless_values_do_not_count() {
        let off = json!({"sandbox": {"enabled": false, "enableWeakerNestedSandbox": false, "network": {"allowUnixSockets": []}}});
        let sandbox = sandbox(&[off, mandatory()]);
        assert_eq!(sandbox.gap(&["./.env.example"]), None);
        assert!(
            sandbox.is_enabled() && sandbox.has(&SettingsEntry::member(&super::super::DENY_READ, "**/.env*"))
        );
    }

    #[test]
    fn a_call_is_excluded_only_if_all_of_its_commands_may_be() {
        let sandbox = sandbox(&[mandatory()]);
        for (commands, expected) in [
            (&["cat a"][..], None),
            (&["docker ps"], Some("docker:*")),
            (&["timeout 5 docker ps"], Some("docker:*")),
            (&["docker ps", "cat a"], None),
            (&["docker ps", "conclaude des run a B"], Some("conclaude des run *")),
            (&[], Some("conclaude des run *")),
            (&[""], Some("conclaude des run *")),
        ] {
            let words: Vec<Vec<String>> = commands
                .iter()
                .map(|command| command.split_whitespace().map(str::to_owned).collect())
                .collect();
            let words: Vec<&[String]> = words.iter().map(Vec::as_slice).collect();
            assert_eq!(sandbox.excluding(&words), expected, "{commands:?}");
        }
    }

    #[test]
    fn options_that_override_settings_are_noticed() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(overriding_option(&words("claude -p --model x")), None);
        assert_eq!(overriding_option(&words("claude --settings x")), Some("settings"));
        assert_eq!(overriding_option(&words("claude --settings={}")), Some("settings"));
        assert_eq!(overriding_option(&words("claude --setting-sources user")), Some("setting-sources"));
        assert_eq!(overriding_option(&words("claude --managed-settings {}")), Some("managed-settings"));
    }
}
