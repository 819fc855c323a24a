//! All problems of a config at once, each with its position, its line, and the fix.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use annotate_snippets::Level;
use serde_json::Value;

use super::schema::schema;
use crate::text::count;
use crate::yaml::{Node, Spanned, SyntaxError, ValueError};

mod check;
mod expectation;
mod problem;

pub use problem::{LocatedProblem, Problem, Remark, Style, note, warning};
use problem::{SourceFile, renderer};

/// Whether a text, which may not be YAML, has a key with this start. A typo at the end of the key does not matter. Keys in
/// comments do not count.
fn has_key(text: &str, key: &str) -> bool {
    let is_of_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    text.lines().any(|line| {
        let line = if line.trim_start().starts_with('#') { "" } else { line };
        let line = line.split_once(" #").map_or(line, |(code, _)| code);
        line.match_indices(key).any(|(at, _)| {
            let (before, after) = (line.get(..at).unwrap_or_default(), line.get(at..).unwrap_or_default());
            let after = after.trim_start_matches(is_of_word).trim_start_matches(['"', '\'']).trim_start();
            let is_explicit = before.trim_end().ends_with('?');
            !before.ends_with(is_of_word) && (after.starts_with(':') || is_explicit)
        })
    })
}

/// Further problems are counted, not shown.
const MAX_SHOWN: usize = 20;

/// What the user does about an untrusted config.
pub const TRUST_IT: &str = "Look at the file, then run `conclaude trust` in the project";

/// Why a config cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    path: PathBuf,
    kind: ConfigErrorKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum ConfigErrorKind {
    Unreadable(String),
    /// The user has not trusted it.
    Untrusted(String),
    Invalid {
        text: String,
        problems: Vec<Problem>,
    },
}

impl ConfigError {
    pub fn unreadable(path: &Path, reason: &str) -> Self {
        ConfigError { path: path.to_owned(), kind: ConfigErrorKind::Unreadable(reason.to_owned()) }
    }

    pub fn untrusted(path: &Path, why: &str) -> Self {
        ConfigError { path: path.to_owned(), kind: ConfigErrorKind::Untrusted(why.to_owned()) }
    }

    #[must_use]
    pub fn is_untrusted(&self) -> bool {
        matches!(self.kind, ConfigErrorKind::Untrusted(_))
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn invalid(path: &Path, text: &str, problems: Vec<Problem>) -> Self {
        ConfigError {
            path: path.to_owned(),
            kind: ConfigErrorKind::Invalid { text: text.to_owned(), problems },
        }
    }

    /// One line with the file and the number of problems.
    #[must_use]
    pub fn summary(&self) -> String {
        match &self.kind {
            ConfigErrorKind::Unreadable(reason) => {
                format!("cannot read the config {}: {reason}", self.path.display())
            }
            ConfigErrorKind::Untrusted(why) => {
                format!("the config {} is not used: {why}. {TRUST_IT}", self.path.display())
            }
            ConfigErrorKind::Invalid { problems, .. } => {
                format!("invalid config {}: {}", self.path.display(), count(problems.len() as u64, "problem"))
            }
        }
    }

    /// Whether the file may have this section. A broken file is searched as text, and what it extends is unknown.
    #[must_use]
    pub fn mentions(&self, section: &str) -> bool {
        match &self.kind {
            ConfigErrorKind::Invalid { text, .. } => has_key(text, section) || has_key(text, "extends"),
            // Its content is unknown.
            ConfigErrorKind::Unreadable(_) => true,
            ConfigErrorKind::Untrusted(_) => false,
        }
    }

    /// The first problem in this part of the text.
    pub(super) fn title_in(&self, range: &Range<usize>) -> Option<&str> {
        let ConfigErrorKind::Invalid { problems, .. } = &self.kind else { return None };
        // They are in the order of the file, and there may be thousands.
        let first = problems.get(problems.partition_point(|problem| problem.span.start < range.start))?;
        if range.contains(&first.span.start) { Some(&first.title) } else { None }
    }

    /// One line for readers who can look up the rest.
    #[must_use]
    pub fn brief(&self) -> String {
        match &self.kind {
            ConfigErrorKind::Unreadable(_) | ConfigErrorKind::Untrusted(_) => self.summary(),
            ConfigErrorKind::Invalid { .. } => {
                format!("{}; `conclaude validate` shows every problem", self.summary())
            }
        }
    }

    /// Every problem with its position, for programs. Empty if the file cannot be read.
    #[must_use]
    pub fn located(&self) -> Vec<LocatedProblem<'_>> {
        let ConfigErrorKind::Invalid { text, problems } = &self.kind else { return Vec::new() };
        problems.iter().map(|problem| LocatedProblem::of(problem, text, &self.path)).collect()
    }

    /// Every problem with its position and the line itself.
    #[must_use]
    pub fn report(&self, style: Style) -> String {
        let ConfigErrorKind::Invalid { text, problems } = &self.kind else { return String::new() };
        let (file, renderer) = (SourceFile { path: &self.path, text }, renderer(style));
        let shown = problems.iter().take(MAX_SHOWN);
        let mut rendered: Vec<String> =
            shown.map(|problem| file.render(problem, Level::ERROR, &renderer)).collect();
        if problems.len() > MAX_SHOWN {
            rendered.push(format!("… and {}", count((problems.len() - MAX_SHOWN) as u64, "further problem")));
        }
        rendered.join("\n\n")
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.summary())?;
        let report = self.report(Style::Plain);
        if report.is_empty() { Ok(()) } else { write!(f, "\n\n{report}") }
    }
}

impl std::error::Error for ConfigError {}

/// A file whose values do not fit the structs. Reading them stops at the first problem.
#[derive(Clone, Copy)]
pub(super) struct InvalidFile<'a> {
    pub(super) path: &'a Path,
    pub(super) text: &'a str,
    pub(super) tree: &'a Spanned<Node>,
    pub(super) first: Option<&'a ValueError>,
}

impl InvalidFile<'_> {
    /// All problems of a config.
    pub(super) fn explain(self) -> ConfigError {
        self.explain_by(schema(), "the config")
    }

    /// Like `explain`, for a file with another schema.
    pub(super) fn explain_by(self, schema: &Value, what: &str) -> ConfigError {
        let InvalidFile { path, text, tree, first } = self;
        let mut found = check::problems(schema, what, tree, text);
        if found.is_empty() {
            found.extend(first.map(|error| Problem {
                span: 0..0,
                title: "invalid config".into(),
                label: error.to_string(),
                help: None,
            }));
        }
        ConfigError::invalid(path, text, found)
    }
}

pub(super) fn not_yaml(text: &str, path: &Path, error: &SyntaxError) -> ConfigError {
    let span = error.span.first_line(text);
    let line_start = text.get(..span.start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    let line = text.get(line_start..).and_then(|rest| rest.lines().next()).unwrap_or_default();
    let here = text.get(span.start..).unwrap_or_default();
    let is_too_large = ["more than ", "nested more than ", "aliases expand "]
        .iter()
        .any(|start| error.reason.starts_with(start));
    let (title, help) = if is_too_large {
        ("the config is too large".into(), "remove what is not needed".into())
    } else if let Some(key) = unquoted_pattern(line).or_else(|| unquoted_alias(here)) {
        let first = key.chars().next().unwrap_or('*');
        let help = format!("YAML reads a leading `{first}` as its own syntax: write \"{key}\"");
        (format!("`{key}` must be quoted"), help)
    } else if line.trim_start_matches(' ').starts_with('\t') {
        ("tabs cannot indent YAML".into(), "indent with spaces".into())
    } else {
        ("invalid YAML".into(), "check the indentation, quotes and colons near this position".into())
    };
    let problem = Problem { span, title, label: error.reason.clone(), help: Some(help) };
    ConfigError::invalid(path, text, vec![problem])
}

/// A star that YAML reads as an alias, as in `[*]`.
fn unquoted_alias(here: &str) -> Option<&str> {
    let end = here.find(|c: char| c.is_whitespace() || matches!(c, ',' | ']' | '}')).unwrap_or(here.len());
    let word = here.get(..end)?;
    if word.starts_with('*') { Some(word) } else { None }
}

/// The key of a line such as `*coder:`, `[ab]*:` or `{a,b}:`, which YAML does not read as text.
fn unquoted_pattern(line: &str) -> Option<&str> {
    let line = line.trim();
    let key = line.split_once(": ").map_or_else(|| line.strip_suffix(':'), |(key, _)| Some(key))?.trim_end();
    if key.starts_with(['*', '[', '{', '!', '&']) && !key.contains(['"', '\'']) { Some(key) } else { None }
}
