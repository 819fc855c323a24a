//! Commands of conclaude 0.2, which ran by bash, where here `/bin/sh` runs them.

use std::path::Path;

use super::{CommandEntry, command_keys, commands};
use conclaude_core::config::{ConclaudeConfig, Remark};
use conclaude_core::text::count;
use conclaude_core::yaml::{self, Node, Spanned};
use shell_effects::placeholder::needs_bash;

/// Scripts that only bash understands.
pub(super) fn remarks(config: &ConclaudeConfig) -> Vec<Remark> {
    let remark = |entry: CommandEntry<'_>| {
        let what = needs_bash(entry.command.run.as_str())?;
        let section = entry.event.row().section;
        let keys = command_keys(section, entry.pattern, &entry.index.to_string(), "run");
        let remark = Remark::new(keys, format!("{section}: `/bin/sh` may not know `{what}`"));
        Some(remark.because("conclaude 0.2 ran commands by bash").help("add `shell: bash`"))
    };
    commands(config).filter(|entry| entry.command.shell.is_none()).filter_map(remark).collect()
}

/// The text with `shell: bash` at each command that needs it, and what was done.
pub(super) fn with_shell(text: &str) -> (String, Option<String>) {
    let Ok(tree) = yaml::read(text) else { return (text.to_owned(), None) };
    let mut starts = Vec::new();
    find(&tree, text, &mut starts);
    let mut changed = text.to_owned();
    // From the last one on, so that the others stay where they are.
    for start in starts.iter().rev() {
        let before = changed.get(..*start).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        let is_block = line.chars().all(|c| matches!(c, ' ' | '-'));
        let indent = " ".repeat(line.chars().count());
        let added = if is_block { format!("shell: bash\n{indent}") } else { "shell: bash, ".to_owned() };
        changed.insert_str(*start, &added);
    }
    let has_them = |text: &str| {
        ConclaudeConfig::parse(text, Path::new("")).is_ok_and(|config| remarks(&config).is_empty())
    };
    if starts.is_empty() || !has_them(&changed) {
        return (text.to_owned(), None);
    }
    let commands = count(starts.len() as u64, "command");
    (
        changed,
        Some(format!(
            "added `shell: bash` to {commands}: conclaude 0.2 ran commands by bash, and here `/bin/sh` does"
        )),
    )
}

/// Where commands without a shell start that need bash.
fn find(node: &Spanned<Node>, text: &str, starts: &mut Vec<usize>) {
    match &node.value {
        Node::List(items) => items.iter().for_each(|item| find(item, text, starts)),
        Node::Map(entries) => {
            let value =
                |name: &str| entries.iter().find(|(key, _)| key.value == name).map(|(_, value)| value);
            let script = value("run").and_then(|value| match &value.value {
                Node::Text(script) => needs_bash(script.as_ref()),
                _ => None,
            });
            if let (Some(_), None, Some((key, _))) = (script, value("shell"), entries.first()) {
                starts.push(key.span.first_line(text).start);
            }
            entries.iter().for_each(|(_, value)| find(value, text, starts));
        }
        _ => {}
    }
}
