//! Keys of the original conclaude (0.2.9), with their names here or with advice. Keys with a counterpart are replaced in the tree
//! before anything reads it, so the rest of the program knows only our keys.

use crate::event::EventKind;
use crate::yaml::{MapEntry, Node, Span, Spanned, Text};

/// Where a key is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyPlace<'a> {
    /// A section of the config.
    Top,
    /// A key of this section.
    Section(&'a str),
    /// A key of a command, in any section.
    Command,
    /// A key of an entry of `uneditableFiles`, or of `toolUsageValidation`.
    Rule,
}

/// The counterpart of a key of the original.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Replacement {
    /// The key has this name here.
    Named(&'static str),
    /// The value has a different notation here, and is converted.
    Rewritten(&'static str),
    /// No counterpart: the advice.
    Instead(&'static str),
}

/// The table of all foreign keys. Sections and keys with the same meaning here have no row.
pub(super) const KEYS: &[(KeyPlace<'static>, &str, Replacement)] = &[
    (KeyPlace::Top, "skillStart", Replacement::Named("subagentStart")),
    (KeyPlace::Top, "rules", Replacement::Instead("write its keys in `preToolUse`")),
    (
        KeyPlace::Top,
        "gitWorktree",
        Replacement::Instead("Claude Code makes worktrees; `worktreeCreate` can do it instead"),
    ),
    (KeyPlace::Section("worktreeCreate"), "command", Replacement::Rewritten("`commands: [{run: …}]`")),
    (KeyPlace::Section("worktreeCreate"), "timeout", Replacement::Rewritten("`timeout` of the command")),
    (
        KeyPlace::Section("preToolUse"),
        "preventRootAdditionsMessage",
        Replacement::Rewritten("`preventRootAdditions: {enabled: true, message: …}`"),
    ),
    (
        KeyPlace::Section("preToolUse"),
        "preventGeneratedFileEdits",
        Replacement::Instead("name the generated files in `uneditableFiles`"),
    ),
    (
        KeyPlace::Section("preToolUse"),
        "generatedFileMessage",
        Replacement::Instead("write it as `message` of an entry of `uneditableFiles`"),
    ),
    (KeyPlace::Section("stop"), "run", Replacement::Instead("write `commands: [{run: …}]`")),
    (
        KeyPlace::Section("stop"),
        "rounds",
        Replacement::Instead("write `infinite: true`; `maxBlocks` is the number of rounds"),
    ),
    (
        KeyPlace::Section("stop"),
        "grep",
        Replacement::Instead("write a command, such as `run: \"! grep -rn PATTERN FILES\"`"),
    ),
    (
        KeyPlace::Command,
        "rg",
        Replacement::Instead("write a command, such as `run: \"! rg PATTERN -g FILES\"`"),
    ),
    (KeyPlace::Command, "action", Replacement::Instead("write `onFailure: block` or `onFailure: warn`")),
    (KeyPlace::Command, "skill", Replacement::Named("agent")),
    (
        KeyPlace::Command,
        "tool",
        Replacement::Rewritten("the key of its list: `commands: {TOOL: [{run: …}]}`"),
    ),
    (KeyPlace::Rule, "skill", Replacement::Named("agent")),
];

fn row(at: KeyPlace<'_>, key: &str) -> Option<Replacement> {
    KEYS.iter().find(|(of, name, _)| *name == key && *of == at).map(|(.., replacement)| *replacement)
}

/// The event of a section. A section of the original is never read as an event of a newer Claude Code.
pub(super) fn event_of(section: &str) -> Option<EventKind> {
    if row(KeyPlace::Top, section).is_some() {
        return None;
    }
    EventKind::of_section_or_future(section)
}

/// Whether it is a section of the original.
pub(super) fn is_known(section: &str) -> bool {
    row(KeyPlace::Top, section).is_some()
}

/// What to write instead of an unknown key.
pub fn instead(at: KeyPlace<'_>, key: &str) -> Option<String> {
    let replacement = row(at, key)?;
    let what = match replacement {
        Replacement::Named(_) => "called it so",
        Replacement::Rewritten(_) => "wrote it so",
        Replacement::Instead(_) => "had this key",
    };
    Some(format!("conclaude 0.2 {what}: {}", replacement.advice()))
}

impl Replacement {
    fn advice(self) -> String {
        match self {
            Replacement::Named(name) => format!("write `{name}`"),
            Replacement::Rewritten(what) => format!("write {what}"),
            Replacement::Instead(what) => what.to_owned(),
        }
    }
}

/// A key of the original that was converted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldKey {
    pub span: Span,
    pub key: &'static str,
    replacement: Replacement,
}

impl OldKey {
    /// What to write instead.
    #[must_use]
    pub fn advice(&self) -> String {
        self.replacement.advice()
    }
}

/// Converts the original's notation into ours. Its remaining keys are unknown.
pub fn translate(tree: &mut Spanned<Node>) -> Vec<OldKey> {
    let mut found = Vec::new();
    let Node::Map(sections) = &mut tree.value else { return found };
    let sections = sections.to_mut();
    rename(sections, KeyPlace::Top, &mut found);
    for (name, section) in sections {
        let Node::Map(entries) = &mut section.value else { continue };
        let entries = entries.to_mut();
        match name.value.as_ref() {
            "worktreeCreate" => worktree_command(entries, &mut found),
            "preToolUse" => root_message(entries, &mut found),
            _ => {}
        }
        for (key, value) in entries {
            match key.value.as_ref() {
                "commands" => commands(&name.value, value, &mut found),
                "uneditableFiles" | "toolUsageValidation" => rules(value, &mut found),
                _ => {}
            }
        }
    }
    found
}

/// Renames keys, unless a key with the new name exists too: then one of them is a mistake.
fn rename(entries: &mut [MapEntry], at: KeyPlace<'_>, found: &mut Vec<OldKey>) {
    for (of, old, replacement) in KEYS {
        let Replacement::Named(new) = replacement else { continue };
        if *of != at || entries.iter().any(|(key, _)| key.value == *new) {
            continue;
        }
        if let Some((key, _)) = entries.iter_mut().find(|(key, _)| key.value == *old) {
            found.push(OldKey { span: key.span, key: old, replacement: *replacement });
            key.value = (*new).into();
        }
    }
}

fn rules(list: &mut Spanned<Node>, found: &mut Vec<OldKey>) {
    let Node::List(items) = &mut list.value else { return };
    for item in items.to_mut() {
        if let Node::Map(entries) = &mut item.value {
            let entries = entries.to_mut();
            rename(entries, KeyPlace::Rule, found);
            // Claude Code uses this name.
            let action = entries.iter_mut().find(|(key, _)| key.value == "action");
            if let Some((_, Spanned { value: Node::Text(word), .. })) = action
                && *word == "deny"
            {
                *word = "block".into();
            }
        }
    }
}

fn commands(section: &str, value: &mut Spanned<Node>, found: &mut Vec<OldKey>) {
    let names_tool = EventKind::of_section(section).is_some_and(crate::dialect::claude::fields::has_tool);
    if names_tool {
        by_tool(value, found);
    }
    let lists: Vec<&mut Spanned<Node>> = match &mut value.value {
        Node::Map(patterns) => patterns.to_mut().iter_mut().map(|(_, list)| list).collect(),
        Node::List(_) => vec![value],
        _ => return,
    };
    for list in lists {
        let Node::List(commands) = &mut list.value else { continue };
        for command in commands.to_mut() {
            if let Node::Map(entries) = &mut command.value {
                rename(entries.to_mut(), KeyPlace::Command, found);
            }
        }
    }
}

/// Converts a list of commands that name their tool into one list per tool.
fn by_tool(value: &mut Spanned<Node>, found: &mut Vec<OldKey>) {
    let Node::List(commands) = &mut value.value else { return };
    let has_tool = |command: &Spanned<Node>| match &command.value {
        Node::Map(entries) => {
            entries.iter().any(|(key, value)| key.value == "tool" && matches!(value.value, Node::Text(_)))
        }
        _ => false,
    };
    if !commands.iter().any(has_tool) {
        return;
    }
    let mut lists: Vec<MapEntry> = Vec::new();
    for mut command in std::mem::take(commands).into_owned() {
        let tool = match &mut command.value {
            Node::Map(entries) => take_text(entries.to_mut(), "tool"),
            _ => None,
        };
        if let Some((key, _)) = &tool {
            found.extend(old_key(KeyPlace::Command, "tool", key.span));
        }
        let pattern = tool.map_or_else(|| at(command.span, "*".into()), |(_, tool)| tool);
        match lists.iter_mut().find(|(key, _)| key.value == pattern.value) {
            Some((_, Spanned { value: Node::List(list), .. })) => list.to_mut().push(command),
            _ => {
                let span = command.span;
                lists.push((pattern, at(span, Node::List(vec![command].into()))));
            }
        }
    }
    value.value = Node::Map(lists.into());
}

/// Converts `command` and `timeout` of `worktreeCreate` into its one command.
fn worktree_command(entries: &mut Vec<MapEntry>, found: &mut Vec<OldKey>) {
    if position(entries, "commands").is_some() || position(entries, "command").is_none() {
        return;
    }
    let mut fields: Vec<MapEntry> = Vec::new();
    for (old, new) in [("command", "run"), ("timeout", "timeout")] {
        let Some((mut key, value)) = take(entries, old) else { continue };
        found.extend(old_key(KeyPlace::Section("worktreeCreate"), old, key.span));
        key.value = new.into();
        fields.push((key, value));
    }
    let Some((key, value)) = fields.first() else { return };
    let (key, span) = (at(key.span, "commands".into()), value.span);
    // `command: null` is not a command.
    if !matches!(value.value, Node::Null) {
        entries.push((key, at(span, Node::List(vec![at(span, Node::Map(fields.into()))].into()))));
    }
}

/// Converts the message of `preventRootAdditions`, which was a separate key. The switch was on by default.
fn root_message(entries: &mut Vec<MapEntry>, found: &mut Vec<OldKey>) {
    const MESSAGE: &str = "preventRootAdditionsMessage";
    const SWITCH: &str = "preventRootAdditions";
    let is_plain = |entry: &MapEntry| matches!(entry.1.value, Node::Bool(_) | Node::Null);
    let switch = entries.iter().find(|(key, _)| key.value == SWITCH);
    if position(entries, MESSAGE).is_none() || !switch.is_none_or(is_plain) {
        return;
    }
    let enabled = switch.map_or(Node::Null, |(_, value)| value.value.clone());
    let enabled = if enabled == Node::Null { Node::Bool(true) } else { enabled };
    let Some((mut message, text)) = take(entries, MESSAGE) else { return };
    found.extend(old_key(KeyPlace::Section("preToolUse"), MESSAGE, message.span));
    let (key, span) = match take(entries, SWITCH) {
        Some((key, value)) => (key, value.span),
        None => (at(message.span, SWITCH.into()), text.span),
    };
    message.value = "message".into();
    let fields = vec![(at(key.span, "enabled".into()), at(span, enabled)), (message, text)];
    entries.push((key, at(span, Node::Map(fields.into()))));
}

fn old_key(place: KeyPlace<'static>, key: &'static str, span: Span) -> Option<OldKey> {
    Some(OldKey { span, key, replacement: row(place, key)? })
}

fn at<T>(span: Span, value: T) -> Spanned<T> {
    Spanned { value, span }
}

fn position(entries: &[MapEntry], key: &str) -> Option<usize> {
    entries.iter().position(|(name, _)| name.value == key)
}

fn take(entries: &mut Vec<MapEntry>, key: &str) -> Option<MapEntry> {
    position(entries, key).map(|at| entries.remove(at))
}

/// Takes a key with its text. Any other value stays, and is an error.
fn take_text(entries: &mut Vec<MapEntry>, key: &str) -> Option<(Spanned<Text>, Spanned<Text>)> {
    let index = position(entries, key)?;
    let (_, Spanned { value: Node::Text(text), span }) = entries.get(index)? else { return None };
    let text = at(*span, text.clone());
    Some((entries.remove(index).0, text))
}

#[cfg(test)]
mod tests;
