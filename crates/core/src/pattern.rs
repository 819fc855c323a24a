//! Patterns over names and other texts of an event, and their order in a list.

use std::fmt;

use schemars::JsonSchema;
use serde::Deserialize;
use thiserror::Error;

use shell_effects::glob::{Glob, GlobKind};

/// A glob over the subagent's name: `*`, `?`, `[abc]`, `[a-z]`, `[!a]`, `{foo,bar}`; `*` also crosses `/` and `:`,
/// and case counts. A pattern without any of these is the name itself, or the agent's id.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String", inline, description = "", extend("pattern" = r"\S", "format" = "glob", "maxLength" = MAX_CHARS))]
pub struct Pattern(Box<str>);

/// A longer pattern is a mistake.
pub const MAX_CHARS: usize = 256;

/// A longer text is not compared with a glob. A prompt may have any length, and a section hundreds of patterns.
const MAX_COMPARED_BYTES: usize = 1 << 20;

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PatternError {
    #[error("invalid pattern: a pattern cannot be empty")]
    Empty,
    #[error("invalid pattern `{pattern}`: {reason}")]
    Glob { pattern: String, reason: String },
}

impl TryFrom<String> for Pattern {
    type Error = PatternError;

    fn try_from(text: String) -> Result<Self, PatternError> {
        if text.chars().all(char::is_whitespace) {
            Err(PatternError::Empty)
        } else {
            Ok(Pattern(text.into()))
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MatchMode {
    /// All matching entries: `*` first, the others in the order of the file.
    #[default]
    All,
    /// Only the first matching entry in the order of the file.
    First,
}

/// The first character that makes a text a glob.
fn first_glob_character(text: &str) -> Option<usize> {
    text.bytes().position(|byte| matches!(byte, b'*' | b'?' | b'[' | b']' | b'{' | b'}' | b'\\'))
}

/// The usual forms. They match without compiling a glob, which is slow.
enum Form<'a> {
    Literal,
    /// `prefix*`, and `*` alone.
    Prefix(&'a str),
    Suffix(&'a str),
    /// `*part*`.
    Part(&'a str),
    Glob,
}

/// Whether the pattern contains a `|`, probably by mistake: Claude Code's own matchers separate alternatives with it. `\|` and
/// `[|]` mean the character.
fn has_bar(text: &str) -> bool {
    let (mut is_escaped, mut is_class) = (false, false);
    text.chars().any(|c| {
        let was_escaped = is_escaped;
        is_escaped = c == '\\' && !was_escaped;
        match c {
            '[' if !was_escaped => is_class = true,
            ']' if !was_escaped => is_class = false,
            _ => {}
        }
        c == '|' && !was_escaped && !is_class
    })
}

/// Names separated by `|` or `,`, as in Claude Code's own matchers, as a glob: `{Edit,Write}`.
#[must_use]
pub fn alternatives_of(text: &str) -> Option<String> {
    let (mut is_escaped, mut is_class, mut depth) = (false, false, 0_usize);
    let mut separator = |c: char| {
        let was_escaped = is_escaped;
        is_escaped = c == '\\' && !was_escaped;
        match c {
            _ if was_escaped => {}
            '[' => is_class = true,
            ']' => is_class = false,
            '{' if !is_class => depth += 1,
            '}' if !is_class => depth = depth.saturating_sub(1),
            '|' => return !is_class,
            ',' => return !is_class && depth == 0,
            _ => {}
        }
        false
    };
    if !text.bytes().any(|byte| matches!(byte, b'|' | b',')) || !text.contains(&mut separator) {
        return None;
    }
    let text = text.trim().trim_start_matches('^').trim_end_matches('$').replace("(?:", "(");
    // Groups of a regular expression become braces of a glob.
    let (mut names, mut name, mut depth) = (Vec::new(), String::new(), 0_usize);
    for c in text.chars() {
        match c {
            '(' | '{' => {
                depth += 1;
                name.push('{');
            }
            ')' | '}' => {
                depth = depth.saturating_sub(1);
                name.push('}');
            }
            '|' | ',' if depth > 0 => name.push(','),
            '|' | ',' => names.push(std::mem::take(&mut name)),
            c => name.push(c),
        }
    }
    names.push(name);
    let plain = |name: &String| {
        let name = name.trim().trim_start_matches('^').trim_end_matches('$');
        name.replace(".*", "*").replace(".+", "*")
    };
    let names: Vec<String> = names.iter().map(plain).filter(|name| !name.is_empty()).collect();
    match names.as_slice() {
        [only] if only.contains('{') => Some(only.clone()),
        several => Some(format!("{{{}}}", several.join(","))),
    }
}

/// A part of a glob as a regular expression.
fn expression(glob: &str) -> Option<String> {
    let part = |c: char| match c {
        '*' => Some(".*".to_owned()),
        '?' => Some(".".to_owned()),
        '[' | ']' | '{' | '}' | '\\' => None,
        c if c.is_ascii_punctuation() && !matches!(c, '_' | '-') => Some(format!("\\{c}")),
        c => Some(c.to_string()),
    };
    glob.chars().map(part).collect()
}

impl Pattern {
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// `*` alone.
    #[must_use]
    pub fn wildcard() -> Pattern {
        Pattern("*".into())
    }

    #[must_use]
    pub fn is_wildcard(&self) -> bool {
        &*self.0 == "*"
    }

    /// The pattern as alternatives of a regular expression: names, with `.*` and `.` for wildcards. `None` for a class, an
    /// escape, nested braces, and for a pattern that matches everything.
    #[must_use]
    pub fn alternatives(&self) -> Option<Vec<String>> {
        let (head, list, tail) = match self.0.split_once('{') {
            Some((head, rest)) => {
                let (list, tail) = rest.split_once('}')?;
                (head, list, tail)
            }
            None => (&*self.0, "", ""),
        };
        let (head, tail) = (expression(head)?, expression(tail)?);
        let all: Option<Vec<String>> =
            list.split(',').map(|one| Some(format!("{head}{}{tail}", expression(one)?))).collect();
        all.filter(|all| !all.iter().any(|one| one.is_empty() || one.chars().all(|c| matches!(c, '.' | '*'))))
    }

    /// The whole glob, given one of its alternatives.
    #[must_use]
    pub fn of_alternative(expression: &str) -> Option<Pattern> {
        let (mut glob, mut rest) = (String::new(), expression.chars().peekable());
        while let Some(c) = rest.next() {
            match c {
                '.' if rest.next_if_eq(&'*').is_some() => glob.push('*'),
                '.' => glob.push('?'),
                '\\' => glob.extend(rest.next()),
                c => glob.push(c),
            }
        }
        Pattern::try_from(glob).ok()
    }

    /// Checks the glob's syntax.
    ///
    /// # Errors
    /// Says what is wrong with the glob.
    pub fn check(&self) -> Result<(), PatternError> {
        if has_bar(&self.0) {
            return Err(self.broken("`|` does not separate alternatives here"));
        }
        if self.0.chars().count() > MAX_CHARS {
            return Err(self.broken(&format!("it is longer than {MAX_CHARS} characters")));
        }
        match self.form() {
            Form::Glob => self.compile().map(drop),
            Form::Literal | Form::Prefix(_) | Form::Suffix(_) | Form::Part(_) => Ok(()),
        }
    }

    /// Whether the pattern matches the name of an agent, or another value of the event: a tool, a task, a prompt. A text that is
    /// too long to be compared counts as a match: a model may have written it, and its length must not switch off rules.
    ///
    /// # Errors
    /// Says what is wrong with the glob.
    pub fn matches(&self, name: &str, agent_id: Option<&str>) -> Result<bool, PatternError> {
        match self.form() {
            Form::Literal => Ok(self.as_str() == name || Some(self.as_str()) == agent_id),
            Form::Prefix(prefix) => Ok(name.starts_with(prefix)),
            Form::Suffix(suffix) => Ok(name.ends_with(suffix)),
            Form::Part(part) => Ok(name.contains(part)),
            Form::Glob => {
                let glob = self.compile()?;
                Ok(name.len() > MAX_COMPARED_BYTES || glob.matches_long(name))
            }
        }
    }

    fn form(&self) -> Form<'_> {
        let pattern = self.as_str();
        let Some(first) = first_glob_character(pattern) else { return Form::Literal };
        if let Some(prefix) = pattern.strip_suffix('*').filter(|prefix| prefix.len() == first) {
            return Form::Prefix(prefix);
        }
        let Some(rest) = pattern.strip_prefix('*') else { return Form::Glob };
        match (first_glob_character(rest), rest.strip_suffix('*')) {
            (None, _) => Form::Suffix(rest),
            (Some(next), Some(part)) if next == part.len() => Form::Part(part),
            _ => Form::Glob,
        }
    }

    fn compile(&self) -> Result<Glob, PatternError> {
        Glob::new(&self.0, GlobKind::Name).map_err(|error| self.broken(&error.to_string()))
    }

    pub fn broken(&self, reason: &str) -> PatternError {
        PatternError::Glob { pattern: self.0.to_string(), reason: reason.to_owned() }
    }
}

/// The entries whose pattern applies, in the order in which they run.
///
/// # Errors
/// Names the pattern that cannot be evaluated: a broken rule must not silently mean "does not apply".
pub fn select_by<T>(
    entries: &[(Pattern, T)],
    mode: MatchMode,
    applies: impl Fn(&Pattern) -> Result<bool, PatternError>,
) -> Result<Vec<&(Pattern, T)>, PatternError> {
    let mut selected = Vec::new();
    for entry in entries {
        if applies(&entry.0)? {
            selected.push(entry);
            if mode == MatchMode::First {
                break;
            }
        }
    }
    // The wildcard moves to the front, the others keep the order of the file.
    let (mut first, rest): (Vec<_>, Vec<_>) =
        selected.into_iter().partition(|(pattern, _)| pattern.is_wildcard());
    first.extend(rest);
    Ok(first)
}

#[cfg(test)]
mod tests;
