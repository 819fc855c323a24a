//! All problems of a config at once, each with its position, the line itself, and what to do.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet};
use serde::Serialize;
use serde_json::Value;

use super::rules::{Problem, problems};
use super::schema::schema;
use crate::text::{count, pictured, revealed};
use crate::yaml::{Node, Spanned, SyntaxError, ValueError};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Colour,
    Plain,
}

/// Whether a text that may be no YAML has a key that starts so: one that is misspelt behind that is meant, too. Comments have none.
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

/// Longer lines are cut: one of a megabyte takes long to render, and nobody reads it.
const MAX_LINE_BYTES: usize = 2_000;

/// What a user does about a config that is not trusted.
pub const TRUST_IT: &str = "Look at the file, then run `conclaude trust` in the project";

/// Why a config cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    path: PathBuf,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Unreadable(String),
    /// It is somebody else's, and the user has not agreed to it.
    Untrusted(String),
    Invalid {
        text: String,
        problems: Vec<Problem>,
    },
}

impl ConfigError {
    pub fn unreadable(path: &Path, reason: &str) -> Self {
        ConfigError { path: path.to_owned(), kind: Kind::Unreadable(reason.to_owned()) }
    }

    pub fn untrusted(path: &Path, why: &str) -> Self {
        ConfigError { path: path.to_owned(), kind: Kind::Untrusted(why.to_owned()) }
    }

    #[must_use]
    pub fn is_untrusted(&self) -> bool {
        matches!(self.kind, Kind::Untrusted(_))
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn invalid(path: &Path, text: &str, problems: Vec<Problem>) -> Self {
        ConfigError { path: path.to_owned(), kind: Kind::Invalid { text: text.to_owned(), problems } }
    }

    /// One line with the file and the number of problems.
    #[must_use]
    pub fn summary(&self) -> String {
        match &self.kind {
            Kind::Unreadable(reason) => format!("cannot read the config {}: {reason}", self.path.display()),
            Kind::Untrusted(why) => {
                format!("the config {} is not used: {why}. {TRUST_IT}", self.path.display())
            }
            Kind::Invalid { problems, .. } => {
                format!("invalid config {}: {}", self.path.display(), count(problems.len() as u64, "problem"))
            }
        }
    }

    /// Whether the file has this section, as far as one can tell of a file that is broken, or of what it extends and is not read.
    #[must_use]
    pub fn mentions(&self, section: &str) -> bool {
        match &self.kind {
            Kind::Invalid { text, .. } => has_key(text, section) || has_key(text, "extends"),
            // What it would have said is not known.
            Kind::Unreadable(_) => true,
            Kind::Untrusted(_) => false,
        }
    }

    /// What is wrong in this part of the text.
    pub(super) fn title_in(&self, range: &Range<usize>) -> Option<&str> {
        let Kind::Invalid { problems, .. } = &self.kind else { return None };
        // They are in the order of the file, and there may be thousands.
        let first = problems.get(problems.partition_point(|problem| problem.span.start < range.start))?;
        range.contains(&first.span.start).then_some(first.title.as_str())
    }

    /// One line for a reader who can look up the rest.
    #[must_use]
    pub fn brief(&self) -> String {
        match &self.kind {
            Kind::Unreadable(_) | Kind::Untrusted(_) => self.summary(),
            Kind::Invalid { .. } => format!("{}; `conclaude validate` shows every problem", self.summary()),
        }
    }

    /// Every problem with its position, for programs; none if the file cannot be read.
    #[must_use]
    pub fn located(&self) -> Vec<Located<'_>> {
        let Kind::Invalid { text, problems } = &self.kind else { return Vec::new() };
        problems.iter().map(|problem| Located::of(problem, text, &self.path)).collect()
    }

    /// Every problem with its position and the line itself.
    #[must_use]
    pub fn report(&self, style: Style) -> String {
        let Kind::Invalid { text, problems } = &self.kind else { return String::new() };
        let path = self.path.display().to_string();
        let renderer = renderer(style);
        let shown = problems.iter().take(MAX_SHOWN);
        let mut rendered: Vec<String> =
            shown.map(|problem| render(problem, Level::ERROR, &path, text, &renderer)).collect();
        if problems.len() > MAX_SHOWN {
            rendered.push(format!("… and {}", count((problems.len() - MAX_SHOWN) as u64, "further problem")));
        }
        rendered.join("\n\n")
    }
}

fn renderer(style: Style) -> Renderer {
    match style {
        Style::Colour => Renderer::styled(),
        Style::Plain => Renderer::plain(),
    }
}

/// A warning about a file, as errors are shown.
#[must_use]
pub fn warning(problem: &Problem, path: &Path, text: &str, style: Style) -> String {
    render(problem, Level::WARNING, &path.display().to_string(), text, &renderer(style))
}

/// A problem with its position, counted from 1; columns are characters.
#[derive(Serialize)]
pub struct Located<'a> {
    pub path: &'a Path,
    pub line: usize,
    pub column: usize,
    pub end_column: usize,
    pub message: &'a str,
    /// What is at this position.
    pub label: &'a str,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<&'a str>,
}

impl<'a> Located<'a> {
    pub fn of(problem: &'a Problem, text: &str, path: &'a Path) -> Self {
        let Line { start, number, text: line } = Line::of(problem, text);
        let column = |at: usize| line.get(..at - start).unwrap_or(line).chars().count() + 1;
        Located {
            path,
            line: number,
            column: column(problem.span.start),
            end_column: column(problem.span.end.max(problem.span.start)),
            message: &problem.title,
            label: &problem.label,
            help: problem.help.as_deref(),
        }
    }
}

/// The line in which a problem starts.
struct Line<'a> {
    /// In bytes of the text.
    start: usize,
    /// Counted from 1.
    number: usize,
    text: &'a str,
}

impl<'a> Line<'a> {
    fn of(problem: &Problem, text: &'a str) -> Self {
        let start =
            text.get(..problem.span.start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
        let number = text.get(..start).map_or(0, |before| before.matches('\n').count()) + 1;
        Line {
            start,
            number,
            text: text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or_default(),
        }
    }
}

fn render(problem: &Problem, level: Level<'_>, path: &str, text: &str, renderer: &Renderer) -> String {
    // Only the line itself: the whole file would be scanned again for each problem.
    let Line { start, number, text: line } = Line::of(problem, text);
    let before = line.get(..problem.span.start - start).unwrap_or(line);
    let title = level.primary_title(revealed(&problem.title));
    let path = revealed(path);
    let mut group = if before.len() > MAX_LINE_BYTES {
        let position = Origin::path(path).line(number).char_column(before.chars().count() + 1);
        title.element(position).element(Level::NOTE.message(revealed(&problem.label)))
    } else {
        let line = line.get(..line.floor_char_boundary(2 * MAX_LINE_BYTES)).unwrap_or(line);
        let end = (problem.span.end - start).min(line.len());
        let start = before.len().min(end);
        let [before, marked, after] = [line.get(..start), line.get(start..end), line.get(end..)]
            .map(|part| pictured(part.unwrap_or_default()));
        let span = before.len()..before.len() + marked.len();
        let label = AnnotationKind::Primary.span(span).label(revealed(&problem.label));
        let line = format!("{before}{marked}{after}");
        title.element(Snippet::source(line).path(path).line_start(number).annotation(label))
    };
    if let Some(help) = &problem.help {
        group = group.element(Level::HELP.message(revealed(help)));
    }
    renderer.render(&[group])
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.summary())?;
        match self.report(Style::Plain) {
            report if report.is_empty() => Ok(()),
            report => write!(f, "\n\n{report}"),
        }
    }
}

impl std::error::Error for ConfigError {}

/// A file whose values do not make the structs. What makes them stops at the first problem.
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

    /// The same for a file with another schema.
    pub(super) fn explain_by(self, schema: &Value, what: &str) -> ConfigError {
        let InvalidFile { path, text, tree, first } = self;
        let mut found = problems(schema, what, tree, text);
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
    let (title, help) = match unquoted_pattern(line).or_else(|| unquoted_alias(here)) {
        _ if is_too_large => ("the config is too large".into(), "remove what is not needed".into()),
        Some(key) => (
            format!("`{key}` must be quoted"),
            format!(
                "YAML reads a leading `{}` as its own syntax: write \"{key}\"",
                key.chars().next().unwrap_or('*')
            ),
        ),
        None if line.trim_start_matches(' ').starts_with('\t') => {
            ("tabs cannot indent YAML".into(), "indent with spaces".into())
        }
        None => ("invalid YAML".into(), "check the indentation, quotes and colons near this position".into()),
    };
    let problem = Problem { span, title, label: error.reason.clone(), help: Some(help) };
    ConfigError::invalid(path, text, vec![problem])
}

/// A star that YAML reads as an alias, as in `[*]`.
fn unquoted_alias(here: &str) -> Option<&str> {
    let end = here.find(|c: char| c.is_whitespace() || matches!(c, ',' | ']' | '}')).unwrap_or(here.len());
    here.get(..end).filter(|word| word.starts_with('*'))
}

/// The key of a line such as `*coder:`, `[ab]*:` or `{a,b}:`, which YAML does not read as text.
fn unquoted_pattern(line: &str) -> Option<&str> {
    let line = line.trim();
    let key = line.split_once(": ").map_or_else(|| line.strip_suffix(':'), |(key, _)| Some(key))?.trim_end();
    (key.starts_with(['*', '[', '{', '!', '&']) && !key.contains(['"', '\''])).then_some(key)
}
