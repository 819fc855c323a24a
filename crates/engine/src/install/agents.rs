//! The names of agents, from their files (`.claude/agents/*.md`).

use std::path::{Path, PathBuf};

use super::scope::Scope;
use super::settings::ORIGINAL;
use conclaude_checks::guard::own_commands::NAME;
use conclaude_core::dialect::claude::tools::can_write;
use conclaude_core::dialect::claude::{layout, modes};
use conclaude_core::yaml::{self, Node};
use conclaude_os::files;
use conclaude_store::root::claude_folder;

/// The limit on nested folders that are searched for agents.
const MAX_DEPTH: usize = 8;

/// An agent's file is never this large.
const MAX_BYTES: u64 = 4 << 20;

/// What an agent's file says.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Agent {
    name: String,
    /// Whether it has a tool that changes files.
    can_write: bool,
}

/// The names of the project's or the user's agents, in the order of their files.
pub fn names(project: &Path, scope: Scope) -> Vec<String> {
    all(project, scope).into_iter().map(|agent| agent.name).collect()
}

/// The names of agents that can change files: only they can fix what a check finds.
pub fn writers(project: &Path, scope: Scope) -> Vec<String> {
    all(project, scope).into_iter().filter(|agent| agent.can_write).map(|agent| agent.name).collect()
}

/// The files with a hook of conclaude 0.2 in their frontmatter.
pub fn with_original_hooks(project: &Path) -> Vec<PathBuf> {
    let has_hook = |path: &PathBuf| {
        let text = files::read_text(path, MAX_BYTES).unwrap_or_default();
        frontmatter(&text).is_some_and(|lines| lines.iter().any(|line| is_original_hook(line)))
    };
    [Scope::Project, Scope::User]
        .into_iter()
        .flat_map(|scope| paths(project, scope))
        .filter(has_hook)
        .collect()
}

fn is_original_hook(line: &str) -> bool {
    let words: Vec<&str> = line.split(|c: char| c.is_whitespace() || "\"'/\\".contains(c)).collect();
    words.windows(2).any(|pair| pair == [NAME, ORIGINAL])
}

fn all(project: &Path, scope: Scope) -> Vec<Agent> {
    let paths = paths(project, scope);
    paths.iter().filter_map(|path| agent(&files::read_text(path, MAX_BYTES).ok()?)).collect()
}

fn paths(project: &Path, scope: Scope) -> Vec<PathBuf> {
    let folder = match scope {
        Scope::User => claude_folder().map(|folder| folder.join(layout::USER_AGENTS)),
        Scope::Project | Scope::Local => Some(project.join(layout::AGENTS)),
    };
    let mut paths = Vec::new();
    if let Some(folder) = folder {
        collect(&folder, MAX_DEPTH, &mut paths);
    }
    paths
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

fn frontmatter(text: &str) -> Option<Vec<&str>> {
    let mut lines = text.strip_prefix('\u{feff}').unwrap_or(text).lines().map(str::trim_end);
    lines.next().filter(|first| *first == "---")?;
    let mut rest: Vec<&str> = lines.collect();
    rest.truncate(rest.iter().position(|line| *line == "---")?);
    Some(rest)
}

fn agent(text: &str) -> Option<Agent> {
    let lines = &*frontmatter(text)?;
    let written = value(lines, "name")?.0;
    let name = match yaml::read(written).ok()?.value {
        Node::Text(name) => name.into_owned(),
        // A name such as `5` or `true` is used as it is written.
        _ => written.to_owned(),
    };
    let name = Some(name.trim().to_owned()).filter(|name| !name.is_empty())?;
    let denied = tools(lines, "disallowedTools").unwrap_or_default();
    let has_tools = can_write(tools(lines, "tools").as_deref(), &denied);
    let plans = value(lines, "permissionMode").is_some_and(|(mode, _)| !modes::may_write(mode));
    Some(Agent { name, can_write: has_tools && !plans })
}

/// The value of a key of the frontmatter, and the lines after it. The frontmatter is not parsed as YAML: descriptions are often
/// invalid, and Claude Code accepts them.
fn value<'a>(lines: &'a [&'a str], key: &str) -> Option<(&'a str, &'a [&'a str])> {
    let spelt = [key.to_owned(), format!("\"{key}\""), format!("'{key}'")];
    lines.iter().enumerate().find_map(|(at, line)| {
        let rest = spelt.iter().find_map(|key| line.strip_prefix(key.as_str()))?;
        let value = rest.trim_start().strip_prefix(':')?.trim();
        Some((value, lines.get(at + 1..).unwrap_or_default()))
    })
}

/// A list of tools, in any notation: `Read, Write`, `[Read, Write]`, or one per line. Returns `None` without the key.
fn tools(lines: &[&str], key: &str) -> Option<Vec<String>> {
    let (value, below) = value(lines, key)?;
    let below = below.iter().map_while(|line| line.trim_start().strip_prefix("- "));
    let words = value.trim_matches(['[', ']']).split(',').chain(below.take_while(|_| value.is_empty()));
    // `Agent(coder)` is the tool with a rule.
    let words = words.map(|word| word.trim().trim_matches(['"', '\'']).split('(').next().unwrap_or_default());
    let tools: Vec<String> = words.filter(|word| !word.is_empty()).map(str::to_owned).collect();
    if tools.is_empty() { None } else { Some(tools) }
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
            assert_eq!(agent(text).map(|agent| agent.name).as_deref(), expected, "{text:?}");
        }
    }

    #[test]
    fn only_agents_with_a_tool_for_it_can_write() {
        for (frontmatter, expected) in [
            ("", true),
            ("tools:", true),
            ("tools: \"*\"", true),
            ("tools: Read, Edit, Bash", true),
            ("tools: [\"Read\", 'Write']", true),
            ("tools:\n  - Read\n  - NotebookEdit\nmodel: x", true),
            ("tools: Read, Grep, Bash", false),
            ("tools:\n- Read\n- Grep\nmodel: Write", false),
            ("disallowedTools: Write, Edit", false),
            ("disallowedTools: Edit", true),
            ("permissionMode: plan", false),
        ] {
            let text = format!("---\nname: x\n{frontmatter}\n---\nTools: Write\n");
            assert_eq!(agent(&text).unwrap().can_write, expected, "{frontmatter:?}");
        }
    }
}
