//! Code of PowerShell: its commands by their text, for rules that deny them. What it does to files is not known.

use std::rc::Rc;

use crate::programs::table::{self, name_of};
use crate::{
    Base, CodeAccess, CodeLanguage, Doubt, Extent, MAX_BYTES, Quoting, Script, SimpleCommand, UnknownPart,
};

pub fn read(text: &str) -> Script {
    if text.len() > MAX_BYTES {
        return Script { doubts: vec![Doubt::TooLong], ..Script::default() };
    }
    let commands = commands(text).into_iter().filter_map(simple).collect();
    let bases = vec![Base::At(String::new())];
    let (interpreter, language) = ("PowerShell".into(), CodeLanguage::Shell);
    let access = CodeAccess { writes: true, runs: true };
    let code = Doubt::InlineCode { interpreter, language, text: text.to_owned(), access, bases };
    Script { commands, doubts: vec![code], ..Script::default() }
}

/// The words of each command, without quotes.
fn commands(text: &str) -> Vec<Vec<String>> {
    let mut words = Words::default();
    let mut characters = text.chars().peekable();
    let mut quote = None;
    while let Some(c) = characters.next() {
        match (quote, c) {
            // A doubled quote is one.
            (Some(open), c) if c == open => match characters.next_if_eq(&open) {
                Some(c) => words.push(c),
                None => quote = None,
            },
            (Some('\''), c) => words.push(c),
            (_, '`') => match characters.next() {
                Some('\n') | None => words.end_word(),
                Some(c) => words.push(c),
            },
            (Some(_), c) => words.push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                words.open();
            }
            (None, '#') if words.word.is_none() => while characters.next_if(|c| *c != '\n').is_some() {},
            (None, ';' | '|' | '&' | '\n' | '(' | ')' | '{' | '}') => words.end_command(),
            (None, c) if c.is_whitespace() => words.end_word(),
            (None, c) => words.push(c),
        }
    }
    words.end_command();
    words.commands
}

#[derive(Default)]
struct Words {
    commands: Vec<Vec<String>>,
    command: Vec<String>,
    word: Option<String>,
}

impl Words {
    fn open(&mut self) {
        self.word.get_or_insert_default();
    }

    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn end_word(&mut self) {
        self.command.extend(self.word.take());
    }

    fn end_command(&mut self) {
        self.end_word();
        let command = std::mem::take(&mut self.command);
        if !command.is_empty() {
            self.commands.push(command);
        }
    }
}

/// A command of these words; `$x = git push` runs `git push`.
fn simple(mut words: Vec<String>) -> Option<SimpleCommand> {
    if words.first().is_some_and(|first| first.starts_with('$'))
        && words.get(1).is_some_and(|word| word == "=")
    {
        words.drain(..2);
    }
    let first = words.first_mut()?;
    if let Some(name) = first.len().checked_sub(4).and_then(|at| first.split_at_checked(at))
        && name.1.eq_ignore_ascii_case(".exe")
    {
        *first = name.0.to_owned();
    }
    let is_known = !first.contains('$');
    let entry = table::by_name(name_of(first));
    let unknown = words.iter().enumerate().filter(|(_, word)| word.contains('$'));
    let unknown =
        unknown.map(|(word, text)| UnknownPart { word, part: 0..text.len(), quoting: Quoting::Bare });
    Some(SimpleCommand {
        unknown: unknown.collect(),
        text: words.join(" "),
        is_known,
        words,
        assigned: Vec::new(),
        environment: Rc::default(),
        redirects_to_file: false,
        redirects: Vec::new(),
        input: None,
        directories: Vec::new(),
        wraps: false,
        inside: false,
        unknown_code: None,
        makes_symbolic_link: false,
        extent: Extent::default(),
        entry,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_separated_by_their_text() {
        let text = "git push --force; $x = & 'npm' publish | Out-Null\nif ($a) { git.exe `\n status } # rm x\necho \"a; `\"b\"";
        let found: Vec<String> = read(text).commands.into_iter().map(|command| command.text).collect();
        assert_eq!(
            found,
            ["git push --force", "npm publish", "Out-Null", "if", "$a", "git status", "echo a; \"b"]
        );
    }
}
