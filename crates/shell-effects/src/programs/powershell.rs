//! PowerShell code: its commands by their text, for rules that deny them. Their effects on files are unknown.

use std::rc::Rc;

use crate::analysis::analyzer::Analyzer;
use crate::analysis::code::Language;
use crate::analysis::field::Field;
use crate::programs::arguments::Call;
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
    let access = CodeAccess { writes: true, moves: true, runs: true };
    let code = Doubt::InlineCode { interpreter, language, text: text.to_owned(), access, bases };
    Script { commands, doubts: vec![code], ..Script::default() }
}

/// Commands that do what another program does, and that program. A blank separates a program and its option.
const ALIASES: &[(&str, &[&str])] = &[
    ("rm -rf", &["remove-item", "ri", "rm", "del", "erase", "rd", "rmdir"]),
    ("mv", &["move-item", "mi", "mv", "move"]),
    ("cat", &["get-content", "gc", "cat", "type"]),
    ("tee", &["set-content", "add-content", "clear-content", "out-file", "sc", "ac"]),
    ("curl", &["invoke-webrequest", "iwr", "invoke-restmethod", "irm"]),
    ("shutdown", &["stop-computer", "restart-computer"]),
    ("mkfs", &["format-volume", "clear-disk"]),
];

/// `pwsh -Command CODE`: its commands count as the programs that do the same.
pub(crate) fn run(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let words = call.fields.get(1..).unwrap_or_default();
    let is_short = |text: &str, name: &str| text.len() > 1 && name.starts_with(text);
    for (at, word) in words.iter().enumerate() {
        let text = word.text.to_ascii_lowercase();
        let rest = words.get(at + 1..).unwrap_or_default();
        if is_short(&text, "-command") || text == "/c" {
            return run_code(analyzer, call, rest);
        }
        if text == "-ec" || is_short(&text, "-encodedcommand") {
            return analyzer.doubt_script(call.name);
        }
        if text.ends_with(".ps1") || is_short(&text, "-file") {
            return analyzer.unknown_program(words);
        }
        // Without an option, `powershell` takes its arguments for code.
        let is_value =
            at.checked_sub(1).and_then(|at| words.get(at)).is_some_and(|word| word.text.starts_with('-'));
        if !text.starts_with('-') && !is_value {
            return run_code(analyzer, call, words.get(at..).unwrap_or_default());
        }
    }
    analyzer.code_from_input(call.name, Language::Other);
}

fn run_code(analyzer: &mut Analyzer<'_>, call: &Call<'_>, words: &[Field]) {
    if let [word] = words
        && word.text == "-"
    {
        return analyzer.code_from_input(call.name, Language::Other);
    }
    let code = words.iter().map(Field::shown).collect::<Vec<_>>().join(" ");
    if !analyzer.work(code.len()) {
        return;
    }
    for mut words in commands(&code) {
        let Some(name) = words.first().map(|name| name.to_ascii_lowercase()) else { continue };
        if matches!(name.as_str(), "iex" | "invoke-expression") {
            analyzer.doubt_script(call.name);
        }
        if let Some((program, _)) = ALIASES.iter().find(|(_, names)| names.contains(&name.as_str())) {
            // Its options are names, which are not options of that program.
            words.retain(|word| !word.starts_with('-'));
            words.splice(..1, program.split(' ').map(str::to_owned));
        }
        let words: Vec<Field> = words.iter().map(|word| word_of(word)).collect();
        analyzer.as_part(|analyzer| analyzer.subshell(|analyzer| analyzer.run_fields(&words)));
    }
    analyzer.inline_code(call.name, code);
}

/// A path without its drive letter: `C:\x` is `/x`.
fn without_drive(word: &str) -> String {
    match word.split_at_checked(2) {
        Some((drive, rest)) if drive.ends_with(':') && rest.starts_with(['\\', '/']) => {
            rest.replace('\\', "/")
        }
        _ => word.to_owned(),
    }
}

/// A word with unknown variables.
fn word_of(word: &str) -> Field {
    let home =
        ["~", "$HOME", "$env:HOME", "$env:USERPROFILE"].iter().find_map(|name| word.strip_prefix(name));
    match home {
        Some(rest) => Field::unknown(format!("$HOME{rest}")),
        None if word.contains('$') => Field::unknown(word),
        None => Field::literal(without_drive(word)),
    }
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
    let unknown = unknown.map(|(word, text)| UnknownPart {
        word,
        part: 0..text.len(),
        quoting: Quoting::Bare,
        is_spelled: false,
    });
    Some(SimpleCommand {
        unknown: unknown.collect(),
        text: words.join(" "),
        is_known,
        words,
        assigned: Vec::new(),
        environment: Rc::default(),
        script: None,
        redirects_to_file: false,
        redirects: Vec::new(),
        input: None,
        directories: Vec::new(),
        wraps: false,
        inside: false,
        is_remote: false,
        unknown_code: None,
        makes_symbolic_link: false,
        acts_by: Vec::new(),
        extent: Extent::default(),
        revision: None,
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
