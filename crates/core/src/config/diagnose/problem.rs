//! Problems of a file and remarks about it, with their positions and their rendering.

use std::ops::Range;
use std::path::Path;

use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet};
use serde::Serialize;

use crate::config::{Origins, Source};
use crate::text::{pictured, revealed};
use crate::yaml::{Node, Position, Span};

/// Longer lines are cut: a line of a megabyte takes long to render, and nobody reads it.
const MAX_LINE_BYTES: usize = 2_000;

/// A mistake in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// In bytes of the text.
    pub span: Range<usize>,
    pub title: String,
    /// The label at this position.
    pub label: String,
    /// The fix.
    pub help: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Colour,
    Plain,
}

pub(super) fn renderer(style: Style) -> Renderer {
    match style {
        Style::Colour => Renderer::styled(),
        Style::Plain => Renderer::plain(),
    }
}

/// A file whose problems are shown.
pub(super) struct SourceFile<'a> {
    pub(super) path: &'a Path,
    pub(super) text: &'a str,
}

/// A warning about a file, in the form of an error.
#[must_use]
pub fn warning(problem: &Problem, path: &Path, text: &str, style: Style) -> String {
    SourceFile { path, text }.render(problem, Level::WARNING, &renderer(style))
}

/// A note about a file: not a mistake, but perhaps not what the user meant.
#[must_use]
pub fn note(problem: &Problem, path: &Path, text: &str, style: Style) -> String {
    SourceFile { path, text }.render(problem, Level::NOTE, &renderer(style))
}

/// A problem with its position, counted from 1; columns are characters.
#[derive(Serialize)]
pub struct LocatedProblem<'a> {
    pub path: &'a Path,
    pub line: usize,
    pub column: usize,
    pub end_column: usize,
    pub message: &'a str,
    /// The label at this position.
    pub label: &'a str,
    /// The fix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<&'a str>,
}

impl<'a> LocatedProblem<'a> {
    pub fn of(problem: &'a Problem, text: &str, path: &'a Path) -> Self {
        let SourceLine { start, number, text: line } = SourceLine::of(problem, text);
        let column = |at: usize| line.get(..at - start).unwrap_or(line).chars().count() + 1;
        LocatedProblem {
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
struct SourceLine<'a> {
    /// In bytes of the text.
    start: usize,
    /// Counted from 1.
    number: usize,
    text: &'a str,
}

impl<'a> SourceLine<'a> {
    fn of(problem: &Problem, text: &'a str) -> Self {
        let start =
            text.get(..problem.span.start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
        let number = text.get(..start).map_or(0, |before| before.matches('\n').count()) + 1;
        SourceLine {
            start,
            number,
            text: text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or_default(),
        }
    }
}

impl SourceFile<'_> {
    pub(super) fn render(&self, problem: &Problem, level: Level<'_>, renderer: &Renderer) -> String {
        // Renders only the line itself: the whole file would be scanned again for each problem.
        let SourceLine { start, number, text: line } = SourceLine::of(problem, self.text);
        let before = line.get(..problem.span.start - start).unwrap_or(line);
        let title = level.primary_title(revealed(&problem.title));
        let path = self.path.display().to_string();
        let path = revealed(&path);
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
}

/// A remark about a value of the config.
#[derive(Clone, Debug, PartialEq)]
pub struct Remark {
    position: RemarkPosition,
    /// Which value does not do what it seems to do.
    pub title: String,
    /// The reason.
    pub label: String,
    /// The fix.
    pub help: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
enum RemarkPosition {
    /// Keys and indices, as in `["stop", "commands", "*", "0", "files"]`.
    Keys(Vec<String>),
    Span(Span),
}

impl Remark {
    pub fn new<K: Into<String>>(keys: impl IntoIterator<Item = K>, title: impl Into<String>) -> Remark {
        let keys = keys.into_iter().map(Into::into).collect();
        Remark { position: RemarkPosition::Keys(keys), title: title.into(), label: String::new(), help: None }
    }

    pub fn at(span: Span, title: impl Into<String>) -> Remark {
        Remark { position: RemarkPosition::Span(span), title: title.into(), label: String::new(), help: None }
    }

    /// Adds the reason.
    #[must_use]
    pub fn because(mut self, label: impl Into<String>) -> Remark {
        self.label = label.into();
        self
    }

    /// Adds the fix.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Remark {
        self.help = Some(help.into());
        self
    }

    /// Whether two remarks are about the same value.
    #[must_use]
    pub fn is_about_same(&self, other: &Remark) -> bool {
        self.position == other.position
    }

    #[must_use]
    pub fn in_one_line(&self) -> String {
        let mut line = self.title.clone();
        if !self.label.is_empty() {
            line.push_str(": ");
            line.push_str(&self.label);
        }
        if let Some(help) = &self.help {
            line.push_str("; ");
            line.push_str(help);
        }
        line
    }

    /// The file, and the remark as a problem of its text.
    #[must_use]
    pub fn locate<'a>(&self, origins: &'a Origins) -> Option<(&'a Source, Problem)> {
        let span = match &self.position {
            RemarkPosition::Span(span) => *span,
            RemarkPosition::Keys(keys) => span_of(origins, keys)?,
        };
        let source = origins.sources().get(span.source)?;
        let (title, label, help) = (self.title.clone(), self.label.clone(), self.help.clone());
        Some((source, Problem { span: span.first_line(&source.text), title, label, help }))
    }
}

/// The key of a value, or the value itself if it is plain.
fn span_of(origins: &Origins, keys: &[String]) -> Option<Span> {
    let mut position = Position::of(origins.tree());
    let mut span = position.span();
    for key in keys {
        match &position.node.value {
            Node::Map(_) => {
                let (own, value) = position.entries().find(|(own, _)| own.value == key)?;
                let is_plain = !matches!(value.node.value, Node::Map(_) | Node::List(_));
                span = if is_plain { value.span() } else { own.span };
                position = value;
            }
            // A plain list of commands is the list of `*`.
            Node::List(_) if key == "*" => {}
            Node::List(_) => {
                position = position.items().nth(key.parse().ok()?)?;
                span = position.entries().next().map_or(position.span(), |(key, _)| key.span);
            }
            _ => return None,
        }
    }
    Some(span)
}
