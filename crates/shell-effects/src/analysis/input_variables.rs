//! Builtins that give variables values from their input, or from the arguments of the shell: `read`, `mapfile`, `getopts`.

use crate::analysis::analyzer::Analyzer;
use crate::analysis::builtins::{callbacks, variable};
use crate::analysis::field::{Field, FieldKind};
use crate::analysis::stream::{self, Stream};
use crate::analysis::variables::{MAX_OPTIONS, Value};
use crate::programs::arguments::Call;

/// `read`: variables get a line of the input.
pub(crate) fn read(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let names = assigned_names(call, "REPLY");
    if let Some(line) = line_elements(analyzer, call)
        && let [name] = names.as_slice()
    {
        return analyzer.give_value(name, Value::Array(line), Vec::new());
    }
    // `IFS=: read FILE LINE REST`.
    if let (Stream::FileLines(files), [first, _, ..]) = (analyzer.input(), names.as_slice())
        && analyzer.separators().as_deref() == Some(":")
        && call.arguments.flags.iter().all(|(flag, _)| flag == "-r")
        && files.len() <= MAX_OPTIONS
    {
        let files: Vec<Field> = files.iter().map(stream::found).collect();
        if files.iter().all(|file| file.kind != FieldKind::Unknown) {
            assign(analyzer, call, &names, &Value::Unknown);
            return analyzer.state.set(first, Value::one_of(files));
        }
    }
    let lines = input_lines(analyzer);
    // `-d ''` is for names that end with NUL.
    let ends = call.arguments.value(&["-d"]).is_some_and(|end| !end.text.is_empty());
    let is_only = names.len() == 1 && call.arguments.value(&["-a", "-n", "-N", "-u"]).is_none() && !ends;
    let is_known = is_only
        && (1..=MAX_OPTIONS).contains(&lines.len())
        && lines.iter().all(|line| line.kind != FieldKind::Unknown);
    let value = if is_known { Value::one_of(lines) } else { Value::Unknown };
    assign(analyzer, call, &names, &value);
}

/// `mapfile`: an array gets the lines of the input.
pub(crate) fn mapfile(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    callbacks(analyzer, call);
    let names = assigned_names(call, "MAPFILE");
    if let Some(lines) = line_array(analyzer, call)
        && let [name] = names.as_slice()
    {
        return analyzer.give_value(name, Value::Array(lines), Vec::new());
    }
    input_lines(analyzer);
    assign(analyzer, call, &names, &Value::Unknown);
}

/// `getopts`: a variable gets an option of the shell.
pub(crate) fn getopts(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    assign(analyzer, call, &assigned_names(call, "OPTARG"), &Value::Unknown);
}

/// The variables that a builtin sets, or this one if it names none.
fn assigned_names(call: &Call<'_>, usual: &str) -> Vec<String> {
    let named = call.arguments.operands.iter().chain(call.arguments.value(&["-a"]));
    let names: Vec<String> = named.map(variable).collect();
    if names.is_empty() { vec![usual.to_owned()] } else { names }
}

/// Gives variables a value that depends on what the commands before this one print.
fn assign(analyzer: &mut Analyzer<'_>, call: &Call<'_>, names: &[String], value: &Value) {
    for name in names {
        analyzer.give_value(name, value.clone(), (analyzer.scope.start..call.command).collect());
    }
}

/// The lines of the input, as far as they are known. The shell evaluates them if variables are integers.
fn input_lines(analyzer: &mut Analyzer<'_>) -> Vec<Field> {
    let lines = match &analyzer.scope.input {
        Stream::Text(printed) if !printed.and_more && printed.text.is_literal() => {
            stream::split(&printed.text, |c| c == '\n')
        }
        Stream::Text(printed) if printed.text.written.is_some() => vec![printed.text.clone()],
        Stream::Files(files) => files.iter().map(stream::found).collect(),
        _ => Vec::new(),
    };
    let lines: Vec<Field> = lines.iter().map(|line| line.with(line.text.trim())).collect();
    if analyzer.state.options.has_integers {
        lines.iter().for_each(|line| analyzer.evaluate_number(&line.text));
    }
    lines
}

/// The elements of the array that `read -a` makes of a line, if the input is known.
fn line_elements(analyzer: &Analyzer<'_>, call: &Call<'_>) -> Option<Vec<Field>> {
    call.arguments.value(&["-a"])?;
    let separators = analyzer.separators()?;
    let line = exact_input(analyzer)?.split(delimiter(call)?).next().unwrap_or_default();
    elements(line.split(|c| separators.contains(c)).filter(|part| !part.is_empty()))
}

/// The elements of the array that `mapfile` makes of the input, if that is known.
fn line_array(analyzer: &Analyzer<'_>, call: &Call<'_>) -> Option<Vec<Field>> {
    // A list of files has a name per line.
    if let Stream::Files(files) = analyzer.input() {
        let is_whole = call.arguments.value(&["-O", "-d", "-u"]).is_none();
        return if is_whole { Some(files.iter().map(stream::found).collect()) } else { None };
    }
    let (input, end) = (exact_input(analyzer)?, delimiter(call)?);
    if call.arguments.has(&["-t"]) { elements(input.split(end)) } else { whole_lines(input, end) }
}

/// The lines with their ends, which stay without `-t`.
fn whole_lines(input: &str, end: char) -> Option<Vec<Field>> {
    let lines: Vec<Field> = input.split_inclusive(end).take(MAX_OPTIONS + 1).map(Field::literal).collect();
    if lines.len() > MAX_OPTIONS { None } else { Some(lines) }
}

/// The whole input, if it is known.
fn exact_input<'a>(analyzer: &'a Analyzer<'_>) -> Option<&'a str> {
    let Stream::Text(printed) = analyzer.input() else { return None };
    let is_known = !printed.and_more && printed.is_exact && printed.text.is_literal();
    if is_known { Some(&printed.text.text) } else { None }
}

/// The character at which a line ends.
fn delimiter(call: &Call<'_>) -> Option<char> {
    call.arguments.value(&["-d"]).map_or(Some('\n'), |end| end.text.chars().next())
}

/// The elements of an array, if they are not too many.
fn elements<'t>(parts: impl Iterator<Item = &'t str>) -> Option<Vec<Field>> {
    let parts: Vec<&str> = parts.take(MAX_OPTIONS + 1).collect();
    if parts.len() > MAX_OPTIONS {
        return None;
    }
    let ends = parts.iter().map(|part| part.trim_end_matches('\n')).filter(|part| !part.is_empty());
    Some(ends.map(Field::literal).collect())
}
