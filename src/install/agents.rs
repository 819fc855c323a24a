//! The names of agents, from their files (`.claude/agents/*.md`).

use std::path::{Path, PathBuf};

use super::scope::{Scope, user_folder};
use crate::files;

/// Folders below folders, as far as anyone sorts agents.
const MAX_DEPTH: usize = 8;

/// An agent's file is never this large.
const MAX_BYTES: u64 = 4 << 20;

/// The names of the project's or the user's agents, in the order of their files.
pub(crate) fn names(project: &Path, scope: Scope) -> Vec<String> {
    let folder = match scope {
        Scope::User => user_folder().map(|folder| folder.join("agents")),
        Scope::Project | Scope::Local => Some(project.join(".claude/agents")),
    };
    let mut paths = Vec::new();
    if let Some(folder) = folder {
        collect(&folder, MAX_DEPTH, &mut paths);
    }
    paths.iter().filter_map(|path| name(&files::read_text(path, MAX_BYTES).ok()?)).collect()
}

fn collect(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    entries.sort_unstable();
    for path in entries {
        if path.is_dir() && depth > 0 {
            collect(&path, depth - 1, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

/// The `name` in the frontmatter. Only its own line is read as YAML: descriptions often are none, and Claude Code accepts them.
fn name(text: &str) -> Option<String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let (first, rest) = lines.split_first()?;
    let end = rest.iter().position(|line| *line == "---").filter(|_| *first == "---")?;
    let value = rest.iter().take(end).find_map(|line| {
        let rest = ["name", "\"name\"", "'name'"].iter().find_map(|key| line.strip_prefix(key))?;
        rest.trim_start().strip_prefix(':')
    })?;
    let name: String = serde_saphyr::from_str(value.trim()).ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_read_whatever_else_is_in_the_frontmatter() {
        for (text, expected) in [
            ("---\nname: coder\ndescription: writes\n---\nYou are a coder.\n", Some("coder")),
            ("---\r\nname: \"a: b\" # the name\r\ntools: Read\r\n---\r\nbody\r\n---\r\n", Some("a: b")),
            ("\u{feff}---\nname: x\ndescription: Use this: when it is: so\n---\n", Some("x")),
            ("---\n\"name\" : x\n---", Some("x")),
            ("---\nhooks:\n  name: inner\nnames: many\n---\n", None),
            ("---\nname:\n---\n", None),
            ("---\nname: never closed\n", None),
            ("no frontmatter", None),
            ("", None),
        ] {
            assert_eq!(name(text).as_deref(), expected, "{text:?}");
        }
    }
}
