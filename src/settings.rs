//! Claude Code's `settings.json`, which belongs to the user: what we add is spliced into the text, and everything else
//! stays byte for byte as it was.

use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::events::Event;

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

/// Whether a command line is one of ours, for this event: exactly one word that is the program, the event, and nothing else
/// but our own flag. Whatever else it may be belongs to the user.
#[must_use]
pub fn is_own_command(command: &str, event: &str) -> bool {
    let command = command.trim();
    let command = command.strip_suffix(crate::registration::IF_TRUSTED).unwrap_or(command).trim_end();
    let Some(program) = command.strip_suffix(event).and_then(|rest| rest.strip_suffix(' ')) else {
        return false;
    };
    let Some(program) = word(program.trim()) else { return false };
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    matches!(name, "conclaude" | "conclaude.exe")
}

/// The one word that a shell would read, if it is one and means itself.
#[must_use]
pub fn word(text: &str) -> Option<&str> {
    for quote in ['\'', '"'] {
        if let Some(inner) = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return (!inner.contains(quote) && (quote == '\'' || !inner.contains(['$', '`'])))
                .then_some(inner);
        }
    }
    let special = |c: char| c.is_whitespace() || "\"'$`;|&<>()*?[#~={}!".contains(c);
    (!text.is_empty() && !text.contains(special)).then_some(text)
}

/// Command lines that call us too, but not in a way that is ours to change.
///
/// # Errors
/// When the file has a form that we do not understand.
pub fn lookalikes(text: &str) -> Result<Vec<String>, Refusal> {
    let json: Value = parsed(text)?;
    let mut found = Vec::new();
    for (name, groups) in json.get("hooks").and_then(Value::as_object).into_iter().flatten() {
        let hooks = groups.as_array().into_iter().flatten().flat_map(hooks_of);
        let commands =
            hooks.filter(|hook| !is_ours(hook, name)).filter_map(|hook| hook.get("command")?.as_str());
        let calls_us = |command: &&str| {
            let mut words = command.split(|c: char| c.is_whitespace() || "\"';|&/\\".contains(c));
            let is_named = words.any(|word| word == "conclaude");
            is_named && words.next() == Some(name)
        };
        found.extend(commands.filter(calls_us).map(str::to_owned));
    }
    Ok(found)
}

fn parsed(text: &str) -> Result<Value, Refusal> {
    serde_json::from_str(text).map_err(|error| Refusal(format!("the settings file is not JSON: {error}")))
}

fn is_ours(hook: &Value, event: &str) -> bool {
    hook.get("command").and_then(Value::as_str).is_some_and(|command| is_own_command(command, event))
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

fn hooks_of(group: &Value) -> impl Iterator<Item = &Value> {
    group.get("hooks").and_then(Value::as_array).into_iter().flatten()
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

/// What of ours is registered for these events, in the order of the file.
///
/// # Errors
/// When the file has a form that we do not understand.
pub fn registered(text: &str, events: &[Event]) -> Result<Vec<Registration>, Refusal> {
    let json = parsed(text)?;
    let mut found = Vec::new();
    for (name, groups) in json.get("hooks").and_then(Value::as_object).into_iter().flatten() {
        let Some(event) = Event::named(name).filter(|event| events.contains(event)) else { continue };
        for group in groups.as_array().into_iter().flatten() {
            let matcher = group.get("matcher").and_then(Value::as_str).map(str::to_owned);
            found.extend(hooks_of(group).filter(|hook| is_ours(hook, name)).map(|hook| Registration {
                event,
                matcher: matcher.clone(),
                command: hook.get("command").and_then(Value::as_str).unwrap_or_default().to_owned(),
                timeout:
                    hook.get("timeout").and_then(Value::as_u64).unwrap_or_else(|| default_timeout(event)),
                flaw: flaw(hook, event),
            }));
        }
    }
    Ok(found)
}

/// What the client gives a hook that asks for nothing.
fn default_timeout(event: Event) -> u64 {
    match event {
        Event::UserPromptSubmit => 30,
        Event::SessionEnd => 1,
        _ => 600,
    }
}

/// What the client does with the entry that keeps it from working.
fn flaw(hook: &Value, event: Event) -> Option<&'static str> {
    let is_tool = matches!(event.name(), "PreToolUse" | "PostToolUse");
    let is_command = hook.get("type").and_then(Value::as_str).is_none_or(|kind| kind == "command");
    match hook {
        _ if !is_command => Some("its `type` is not \"command\", so the client runs something else"),
        _ if hook.get("async") == Some(&Value::Bool(true)) => {
            Some("`async` makes the client ignore its answer")
        }
        _ if hook.get("if").is_some() && !is_tool => {
            Some("`if` keeps the client from ever calling it at this event")
        }
        _ if hook.get("if").is_some() => Some("`if` keeps the client from calling it for all that is needed"),
        _ => None,
    }
}

/// Whether the file switches all hooks off.
#[must_use]
pub fn switches_hooks_off(text: &str) -> bool {
    parsed(text).is_ok_and(|json| json.get("disableAllHooks") == Some(&Value::Bool(true)))
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
mod tests {
    use super::*;

    fn wanted() -> Vec<Registration> {
        let registration = |event, matcher: Option<&str>| Registration {
            event,
            matcher: matcher.map(str::to_owned),
            command: format!("conclaude {}", event.name()),
            timeout: 60,
            flaw: None,
        };
        vec![registration(Event::SubagentStop, None), registration(Event::PostToolUse, Some("Agent"))]
    }

    fn ours(text: &str) -> usize {
        let json: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let events = json["hooks"].as_object().into_iter().flatten();
        events
            .flat_map(|(event, list)| {
                list.as_array()
                    .unwrap()
                    .iter()
                    .flat_map(move |group| hooks_of(group).filter(move |hook| is_ours(hook, event)))
            })
            .count()
    }

    const FILES: [&str; 8] = [
        "{}\n",
        "{\n  \"model\": \"opus\"\n}\n",
        "{\"model\": \"opus\", \"permissions\": {\"allow\": []}}",
        "{\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{ \"hooks\": [ { \"type\": \"command\", \"command\": \"other  Stop\" } ] }\n\t\t]\n\t},\n\t\"z\": 1.50,\n\t\"a\": \"\\u00fc\"\n}",
        "{\r\n  \"hooks\": {\r\n    \"SubagentStop\": [\r\n      {\"matcher\": \"coder\", \"hooks\": [{\"type\": \"command\", \"command\": \"lint\"}]}\r\n    ]\r\n  }\r\n}\r\n",
        "{ \"hooks\": { \"SubagentStop\": [ {\"hooks\": [{\"type\":\"command\",\"command\":\"x\"}]} ], \"PostToolUse\": [ {\"hooks\": []} ] } }",
        "\n  {\n    \"enabledPlugins\": {},\n    \"statusLine\": {\"hooks\": \"not these\"}\n  }\n\n",
        "{\n    \"a\": 12345678901234567890123,\n    \"hooks\": {\n        \"PreToolUse\": [{\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"guard\"}]}]\n    }\n}\n",
    ];

    #[test]
    fn installing_adds_ours_twice_changes_nothing_and_uninstalling_restores_the_file() {
        for file in FILES {
            let installed = install(file, &wanted()).unwrap();
            assert_eq!(ours(&installed), 2, "{installed}");
            assert_eq!(install(&installed, &wanted()).unwrap(), installed, "installing twice");
            assert_eq!(uninstall(&installed).unwrap(), file, "uninstalling");
        }
    }

    #[test]
    fn what_is_not_ours_stays_byte_for_byte() {
        for file in FILES {
            let installed = install(file, &wanted()).unwrap();
            // Cut out what was added, wherever that is: what is left is the file.
            let (mut rest, mut at) = (String::new(), 0);
            for byte in installed.bytes() {
                if file.as_bytes().get(at) == Some(&byte) {
                    at += 1;
                } else {
                    rest.push(char::from(byte));
                }
            }
            assert_eq!(at, file.len(), "{file:?} is not whole in {installed:?}");
            assert!(installed.len() == file.len() + rest.len());
            // And whole values are where they were, not only their letters.
            for value in [
                "\"model\": \"opus\"",
                "\"z\": 1.50",
                "\"\\u00fc\"",
                "12345678901234567890123",
                "\"command\": \"other  Stop\"",
            ] {
                assert_eq!(file.matches(value).count(), installed.matches(value).count(), "{value}");
            }
        }
    }

    #[test]
    fn a_file_keeps_its_line_endings_when_an_entry_is_replaced() {
        let first = install(FILES[4], &wanted()).unwrap();
        let mut later = wanted();
        later[0].timeout = 3600;
        let second = install(&first, &later).unwrap();
        assert_eq!(second.matches('\n').count(), second.matches("\r\n").count(), "{second:?}");
        assert_eq!(uninstall(&second).unwrap(), FILES[4]);
    }

    #[test]
    fn a_second_entry_of_ours_goes() {
        let first = install(FILES[3], &wanted()).unwrap();
        let old: Vec<Registration> = wanted()
            .into_iter()
            .map(|one| Registration { command: one.command.replace("conclaude", "/old/conclaude"), ..one })
            .collect();
        // By hand, since we would not do it.
        let group = pretty(&old[0].value(), "\t");
        let doubled = first.replacen("\"SubagentStop\": [", &format!("\"SubagentStop\": [{group},"), 1);
        assert_eq!(registered(&doubled, &[Event::SubagentStop]).unwrap().len(), 2);
        let mended = install(&doubled, &wanted()).unwrap();
        assert_eq!(registered(&mended, &[Event::SubagentStop]).unwrap(), wanted()[..1]);
    }

    #[test]
    fn keys_are_found_however_they_are_written() {
        for key in ["\"\\u00fcber\"", "\"x\\/y\"", "\"a\\\"b\\\\\"", "\"hooks \"", "\"\""] {
            let file = format!("{{\n  \"hooks\": {{}},\n  {key} : 1\n}}\n");
            let installed = install(&file, &wanted()).unwrap();
            let gone = uninstall(&installed).unwrap();
            assert!(gone.contains(key) && !gone.contains("conclaude"), "{gone}");
        }
    }

    #[test]
    fn an_entry_without_a_time_out_has_the_clients_own() {
        let text = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "conclaude Stop"}]}],
            "UserPromptSubmit": [{"hooks": [{"type": "command", "command": "conclaude UserPromptSubmit"}]}]}}"#;
        let found = registered(text, crate::events::ALL).unwrap();
        assert_eq!(found.iter().map(|one| one.timeout).collect::<Vec<_>>(), [600, 30]);
    }

    #[test]
    fn entries_that_cannot_work_are_known_and_mended_by_installing() {
        for (key, why) in [
            ("\"async\": true", "ignore its answer"),
            ("\"if\": \"Bash\"", "ever calling"),
            ("\"type\": \"prompt\"", "something else"),
        ] {
            let text = format!(
                r#"{{"hooks": {{"SubagentStop": [{{"hooks": [{{{key}, "command": "conclaude SubagentStop", "timeout": 60}}]}}]}}}}"#
            );
            let found = registered(&text, &[Event::SubagentStop]).unwrap();
            assert!(found[0].flaw.unwrap().contains(why), "{found:?}");
            let mended = install(&text, &wanted()).unwrap();
            assert_eq!(registered(&mended, &[Event::SubagentStop]).unwrap(), wanted()[..1]);
        }
    }

    #[test]
    fn lines_that_call_us_among_other_things_are_seen_and_left() {
        let commands = [
            "exec conclaude Stop",
            "conclaude Stop || true",
            "CONCLAUDE_LOG=debug conclaude Stop",
            "log; /usr/bin/conclaude Stop",
        ];
        for command in commands {
            let text = json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}})
                .to_string();
            assert_eq!(lookalikes(&text).unwrap(), [command]);
            assert_eq!(uninstall(&text).unwrap(), text);
        }
        let text = r#"{"hooks": {"Stop": [{"hooks": [{"command": "my-guard --socket /run/conclaude.sock Stop"}, {"command": "conclaude Stop"}]}]}}"#;
        assert_eq!(lookalikes(text).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn an_older_registration_is_replaced_where_it_stands() {
        let first = install("{\n  \"x\": 1\n}\n", &wanted()).unwrap();
        let mut later = wanted();
        later[0].timeout = 3600;
        later[0].command = "/usr/local/bin/conclaude SubagentStop".into();
        let second = install(&first, &later).unwrap();
        assert!(
            second.contains("\"timeout\": 3600") && second.contains("/usr/local/bin/conclaude"),
            "{second}"
        );
        assert_eq!(ours(&second), 2);
        assert_eq!(uninstall(&second).unwrap(), "{\n  \"x\": 1\n}\n");
    }

    #[test]
    fn a_file_of_another_form_is_refused() {
        for (file, why) in [
            ("// comment\n{}", "not a JSON object"),
            ("{\"a\": 1,}", "not a JSON object"),
            ("[]", "not a JSON object"),
            ("{\"hooks\": []}", "`hooks` is not a JSON object"),
            ("{\"hooks\": {}, \"hooks\": {}}", "the key `hooks` twice"),
            ("{\"hooks\": {\"SubagentStop\": {}}}", "`hooks.SubagentStop` is not a list"),
            ("{\"hooks\": {\"SubagentStop\": [{\"type\": \"command\"}]}}", "an entry without a list `hooks`"),
            (
                "{\"hooks\": {\"SubagentStop\": [{\"hooks\": [{\"command\": \"conclaude SubagentStop\"}, {\"command\": \"x\"}]}]}}",
                "part them first",
            ),
        ] {
            let refusal = install(file, &wanted()).unwrap_err();
            assert!(refusal.0.contains(why), "{file}: {refusal}");
        }
    }

    #[test]
    fn ours_is_known_however_it_is_spelt() {
        let is = |command: &str| is_ours(&json!({ "command": command }), "Stop");
        for yes in [
            "conclaude Stop",
            "conclaude Stop --if-trusted",
            "/opt/bin/conclaude Stop",
            "\"/my tools/conclaude\" Stop",
            "C:\\bin\\conclaude.exe Stop",
        ] {
            assert!(is(yes), "{yes}");
        }
        for no in [
            "conclaude SubagentStop",
            "conclaude --if-trusted",
            "my-conclaude Stop",
            "conclaude-wrapper Stop",
            "echo conclaude",
            "my-guard --socket /run/conclaude Stop",
            "logger turn-ended; /usr/local/bin/conclaude Stop",
            "exec conclaude Stop",
            "conclaude Stop || true",
            "\"$HOME/bin/conclaude\" Stop",
            "conclaudeStop",
            "conclaude",
        ] {
            assert!(!is(no), "{no}");
        }
    }
}
