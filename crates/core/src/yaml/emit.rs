//! Writes a tree as YAML that parses to the same tree, with a comment after each value.

use super::{MapEntry, Node, Span, Spanned, read};
use crate::text::{clean, is_invisible};

/// The text of a tree. `remark` gives the comment after a value.
pub fn emit(tree: &Spanned<Node>, remark: impl Fn(Span) -> Option<String>) -> String {
    let mut emitter = Emitter { out: String::new(), remark: &remark };
    match &tree.value {
        Node::Map(entries) if !entries.is_empty() => emitter.map(entries, 0),
        Node::List(items) if !items.is_empty() => emitter.list(items, 0),
        _ => emitter.scalar(tree, 0),
    }
    emitter.out
}

struct Emitter<'a> {
    out: String,
    remark: &'a dyn Fn(Span) -> Option<String>,
}

impl Emitter<'_> {
    fn map(&mut self, entries: &[MapEntry], indent: usize) {
        for (number, (key, value)) in entries.iter().enumerate() {
            // The first key of a mapping in a list is on the line of its dash.
            if number > 0 || !self.out.ends_with("- ") {
                self.indent(indent);
            }
            self.out.push_str(&plain_or_quoted(&key.value));
            self.out.push(':');
            match &value.value {
                Node::Map(entries) if !entries.is_empty() => {
                    self.out.push('\n');
                    self.map(entries, indent + 2);
                }
                Node::List(items) if !items.is_empty() => {
                    self.out.push('\n');
                    self.list(items, indent + 2);
                }
                _ => {
                    self.out.push(' ');
                    self.scalar(value, indent);
                }
            }
        }
    }

    fn list(&mut self, items: &[Spanned<Node>], indent: usize) {
        for (number, item) in items.iter().enumerate() {
            if number > 0 || !self.out.ends_with("- ") {
                self.indent(indent);
            }
            self.out.push_str("- ");
            match &item.value {
                Node::Map(entries) if !entries.is_empty() => self.map(entries, indent + 2),
                Node::List(items) if !items.is_empty() => self.list(items, indent + 2),
                _ => self.scalar(item, indent),
            }
        }
    }

    fn scalar(&mut self, node: &Spanned<Node>, indent: usize) {
        let remark = (self.remark)(node.span).map(|remark| format!("  # {remark}")).unwrap_or_default();
        match &node.value {
            Node::Text(text) if is_block(text) => {
                self.out.push_str(if text.ends_with('\n') { "|" } else { "|-" });
                self.out.push_str(&remark);
                self.out.push('\n');
                for line in text.lines() {
                    if !line.is_empty() {
                        self.indent(indent + 2);
                    }
                    self.out.push_str(line);
                    self.out.push('\n');
                }
                return;
            }
            Node::Text(text) => self.out.push_str(&plain_or_quoted(text)),
            Node::Null => self.out.push_str("null"),
            Node::Bool(value) => self.out.push_str(&value.to_string()),
            Node::Int(value) => self.out.push_str(&value.to_string()),
            Node::Float(value) => self.out.push_str(&format!("{value:?}")),
            Node::List(_) => self.out.push_str("[]"),
            Node::Map(_) => self.out.push_str("{}"),
        }
        self.out.push_str(&remark);
        self.out.push('\n');
    }

    fn indent(&mut self, columns: usize) {
        self.out.extend(std::iter::repeat_n(' ', columns));
    }
}

/// Whether it can be shown unchanged to a terminal or a model.
fn is_clean(text: &str) -> bool {
    clean(text) == text
}

/// Whether a text of several lines can be written unchanged.
fn is_block(text: &str) -> bool {
    let lines = text.strip_suffix('\n').unwrap_or(text);
    let is_printable = |c: char| c == '\n' || c == '\t' || (!c.is_control() && !is_break(c));
    lines.contains('\n')
        && is_clean(text)
        && !lines.ends_with('\n')
        && text.chars().all(is_printable)
        && lines.lines().all(|line| !line.starts_with([' ', '\t']) && !line.ends_with([' ', '\t']))
        && lines.lines().next().is_some_and(|first| !first.is_empty())
}

/// Characters that YAML or a terminal may treat as the end of a line, or ignore.
fn is_break(c: char) -> bool {
    matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}')
}

fn plain_or_quoted(text: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ' ' | '=' | '+');
    let starts = text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.' || c == '/');
    let is_plain = starts && text.chars().all(is_word) && !text.ends_with(' ') && is_text(text);
    if is_plain { text.to_owned() } else { quoted(text) }
}

/// Whether it is read as text, and not as a number or a YAML keyword.
fn is_text(text: &str) -> bool {
    read(text).is_ok_and(|tree| matches!(&tree.value, Node::Text(read) if read == text))
}

/// JSON's escapes are valid in YAML. The remaining invisible characters are escaped as well.
fn quoted(text: &str) -> String {
    let simple = escaped(text, false);
    if is_clean(&simple) { simple } else { escaped(text, true) }
}

fn escaped(text: &str, with_tags: bool) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '<' if with_tags => out.push_str("\\x3C"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() || is_break(c) || is_invisible(c) => {
                out.push_str(&format!("\\U{:08X}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values(node: &Spanned<Node>) -> serde_json::Value {
        serde::Deserialize::deserialize(node).unwrap()
    }

    fn at_nowhere(value: Node) -> Spanned<Node> {
        Spanned { value, span: Span::default() }
    }

    fn tree() -> impl Strategy<Value = Node> {
        let text = prop_oneof![
            "[a-z:#\\-?*&!|>'\"%@` {}\\[\\],\n\t\\\\0-9~.=<]{0,12}",
            any::<String>(),
            Just("true".to_owned()),
            Just("null".to_owned()),
            Just("1e3".to_owned()),
            Just("set -e\nnpm test\n".to_owned()),
        ];
        let leaf = prop_oneof![
            Just(Node::Null),
            any::<bool>().prop_map(Node::Bool),
            any::<i64>().prop_map(|number| Node::Int(number.into())),
            text.clone().prop_map(|text| Node::Text(text.into())),
        ];
        leaf.prop_recursive(4, 24, 4, move |inner| {
            let list = prop::collection::vec(inner.clone().prop_map(at_nowhere), 0..4)
                .prop_map(|items| Node::List(items.into()));
            let entries = prop::collection::btree_map(text.clone(), inner, 0..4);
            // `<<` as a key merges.
            let map = entries.prop_map(|entries| {
                let entries = entries.into_iter().filter(|(key, _)| key != "<<");
                Node::Map(
                    entries
                        .map(|(key, value)| {
                            (Spanned { value: key.into(), span: Span::default() }, at_nowhere(value))
                        })
                        .collect(),
                )
            });
            prop_oneof![list, map]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(test_support::cases(300, 5_000)))]

        #[test]
        fn what_is_written_is_read_as_the_same(value in tree()) {
            let tree = at_nowhere(value);
            for remark in [None, Some("a remark".to_owned())] {
                let text = emit(&tree, |_| remark.clone());
                prop_assert_eq!(&clean(&text), &text);
                let again = read(&text).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
                prop_assert_eq!(values(&again), values(&tree), "{}", text);
            }
        }
    }
}
