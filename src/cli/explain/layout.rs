//! Text in lines of at most 80 columns, and the colours of explanations.

use std::io;

use anstyle::{AnsiColor, Style};

use crate::cli::out::{Out, Paint};
use conclaude_core::text::printable;

const WIDTH: usize = 80;

/// Prints a text below the indent, broken between words. A longer word stays whole, so that it can be copied.
pub(in crate::cli) fn paragraph(out: &mut Out<'_>, indent: usize, text: &str) -> io::Result<()> {
    marked(out, indent, None, text)
}

/// Like `paragraph`, with a mark in front of its first line.
pub(in crate::cli) fn marked(
    out: &mut Out<'_>,
    indent: usize,
    mark: Option<(Paint, &str)>,
    text: &str,
) -> io::Result<()> {
    let hang = indent + if mark.is_some() { 2 } else { 0 };
    for (number, line) in broken(&printable(text), WIDTH.saturating_sub(hang)).iter().enumerate() {
        match mark {
            Some((paint, mark)) if number == 0 => {
                writeln!(out, "{:indent$}{paint}{mark}{paint:#} {line}", "")?
            }
            _ if line.is_empty() => writeln!(out)?,
            _ => writeln!(out, "{:hang$}{line}", "")?,
        }
    }
    Ok(())
}

/// The lines of a text, each broken if it is too long. The text after a break keeps the indent of its line.
fn broken(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.trim_end().lines() {
        // A line that fits stays unchanged: carets below a line of code depend on their column.
        if line.chars().count() <= width {
            lines.push(line.to_owned());
            continue;
        }
        let start: String = line.chars().take_while(|c| *c == ' ').collect();
        let mut current = start.clone();
        for word in line.split_whitespace() {
            let is_first = current.len() == start.len();
            if !is_first && current.chars().count() + 1 + word.chars().count() > width {
                lines.push(std::mem::replace(&mut current, format!("{start}{word}")));
                continue;
            }
            if !is_first {
                current.push(' ');
            }
            current.push_str(word);
        }
        lines.push(current);
    }
    lines
}

pub(in crate::cli) const BOLD: Paint = Paint(Style::new().bold());
pub(in crate::cli) const FAINT: Paint = Paint(Style::new().dimmed());
pub(in crate::cli) const GOOD: Paint = Paint(AnsiColor::Green.on_default());
pub(in crate::cli) const BAD: Paint = Paint(AnsiColor::Red.on_default());
pub(in crate::cli) const WARNING: Paint = Paint(AnsiColor::Yellow.on_default());

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words_and_keep_their_indent() {
        assert_eq!(broken("one two three", 7), ["one two", "three"]);
        assert_eq!(broken("  one two three", 9), ["  one two", "  three"]);
        assert_eq!(broken("a averyverylongword b", 5), ["a", "averyverylongword", "b"]);
        assert_eq!(broken("a\n\nb\n", 5), ["a", "", "b"]);
        assert_eq!(broken("x:  99\n    ^^", 6), ["x:  99", "    ^^"]);
    }
}
