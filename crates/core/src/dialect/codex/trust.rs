//! The trust of the user in Codex's `config.toml`. The file is read line by line, as far as it decides whether our hooks run, and
//! never written.

use std::path::Path;

use crate::dialect::hook_settings::{HookEntry, TrustFile};

pub(super) const TRUST: TrustFile = TrustFile { name: "config.toml", has_reviewed, trusts, has_hooks };

/// The tables of reviewed hooks, of projects, and of hooks.
const STATE: &str = "hooks.state";
const PROJECTS: &str = "projects";
const HOOKS: &str = "hooks";

/// A line with a setting, and its table.
struct Setting<'a> {
    table: &'a str,
    line: &'a str,
}

/// The settings of a file. The header of a table counts as a line without a setting.
fn settings(text: &str) -> impl Iterator<Item = Setting<'_>> {
    let mut table = "";
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).map(move |line| {
        let is_header = line.starts_with('[');
        if is_header {
            let end = line.rfind(']').unwrap_or(line.len());
            table = line.get(..end).unwrap_or_default().trim_matches(['[', ']']).trim();
        }
        Setting { table, line: if is_header { "" } else { line } }
    })
}

/// A key in both forms of quoting.
fn quoted(key: &str) -> [String; 2] {
    let escaped = key.replace('\\', "\\\\").replace('"', "\\\"");
    [format!("\"{escaped}\""), format!("'{key}'")]
}

impl Setting<'_> {
    /// The value of this key in a table.
    fn of(&self, table: &str, key: &str) -> Option<&str> {
        quoted(key).iter().find_map(|key| {
            if self.table == format!("{table}.{key}") {
                return Some(self.line);
            }
            let line = match self.table {
                "" => self.line.strip_prefix(table)?.strip_prefix('.')?,
                own if own == table => self.line,
                _ => return None,
            };
            line.strip_prefix(key.as_str())
        })
    }
}

/// The key of an entry is `<file>:<event_in_snake_case>:<group>:<hook>`.
fn has_reviewed(text: &str, entry: &HookEntry<'_>) -> bool {
    let HookEntry { file, event, group, hook } = entry;
    let key = format!("{}:{}:{group}:{hook}", file.display(), snake_case(event));
    settings(text).any(|setting| setting.of(STATE, &key).is_some())
}

fn trusts(text: &str, project: &Path) -> bool {
    let is_trust = |line: &str| line.contains("trust_level") && line.contains("\"trusted\"");
    let project = project.display().to_string();
    settings(text).any(|setting| setting.of(PROJECTS, &project).is_some_and(is_trust))
}

fn has_hooks(text: &str) -> bool {
    let is_hooks = |name: &str| {
        let rest = name.strip_prefix(HOOKS);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', ' ', '=']))
            && !name.starts_with(STATE)
    };
    settings(text).any(|setting| {
        // The plain table of hooks contains no hook itself.
        let is_own = setting.table == HOOKS && !setting.line.is_empty() && !setting.line.starts_with("state");
        let is_of_event = setting.table != HOOKS && is_hooks(setting.table);
        is_own || is_of_event || setting.table.is_empty() && is_hooks(setting.line)
    })
}

fn snake_case(event: &str) -> String {
    let mut name = String::new();
    for (at, c) in event.char_indices() {
        if c.is_ascii_uppercase() && at > 0 {
            name.push('_');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(file: &str) -> HookEntry<'_> {
        HookEntry { file: Path::new(file), event: "PreToolUse", group: 0, hook: 1 }
    }

    #[test]
    fn a_review_is_found_in_each_way_to_write_it() {
        let file = "/p/.codex/hooks.json";
        for text in [
            "[hooks.state.\"/p/.codex/hooks.json:pre_tool_use:0:1\"]\ntrusted_hash = \"sha256:1\"",
            "x = 1\n[hooks.state.'/p/.codex/hooks.json:pre_tool_use:0:1'] # mine\n",
            "[hooks.state]\n\"/p/.codex/hooks.json:pre_tool_use:0:1\" = { trusted_hash = \"sha256:1\" }",
            "hooks.state.\"/p/.codex/hooks.json:pre_tool_use:0:1\".trusted_hash = \"sha256:1\"",
        ] {
            assert!(has_reviewed(text, &entry(file)), "{text}");
            assert!(!has_hooks(text), "{text}");
        }
        for text in [
            "",
            "[hooks.state.\"/p/.codex/hooks.json:pre_tool_use:0:0\"]",
            "[hooks.state.\"/p/.codex/hooks.json:post_tool_use:0:1\"]",
            "# [hooks.state.\"/p/.codex/hooks.json:pre_tool_use:0:1\"]",
            "[projects.\"/p/.codex/hooks.json:pre_tool_use:0:1\"]",
        ] {
            assert!(!has_reviewed(text, &entry(file)), "{text}");
        }
        assert!(has_reviewed("[hooks.state.\"/a\\\"b:pre_tool_use:0:1\"]", &entry("/a\"b")));
    }

    #[test]
    fn a_project_is_trusted_where_its_table_says_so() {
        let trusts = |text: &str| trusts(text, Path::new("/p"));
        assert!(trusts("[projects.\"/p\"]\ntrust_level = \"trusted\"\n"));
        assert!(trusts("[projects]\n\"/p\" = { trust_level = \"trusted\" }\n"));
        for text in [
            "",
            "[projects.\"/p\"]\n[projects.\"/q\"]\ntrust_level = \"trusted\"",
            "[projects.\"/p\"]\ntrust_level = \"untrusted\"",
            "[projects.\"/p/q\"]\ntrust_level = \"trusted\"",
        ] {
            assert!(!trusts(text), "{text}");
        }
    }

    #[test]
    fn hooks_in_it_are_told_from_reviews() {
        for text in ["[[hooks.Stop]]\nmatcher = \"x\"", "[hooks]\nStop = []", "hooks.Stop = []"] {
            assert!(has_hooks(text), "{text}");
        }
        for text in ["", "[hooks]\n", "[hooks.state.\"x\"]\na = 1", "hooksy = 1", "[other]\nhooks = 1"] {
            assert!(!has_hooks(text), "{text}");
        }
    }
}
