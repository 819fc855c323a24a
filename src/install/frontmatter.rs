//! Hooks in the frontmatter of an agent's file (`.claude/agents/*.md`): lines are added and taken away, and every other
//! line stays as it is, with its comments and its line ending.

use std::ops::Range;

use serde_json::Value;

use crate::event::{self, Event};
use crate::install::settings::{Refusal, Registration, is_own_command};

const NO_FRONTMATTER: &str = "it has no frontmatter (`---` in its first line)";

/// The lines of a file, each with its line ending, and where the frontmatter begins and ends.
struct File<'a> {
    lines: Vec<&'a str>,
    /// The line after the first `---`, and that of the second.
    inside: Range<usize>,
}

impl<'a> File<'a> {
    fn read(text: &'a str) -> Result<Self, Refusal> {
        let refuse = |what: &str| Err(Refusal(what.into()));
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let is_fence = |line: &&str| line.trim_end() == "---";
        if !lines
            .first()
            .map(|line| line.strip_prefix('\u{feff}').unwrap_or(line))
            .is_some_and(|line| is_fence(&line))
        {
            return refuse(NO_FRONTMATTER);
        }
        match lines.iter().skip(1).position(is_fence) {
            Some(end) => Ok(File { lines, inside: 1..end + 1 }),
            None => refuse("its frontmatter does not end (no second `---`)"),
        }
    }

    fn inside(&self) -> impl Iterator<Item = (usize, &'a str)> {
        let lines = self.lines.get(self.inside.clone()).unwrap_or_default().to_vec();
        let start = self.inside.start;
        lines.into_iter().enumerate().map(move |(at, line)| (start + at, line))
    }

    /// The block below a line: all that is indented deeper, or a list that begins right at `indent`.
    fn block(&self, key: usize, indent: usize, end: usize) -> Range<usize> {
        let belongs = |line: &str| {
            let here = indentation(line);
            here > indent || (here == indent && is_item(line))
        };
        let mut last = key + 1;
        for (at, line) in (key + 1..end).filter_map(|at| Some((at, *self.lines.get(at)?))) {
            if is_blank(line) {
                continue;
            }
            if !belongs(line) {
                break;
            }
            last = at + 1;
        }
        key + 1..last
    }

    fn text(&self, range: Range<usize>) -> String {
        self.lines.get(range).unwrap_or_default().concat()
    }
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Lines that have no say in where a block ends.
fn is_blank(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

fn is_item(line: &str) -> bool {
    let line = line.trim();
    line == "-" || line.starts_with("- ")
}

/// The key of a line, and what stands behind its colon.
fn key_of(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let (key, rest) = match line.strip_prefix(['"', '\'']) {
        Some(quoted) => {
            let (key, rest) = quoted.split_once(['"', '\''])?;
            (key, rest.trim_start().strip_prefix(':')?)
        }
        None => line.split_once(':')?,
    };
    Some((key.trim(), rest.trim()))
}

/// A part of the frontmatter that is a mapping of its own, and its children.
struct Block {
    key: usize,
    content: Range<usize>,
}

/// An event of the hooks, and the entries of its list.
struct Hooked {
    name: String,
    block: Block,
    items: Vec<Range<usize>>,
}

/// Whether the file is an agent's at all, and not a README beside them.
#[must_use]
pub fn is_agent(text: &str) -> bool {
    !matches!(File::read(text), Err(Refusal(why)) if why == NO_FRONTMATTER)
}

/// The name that the agent's file gives it.
#[must_use]
pub fn name(text: &str) -> Option<String> {
    let file = File::read(text).ok()?;
    let line = file.inside().find_map(|(_, line)| {
        let (key, value) = key_of(line).filter(|_| indentation(line) == 0)?;
        (key == "name").then_some(value)
    })?;
    let parsed: Option<String> = serde_saphyr::from_str(line).ok();
    parsed.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty())
}

fn hooks_block(file: &File<'_>) -> Result<Option<Block>, Refusal> {
    let found = file
        .inside()
        .find(|(_, line)| indentation(line) == 0 && key_of(line).is_some_and(|(key, _)| key == "hooks"));
    let Some((key, line)) = found else { return Ok(None) };
    let rest = key_of(line).map(|(_, rest)| rest).unwrap_or_default();
    if !(rest.is_empty() || rest.starts_with('#')) {
        return Err(Refusal(
            "its `hooks` are written on one line: write them in lines of their own first".into(),
        ));
    }
    let content = file.block(key, 0, file.inside.end);
    if content.is_empty() {
        return Err(Refusal("its `hooks:` are empty: remove that line first".into()));
    }
    Ok(Some(Block { key, content }))
}

/// The events of the block, each with its items.
fn events_of(file: &File<'_>, hooks: &Block) -> Result<Vec<Hooked>, Refusal> {
    let lines = || hooks.content.clone().filter_map(|at| Some((at, *file.lines.get(at)?)));
    let Some(indent) = lines().find(|(_, line)| !is_blank(line)).map(|(_, line)| indentation(line)) else {
        return Ok(Vec::new());
    };
    let keys = lines().filter(|(_, line)| !is_blank(line) && indentation(line) == indent && !is_item(line));
    let mut events = Vec::new();
    for (key, line) in keys {
        let (name, rest) =
            key_of(line).ok_or_else(|| Refusal(format!("line {} is not `event:`", key + 1)))?;
        if !(rest.is_empty() || rest.starts_with('#')) {
            return Err(Refusal(format!(
                "the hooks of `{name}` are written on one line: write them in lines of their own first"
            )));
        }
        let content = file.block(key, indent, hooks.content.end);
        let items = items_of(file, &content);
        events.push(Hooked { name: name.to_owned(), block: Block { key, content }, items });
    }
    Ok(events)
}

fn items_of(file: &File<'_>, content: &Range<usize>) -> Vec<Range<usize>> {
    let lines = || content.clone().filter_map(|at| Some((at, *file.lines.get(at)?)));
    let Some(indent) = lines().find(|(_, line)| is_item(line)).map(|(_, line)| indentation(line)) else {
        return Vec::new();
    };
    let starts: Vec<usize> =
        lines().filter(|(_, line)| is_item(line) && indentation(line) == indent).map(|(at, _)| at).collect();
    let ends = starts.iter().skip(1).copied().chain([content.end]);
    // Comments and blank lines before the next item belong to that one.
    let trimmed = |start: usize, end: usize| {
        let blank = |at: usize| file.lines.get(at).is_none_or(|line| is_blank(line));
        (start + 1..end).rev().find(|at| !blank(*at)).map_or(start + 1, |last| last + 1)
    };
    starts.iter().copied().zip(ends).map(|(start, end)| start..trimmed(start, end)).collect()
}

fn parsed(text: &str) -> Result<Value, Refusal> {
    serde_saphyr::from_str(text).map_err(|error| {
        let what = error.to_string();
        Refusal(format!("its hooks cannot be read: {}", what.lines().next().unwrap_or_default()))
    })
}

/// The commands of one item, or of several, and whether all of them are ours.
fn is_ours(item: &Value) -> bool {
    let hooks = item.get("hooks").and_then(Value::as_array);
    let is_own = |hook: &Value| {
        let command = hook.get("command").and_then(Value::as_str);
        command.is_some_and(|command| event::names().any(|event| is_own_command(command, event)))
    };
    hooks.is_some_and(|hooks| !hooks.is_empty() && hooks.iter().all(is_own))
}

/// What the hooks mean without ours.
fn others(hooks: &Value) -> Value {
    let Some(events) = hooks.as_object() else { return hooks.clone() };
    let kept = events.iter().filter_map(|(event, items)| {
        let items: Vec<Value> = items.as_array()?.iter().filter(|item| !is_ours(item)).cloned().collect();
        (!items.is_empty()).then(|| (event.clone(), Value::from(items)))
    });
    Value::Object(kept.collect())
}

/// What all hooks of a file mean.
fn meaning(text: &str) -> Result<Value, Refusal> {
    let file = File::read(text)?;
    match hooks_block(&file)? {
        None => Ok(Value::Object(serde_json::Map::new())),
        Some(hooks) => parsed(&file.text(hooks.content)),
    }
}

/// What of ours an agent's file has.
///
/// # Errors
/// When its hooks have a form that we do not understand.
pub fn registered(text: &str) -> Result<Vec<Registration>, Refusal> {
    let hooks = meaning(text)?;
    let mut found = Vec::new();
    for (_, items) in hooks.as_object().into_iter().flatten() {
        for item in items.as_array().into_iter().flatten().filter(|item| is_ours(item)) {
            for hook in item.get("hooks").and_then(Value::as_array).into_iter().flatten() {
                let command = hook.get("command").and_then(Value::as_str).unwrap_or_default();
                let event = event::ALL.iter().find(|event| is_own_command(command, event.name()));
                found.extend(event.map(|event| Registration {
                    event: *event,
                    matcher: item.get("matcher").and_then(Value::as_str).map(str::to_owned),
                    command: command.to_owned(),
                    timeout: hook.get("timeout").and_then(Value::as_u64).unwrap_or(600),
                    flaw: None,
                }));
            }
        }
    }
    Ok(found)
}

/// The event's name in a frontmatter: the client calls what stands at `Stop` there when the subagent stops.
fn key(event: Event) -> &'static str {
    if event == Event::SubagentStop { "Stop" } else { event.name() }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn item(one: &Registration, indent: &str, newline: &str) -> String {
    let first = match &one.matcher {
        Some(matcher) => format!("{indent}- matcher: {}{newline}{indent}  hooks:{newline}", quoted(matcher)),
        None => format!("{indent}- hooks:{newline}"),
    };
    let (command, timeout) = (quoted(&one.command), one.timeout);
    format!(
        "{first}{indent}    - type: \"command\"{newline}{indent}      command: {command}{newline}{indent}      timeout: {timeout}{newline}"
    )
}

/// The text with these hooks in it and no others of ours.
///
/// # Errors
/// When the file has a form that we do not understand, and so must not touch.
pub fn install(text: &str, wanted: &[Registration]) -> Result<String, Refusal> {
    if registered(text)? == wanted {
        return Ok(text.to_owned());
    }
    let mut out = uninstall(text)?;
    for one in wanted {
        out = install_one(&out, one)?;
    }
    unharmed(text, &out)?;
    let now = registered(&out)?;
    if now.len() != wanted.len() || !wanted.iter().all(|one| now.contains(one)) {
        return Err(Refusal("its frontmatter has a form that cannot be added to safely".into()));
    }
    Ok(out)
}

/// What others have registered must mean the same as before.
fn unharmed(before: &str, after: &str) -> Result<(), Refusal> {
    if others(&meaning(before)?) == others(&meaning(after)?) && name(before) == name(after) {
        Ok(())
    } else {
        Err(Refusal("its frontmatter has a form that cannot be changed safely".into()))
    }
}

fn install_one(text: &str, one: &Registration) -> Result<String, Refusal> {
    let file = File::read(text)?;
    let is_windows = file.lines.first().is_some_and(|line| line.ends_with("\r\n"));
    let newline = if is_windows { "\r\n" } else { "\n" };
    let key_line = format!("\"{}\":{newline}", key(one.event));
    let (at, addition) = match hooks_block(&file)? {
        None => {
            let event = format!("  {key_line}{}", item(one, "    ", newline));
            (file.inside.end, format!("hooks:{newline}{event}"))
        }
        Some(hooks) => {
            let events = events_of(&file, &hooks)?;
            let indent_at = |at: usize| " ".repeat(file.lines.get(at).map_or(0, |line| indentation(line)));
            match events.iter().find(|hooked| hooked.name == key(one.event)) {
                Some(Hooked { block, items, .. }) => {
                    let Some(first) = items.first() else {
                        return Err(Refusal(format!("its hooks of `{}` are not a list", key(one.event))));
                    };
                    (block.content.end, item(one, &indent_at(first.start), newline))
                }
                None => {
                    let indent =
                        events.first().map_or_else(|| "  ".into(), |hooked| indent_at(hooked.block.key));
                    let items = item(one, &format!("{indent}  "), newline);
                    (hooks.content.end, format!("{indent}{key_line}{items}"))
                }
            }
        }
    };
    let before = file.text(0..at);
    // The last line of the frontmatter always has an end: `---` follows.
    Ok(format!("{before}{addition}{}", file.text(at..file.lines.len())))
}

/// The text without anything of ours. What becomes empty by that goes too.
///
/// # Errors
/// When the file has a form that we do not understand, and so must not touch.
pub fn uninstall(text: &str) -> Result<String, Refusal> {
    let file = File::read(text)?;
    let Some(hooks) = hooks_block(&file)? else { return Ok(text.to_owned()) };
    if !is_any_ours(&parsed(&file.text(hooks.content.clone()))?) {
        return Ok(text.to_owned());
    }
    let events = events_of(&file, &hooks)?;
    let mut gone: Vec<usize> = Vec::new();
    let mut kept_events = 0;
    for Hooked { block, items, .. } in &events {
        let ours: Vec<&Range<usize>> = items
            .iter()
            .filter(|item| {
                parsed(&file.text((*item).clone())).is_ok_and(|list| list.get(0).is_some_and(is_ours))
            })
            .collect();
        gone.extend(ours.iter().flat_map(|item| (*item).clone()));
        if ours.len() == items.len() && !items.is_empty() {
            gone.push(block.key);
        } else {
            kept_events += 1;
        }
    }
    if kept_events == 0 {
        gone.push(hooks.key);
    }
    let kept = file.lines.iter().enumerate().filter(|(at, _)| !gone.contains(at)).map(|(_, line)| *line);
    let out: String = kept.collect();
    unharmed(text, &out)?;
    if !registered(&out)?.is_empty() {
        return Err(Refusal(
            "conclaude and another command stand in one entry of its hooks: part them first".into(),
        ));
    }
    Ok(out)
}

fn is_any_ours(hooks: &Value) -> bool {
    hooks
        .as_object()
        .into_iter()
        .flatten()
        .any(|(_, items)| items.as_array().is_some_and(|items| items.iter().any(is_ours)))
}

#[cfg(test)]
mod tests;
