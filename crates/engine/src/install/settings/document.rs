//! The text of a settings file with the positions of everything in it. Members are added and removed by splicing the text: the
//! editing functions of syntax trees would reformat the user's neighbouring entries.

use jsonc_parser::ast::{Array, Object, Value as Node};
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};

use super::read::Refusal;

pub(super) struct Document<'a> {
    text: &'a str,
    pub(super) root: Object<'a>,
    /// All tokens in order, comments among them.
    tokens: Vec<TokenAndRange<'a>>,
}

/// An object or a list: where it is, and where its members are.
pub(super) struct Container {
    range: Range,
    members: Vec<Range>,
}

impl Container {
    pub(super) fn object(object: &Object<'_>) -> Self {
        Container { range: object.range, members: object.properties.iter().map(|one| one.range).collect() }
    }

    pub(super) fn list(list: &Array<'_>) -> Self {
        Container { range: list.range, members: list.elements.iter().map(Ranged::range).collect() }
    }

    pub(super) fn member(&self, index: usize) -> Option<Range> {
        self.members.get(index).copied()
    }

    /// The member, if there is no other.
    pub(super) fn only_member(&self) -> Option<Range> {
        if let [only] = self.members.as_slice() { Some(*only) } else { None }
    }
}

/// JSON, optionally with comments and trailing commas, and without the extensions of other dialects.
pub(super) fn options(allow_comments: bool) -> ParseOptions {
    ParseOptions {
        allow_comments,
        allow_trailing_commas: allow_comments,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

impl<'a> Document<'a> {
    pub(super) fn parse(text: &'a str) -> Result<Self, Refusal> {
        let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
        let parsed = parse_to_ast(text, &collect, &options(true))
            .map_err(|error| Refusal(format!("the settings file is not JSON: {error}")))?;
        match parsed.value {
            Some(Node::Object(root)) => {
                Ok(Document { text, root, tokens: parsed.tokens.unwrap_or_default() })
            }
            _ => Err(Refusal("the settings file is not a JSON object".into())),
        }
    }

    /// The text with one more member at the end of the container, formatted like the members before it.
    pub(super) fn append(&self, container: &Container, addition: &str) -> String {
        self.append_all(container, &[addition.to_owned()])
    }

    /// Like `append`, with several.
    pub(super) fn append_all(&self, container: &Container, additions: &[String]) -> String {
        match container.members.last() {
            Some(last) => self.append_after(container.range.start, *last, additions),
            None => self.fill(container.range, additions),
        }
    }

    fn append_after(&self, open: usize, last: Range, additions: &[String]) -> String {
        let comma = self.comma_after(last.end);
        // A comment after the last member stays with it.
        let at = self.after_comments(comma.map_or(last.end, |comma| comma.end));
        let line_comment = self.token_before(at).is_some_and(|token| is_line_comment(&token.token));
        let is_on_own_line = self.line_start(last.start) > open || line_comment;
        let indent = self.indent_of(last.start);
        let lay_out = |addition: &String| {
            if is_on_own_line {
                self.on_own_line(addition, &indent)
            } else {
                // All members are on one line, and so is the new one.
                format!(" {}", addition.lines().map(str::trim_start).collect::<Vec<_>>().join(" "))
            }
        };
        let added = additions.iter().map(lay_out).collect::<Vec<_>>().join(",");
        let between = self.slice(last.end, at);
        let (before, after) = (self.slice(0, last.end), self.slice(at, self.text.len()));
        match comma {
            Some(_) => format!("{before}{between}{added},{after}"),
            None => format!("{before},{between}{added}{after}"),
        }
    }

    /// The first members of an empty container.
    fn fill(&self, range: Range, additions: &[String]) -> String {
        let outer = self.indent_of(range.start);
        let indent = format!("{outer}{}", self.indent_unit());
        let added: Vec<String> =
            additions.iter().map(|addition| self.on_own_line(addition, &indent)).collect();
        let added = added.join(",");
        let last_comment = self.tokens_in(range.start + 1, range.end - 1).last();
        let (from, to, end) = match last_comment {
            Some(comment) => (comment.range.end, comment.range.end, String::new()),
            None => (range.start + 1, range.end - 1, format!("{}{outer}", self.newline())),
        };
        format!("{}{added}{end}{}", self.slice(0, from), self.slice(to, self.text.len()))
    }

    /// The text without one member, its comma and the white space before it. Comments around it stay.
    pub(super) fn remove(&self, container: &Container, index: usize) -> String {
        let Some(this) = container.members.get(index).copied() else { return self.text.to_owned() };
        if container.members.len() == 1 && !self.has_comments_around(container.range, this) {
            let (open, close) = (container.range.start + 1, container.range.end - 1);
            return format!("{}{}", self.slice(0, open), self.slice(close, self.text.len()));
        }
        let own_comma = self.comma_after(this.end);
        let previous = index.checked_sub(1).and_then(|index| container.members.get(index));
        // Without a comma after it, it is the last member, and the comma before it is removed.
        let other_comma = match own_comma {
            None => previous.and_then(|previous| self.comma_after(previous.end)),
            Some(_) => None,
        };
        let mut end = own_comma.map_or(this.end, |comma| comma.end);
        let rest_of_line = self.slice(end, self.text.len()).lines().next().unwrap_or_default();
        let before = self.token_before(this.start);
        let start = match before {
            // The line break ends the comment.
            Some(token) if is_line_comment(&token.token) && !rest_of_line.trim().is_empty() => this.start,
            Some(token) => token.range.end,
            None => this.start,
        };
        if start == this.start && index == 0 {
            end += rest_of_line.len() - rest_of_line.trim_start().len();
        }
        let kept = match other_comma {
            Some(comma) => format!("{}{}", self.slice(0, comma.start), self.slice(comma.end, start)),
            None => self.slice(0, start).to_owned(),
        };
        format!("{kept}{}", self.slice(end, self.text.len()))
    }

    /// The text with another member instead of this one.
    pub(super) fn replace(&self, container: &Container, index: usize, with: &str) -> String {
        let Some(this) = container.members.get(index) else { return self.text.to_owned() };
        let indent = format!("{}{}", self.newline(), self.indent_of(this.start));
        let with = with.replace('\n', &indent);
        format!("{}{with}{}", self.slice(0, this.start), self.slice(this.end, self.text.len()))
    }

    /// Whether a range has comments outside of another one within it.
    pub(super) fn has_comments_around(&self, outer: Range, inner: Range) -> bool {
        let comments = |from, to| self.tokens_in(from, to).iter().any(|token| is_comment(&token.token));
        comments(outer.start, inner.start) || comments(inner.end, outer.end)
    }

    /// The file's own unit of indentation.
    pub(super) fn indent_unit(&self) -> String {
        let outer = self.indent_of(self.root.range.start);
        let first = self.root.properties.first().map(|member| member.range.start);
        let inner = first.filter(|start| self.line_start(*start) > self.root.range.start);
        let unit = inner.and_then(|start| self.indent_of(start).strip_prefix(&outer).map(str::to_owned));
        unit.filter(|unit| !unit.is_empty()).unwrap_or_else(|| "  ".into())
    }

    fn newline(&self) -> &'static str {
        if self.text.contains("\r\n") { "\r\n" } else { "\n" }
    }

    fn on_own_line(&self, addition: &str, indent: &str) -> String {
        let start = format!("{}{indent}", self.newline());
        format!("{start}{}", addition.replace('\n', &start))
    }

    fn slice(&self, from: usize, to: usize) -> &'a str {
        self.text.get(from..to).unwrap_or_default()
    }

    fn line_start(&self, at: usize) -> usize {
        self.slice(0, at).rfind('\n').map_or(0, |at| at + 1)
    }

    fn indent_of(&self, at: usize) -> String {
        let line = self.slice(self.line_start(at), self.text.len());
        line.chars().take_while(|c| matches!(c, ' ' | '\t')).collect()
    }

    fn index_at(&self, at: usize) -> usize {
        self.tokens.partition_point(|token| token.range.start < at)
    }

    fn tokens_in(&self, from: usize, to: usize) -> &[TokenAndRange<'a>] {
        self.tokens.get(self.index_at(from)..self.index_at(to)).unwrap_or_default()
    }

    fn token_before(&self, at: usize) -> Option<&TokenAndRange<'a>> {
        self.tokens.get(self.index_at(at).checked_sub(1)?)
    }

    fn comma_after(&self, at: usize) -> Option<Range> {
        let next = self.tokens.iter().skip(self.index_at(at)).find(|token| !is_comment(&token.token))?;
        if next.token == Token::Comma { Some(next.range) } else { None }
    }

    /// The end of the comments that follow on the same line, if there are any.
    fn after_comments(&self, at: usize) -> usize {
        let mut end = at;
        for token in self.tokens.iter().skip(self.index_at(at)) {
            if !is_comment(&token.token) || self.slice(end, token.range.start).contains('\n') {
                break;
            }
            end = token.range.end;
        }
        end
    }
}

fn is_comment(token: &Token<'_>) -> bool {
    matches!(token, Token::CommentLine(_) | Token::CommentBlock(_))
}

fn is_line_comment(token: &Token<'_>) -> bool {
    matches!(token, Token::CommentLine(_))
}
