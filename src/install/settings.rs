//! Claude Code's `settings.json`, which belongs to the user: what we add is spliced into the text, and everything else
//! stays byte for byte as it was.

use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::event::Event;

mod known;

use known::{hooks_of, is_ours};
pub use known::{is_own_command, lookalikes, registered, switches_hooks_off, word};

/// A hook to be registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    /// The event.
    pub event: Event,
    /// What the client compares before it calls; none calls always.
    pub matcher: Option<String>,
    /// The command line.
    pub command: String,
    /// Seconds that the client gives it.
    pub timeout: u64,
    /// Something in the entry that keeps it from working, in words.
    pub flaw: Option<&'static str>,
}

impl Registration {
    fn value(&self) -> Value {
        let hook = json!({ "type": "command", "command": self.command, "timeout": self.timeout });
        match &self.matcher {
            Some(matcher) => json!({ "matcher": matcher, "hooks": [hook] }),
            None => json!({ "hooks": [hook] }),
        }
    }
}

/// Why a settings file is left as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub String);

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refusal {}

/// The entries of an object with the places of their values in the text.
struct Entries<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Entries<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Entries<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// Where a value stands in the text that it was read from.
fn place(text: &str, raw: &RawValue) -> Range<usize> {
    let start = raw.get().as_ptr() as usize - text.as_ptr() as usize;
    start..start + raw.get().len()
}

fn entries<'a>(text: &'a str, what: &str) -> Result<Entries<'a>, Refusal> {
    let entries: Entries<'a> = serde_json::from_str(text)
        .map_err(|error| Refusal(format!("{what} is not a JSON object: {error}")))?;
    let mut names: Vec<&str> = entries.0.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    if let Some([twice, _]) = names.windows(2).find(|pair| pair.first() == pair.last()) {
        return Err(Refusal(format!("{what} has the key `{twice}` twice: merge the two first")));
    }
    Ok(entries)
}

/// One change of the text.
struct Edit {
    at: Range<usize>,
    with: String,
}

fn apply(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_unstable_by_key(|edit| std::cmp::Reverse(edit.at.start));
    let mut out = text.to_owned();
    for edit in edits {
        out.replace_range(edit.at, &edit.with);
    }
    out
}

/// The file's own unit of indentation.
fn unit(text: &str) -> String {
    let line = text.lines().find(|line| line.starts_with([' ', '\t']) && !line.trim().is_empty());
    line.map_or_else(|| "  ".into(), |line| line.chars().take_while(|c| matches!(c, ' ' | '\t')).collect())
}

/// Adds `addition` at the end of the object or list at `container`, in its own manner.
fn append(text: &str, container: &Range<usize>, last: Option<Range<usize>>, addition: &str) -> Edit {
    let newline = newline(text);
    let line_start = |at: usize| text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    let indent_of = |at: usize| -> String {
        text.get(line_start(at)..)
            .unwrap_or_default()
            .chars()
            .take_while(|c| matches!(c, ' ' | '\t'))
            .collect()
    };
    let indented = |indent: &str| addition.replace('\n', &format!("{newline}{indent}"));
    match last {
        Some(last) if line_start(last.start) > container.start => {
            let indent = indent_of(last.start);
            Edit { at: last.end..last.end, with: format!(",{newline}{indent}{}", indented(&indent)) }
        }
        // All on one line: so is what is added.
        Some(last) => {
            let flat: String = addition.lines().map(str::trim_start).collect::<Vec<_>>().join(" ");
            Edit { at: last.end..last.end, with: format!(", {flat}") }
        }
        None => {
            let outer = indent_of(container.start);
            let inner = format!("{outer}{}", unit(text));
            let inside = container.start + 1..container.end - 1;
            Edit { at: inside, with: format!("{newline}{inner}{}{newline}{outer}", indented(&inner)) }
        }
    }
}

fn pretty(value: &Value, unit: &str) -> String {
    let mut out = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(unit.as_bytes());
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, formatter);
    match serde::Serialize::serialize(value, &mut serializer) {
        Ok(()) => String::from_utf8(out).unwrap_or_default(),
        Err(_) => value.to_string(),
    }
}

/// The text with all registrations in it. One that is there already in the same form stays; one of ours in another form is
/// replaced where it stands.
///
/// # Errors
/// When the file has a form that we do not understand, and so must not touch.
pub fn install(text: &str, wanted: &[Registration]) -> Result<String, Refusal> {
    let start = if text.trim().is_empty() { "{}\n" } else { text };
    let mut text = start.to_owned();
    // One after the other: each sees the text that the one before has left.
    for registration in wanted {
        text = install_one(&text, registration)?;
    }
    Ok(text)
}

fn install_one(text: &str, registration: &Registration) -> Result<String, Refusal> {
    let (event, unit) = (registration.event.name(), unit(text));
    let group = pretty(&registration.value(), &unit);
    let top = entries(text, "the settings file")?;
    let whole = {
        let start = text.len() - text.trim_start().len();
        start..text.trim_end().len()
    };
    let Some((_, hooks)) = top.0.iter().find(|(name, _)| name == "hooks") else {
        let value = pretty(&json!({ event: [registration.value()] }), &unit);
        let last = top.0.last().map(|(_, raw)| place(text, raw));
        return Ok(apply(text, vec![append(text, &whole, last, &format!("\"hooks\": {value}"))]));
    };
    let events = entries(hooks.get(), "`hooks`")?;
    let hooks_place = place(text, hooks);
    let Some((_, list)) = events.0.iter().find(|(name, _)| name == event) else {
        let value = pretty(&json!([registration.value()]), &unit);
        let last = events.0.last().map(|(_, raw)| place(text, raw));
        return Ok(apply(text, vec![append(text, &hooks_place, last, &format!("\"{event}\": {value}"))]));
    };
    let groups = groups(list, event)?;
    let is_own = |(_, value): &&(&RawValue, Value)| hooks_of(value).any(|hook| is_ours(hook, event));
    let ours: Vec<&(&RawValue, Value)> = groups.iter().filter(is_own).collect();
    // Two of ours would both be called: the first stays.
    if let Some((second, value)) = ours.get(1) {
        if !hooks_of(value).all(|hook| is_ours(hook, event)) {
            return Err(mixed(event));
        }
        let places: Vec<Range<usize>> = groups.iter().map(|(raw, _)| place(text, raw)).collect();
        let index = places.iter().position(|own| *own == place(text, second)).unwrap_or(0);
        return install_one(&apply(text, vec![remove(text, &places, index)]), registration);
    }
    match ours.first() {
        Some((_, value)) if *value == registration.value() => Ok(text.to_owned()),
        Some((raw, value)) if hooks_of(value).all(|hook| is_ours(hook, event)) => {
            let at = place(text, raw);
            let indent: String = line_indent(text, at.start);
            Ok(apply(
                text,
                vec![Edit { at, with: group.replace('\n', &format!("{}{indent}", newline(text))) }],
            ))
        }
        Some(_) => Err(mixed(event)),
        None => {
            let last = groups.last().map(|(raw, _)| place(text, raw));
            Ok(apply(text, vec![append(text, &place(text, list), last, &group)]))
        }
    }
}

fn mixed(event: &str) -> Refusal {
    Refusal(format!("`hooks.{event}` has conclaude and another command in one group: part them first"))
}

/// How the file ends its lines.
fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

fn line_indent(text: &str, at: usize) -> String {
    let start = text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    text.get(start..).unwrap_or_default().chars().take_while(|c| matches!(c, ' ' | '\t')).collect()
}

fn groups<'a>(list: &'a RawValue, event: &str) -> Result<Vec<(&'a RawValue, Value)>, Refusal> {
    let raw: Vec<&RawValue> =
        serde_json::from_str(list.get()).map_err(|_| Refusal(format!("`hooks.{event}` is not a list")))?;
    raw.into_iter()
        .map(|raw| {
            let value: Value = serde_json::from_str(raw.get()).map_err(|error| Refusal(error.to_string()))?;
            let known = value.get("hooks").is_some_and(Value::is_array);
            if known {
                Ok((raw, value))
            } else {
                Err(Refusal(format!("`hooks.{event}` has an entry without a list `hooks`")))
            }
        })
        .collect()
}

/// The text without anything of ours. What becomes empty by that goes too.
///
/// # Errors
/// When the file has a form that we do not understand, and so must not touch.
pub fn uninstall(text: &str) -> Result<String, Refusal> {
    let mut text = text.to_owned();
    while let Some(shorter) = uninstall_one(&text, &|_| true)? {
        text = shorter;
    }
    Ok(text)
}

fn uninstall_one(text: &str, leaves: &dyn Fn(&str) -> bool) -> Result<Option<String>, Refusal> {
    let top = entries(text, "the settings file")?;
    let Some(at) = top.0.iter().position(|(name, _)| name == "hooks") else { return Ok(None) };
    let Some((_, hooks)) = top.0.get(at) else { return Ok(None) };
    let events = entries(hooks.get(), "`hooks`")?;
    for (index, (event, list)) in events.0.iter().enumerate().filter(|(_, (event, _))| leaves(event)) {
        let groups = groups(list, event)?;
        let Some(ours) =
            groups.iter().position(|(_, value)| hooks_of(value).any(|hook| is_ours(hook, event)))
        else {
            continue;
        };
        let Some((_, value)) = groups.get(ours) else { continue };
        if !hooks_of(value).all(|hook| is_ours(hook, event)) {
            return Err(mixed(event));
        }
        let raws =
            |list: &[(&RawValue, Value)]| list.iter().map(|(raw, _)| place(text, raw)).collect::<Vec<_>>();
        let edit = match (groups.len(), events.0.len()) {
            (1, 1) => remove(text, &keyed(text, &top.0), at),
            (1, _) => remove(text, &keyed(text, &events.0), index),
            _ => remove(text, &raws(&groups), ours),
        };
        return Ok(Some(apply(text, vec![edit])));
    }
    Ok(None)
}

/// The text without those of our entries whose event is not wanted any more.
///
/// # Errors
/// When the file has a form that we do not understand, and so must not touch.
pub fn keep_only(text: &str, wanted: &[Registration]) -> Result<String, Refusal> {
    let is_wanted = |event: &str| wanted.iter().any(|one| one.event.name() == event);
    let mut text = text.to_owned();
    while let Some(shorter) = uninstall_one(&text, &|event| !is_wanted(event))? {
        text = shorter;
    }
    Ok(text)
}

/// The places of entries, each with its key.
fn keyed(text: &str, entries: &[(String, &RawValue)]) -> Vec<Range<usize>> {
    let places = entries.iter().map(|(_, raw)| {
        let value = place(text, raw);
        key_start(text, value.start).unwrap_or(value.start)..value.end
    });
    places.collect()
}

/// Where the key begins whose value begins here. However it is written, a quote inside of it is escaped.
fn key_start(text: &str, value: usize) -> Option<usize> {
    let key = text.get(..value)?.trim_end().strip_suffix(':')?.trim_end().strip_suffix('"')?;
    let is_escaped = |at: usize| {
        let before = key.get(..at).unwrap_or_default();
        (before.len() - before.trim_end_matches('\\').len()) % 2 == 1
    };
    key.rmatch_indices('"').map(|(at, _)| at).find(|at| !is_escaped(*at))
}

/// Removes one of several members, with the comma and the blanks that parted it from its neighbour.
fn remove(text: &str, members: &[Range<usize>], index: usize) -> Edit {
    let this = members.get(index).cloned().unwrap_or(0..0);
    let before = index.checked_sub(1).and_then(|before| members.get(before)).map(|member| member.end);
    let after = members.get(index + 1).map(|member| member.start);
    let at = match (before, after) {
        (Some(end), _) => end..this.end,
        (None, Some(start)) => this.start..start,
        // The only one: what is left is empty.
        (None, None) => {
            let open = text
                .get(..this.start)
                .and_then(|before| before.rfind(['{', '[']))
                .map_or(this.start, |at| at + 1);
            let close = text
                .get(this.end..)
                .and_then(|rest| rest.find(['}', ']']))
                .map_or(this.end, |at| this.end + at);
            open..close
        }
    };
    Edit { at, with: String::new() }
}

#[cfg(test)]
mod tests;
