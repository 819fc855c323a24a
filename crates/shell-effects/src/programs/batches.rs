//! `xargs` and `parallel`: one command for each of many arguments.

use crate::Quoting;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::{Field, FieldKind};
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
    let more = given(analyzer.input(), arguments, uses_placeholder.is_some());
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
        None => given(analyzer.input(), arguments, true),
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

/// The words from the standard input: lines, if each replaces a placeholder.
fn given(input: &Stream, arguments: &Arguments, by_lines: bool) -> Vec<Field> {
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
        None if by_lines => stream::split(&printed.text, |c| c == '\n'),
        None => stream::split(&printed.text, char::is_whitespace),
    };
    if printed.and_more {
        words.push(Field::unknown(GIVEN));
    }
    words
}

/// The lines of an input as words.
pub(crate) fn lines(input: &Stream) -> Vec<Field> {
    given(input, &Arguments::default(), true)
}

/// A file of a directory, as a part of a word.
const FOUND: &str = "what was found";

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
