//! How hooks are registered with a client: its settings files, the names in matchers, the unit of time.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::tool::McpMatcher;
use super::{ClientEvent, Dialect, claude};
use crate::event::EventKind;
use crate::pattern::Pattern;

/// The settings of a client, as far as hooks depend on them.
pub struct HookSettings {
    /// The project's shared file, from its root.
    pub project: &'static str,
    /// The user's own file in the project.
    pub local: Option<&'static str>,
    pub user: UserSettings,
    /// Other files that influence hooks, from the root of a project and from the user's home.
    pub others: &'static [&'static str],
    /// The version of the file's form, next to the hooks. Only for files that nobody else uses.
    pub version: Option<u64>,
    pub timeouts: HookTimeouts,
    /// What the user must do before a registration counts, and again after each change.
    pub review: Option<&'static str>,
    /// What the user must do before the registration of a project counts.
    pub folder_trust: Option<&'static str>,
    /// Whether it also runs the hooks in a project's settings of Claude Code.
    pub runs_claudes: bool,
    /// Whether it is known which files and entries the client ignores.
    pub is_form_known: bool,
    /// Whether rules for files are compiled into its settings (`install --enforce`).
    pub is_enforcing: bool,
    pub conditions: HookConditions,
}

/// Further conditions for a registered hook to run.
pub struct HookConditions {
    pub trust: Option<TrustFile>,
    /// Why a settings file switches all hooks off.
    pub switched_off: fn(&Value) -> Option<&'static str>,
    /// The client's reading of a timeout, if it differs from what the user probably meant.
    pub misread_timeout: fn(u64) -> Option<String>,
    /// Why the client ignores Claude Code's settings, if it runs their hooks too.
    pub ignored_claudes: fn(&Value) -> Option<&'static str>,
}

impl HookConditions {
    /// No further conditions.
    pub const NONE: HookConditions = HookConditions {
        trust: None,
        switched_off: |_| None,
        misread_timeout: |_| None,
        ignored_claudes: |_| None,
    };
}

/// The file with the user's trust, and with hooks that are not in the file of hooks.
pub struct TrustFile {
    /// Its name, in the user's folder and in that of a project.
    pub name: &'static str,
    /// Whether the user has reviewed an entry.
    pub has_reviewed: fn(&str, &HookEntry<'_>) -> bool,
    /// Whether the user trusts a project.
    pub trusts: fn(&str, &Path) -> bool,
    /// Whether it registers hooks.
    pub has_hooks: fn(&str) -> bool,
}

/// An entry of a file of hooks.
#[derive(Clone, Copy, Debug)]
pub struct HookEntry<'a> {
    pub file: &'a Path,
    /// The client's name for it.
    pub event: &'a str,
    /// Its group in the event, and its index in the group.
    pub group: usize,
    pub hook: usize,
}

/// The settings file of the user, for all projects.
pub struct UserSettings {
    /// The variable with another folder.
    pub variable: Option<&'static str>,
    /// The folder below the user's home.
    pub folder: &'static str,
    /// The file in that folder.
    pub file: &'static str,
}

/// The `timeout` of entries, in the client's unit.
pub enum HookTimeouts {
    /// The longest timeout in the table of events, in seconds, whatever the config says: commands have their own limits, and a
    /// committed registration must not change with them.
    OfEvents,
    Fixed {
        usual: u64,
        /// Events with a shorter timeout.
        short: &'static [(&'static str, u64)],
    },
}

impl HookSettings {
    /// Its files, from the root of a project or from the user's home.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> {
        let named = [self.project].into_iter().chain(self.local).chain(self.others.iter().copied());
        named.map(PathBuf::from).chain([Path::new(self.user.folder).join(self.user.file)])
    }

    /// Whether a path is one of them.
    #[must_use]
    pub fn has(&self, path: &str) -> bool {
        let of_user = path.strip_prefix(self.user.folder).and_then(|rest| rest.strip_prefix('/'));
        path == self.project
            || self.local == Some(path)
            || self.others.contains(&path)
            || of_user == Some(self.user.file)
    }

    /// The user's own files, from the folder that contains them.
    pub fn user_files(&self) -> impl Iterator<Item = &'static Path> {
        let own = Path::new(self.user.folder);
        let others = self.others.iter().filter_map(move |file| Path::new(file).strip_prefix(own).ok());
        others.chain([Path::new(self.user.file)])
    }
}

impl HookTimeouts {
    /// The timeout of an event with the client's name.
    #[must_use]
    pub fn of(&self, name: &str, kind: EventKind) -> u64 {
        match self {
            HookTimeouts::OfEvents => kind.row().max_timeout,
            HookTimeouts::Fixed { usual, short } => {
                short.iter().find(|(event, _)| *event == name).map_or(*usual, |(_, timeout)| *timeout)
            }
        }
    }
}

impl Dialect {
    /// The events that are registered under their own names.
    pub fn registered_events(&self) -> impl Iterator<Item = &'static ClientEvent> {
        self.events.iter().filter(|event| event.tool.is_none())
    }

    /// The rows of events that the use of a tool stands for, at this event of the client.
    pub fn at_tools(&self, event: &ClientEvent) -> impl Iterator<Item = &'static ClientEvent> {
        self.events.iter().filter(move |row| row.name == event.name && row.tool.is_some())
    }

    /// The client's names of tools, for alternatives of a matcher with our names. `None` for all tools.
    #[must_use]
    pub fn tool_names(&self, alternatives: &[String]) -> Option<Vec<String>> {
        let (mut names, mut unknown) = (Vec::new(), Vec::new());
        for alternative in alternatives {
            let alternative = claude::tools::current_name(alternative);
            let own = self.names_of(alternative);
            if claude::mcp::may_match(alternative) {
                match self.mcp.matcher() {
                    McpMatcher::Ours => names.push(alternative.to_owned()),
                    McpMatcher::Prefix(prefix) => names.push(format!("{prefix}.*")),
                    McpMatcher::Everything => return None,
                }
            } else if own.is_empty() && claude::mcp::is_foreign(alternative) {
                names.push(alternative.to_owned());
            } else if own.is_empty() {
                unknown.push(alternative.to_owned());
            }
            names.extend(own.into_iter().map(str::to_owned));
        }
        // An empty matcher would match all tools.
        let mut names = if names.is_empty() { unknown } else { names };
        let mut known = Vec::new();
        names.retain(|name| {
            let is_new = !known.contains(name);
            known.push(name.clone());
            is_new
        });
        Some(names)
    }

    /// The client's tools that match a pattern over our names or over its own names.
    fn names_of(&self, alternative: &str) -> Vec<&'static str> {
        let Some(glob) = Pattern::of_alternative(alternative) else { return Vec::new() };
        let matches = |name: &str| glob.matches(name, None).unwrap_or(false);
        let is_meant = |tool: &&super::tool::Tool| {
            matches(tool.ours)
                || tool.takes_patches() && matches(claude::tools::WRITE)
                || tool.names.iter().any(|name| matches(name))
        };
        self.tools.iter().filter(is_meant).flat_map(|tool| tool.names).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::dialect::named;

    fn names(client: &str, alternatives: &[&str]) -> Option<String> {
        let alternatives: Vec<String> = alternatives.iter().map(|&one| one.to_owned()).collect();
        named(client)?.tool_names(&alternatives).map(|names| names.join("|"))
    }

    #[test]
    fn the_files_of_a_client_are_the_ones_that_it_has() {
        for client in crate::dialect::ALL {
            for file in client.settings.files() {
                assert!(client.settings.has(file.to_str().unwrap()), "{}: {file:?}", client.name);
            }
            assert!(!client.settings.has(client.settings.user.folder));
        }
    }

    #[test]
    fn a_matcher_has_the_clients_own_names() {
        for (client, alternatives, expected) in [
            ("codex", &["Bash", "Write", "Edit"][..], Some("Bash|apply_patch")),
            ("codex", &["Read", "Task", "NotebookEdit"], Some("view_image|collaborationspawn_agent")),
            ("codex", &["mcp__files__.*"], Some("mcp__files__.*")),
            ("copilot", &["Write"], Some("Write|create|Edit|edit|apply_patch")),
            ("copilot", &["Bash", "mcp__.*"], None),
            ("copilot", &[".*note"], None),
            ("qwen", &["B.*", "mcp__a__b"], Some("run_shell_command|mcp__a__b")),
            ("qwen", &["run_shell_command"], Some("run_shell_command")),
            ("gemini", &["Edit", "mcp__a__.*", "mcp__b"], Some("replace|mcp_.*")),
            // An unknown tool keeps its name.
            ("gemini", &["save_memory"], Some("save_memory")),
            // The client has no such tool. An empty matcher would match all tools.
            ("codex", &["NotebookEdit", "Grep"], Some("NotebookEdit|Grep")),
        ] {
            assert_eq!(names(client, alternatives).as_deref(), expected, "{client} {alternatives:?}");
        }
    }
}
