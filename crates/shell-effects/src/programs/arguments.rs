//! Splits a command into flags and operands, using a description of its flags.

use std::borrow::Cow;

use crate::analysis::field::Field;
use crate::programs::program::Program;

/// The flags of a program, separated by blanks: `-x=` takes a value, `-x=r` a file that it reads, `-x=w` one that it
/// writes, `-x=d` the directory in which it works, `-x?` a value only if that is part of the same word. All other flags take none.
/// `-x=e` is code in the program's own language, which it runs instead of a script, `-x=b` such code that it runs before its script,
/// and `-x=m` a module that it loads first.
///
/// A rule that allows the program allows these flags only if it names them. `-x=x` is a command that it runs, `-x=c` another way to
/// run or write something. `-x=f` is a file with such settings, `-x=p` a directory that must be below the current one. `-x!` runs or
/// writes something without a value. A single dash before all flags says that they are never joined.
pub(crate) type Flags = &'static str;

#[derive(Debug, Default)]
pub(crate) struct Arguments {
    /// The flags with their values.
    pub(crate) flags: Vec<(String, Option<Field>)>,
    pub(crate) operands: Vec<Field>,
}

impl Arguments {
    /// Whether one of these flags is given.
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        self.flags.iter().any(|(flag, _)| names.contains(&flag.as_str()))
    }

    /// Whether a long flag is given. It may be abbreviated.
    pub(crate) fn has_long(&self, name: &str) -> bool {
        self.flags.iter().any(|(flag, _)| flag.len() > 3 && name.starts_with(flag.as_str()))
    }

    /// The value of the last of these flags.
    pub(crate) fn value(&self, names: &[&str]) -> Option<&Field> {
        let mut found = self.flags.iter().rev().filter(|(flag, _)| names.contains(&flag.as_str()));
        found.find_map(|(_, value)| value.as_ref())
    }

    /// The directories that the program enters, one after the other.
    pub(crate) fn directories(&self, flags: Flags) -> Vec<Field> {
        if !flags.contains("=d") {
            return Vec::new();
        }
        let is_directory = |name: &str| file_access(flags, name) == Some(b'd');
        let found = self.flags.iter().filter(|(name, _)| is_directory(name));
        found.filter_map(|(_, value)| value.clone()).collect()
    }

    /// The values of all flags with this letter after the `=` of their description.
    pub(crate) fn values_of(&self, flags: Flags, kind: u8) -> impl Iterator<Item = &Field> {
        let found = self.flags.iter().filter(move |(name, _)| file_access(flags, name) == Some(kind));
        found.filter_map(|(_, value)| value.as_ref())
    }

    /// The code in the program's own language that its options hold, in order.
    pub(crate) fn code(&self, flags: Flags) -> impl Iterator<Item = &Field> {
        let is_code = move |name: &str| matches!(file_access(flags, name), Some(b'e' | b'b'));
        let found = self.flags.iter().filter(move |(name, _)| is_code(name));
        found.filter_map(|(_, value)| value.as_ref())
    }

    /// The values of all of these flags.
    pub(crate) fn values<'a>(&'a self, names: &'a [&str]) -> impl Iterator<Item = &'a Field> {
        let found = self.flags.iter().filter(|(flag, _)| names.contains(&flag.as_str()));
        found.filter_map(|(_, value)| value.as_ref())
    }
}

/// A simple command with its parsed arguments.
pub(crate) struct Call<'a> {
    pub(crate) program: &'a Program,
    /// The name by which the program is called, without its directory.
    pub(crate) name: &'a str,
    /// All words, including the name.
    pub(crate) fields: &'a [Field],
    pub(crate) arguments: Arguments,
    /// The words after the options, if the options end at the first operand.
    pub(crate) rest: &'a [Field],
    /// Its index among all commands.
    pub(crate) command: usize,
}

/// How a described flag takes its value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ValueForm {
    Nothing,
    Next,
    Attached,
}

pub(crate) fn value_form(flags: &str, name: &str) -> ValueForm {
    for flag in flags.split_ascii_whitespace() {
        if let Some(rest) = flag.strip_prefix(name) {
            match rest.bytes().next() {
                Some(b'=') => return ValueForm::Next,
                Some(b'?') => return ValueForm::Attached,
                _ => {}
            }
        }
    }
    ValueForm::Nothing
}

/// Whether this flag takes the next word as its value.
pub(crate) fn takes_next(flags: &str, name: &str) -> bool {
    value_form(flags, name) == ValueForm::Next
}

/// The described name of a long flag that may be abbreviated.
fn full_name<'a>(flags: &'a str, name: &'a str) -> &'a str {
    if name.len() < 3 {
        return name;
    }
    let mut longer = None;
    for flag in flags.split_ascii_whitespace() {
        match flag.strip_prefix(name).map(|rest| rest.bytes().next()) {
            None => {}
            Some(None | Some(b'=' | b'?' | b'!')) => return name,
            Some(_) => {
                let full = flag.split(['=', '?', '!']).next();
                if longer.is_some() && longer != full {
                    return name;
                }
                longer = full;
            }
        }
    }
    longer.unwrap_or(name)
}

/// Whether a single dash starts a long name: `go test -count=1`. A single dash at the start of the flags says so.
fn has_long_names(flags: &str) -> bool {
    flags.starts_with("- ")
}

/// Whether a flag runs or writes something without a value.
pub(crate) fn acts_alone(flags: &str, name: &str) -> bool {
    flags.split_ascii_whitespace().any(|flag| flag.strip_suffix('!') == Some(name))
}

/// The access to the file that the value names: `r`, `w` or none.
pub(crate) fn file_access(flags: &str, name: &str) -> Option<u8> {
    let mut found =
        flags.split_ascii_whitespace().filter_map(|flag| flag.strip_prefix(name)?.strip_prefix(['=', '?']));
    found.find_map(|access| access.bytes().next())
}

/// Reads the words after a command's name.
pub(crate) fn parse(flags: &str, fields: &[Field]) -> Arguments {
    parse_up_to(flags, fields, false).0
}

/// Like `parse`, but it stops at the first operand if `leading`. Also returns how many words were read.
pub(crate) fn parse_up_to(flags: &str, fields: &[Field], leading: bool) -> (Arguments, usize) {
    read(flags, fields, leading, &[])
}

/// The arguments up to the first operand, or the first of these flags. Also returns how many words were read.
pub(crate) fn parse_up_to_flag(flags: &str, fields: &[Field], last: &[&str]) -> (Arguments, usize) {
    read(flags, fields, true, last)
}

fn read(flags: &str, fields: &[Field], leading: bool, last: &[&str]) -> (Arguments, usize) {
    let mut found = Arguments::default();
    let mut at = 0;
    let mut only_operands = false;
    while let Some(field) = fields.get(at) {
        let text = field.text.as_str();
        let is_flag = !only_operands && text.len() > 1 && text.starts_with('-');
        if is_flag && text == "--" {
            only_operands = true;
        } else if is_flag && text.starts_with("--") {
            at += usize::from(long(flags, field, fields.get(at + 1), &mut found));
        } else if is_flag {
            at += usize::from(short(flags, field, fields.get(at + 1), &mut found));
        } else if leading {
            break;
        } else {
            found.operands.push(field.clone());
        }
        at += 1;
        let is_last = |(flag, _): &(String, _)| last.contains(&flag.as_str());
        if found.flags.last().is_some_and(is_last) {
            break;
        }
    }
    (found, at.min(fields.len()))
}

/// The name at the start of a field. Its unknown parts may be empty: `--files0-from$x=FILE`.
fn without_unknown_parts<'n>(field: &Field, name: &'n str) -> Cow<'n, str> {
    if field.is_literal() {
        return Cow::Borrowed(name);
    }
    let is_known = |at: usize| field.holes.iter().all(|(hole, _)| !hole.contains(&at));
    Cow::Owned(name.char_indices().filter(|(at, _)| is_known(*at)).map(|(_, c)| c).collect())
}

/// `--name`, `--name=value`, `--name value`. Returns whether the next word was taken.
fn long(flags: &str, field: &Field, next: Option<&Field>, found: &mut Arguments) -> bool {
    if let Some((name, value)) = field.text.split_once('=') {
        let name = without_unknown_parts(field, name);
        found.flags.push((full_name(flags, &name).to_owned(), Some(field.with(value))));
        return false;
    }
    let name = without_unknown_parts(field, &field.text);
    let name = full_name(flags, &name);
    let value = if value_form(flags, name) == ValueForm::Next { next } else { None };
    found.flags.push((name.to_owned(), value.cloned()));
    value.is_some()
}

/// `-abc`, `-ovalue`, `-o value`, or one long name after a single dash. Returns whether the next word was taken.
fn short(flags: &str, field: &Field, next: Option<&Field>, found: &mut Arguments) -> bool {
    if field.text.len() > 2 && value_form(flags, &field.text) == ValueForm::Next {
        found.flags.push((field.text.clone(), next.cloned()));
        return next.is_some();
    }
    if has_long_names(flags) {
        let name = field.text.split('=').next().unwrap_or_default();
        // `cmake -Bbuild`.
        if let (Some(short), Some(value)) = (name.get(..2), field.text.get(2..))
            && !value.is_empty()
            && short.ends_with(|c: char| c.is_ascii_uppercase())
            && value_form(flags, name) == ValueForm::Nothing
            && value_form(flags, short) == ValueForm::Next
        {
            found.flags.push((short.to_owned(), Some(field.with(value))));
            return false;
        }
        let takes_next = !field.text.contains('=') && value_form(flags, name) == ValueForm::Next;
        let value = field.text.split_once('=').map(|(_, value)| field.with(value));
        let value = if takes_next { next.cloned() } else { value };
        found.flags.push((name.to_owned(), value));
        return takes_next && next.is_some();
    }
    if let Some((name, value)) = field.text.split_once('=')
        && name.len() > 2
        && value_form(flags, name) == ValueForm::Next
    {
        found.flags.push((name.to_owned(), Some(field.with(value))));
        return false;
    }
    let is_known = |(at, _): &(usize, char)| field.holes.iter().all(|(hole, _)| !hole.contains(at));
    let chars = field.text.char_indices().skip(1).filter(is_known);
    for (at, c) in chars {
        let name = format!("-{c}");
        let rest = field.text.get(at + c.len_utf8()..).unwrap_or_default();
        match value_form(flags, &name) {
            ValueForm::Nothing => found.flags.push((name, None)),
            ValueForm::Next if rest.is_empty() => {
                found.flags.push((name, next.cloned()));
                return next.is_some();
            }
            ValueForm::Next | ValueForm::Attached => {
                let value = Some(field.with(rest)).filter(|value| !value.text.is_empty());
                found.flags.push((name, value));
                return false;
            }
        }
    }
    false
}

/// The words of a text that a program splits itself: it knows quotes and backslashes, but no operators and no expansions.
pub(crate) fn words_in_quotes(text: &str) -> Vec<String> {
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            c if quote == Some(c) => quote = None,
            '\'' | '"' if quote.is_none() => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            '\\' if quote != Some('\'') => word.get_or_insert_default().extend(chars.next()),
            c if quote.is_none() && c.is_ascii_whitespace() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}
