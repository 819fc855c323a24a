//! Questions about a script's syntax tree: where its placeholder becomes a list of quoted words, and which parts need bash.

use crate::programs::table;
use crate::syntax::parser;
use crate::syntax::tree::{
    AssignedValue, Assignment, Command, CommandKind, List, Operation, ParseError, Piece, Redirection, Word,
};

/// Whether this shell quotes words like `sh`. It may be given by its path.
pub fn is_quoted_for(shell: &str) -> bool {
    table::by_name(table::name_of(shell)).is_some_and(|program| program.quotes_like_sh)
}

/// Why a placeholder cannot be where it is in a script. It must be a word or part of a word, outside of quotes, so that the
/// quotes of the list work. They do not work in backticks.
pub fn misplaced(script: &str, placeholder: &str) -> Option<String> {
    if script.len() > crate::MAX_BYTES {
        return Some("the script is longer than 64 KiB".into());
    }
    let list = match parser::parse(script, 0) {
        Ok(list) => list,
        Err(ParseError::Syntax(reason)) => return Some(format!("the script cannot be read: {reason}")),
        Err(ParseError::TooDeep) => return Some("the script is nested too deeply".into()),
    };
    let mut seen = Visitor { placeholder, has_backticks: script.contains('`'), ..Visitor::default() };
    seen.list(&list);
    let is_misplaced = seen.found < script.matches(placeholder).count();
    if is_misplaced {
        Some("it is in quotes, a here-document, a comment, backticks or an assignment".into())
    } else {
        None
    }
}

/// The parts of a script that only bash and similar shells understand.
pub fn needs_bash(script: &str) -> Option<&'static str> {
    let in_text = [("<<<", "<<<"), ("&>", "&>"), ("pipefail", "pipefail")];
    if let Some((_, what)) = in_text.iter().find(|(text, _)| script.contains(text)) {
        return Some(what);
    }
    let list = parser::parse(script, 0).ok()?;
    let mut seen = Visitor::default();
    seen.list(&list);
    seen.bash
}

#[derive(Default)]
struct Visitor<'a> {
    placeholder: &'a str,
    has_backticks: bool,
    /// How many placeholders are in a valid place.
    found: usize,
    /// Inside a substitution that may be in backticks.
    is_doubtful: bool,
    bash: Option<&'static str>,
}

impl Visitor<'_> {
    fn list(&mut self, list: &List) {
        for item in list {
            let pipelines =
                std::iter::once(&item.first).chain(item.rest.iter().map(|(_, pipeline)| pipeline));
            pipelines.flatten().for_each(|command| self.command(command));
        }
    }

    fn command(&mut self, command: &Command) {
        for redirect in &command.redirects {
            match &redirect.kind {
                Redirection::Read(word)
                | Redirection::Write { word, .. }
                | Redirection::ReadWrite(word)
                | Redirection::Duplicate(word)
                | Redirection::DuplicateInput(word) => self.word(word, false),
                Redirection::Text(text) => text.get().into_iter().for_each(|word| self.word(word, false)),
            }
        }
        match &command.kind {
            CommandKind::Simple { assignments, words } => self.simple(assignments, words),
            CommandKind::Group(list) | CommandKind::Subshell(list) => self.list(list),
            CommandKind::If(branches) => {
                for (condition, body) in branches {
                    condition.iter().chain([body]).for_each(|list| self.list(list));
                }
            }
            CommandKind::While { condition, body } => {
                [condition, body].into_iter().for_each(|list| self.list(list))
            }
            CommandKind::For { words, body, .. } => {
                words.iter().flatten().for_each(|word| self.word(word, true));
                self.list(body);
            }
            CommandKind::Case { word, arms } => {
                self.word(word, false);
                for (patterns, body) in arms {
                    patterns.iter().for_each(|word| self.word(word, false));
                    self.list(body);
                }
            }
            CommandKind::Function { body, .. } => self.command(body),
            CommandKind::Expression { is_arithmetic, words, body } => {
                self.bash.get_or_insert(if *is_arithmetic { "((" } else { "[[" });
                words.iter().for_each(|word| self.word(word, false));
                self.list(body);
            }
        }
    }

    fn simple(&mut self, assignments: &[Assignment], words: &[Word]) {
        for assignment in assignments {
            assignment.index.iter().for_each(|word| self.word(word, false));
            match &assignment.value {
                AssignedValue::Word(word) => self.word(word, false),
                AssignedValue::Array(words) => {
                    self.bash.get_or_insert("an array");
                    words.iter().for_each(|word| self.word(word, true));
                }
            }
        }
        let program = words.first().and_then(|word| match word.as_slice() {
            [Piece::Plain(name)] => Some(name.as_str()),
            _ => None,
        });
        if program == Some("source") {
            self.bash.get_or_insert("source");
        }
        // `eval` reads the names again, without their quotes.
        let is_given = program != Some("eval");
        words.iter().for_each(|word| self.word(word, is_given));
    }

    fn word(&mut self, word: &Word, may_have: bool) {
        for piece in word {
            match piece {
                Piece::Plain(text) if may_have && !self.is_doubtful && !self.placeholder.is_empty() => {
                    self.found += text.matches(self.placeholder).count();
                }
                Piece::Substitution { list, .. } => {
                    let was_doubtful = std::mem::replace(&mut self.is_doubtful, self.has_backticks);
                    self.list(list);
                    self.is_doubtful = was_doubtful;
                }
                Piece::Process { list, .. } => {
                    self.bash.get_or_insert("<(");
                    self.list(list);
                }
                Piece::Arithmetic(word) => self.word(word, false),
                Piece::Parameter { operation: Some(operation), .. } => match operation {
                    Operation::Default(word)
                    | Operation::Assign(word)
                    | Operation::Alternative(word)
                    | Operation::Trim { pattern: word, .. }
                    | Operation::Index(word)
                    | Operation::Indirect(word)
                    | Operation::Other(word) => self.word(word, false),
                    Operation::All | Operation::Joined => {
                        self.bash.get_or_insert("an array");
                    }
                    Operation::Length => {}
                },
                Piece::Plain(_) | Piece::Quoted(_) | Piece::Pattern(_) | Piece::Parameter { .. } => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_quoted_words_stands_outside_of_quotes() {
        for fine in [
            "echo {files}",
            "eslint --fix {files} && echo done",
            "x --files={files}",
            "for f in {files}; do wc \"$f\"; done",
            "echo \"$(cat {files})\"",
            "if true; then cat <(sort {files}) {files}; fi",
            "a=({files}); echo \"${a[@]}\"",
            "cat <<EOF\n$(ls {files})\nEOF\n",
            "f() { ls {files}; }; f | (cat)",
        ] {
            assert_eq!(misplaced(fine, "{files}"), None, "{fine}");
        }
        for wrong in [
            "echo \"{files}\"",
            "echo '{files}'",
            "cat <<EOF\n{files}\nEOF\n",
            "cat <<'EOF'\n{files}\nEOF\n",
            "cat <<< \"{files}\"",
            "echo {files} \"{files}\"",
            "x={files} make",
            "eval ls {files}",
            "echo `ls {files}`",
            "ls # {files}",
            "case {files} in x) ;; esac",
            "echo $(( {files} ))",
            "bash -c 'ls {files}'",
            "echo {files} 'unclosed",
        ] {
            assert!(misplaced(wrong, "{files}").is_some(), "{wrong}");
        }
    }

    #[test]
    fn what_needs_bash() {
        for (script, needs) in [
            ("[[ -e x ]]", Some("[[")),
            ("a=(1 2)", Some("an array")),
            ("source ./x", Some("source")),
            ("diff <(a) <(b)", Some("<(")),
            ("cat <<< x", Some("<<<")),
            ("set -o pipefail", Some("pipefail")),
            ("if [ -e x ]; then . ./x; fi; echo \"$((1 + 2)) [[\"", None),
        ] {
            assert_eq!(needs_bash(script), needs, "{script}");
        }
    }
}
