//! Describes what a schema accepts, and what to write instead of an invalid value.

use serde_json::Value;

use crate::config::commands::{VariableName, VariableValue};
use crate::config::patterns::OptionName;
use crate::config::regex::RegexText;
use crate::config::telemetry::HeaderName;
use crate::config::values::{NOT_BLANK, seconds_in};
use crate::config::{
    Amount, CommandGlob, Endpoint, FileGlob, FolderBelow, NameGlob, Percent, ToolPatternText,
};
use crate::dialect::claude::notation::ToolPattern;
use crate::event::{self, Blocking, EventKind};
use crate::pattern::alternatives_of;
use crate::text::{most_similar, nearest, quoted_list};
use crate::yaml::{Node, Spanned};
use shell_effects::glob::{Glob, GlobKind};

const GLOBS: &str =
    "patterns are globs: * ? [abc] [a-z] [!a] {foo,bar}; a backslash escapes the next character";

/// Longer enumerations are only counted in the label.
const MAX_LISTED: usize = 8;

/// How many of them are named if none is similar enough to be meant.
const MAX_SIMILAR: usize = 3;

pub(super) fn is_type(schema: &Value, name: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(one)) => one == name,
        Some(Value::Array(many)) => many.iter().any(|one| one == name),
        _ => false,
    }
}

/// Whether the value has the kind that the schema expects, valid or not.
pub(super) fn is_of_kind(node: &Node, schema: &Value) -> bool {
    match node {
        Node::Null => false,
        Node::List(_) => is_type(schema, "array"),
        Node::Map(_) => is_type(schema, "object"),
        Node::Bool(_) => is_type(schema, "boolean"),
        Node::Int(_) | Node::Float(_) => is_type(schema, "integer") || is_type(schema, "number"),
        Node::Text(_) => is_type(schema, "string") || !choices(schema).is_empty(),
    }
}

/// The allowed words of an enumeration, in whatever way the schema is written.
fn choices(schema: &Value) -> Vec<&str> {
    let one_of = schema.get("oneOf").and_then(Value::as_array).into_iter().flatten();
    let constants = one_of.flat_map(|one| {
        let several = one.get("enum").and_then(Value::as_array).into_iter().flatten();
        one.get("const").into_iter().chain(several)
    });
    let listed = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
    constants.chain(listed).chain(schema.get("const")).filter_map(Value::as_str).collect()
}

pub(super) fn scalar_fits(node: &Node, schema: &Value) -> bool {
    let choices = choices(schema);
    match node {
        node if has_format(schema, Amount::FORMAT) => Amount::of_node(node).is_some(),
        node if has_format(schema, Percent::FORMAT) => Percent::of_node(node).is_some(),
        Node::Text(text) if !choices.is_empty() => choices.contains(&text.as_ref()),
        Node::Text(text) if is_duration(schema) => {
            seconds_in(text).is_some_and(|seconds| is_in_range(seconds.into(), schema))
        }
        Node::Text(text) if is_folder(schema) => FolderBelow::is_valid(text) && !text.trim().is_empty(),
        Node::Text(text) if is_endpoint(schema) => Endpoint::new(text).is_ok(),
        Node::Text(text) if is_option(schema) => OptionName::is_valid(text),
        Node::Text(text) if is_variable_value(schema) => !text.contains('\0'),
        Node::Text(text) if broken_pattern(text, schema).is_some() => false,
        Node::Text(text) if is_type(schema, "string") => {
            (!must_not_be_blank(schema) || !text.trim().is_empty())
                && max_length(schema).is_none_or(|max| text.chars().count() as u64 <= max)
        }
        Node::Int(number) if is_type(schema, "integer") || is_type(schema, "number") => {
            is_in_range(*number, schema)
        }
        Node::Float(number) if is_type(schema, "number") => {
            let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
            bound("minimum").is_none_or(|low| *number >= low)
                && bound("maximum").is_none_or(|high| *number <= high)
        }
        Node::Bool(_) => is_type(schema, "boolean"),
        _ => false,
    }
}

/// Why a text is not a valid pattern.
pub(super) fn broken_pattern(text: &str, schema: &Value) -> Option<String> {
    match schema.get("format").and_then(Value::as_str)? {
        NameGlob::FORMAT => NameGlob::check(text).err().map(|error| error.to_string()),
        CommandGlob::FORMAT => CommandGlob::check(text).err().map(|error| error.to_string()),
        _ if text.trim().is_empty() => None,
        FileGlob::FORMAT => FileGlob::check(text).err().map(|error| error.to_string()),
        RegexText::FORMAT => RegexText::check(text).err().map(|error| error.to_string()),
        ToolPatternText::FORMAT => ToolPattern::parse(text).err().map(|error| error.to_string()),
        _ => None,
    }
}

fn has_format(schema: &Value, format: &str) -> bool {
    schema.get("format").and_then(Value::as_str) == Some(format)
}

fn is_folder(schema: &Value) -> bool {
    has_format(schema, FolderBelow::FORMAT)
}

fn is_option(schema: &Value) -> bool {
    schema.get("format").and_then(Value::as_str) == Some(OptionName::FORMAT)
}

/// Whether keys of this schema are names of headers.
pub(super) fn is_of_headers(schema: &Value) -> bool {
    schema.pointer("/propertyNames/pattern").and_then(Value::as_str) == Some(HeaderName::PATTERN)
}

/// Whether keys of this schema are patterns.
pub(super) fn is_of_patterns(schema: &Value) -> bool {
    schema.pointer("/propertyNames/format").and_then(Value::as_str) == Some(NameGlob::FORMAT)
}

/// Whether keys of this schema are names of variables.
pub(super) fn is_of_variables(schema: &Value) -> bool {
    let pattern = schema.pointer("/propertyNames/pattern").and_then(Value::as_str);
    pattern == Some(VariableName::PATTERN)
}

fn is_variable_value(schema: &Value) -> bool {
    schema.get("pattern").and_then(Value::as_str) == Some(VariableValue::PATTERN)
}

fn is_endpoint(schema: &Value) -> bool {
    schema.get("format").and_then(Value::as_str) == Some(Endpoint::FORMAT)
}

fn max_length(schema: &Value) -> Option<u64> {
    schema.get("maxLength").and_then(Value::as_u64)
}

fn must_not_be_blank(schema: &Value) -> bool {
    schema.get("pattern").is_some_and(|pattern| pattern == NOT_BLANK)
}

/// A number of seconds, or a text such as `5m`.
fn is_duration(schema: &Value) -> bool {
    is_type(schema, "integer") && is_type(schema, "string") && !has_format(schema, Percent::FORMAT)
}

fn is_in_range(number: i128, schema: &Value) -> bool {
    let bound = |key: &str| schema.get(key).and_then(Value::as_i64).map(i128::from);
    bound("minimum").is_none_or(|low| number >= low) && bound("maximum").is_none_or(|high| number <= high)
}

/// The accepted values, for a label: `expected …`.
pub(super) fn expected(alternatives: &[&Value]) -> String {
    alternatives.iter().map(|one| expected_one(one)).collect::<Vec<_>>().join(" or ")
}

fn expected_one(schema: &Value) -> String {
    if is_folder(schema) {
        return "a folder below that of the config: a relative path without `..`".into();
    }
    if let Some(words) = schema.get("format").and_then(Value::as_str).and_then(expected_format) {
        return words.into();
    }
    if is_variable_value(schema) {
        return "text without a NUL character".into();
    }
    let choices = choices(schema);
    match choices.as_slice() {
        [] => {}
        [only] => return format!("`{only}`"),
        many if many.len() > MAX_LISTED => return format!("one of {} known names", many.len()),
        some => return format!("one of {}", quoted_list(some)),
    }
    if is_type(schema, "integer") || is_type(schema, "number") {
        return expected_number(schema);
    }
    if let Some(required) = schema.get("required").and_then(Value::as_array) {
        let names: Vec<&str> = required.iter().filter_map(Value::as_str).collect();
        return format!("a mapping with {}", quoted_list(&names));
    }
    if let Some(max) = max_length(schema) {
        return format!("text of at most {max} characters that is not blank");
    }
    let text = if must_not_be_blank(schema) { "text that is not blank" } else { "text" };
    let names = [
        ("boolean", "`true` or `false`"),
        ("string", text),
        ("array", "a list"),
        ("object", "a mapping of keys to values"),
    ];
    names.iter().find(|(kind, _)| is_type(schema, kind)).map_or("another value", |(_, words)| words).into()
}

fn expected_format(format: &str) -> Option<&'static str> {
    Some(match format {
        Amount::FORMAT => "a number above 0, as it is or as `500k` or `5M`",
        Percent::FORMAT => "1% to 100%",
        Endpoint::FORMAT => "a URL, such as http://localhost:4318",
        NameGlob::FORMAT => "a glob, such as `*coder`",
        CommandGlob::FORMAT => "a glob, such as `git push *`",
        RegexText::FORMAT => "a regular expression",
        ToolPatternText::FORMAT => "a pattern of tools, such as `Read` or `Bash(git status*)`",
        OptionName::FORMAT => "an option, such as `-f` or `--force`",
        FileGlob::FORMAT => "a pattern of files, as in .gitignore",
        _ => return None,
    })
}

fn expected_number(schema: &Value) -> String {
    let number = if is_type(schema, "integer") { "a whole number" } else { "a number" };
    match (schema.get("minimum"), schema.get("maximum")) {
        (Some(low), Some(high)) if is_duration(schema) => {
            format!("{low} to {high} seconds, as a number or as `90s` or `5m`")
        }
        (Some(low), Some(high)) => format!("{number} from {low} to {high}"),
        _ => number.into(),
    }
}

/// A value that none of the alternatives accepts.
pub(super) struct Misfit<'a> {
    pub(super) node: &'a Node,
    /// Its text in the file.
    pub(super) source: &'a str,
    /// The alternative that was probably meant.
    pub(super) schema: &'a Value,
    pub(super) alternatives: &'a [&'a Value],
    /// The schemas of the entries, if a list is expected.
    pub(super) items: &'a [&'a Value],
}

/// What to write instead.
pub(super) fn help(misfit: &Misfit<'_>) -> Option<String> {
    let Misfit { node, source, schema, alternatives, items } = misfit;
    let choices = choices(schema);
    match node {
        Node::Map(_) if is_type(schema, "array") => Some("start each entry with `- `".into()),
        Node::List(items) if has_commands(schema) && are_commands(items) => {
            Some("put it under `commands:`".into())
        }
        Node::List(items) if is_of_variables(schema) => Some(variables_help(items)),
        Node::List(_) if is_type(schema, "object") => Some("remove the `-` before the keys".into()),
        Node::Text(text) if has_commands(schema) => {
            let takes_list = alternatives.iter().any(|one| is_type(one, "array"));
            let command = format!("[{{run: {text:?}}}]");
            Some(if takes_list { format!("write {command}") } else { "put it under `commands:`".into() })
        }
        Node::Text(text) if is_type(schema, "array") => Some(match items.first() {
            Some(item) if has_run(item) => format!("write it as a list: `- run: {text}`"),
            _ => format!("write it as a list: [{text:?}]"),
        }),
        Node::Bool(true) if is_type(schema, "array") => {
            let names: Vec<&str> = items.first().map(|item| self::choices(item)).unwrap_or_default();
            if names.is_empty() { None } else { Some(format!("write it as a list: [{}]", names.join(", "))) }
        }
        Node::Text(text) if is_endpoint(schema) => Endpoint::new(text).err().map(|error| error.to_string()),
        Node::Text(text) if has_format(schema, Amount::FORMAT) => amount_help(text),
        Node::Text(text) if has_format(schema, Percent::FORMAT) => percent_help(text),
        Node::Text(text) if broken_pattern(text, schema).is_some() => broken_pattern_help(text, schema),
        Node::Text(text) if has_run(schema) => Some(format!("write `- run: {text}`")),
        Node::Text(text) if is_duration(schema) => duration_help(text, schema),
        Node::Text(text) if !choices.is_empty() => match choice_help(text, &choices) {
            None if alternatives.iter().any(|one| is_type(one, "array")) => {
                Some(format!("a list is written as [{text:?}]"))
            }
            help => help,
        },
        Node::Text(text) if is_unquoted_valid(text, schema) => Some(format!("remove the quotes: {text}")),
        Node::Text(text) if is_type(schema, "boolean") => boolean_help(text),
        Node::Bool(_) | Node::Int(_) | Node::Float(_)
            if is_type(schema, "string") && !is_duration(schema) && schema.get("format").is_none() =>
        {
            Some(format!("quote it to make it text: \"{source}\""))
        }
        _ => None,
    }
}

/// Why a pattern is broken, and its syntax.
fn broken_pattern_help(text: &str, schema: &Value) -> Option<String> {
    let format = schema.get("format").and_then(Value::as_str);
    let is_glob = match format {
        Some(NameGlob::FORMAT) => alternatives_of(text).is_none(),
        Some(CommandGlob::FORMAT | FileGlob::FORMAT) => true,
        _ => false,
    };
    let error = broken_pattern(text, schema)?;
    Some(match (format, regex_of_glob(text)) {
        _ if is_glob => format!("{error}; {GLOBS}"),
        (Some(RegexText::FORMAT), Some(regex)) => format!(
            "this is a regular expression, not a glob, and it can match anywhere in the prompt: write {regex:?}"
        ),
        _ => error,
    })
}

/// Words for true and false in older YAML.
fn boolean_help(text: &str) -> Option<String> {
    match text.to_lowercase().as_str() {
        "yes" | "on" => Some("did you mean `true`?".into()),
        "no" | "off" => Some("did you mean `false`?".into()),
        _ => None,
    }
}

/// `80` and `80 %` as texts probably mean percentages.
fn percent_help(text: &str) -> Option<String> {
    let meant = format!("{}%", text.trim_end_matches('%').trim());
    Percent::parse(&meant).map(|_| format!("write {meant}"))
}

/// `5m`, `500 K` and `"20"` probably mean amounts.
fn amount_help(text: &str) -> Option<String> {
    let plain = text.trim().trim_start_matches('$').replace(['_', ',', ' '], "");
    let number = plain.trim_end_matches(|unit: char| unit.is_ascii_alphabetic());
    if number.parse::<f64>().is_ok_and(|number| number > 0.0) && number == plain {
        return Some(format!("write {number}"));
    }
    let unit = match plain.get(number.len()..)?.to_lowercase().as_str() {
        "k" => "k",
        "m" | "mio" => "M",
        _ => return None,
    };
    Amount::parse(&format!("{number}{unit}"))
        .map(|_| format!("write {number}{unit}: `k` is a thousand, `M` a million"))
}

/// The regular expression that an invalid one probably means as a glob: `*deploy*` means `deploy`.
fn regex_of_glob(text: &str) -> Option<String> {
    if !text.starts_with(['*', '?', '{']) || text.contains(['[', '(', '\\']) {
        return None;
    }
    let (mut regex, mut depth) = (String::new(), 0_usize);
    for character in text.trim_matches('*').chars() {
        match character {
            '*' => regex.push_str(".*"),
            '?' => regex.push('.'),
            '{' => {
                depth += 1;
                regex.push('(');
            }
            '}' => {
                depth = depth.checked_sub(1)?;
                regex.push(')');
            }
            ',' if depth > 0 => regex.push('|'),
            '.' | '+' | '^' | '$' | '|' => regex.extend(['\\', character]),
            plain => regex.push(plain),
        }
    }
    if regex.is_empty() || RegexText::check(&regex).is_err() { None } else { Some(regex) }
}

/// `[A=1]`, as other programs write variables, is `{A: "1"}`.
fn variables_help(items: &[Spanned<Node>]) -> String {
    let assignment = |item: &Spanned<Node>| match &item.value {
        Node::Text(text) => text.split_once('=').map(|(name, value)| format!("{name}: {value:?}")),
        _ => None,
    };
    match items.iter().map(assignment).collect::<Option<Vec<String>>>() {
        Some(all) if !all.is_empty() => format!("write `{{{}}}`", all.join(", ")),
        _ => "write names and values, as in `{A: \"1\"}`".into(),
    }
}

/// Whether this is the schema of a section with commands.
pub(super) fn has_commands(schema: &Value) -> bool {
    schema.pointer("/properties/commands").is_some()
}

/// Whether all entries of a list probably mean commands.
pub(super) fn are_commands(items: &[Spanned<Node>]) -> bool {
    let is_command = |item: &Spanned<Node>| matches!(&item.value, Node::Map(entries) if entries.iter().any(|(key, _)| is_run(&key.value)));
    !items.is_empty() && items.iter().all(is_command)
}

/// `run`, or its name in other programs, perhaps with a typo.
pub(super) fn is_run(key: &str) -> bool {
    key == "run" || nearest(key, ["command", "script"]).is_some()
}

/// Whether entries of this schema are commands.
fn has_run(schema: &Value) -> bool {
    schema.pointer("/properties/run").is_some()
}

/// Whether a text would be valid without its quotes.
fn is_unquoted_valid(text: &str, schema: &Value) -> bool {
    let unquoted = match text {
        "true" | "false" => Node::Bool(text == "true"),
        number => number.parse().map_or(Node::Null, Node::Int),
    };
    scalar_fits(&unquoted, schema)
}

/// `5 minutes` is `5m`, `'90'` is 90.
fn duration_help(text: &str, schema: &Value) -> Option<String> {
    if is_unquoted_valid(text, schema) {
        return Some(format!("remove the quotes: {text}"));
    }
    let text = text.trim();
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
    let unit = unit.trim_start().chars().next()?.to_ascii_lowercase();
    let suggestion = format!("{number}{unit}");
    let seconds = seconds_in(&suggestion)?;
    if suggestion == text || !is_in_range(seconds.into(), schema) {
        return None;
    }
    Some(format!("did you mean `{suggestion}`?"))
}

fn choice_help(text: &str, choices: &[&str]) -> Option<String> {
    let is_block = matches!(text, "block" | "deny" | "fail" | "error" | "reject");
    if is_block && choices == ["warn"] {
        return Some(format!(
            "this event cannot be blocked, use `warn`; events that can: {}",
            quoted_list(&blockable())
        ));
    }
    let started = choices.iter().copied().find(|choice| !text.is_empty() && choice.starts_with(text));
    match nearest(text, choices.iter().copied()).or(started) {
        Some(near) => Some(format!("did you mean `{near}`?")),
        None if is_block && choices.contains(&"block") => Some("did you mean `block`?".into()),
        None if choices.len() > MAX_LISTED => {
            let near = most_similar(text, choices.iter().copied(), MAX_SIMILAR);
            Some(format!("the most similar are {}; `conclaude schema` lists all", quoted_list(&near)))
        }
        None => None,
    }
}

/// The sections of events that can be blocked by a command.
fn blockable() -> Vec<&'static str> {
    let blockable = event::ALL.iter().filter(|event| event.blocking() != Blocking::Never);
    blockable.map(|event| event.row().section).collect()
}

/// The allowed keys of the config, without the names of all events.
pub(super) fn sections(known: &[&str]) -> String {
    let is_event = |key: &&&str| EventKind::of_section(key).is_some();
    let others: Vec<&str> = known.iter().filter(|key| !is_event(key)).copied().collect();
    format!("allowed here: {}, and events in camelCase, such as `subagentStop`", quoted_list(&others))
}

/// What to write instead of a key that belongs in the section of an event, or in Claude Code's own `hooks`.
pub(super) fn of_events(key: &str) -> Option<String> {
    Some(match key {
        "commands" | "match" => "write it in the section of an event, such as `subagentStop`".into(),
        "hooks" => "each event is a section: `preToolUse: {commands: {Bash: [{run: …}]}}`; `conclaude init --import` takes over what \
                    the settings of Claude Code have"
            .into(),
        _ => return None,
    })
}

/// What to write instead of a key that other programs use for commands.
pub(super) fn of_command(key: &str) -> Option<&'static str> {
    Some(match key {
        "command" | "cmd" | "script" | "exec" => "did you mean `run`?",
        "environment" | "envs" | "variables" => "did you mean `env`?",
        "comment" | "comments" | "note" | "notes" | "description" => {
            "write a comment as `# …`; `message` is shown when the command fails"
        }
        "retries" | "retry" => {
            "a command runs once: repeat it in `run`, as in `for i in 1 2 3; do npm test && exit; done; exit 1`"
        }
        _ => return None,
    })
}

/// What to write instead of an invalid pattern. Claude Code's own matchers separate alternatives by `|`.
pub(super) fn pattern_help(pattern: &str) -> String {
    if pattern.contains('|')
        && let Some(glob) = alternatives_of(pattern)
        && Glob::check(&glob, GlobKind::Name).is_ok()
    {
        return format!("write {glob:?}");
    }
    GLOBS.into()
}
