//! Builtins of the shell, and programs with known output: some print their arguments, others pass on their input.

use crate::Access;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::builtins;
use crate::analysis::field::{Field, FieldKind};
use crate::analysis::input_variables;
use crate::analysis::stream::{self, Stream};
use crate::analysis::variables::Value;
use crate::programs::action::Output;
use crate::programs::arguments::Call;
use crate::programs::name_printers;
use crate::programs::program::{AssignedVariables, Control, Program, nothing, special};
use crate::programs::wrappers;
use crate::syntax::quotes::decoded;

#[rustfmt::skip]
pub(crate) const SHELL: &[Program] = &[
    nothing(&["enable"], "-f=r"),
    special(&["history"], "-d= -a=w -n=r -r=r -w=w", builtins::history),
    special(&[".", "source"], "", builtins::source).sources(),
    special(&["alias"], "", builtins::alias),
    special(&["bind"], "-f=r -m= -q= -u= -r= -x=", builtins::bind),
    special(&["cd", "chdir"], "", builtins::cd).output(Output::Nothing).keeps_paths(),
    special(&["compgen", "complete"], "-C= -F= -A= -G= -W= -P= -S= -X= -o=", builtins::completion),
    special(&["declare", "typeset"], "", builtins::declare).declares_locals().evaluates(),
    special(&["echo", "print"], "-v=", echo).keeps_paths(),
    special(&["eval"], "", builtins::eval),
    special(&["export"], "", builtins::export).output(Output::Nothing).declares().evaluates().keeps_paths(),
    special(&["local"], "", builtins::declare).output(Output::Nothing).declares_locals().evaluates().keeps_paths(),
    special(&["readonly"], "", builtins::declare).output(Output::Nothing).declares().evaluates().keeps_paths(),
    special(&["getopts"], "", input_variables::getopts).evaluates().sets(AssignedVariables::Arguments),
    special(&["mapfile", "readarray"], "-d= -n= -O= -s= -u= -C= -c=", input_variables::mapfile).evaluates().sets(AssignedVariables::Arguments),
    special(&["popd"], "", builtins::popd).keeps_paths(),
    special(&["printf"], "-v=", printf).evaluates().sets(AssignedVariables::ByOption("-v")).keeps_paths(),
    special(&["pushd"], "", builtins::pushd).keeps_paths(),
    special(&["read"], "-a= -d= -i= -n= -N= -p= -t= -u=", input_variables::read).output(Output::Nothing).evaluates().sets(AssignedVariables::Arguments).controls(Control::Read),
    special(&["set"], "", builtins::set).output(Output::Nothing).keeps_paths(),
    special(&["shift"], "", builtins::shift).output(Output::Nothing).keeps_paths(),
    special(&["trap"], "", builtins::trap).output(Output::Nothing),
    special(&["type"], "", which).keeps_paths(),
    special(&["builtin", "jobs"], "", wrappers::in_this_shell).ends_at_operand().keeps_paths(),
    special(&["command"], "", wrappers::command).ends_at_operand().keeps_paths(),
    special(&["exec"], "-a=", wrappers::exec).ends_at_operand(),
    special(&["time"], "-f= -o=w --format= --output=w", wrappers::in_this_shell).ends_at_operand(),
    special(&["unset"], "", builtins::unset).output(Output::Nothing).evaluates(),
    special(&["break", "continue"], "", builtins::leave_loop).controls(Control::Always),
    special(&["exit"], "", builtins::leave_shell).output(Output::Nothing),
    special(&["return"], "", builtins::leave_function).output(Output::Nothing),
    special(&["let"], "", builtins::arithmetic).evaluates().sets(AssignedVariables::Arguments),
    nothing(&[":", "false", "true"], "").output(Output::Nothing).controls(Control::Always).keeps_paths(),
    nothing(&["[", "test"], "").output(Output::Nothing).evaluates().controls(Control::Test).keeps_paths(),
    special(&["shopt"], "", builtins::shopt).output(Output::Nothing),
    nothing(&["umask"], "").output(Output::Nothing),
    special(&["hash"], "-p=", builtins::hash),
    nothing(&["wait"], "").output(Output::Nothing).evaluates(),
    special(&["pwd"], "", name_printers::working_directory).keeps_paths(),
    nothing(&[
        "[[", "bg", "dirs", "disown", "fc", "fg", "help", "kill",
        "logout", "suspend", "times", "ulimit", "unalias", "unfunction",
    ], ""),
];

/// Programs that print their input or their arguments.
#[rustfmt::skip]
pub(crate) const PRINTERS: &[Program] = &[
    special(&["cat"], "", cat).keeps_paths(),
    special(&["tee"], "", tee),
    special(&["which"], "", which).keeps_paths(),
];

/// Whether a shell runs it without a program of that name.
#[must_use]
pub fn is_builtin(name: &str) -> bool {
    SHELL.iter().any(|program| program.names.contains(&name))
}

/// `echo`, and `print` of other shells.
fn echo(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let mut words = call.fields.get(1..).unwrap_or_default();
    let (mut decodes, mut breaks) = (None, true);
    while let Some((first, rest)) = words.split_first() {
        let Some(flags) = first.text.strip_prefix('-').filter(|flags| is_flags(flags)) else { break };
        for flag in flags.chars() {
            match flag {
                'e' => decodes = Some(true),
                'E' | 'r' => decodes = Some(false),
                _ => breaks = false,
            }
        }
        words = rest;
    }
    if !analyzer.is_captured() {
        return;
    }
    if let Some(files) = stream::files(words) {
        analyzer.set_output(files);
        return;
    }
    let end = if breaks { "\n" } else { "" };
    let raw = with_end(stream::joined(words, " "), end);
    let has_escapes = raw.text.contains('\\');
    let escaped: Vec<Field> = if has_escapes { words.iter().map(escaped).collect() } else { Vec::new() };
    let plain = if has_escapes { with_end(stream::joined(&escaped, " "), end) } else { raw.clone() };
    analyzer.set_output(Stream::text(if decodes == Some(true) { plain.clone() } else { raw }));
    // Some shells decode without an option.
    if has_escapes && decodes.is_none() {
        analyzer.output_mut().add(Stream::text(plain));
        analyzer.output_mut().blur();
    }
}

fn is_flags(flags: &str) -> bool {
    !flags.is_empty() && flags.bytes().all(|flag| matches!(flag, b'n' | b'e' | b'E' | b'r'))
}

fn with_end(mut text: Field, end: &str) -> Field {
    text.text.push_str(end);
    text
}

/// A word with its escapes decoded, as far as possible.
fn escaped(word: &Field) -> Field {
    match word.kind {
        FieldKind::Literal => Field::literal(decoded(&word.text, true)),
        _ => word.clone(),
    }
}

fn printf(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let words = call.fields.get(1..).unwrap_or_default();
    let variable = call.arguments.value(&["-v"]);
    let words = if variable.is_some() { &call.arguments.operands } else { words };
    let words = match words.split_first() {
        Some((first, rest)) if first.text == "--" => rest,
        _ => words,
    };
    if !analyzer.is_captured() && variable.is_none() {
        return;
    }
    // One name per line.
    if variable.is_none()
        && let Some((format, values)) = words.split_first()
        && format.is_literal()
        && format.text == "%s\\n"
        && let Some(files) = stream::files(values)
    {
        return analyzer.set_output(files);
    }
    let text = words.split_first().and_then(|(format, values)| formatted(format, values));
    match (variable, text) {
        (Some(word), text) => {
            let is_element = word.text.contains('[');
            let text = text.filter(|text| text.is_literal() && !is_element);
            analyzer.give_value(
                &builtins::variable(word),
                text.map_or(Value::Unknown, Value::one),
                Vec::new(),
            );
        }
        (None, text) => analyzer.set_output(text.map_or(Stream::Unknown, Stream::text)),
    }
}

/// The output of `printf`. `None` if the format has more than strings and numbers.
fn formatted(format: &Field, values: &[Field]) -> Option<Field> {
    if !format.is_literal() {
        return None;
    }
    let mut parts: Vec<Field> = Vec::new();
    let mut values = values.iter();
    loop {
        let before = values.len();
        let mut rest = format.text.as_str();
        while let Some((text, conversion)) = rest.split_once('%') {
            parts.push(Field::literal(decoded(text, false)));
            let width =
                conversion.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | ' '));
            let kind = width.chars().next()?;
            match kind {
                '%' => parts.push(Field::literal("%")),
                's' | 'd' | 'i' | 'u' | 'q' => parts.extend(values.next().cloned()),
                'b' => parts.extend(values.next().map(escaped)),
                _ => return None,
            }
            rest = width.get(kind.len_utf8()..)?;
        }
        parts.push(Field::literal(decoded(rest, false)));
        // The format is used again for the remaining values.
        if values.len() == 0 || values.len() == before {
            return Some(stream::joined(&parts, ""));
        }
    }
}

fn cat(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let operands = &call.arguments.operands;
    for operand in operands {
        analyzer.reads(operand, call.command);
    }
    if operands.is_empty() {
        analyzer.set_output(analyzer.input().clone());
        return;
    }
    let mut output = Stream::Nothing;
    for operand in operands {
        output.add(if operand.text == "-" { analyzer.input().clone() } else { analyzer.content(operand) });
    }
    // With numbers or marks the text is different.
    if call.arguments.flags.is_empty() || !matches!(output, Stream::Text(_)) {
        analyzer.set_output(output);
    }
}

fn tee(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let input = analyzer.input().clone();
    let appends = call.arguments.has(&["-a", "--append"]);
    for file in &call.arguments.operands {
        analyzer.touch(Access::Write, file, call.command);
        analyzer.wrote(file, input.clone(), appends, analyzer.pipeline_up_to(call.command));
    }
    analyzer.set_output(input);
}

/// `which NAME`: the program that it names.
fn which(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    if let [name] = call.arguments.operands.as_slice()
        && name.is_literal()
    {
        analyzer.set_output(Stream::text(name.clone()));
    }
}
