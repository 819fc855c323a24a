//! `xargs` and `parallel`: one command for each of many arguments.

use crate::Quoting;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::{FOUND, Field, FieldBuilder, FieldKind};
use crate::analysis::stream::{self, Stream};
use crate::programs::arguments::{Arguments, Call};
use crate::syntax::quotes::decoded;

/// `xargs`: the arguments come from the standard input.
pub(crate) fn xargs(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let arguments = &call.arguments;
    // Without a command it prints the arguments.
    let echo = [Field::literal("echo")];
    let rest = if call.rest.is_empty() { echo.as_slice() } else { call.rest };
    let placeholder = arguments.value(&["-I", "--replace"]).map(|field| field.text.clone());
    let has_default = arguments.has(&["-i", "--replace"]);
    let placeholder = if has_default { placeholder.or(Some("{}".to_owned())) } else { placeholder };
    let uses_placeholder =
        placeholder.filter(|mark| rest.iter().any(|field| field.text.contains(mark.as_str())));
    let separation =
        if uses_placeholder.is_some() { Separation::QuotedLines } else { Separation::QuotedWords };
    let more = given(analyzer.input(), arguments, separation);
    analyzer.set_input(Stream::Unknown);
    match uses_placeholder {
        Some(mark) => {
            let mut output = Stream::Nothing;
            for field in &more {
                let fields: Vec<Field> = rest.iter().map(|word| replaced(word, &mark, field)).collect();
                analyzer.wrap(call.command, |analyzer| analyzer.run_fields(&fields));
                output.add(analyzer.take_output());
            }
            analyzer.set_output(output);
        }
        None => {
            let fields: Vec<Field> = rest.iter().cloned().chain(more).collect();
            analyzer.wrap(call.command, |analyzer| analyzer.run_fields(&fields));
        }
    }
}

/// `parallel CODE ::: ARGUMENTS`: shell text, with each argument after it or in place of `{}`. Without that text the arguments
/// are the commands.
pub(crate) fn parallel(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let (arguments, rest) = (&call.arguments, call.rest);
    let is_list = |field: &Field| matches!(field.text.as_str(), ":::" | ":::+" | "::::");
    let at = rest.iter().position(is_list).unwrap_or(rest.len());
    let (template, listed) = rest.split_at_checked(at).unwrap_or((rest, &[]));
    let more: Vec<Field> = match listed.split_first() {
        Some((list, files)) if list.text == "::::" => {
            files.iter().for_each(|file| analyzer.reads(file, call.command));
            vec![Field::unknown(GIVEN)]
        }
        Some((_, listed)) => listed.iter().filter(|field| !is_list(field)).cloned().collect(),
        None => given(analyzer.input(), arguments, Separation::Lines),
    };
    let template = stream::joined(template, " ");
    let mark = arguments.value(&["-I"]).map_or("{}", |field| field.text.as_str());
    analyzer.set_input(Stream::Unknown);
    for argument in &more {
        let code = match template.text.as_str() {
            "" => argument.clone(),
            text if text.contains(mark) => replaced(&template, mark, argument),
            _ => stream::joined([&template, argument], " "),
        };
        analyzer.wrap(call.command, |analyzer| analyzer.subshell(|analyzer| analyzer.code(&code, "sh")));
    }
}

/// The word for unknown arguments of `xargs`.
pub(crate) const GIVEN: &str = "the arguments of xargs";

/// How a text is separated without an option.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Separation {
    Lines,
    /// As `xargs` does it: with quotes and backslashes.
    QuotedLines,
    QuotedWords,
}

/// The words that are given on the standard input: lines, where each takes the position of a placeholder.
fn given(input: &Stream, arguments: &Arguments, separation: Separation) -> Vec<Field> {
    let printed = match input {
        _ if arguments.has(&["-a", "--arg-file"]) => return vec![Field::unknown(GIVEN)],
        Stream::Text(printed) if printed.text.written.is_some() => return vec![printed.text.clone()],
        Stream::Text(printed) => printed,
        Stream::Files(files) => return files.iter().map(stream::found).collect(),
        _ => return vec![Field::unknown(GIVEN)],
    };
    let delimiter =
        arguments.value(&["-d", "--delimiter"]).and_then(|field| decoded(&field.text, false).chars().next());
    let mut words = match delimiter {
        _ if arguments.has(&["-0", "--null"]) => stream::split(&printed.text, |c| c == '\0'),
        Some(delimiter) => stream::split(&printed.text, |c| c == delimiter),
        None if separation == Separation::Lines => stream::split(&printed.text, |c| c == '\n'),
        None => unquoted(&printed.text, separation == Separation::QuotedLines),
    };
    if printed.and_more {
        words.push(Field::unknown(GIVEN));
    }
    words
}

/// The words of a text as `xargs` reads them: in quotes, which do not nest, everything counts as it is; elsewhere what follows a
/// backslash does. What is not known has neither.
fn unquoted(text: &Field, by_lines: bool) -> Vec<Field> {
    if text.kind != FieldKind::Literal && text.holes.is_empty() {
        return vec![text.clone()];
    }
    let (mut words, mut word, mut quote) = (Vec::new(), None::<FieldBuilder>, None);
    let mut holes = text.holes.iter().peekable();
    let mut at = 0;
    while let Some(c) = text.text.get(at..).and_then(|rest| rest.chars().next()) {
        if let Some((part, quoting)) = holes.next_if(|(part, _)| part.start <= at) {
            word.get_or_insert_default().unknown(text.text.get(part.clone()).unwrap_or_default(), *quoting);
            at = at.max(part.end);
            continue;
        }
        at += c.len_utf8();
        let ends = if by_lines { c == '\n' || word.is_none() } else { true };
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default().quoted("");
            }
            (None, '\\') => {
                let is_known = holes.peek().is_none_or(|(part, _)| part.start > at);
                let escaped = text.text.get(at..).and_then(|rest| rest.chars().next());
                if is_known && let Some(escaped) = escaped {
                    word.get_or_insert_default().quoted(escaped.encode_utf8(&mut [0; 4]));
                    at += escaped.len_utf8();
                }
            }
            (None, c) if ends && c.is_whitespace() => {
                words.extend(word.take().map(|word| word.finish(false)))
            }
            (_, c) => word.get_or_insert_default().quoted(c.encode_utf8(&mut [0; 4])),
        }
    }
    words.extend(word.map(|word| word.finish(false)));
    words
}

/// The lines of an input as words.
pub(crate) fn lines(input: &Stream) -> Vec<Field> {
    given(input, &Arguments::default(), Separation::Lines)
}

/// A word with its placeholder replaced.
pub(crate) fn replaced(word: &Field, mark: &str, by: &Field) -> Field {
    if !word.text.contains(mark) {
        return word.clone();
    }
    let is_part = by.kind == FieldKind::Tree && word.text != mark;
    if word.kind == FieldKind::Literal && (by.kind == FieldKind::Unknown || is_part) {
        let by = if is_part {
            Field { holes: vec![(0..FOUND.len(), Quoting::Quoted)], ..Field::unknown(FOUND) }
        } else if by.holes.is_empty() {
            Field { holes: vec![(0..by.text.len(), Quoting::Quoted)], ..by.clone() }
        } else {
            by.clone()
        };
        let parts: Vec<Field> = word.text.split(mark).map(Field::literal).collect();
        return stream::joined_by(&parts, &by);
    }
    let kind = match (word.kind, by.kind) {
        (_, FieldKind::Tree) if word.text == mark => FieldKind::Tree,
        (FieldKind::Unknown, _) | (_, FieldKind::Unknown | FieldKind::Tree) => FieldKind::Unknown,
        (FieldKind::Glob, _) | (_, FieldKind::Glob) => FieldKind::Glob,
        _ => FieldKind::Literal,
    };
    Field::new(word.text.replace(mark, &by.text), kind)
}
