//! Whether a command's output may be an option, or start with a sign that matters: the text that makes it contains one.
//!
//! The branch that `$(git branch --show-current)` prints is unknown, but it does not start with a `+`. In `$(git branch | sed
//! s/^/+/)` the script itself adds one.

use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::{Field, FieldKind, SPELLED_WORD};
use crate::glob::{Glob, GlobKind};
use crate::programs::batches::GIVEN;
use crate::syntax::parser::is_name;
use crate::{Access, Effect, SimpleCommand, Target};

/// Longer texts may be anything.
const MAX_TEXT: usize = 4096;

/// More files with such names are not followed.
const MAX_MADE: usize = 16;

/// What turns a text into another one that is not seen: programs, and functions and escapes in code. It is searched in text, so
/// it is not a column of the table of programs.
const DECODERS: &[&str] =
    &["base64", "base32", "xxd", "chr(", "fromCharCode", "\\x", "\\0", "\\u", "\\5", "unhexlify", "fromhex"];

/// Options of `git rev-parse` that it does not print.
const REVISION_OPTIONS: &[&str] = &[
    "--abbrev-ref",
    "--absolute-git-dir",
    "--git-common-dir",
    "--git-dir",
    "--is-inside-work-tree",
    "--path-format",
    "--quiet",
    "--short",
    "--show-prefix",
    "--show-toplevel",
    "--symbolic-full-name",
    "--verify",
    "-q",
];

impl Analyzer<'_> {
    /// Whether an unknown part of a word may be an option, or start with a sign.
    pub(super) fn is_spelled(&self, field: &Field, part: &str) -> bool {
        match field.kind {
            FieldKind::Literal | FieldKind::Tree => false,
            FieldKind::Glob => field.written.is_none() && self.matches_made(&field.text),
            FieldKind::Unknown if part == GIVEN => {
                let commands = self.script.commands.get(self.scope.pipeline..).unwrap_or_default();
                commands.iter().any(may_print_sign_as_command)
            }
            FieldKind::Unknown => match part.strip_prefix('$') {
                Some(text) if text.starts_with('(') => may_print_sign(text),
                Some(SPELLED_WORD) => true,
                Some(name) if name.bytes().all(is_name) => {
                    let by = self.state.variables.printed_by(name);
                    by.iter()
                        .filter_map(|index| self.script.commands.get(*index))
                        .any(may_print_sign_as_command)
                }
                _ => false,
            },
        }
    }

    /// Whether this script made a file that a pattern matches, and whose name looks like an option or starts with a sign.
    fn matches_made(&self, pattern: &str) -> bool {
        !self.made_options(pattern).is_empty()
    }

    /// The names of the files that this script made and that a pattern matches, if they look like an option or start with a sign.
    pub(super) fn made_options(&self, pattern: &str) -> Vec<Field> {
        if !pattern.starts_with(['*', '?', '[']) {
            return Vec::new();
        }
        let made = |effect: &Effect| {
            let (Target::Path(path) | Target::Tree(path)) = &effect.target else { return None };
            let name = path.rsplit('/').next().unwrap_or(path);
            let is_meant = effect.access != Access::Read && name.starts_with(['-', '+', ':']);
            let matches =
                || Glob::new(pattern, GlobKind::Path).is_ok_and(|glob| glob.matches(name).unwrap_or(true));
            if is_meant && matches() { Some(Field::literal(name)) } else { None }
        };
        self.script.effects.iter().filter_map(made).take(MAX_MADE).collect()
    }
}

/// Like `may_print_sign`, but for the words of a command.
fn may_print_sign_as_command(command: &SimpleCommand) -> bool {
    let quoted = |word: &String| crate::quoted_if_needed(word);
    may_print_sign(&command.words.iter().map(quoted).collect::<Vec<_>>().join(" "))
}

/// Whether the text of a command has an option or a sign that it may print: in quotes after a blank, or after a sign in a word.
pub(super) fn may_print_sign(text: &str) -> bool {
    if text.len() > MAX_TEXT || DECODERS.iter().any(|decoder| text.contains(decoder)) {
        return true;
    }
    if prints_own_options(text) {
        return true;
    }
    let is_date = text.contains("date");
    let mut quote = None;
    // The quotes around each substitution.
    let mut outer = Vec::new();
    let (mut before, mut second) = (' ', ' ');
    for (at, c) in text.char_indices() {
        let next = text.get(at + c.len_utf8()..).and_then(|rest| rest.chars().next()).unwrap_or(' ');
        let is_start = before == ' ' || matches!(before, '"' | '\'' | '\\') && second == ' ';
        // `%n` and `\n` end a line.
        let is_escaped = matches!(second, '%' | '\\') && before.is_ascii_alphanumeric();
        let is_after_sign =
            is_escaped || matches!(before, '=' | ':' | '/' | '|' | ',' | '#' | '@' | '"' | '\'');
        let is_spelled = match c {
            // The format of `date` starts with one.
            '+' if is_date && is_start => quote.is_some() && before == ' ',
            // A program may remove a backslash before it: `sed 's/^/\\+/'`.
            '+' if before == '\\' => is_start || follows_sign(text.get(..at)),
            '+' => is_start || is_after_sign,
            '-' if before == ' ' => quote.is_some() && !next.is_whitespace(),
            '-' => is_after_sign && !(is_start && quote.is_none()) && is_option(before, next, text.get(..at)),
            ':' => is_after_sign && before != ':' && next.is_alphabetic() || is_start && quote.is_some(),
            _ => false,
        };
        if is_spelled {
            return true;
        }
        match (quote, c) {
            (None | Some('"'), '(') if before == '$' => outer.push(quote.take()),
            (None, ')') => quote = outer.pop().flatten(),
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
        (second, before) = (before, c);
    }
    false
}

/// Whether backslashes at the end of a text follow a sign of `sed` or `tr`.
fn follows_sign(text: Option<&str>) -> bool {
    text.is_some_and(|text| text.trim_end_matches('\\').ends_with(['=', ':', '/', '|', ',', '#', '@']))
}

/// Whether `git rev-parse` prints one of its options.
fn prints_own_options(text: &str) -> bool {
    let plain = text.replace("\\\n", "").replace(['"', '\'', '\\'], "");
    let mut words = plain.split_whitespace().skip_while(|word| *word != "rev-parse");
    words.any(|word| {
        let name = word.split('=').next().unwrap_or(word).trim_end_matches(')');
        word.starts_with('-') && !REVISION_OPTIONS.contains(&name)
    })
}

/// Whether a dash after a sign may start a printed option. `--sort=-date` and `tr ' ' '-'` print none.
fn is_option(before: char, next: char, start: Option<&str>) -> bool {
    let start = start.unwrap_or_default();
    let is_format = start.ends_with("format=") || start.ends_with("format:") || before == '/';
    next == '-' || is_format && next.is_alphabetic() || matches!(before, '"' | '\'') && is_printed(start)
}

/// Whether the text before a quote prints its content.
fn is_printed(start: &str) -> bool {
    ["print", "format=", "format:", "+"]
        .iter()
        .any(|end| start.trim_end_matches(['"', '\'', ' ']).ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::may_print_sign;

    #[test]
    fn only_a_text_that_spells_a_sign_or_an_option_may_print_one() {
        for text in [
            "(date \"+%n+main\")",
            "(date '+ --force')",
            "(date '+ -f')",
            "(git log -1 --format=format:+main)",
            "(git log -1 --format=+main)",
            "(git log -1 --format='--force')",
            "(git branch --format=+main)",
            "(git rev-parse --force)",
            "(git rev-parse -f)",
            "(git \"\"rev-parse --force)",
            "(git \\\nrev-parse '--force')",
            "(git -C . rev\\-parse -f)",
            "(echo main | sed s/^/+/)",
            "(echo main | sed 's/^/ -f /')",
            "(echo main | sed 's,^,--force ,')",
            "(echo main | sed 's/^/:/;s/:/:x/')",
            "(awk '{print \"+\" $1}' f)",
            "(awk '{print \"-f\"}' f)",
            "(tr x + < f)",
            "(echo main|sed s/^/\\\\+/)",
            "(echo main|sed 's/^/\\+/')",
            "(echo \"$(printf '%s' \"$x --force\")\")",
            "(echo K21haW4= | base64 -d)",
            "(python3 -c 'print(chr(43))')",
            "(git for-each-ref --format='+%(refname:short)')",
        ] {
            assert!(may_print_sign(text), "{text}");
        }
        for text in [
            "(git branch --show-current)",
            "(git branch | grep -o '[a-z]\\+')",
            "(git rev-parse --abbrev-ref HEAD)",
            "(git rev-parse --short=8 HEAD)",
            "(git -C . rev-parse --verify -q HEAD)",
            "(git symbolic-ref --short HEAD)",
            "(git describe --tags --abbrev=0)",
            "(git tag --sort=-v:refname | head -1)",
            "(git tag --sort=-creatordate | head -n 1)",
            "(git for-each-ref --format='%(refname:short)' --sort=-committerdate | head -1)",
            "(git branch --show-current | tr '/' '-')",
            "(git branch --show-current | sed 's/[^a-z]/-/g')",
            "(git branch --show-current | sed -E 's/[0-9]+$//')",
            "(date +%Y%m%d)",
            "(date -u '+%Y-%m-%d')",
            "(date \"+%Y%m%d-%H%M\")",
            "(cat VERSION)",
            "(node -p \"require('./package.json').version\")",
            "(jq -r .version package.json)",
            "(grep -m1 version Cargo.toml | cut -d'\"' -f2)",
            "(awk -F'\"' '/^version/{print $2; exit}' Cargo.toml)",
            "(gh pr view --json headRefName -q .headRefName)",
            "(basename \"$PWD\")",
            "(sed -n 's/^version = \"\\(.*\\)\"/\\1/p' Cargo.toml)",
            "(dirname \"$(readlink -f \"$0\")\")",
        ] {
            assert!(!may_print_sign(text), "{text}");
        }
    }
}
