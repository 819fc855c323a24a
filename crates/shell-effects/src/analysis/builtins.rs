//! Builtins that change the state of the shell, or run code in it.

use std::rc::Rc;

use crate::analysis::analyzer::{Analyzer, Jumps, Trap};
use crate::analysis::code::Language;
use crate::analysis::declarations::declares_array;
use crate::analysis::exports::file_of;
use crate::analysis::field::{Field, FieldKind};
use crate::analysis::stream;
use crate::analysis::variables::Value;
use crate::programs::arguments::Call;
use crate::programs::interpreters::{is_descriptor, is_input};
use crate::syntax::tree::Piece;
use crate::{Access, Doubt};

/// Each command looks for each alias.
const MAX_ALIASES: usize = 64;

/// `cd`: without an operand it goes to the home directory.
pub(crate) fn cd(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let target = match call.arguments.operands.as_slice() {
        [] => analyzer.home_here().unwrap_or_else(|| Field::unknown("~")),
        operands => named_directory(operands),
    };
    let target = searched(analyzer, target);
    enter(analyzer, &target);
}

/// `pushd`: without an operand it goes to another directory of the stack.
pub(crate) fn pushd(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let target = searched(analyzer, named_directory(&call.arguments.operands));
    if call.arguments.has(&["-n"]) {
        return analyzer.state.directories.push_without_change(&target);
    }
    analyzer.state.directories.push();
    enter(analyzer, &target);
}

/// The directory that the only operand names.
fn named_directory(operands: &[Field]) -> Field {
    match operands {
        [directory] => directory.clone(),
        _ => Field::unknown("cd"),
    }
}

/// The directory, unless the shell may find another one by this name.
fn searched(analyzer: &Analyzer<'_>, target: Field) -> Field {
    let is_searched = !target.text.starts_with(['/', '.', '~', '-']);
    let is_elsewhere = analyzer.state.get("CDPATH").is_some()
        || analyzer.state.options.cdable_vars && analyzer.may_be_set(&target.text);
    if is_searched && is_elsewhere { Field::unknown("cd") } else { target }
}

fn enter(analyzer: &mut Analyzer<'_>, target: &Field) {
    let goes_back = target.is_literal() && target.text == "-"
        || target.text == "$OLDPWD" && analyzer.state.get("OLDPWD").is_none();
    analyzer.state.directories.change(target, goes_back);
    // Each command copies the paths, so long paths cost work.
    analyzer.work(8 * analyzer.state.directories.length());
    if analyzer.state.disk.has_made(&target.text) {
        analyzer.state.directories.succeed();
    }
}

/// `popd`; `popd -n` and `popd +N` take another directory from the stack.
pub(crate) fn popd(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    if call.fields.len() == 1 {
        analyzer.state.directories.pop();
    } else {
        analyzer.state.directories.lose_pushed();
    }
}

pub(crate) fn eval(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let words = call.fields.get(1..).unwrap_or_default();
    let words = match words.split_first() {
        Some((first, rest)) if first.text == "--" => rest,
        _ => words,
    };
    if words.iter().any(|field| matches!(field.kind, FieldKind::Unknown | FieldKind::Tree)) {
        analyzer.code(&stream::joined(words, " "), "eval");
    } else {
        let text: Vec<String> = words.iter().map(Field::shown).collect();
        analyzer.code(&Field::literal(text.join(" ")), "eval");
    }
}

/// `trap 'commands' EXIT`.
pub(crate) fn trap(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let [code, signals @ ..] = call.arguments.operands.as_slice() else { return };
    if signals.is_empty() {
        return;
    }
    let at_end = |signal: &Field| matches!(signal.text.as_str(), "EXIT" | "0" | "SIGEXIT");
    if signals.iter().all(at_end) {
        analyzer.subshell(|analyzer| analyzer.code(code, "bash"));
    } else {
        // The command that runs at that time.
        analyzer.state.set("BASH_COMMAND", Value::Unknown);
        // It may run at any time, and may set its variables many times.
        let before = analyzer.state.variables.clone();
        analyzer.one_of([true, false], |analyzer, runs| {
            if runs {
                analyzer.as_part(|analyzer| analyzer.code(code, "bash"));
            }
        });
        for name in analyzer.state.variables.changed(&before) {
            analyzer.state.options.make_unsteady(&name);
        }
    }
    analyzer.traps.push((Trap::Code(code.clone()), analyzer.state.clone()));
}

/// `shopt -s NAME`, `shopt -u NAME`.
pub(crate) fn shopt(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    for name in &call.arguments.operands {
        if call.arguments.has(&["-s"]) {
            analyzer.state.options.switch_on(&name.text);
        } else if call.arguments.has(&["-u"]) {
            analyzer.state.options.switch_off(&name.text);
            // Then an interactive shell runs the text after a `#`.
            if name.text == "interactive_comments" {
                analyzer.doubt_script(call.name);
            }
        }
    }
}

/// `hash -p FILE NAME`: the name stands for the program.
pub(crate) fn hash(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let Some(file) = call.arguments.value(&["-p"]) else { return };
    for name in &call.arguments.operands {
        analyzer.state.aliases.define(&name.text, file.quoted());
    }
}

/// `complete -C CODE`.
pub(crate) fn completion(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    callbacks(analyzer, call);
    for words in call.arguments.values(&["-W"]) {
        analyzer.subshell(|analyzer| analyzer.evaluate(&words.text));
    }
}

/// `-C CODE`, which the shell runs for each word or line.
pub(super) fn callbacks(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    for code in call.arguments.values(&["-C"]) {
        analyzer.subshell(|analyzer| analyzer.code(code, "bash"));
    }
}

/// `bind -x KEY:CODE`.
pub(crate) fn bind(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    for binding in call.arguments.values(&["-x"]) {
        let code = binding.text.split_once(':').map_or("", |(_, code)| code.trim_matches(['"', ' ']));
        analyzer.subshell(|analyzer| analyzer.code(&binding.with(code), "bash"));
    }
}

pub(crate) fn source(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let Some((file, arguments)) = call.arguments.operands.split_first() else { return };
    let arguments = if arguments.is_empty() { None } else { Some(arguments) };
    analyzer.state.options.has_sourced = true;
    analyzer.returning(arguments, |analyzer| {
        if is_input(file) {
            analyzer.code_from_input(call.name, Language::ThisShell);
        } else if is_descriptor(file) {
            analyzer.code_from_process(call.name, Language::ThisShell, &[]);
        } else {
            analyzer.script_file(file, call, Language::ThisShell);
        }
    });
}

/// `break` and `continue`.
pub(crate) fn leave_loop(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    Jumps::add(&mut analyzer.jumps.loops, &analyzer.state);
    if !call.arguments.operands.is_empty() {
        Jumps::add(&mut analyzer.jumps.outer_loops, &analyzer.state);
    }
}

/// `return`.
pub(crate) fn leave_function(analyzer: &mut Analyzer<'_>, _: &Call<'_>) {
    Jumps::add(&mut analyzer.jumps.returns, &analyzer.state);
}

/// `exit`.
pub(crate) fn leave_shell(analyzer: &mut Analyzer<'_>, _: &Call<'_>) {
    let disk = &analyzer.state.disk;
    let exits = analyzer.jumps.exits.take();
    analyzer.jumps.exits = Some(exits.map_or_else(|| disk.clone(), |exits| exits.join(disk)));
}

pub(crate) fn alias(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    for operand in &call.arguments.operands {
        let known = operand.holes.first().map_or(operand.text.len(), |(hole, _)| hole.start);
        // It may define any name.
        if operand.kind == FieldKind::Unknown
            && operand.text.find('=').map_or_else(|| analyzer.is_made_here(operand), |end| known < end)
        {
            analyzer.doubt_script(call.name);
        }
        if let Some((name, text)) = operand.text.split_once('=') {
            if analyzer.state.aliases.len() >= MAX_ALIASES {
                return analyzer.doubt(Doubt::TooMany("aliases"));
            }
            analyzer.state.aliases.define(name, text.to_owned());
        }
    }
}

pub(crate) fn unset(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    for name in &call.arguments.operands {
        analyzer.state.set(&variable(name), Value::Unknown);
        analyzer.state.functions.undefine(&name.text);
    }
}

/// `let`.
pub(crate) fn arithmetic(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    for field in call.fields.iter().skip(1) {
        if field.is_literal() {
            analyzer.evaluate_number(&field.text);
        }
        analyzer.assign_numbers(&vec![Piece::Quoted(field.text.clone())]);
    }
}

/// `history -w FILE`. Without a file, it writes `$HISTFILE`.
pub(crate) fn history(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    // `fc -s` runs what is stored.
    if call.arguments.has(&["-s"]) {
        let code = stream::joined(&call.arguments.operands, " ");
        analyzer.as_part(|analyzer| analyzer.subshell(|analyzer| analyzer.code(&code, "bash")));
    }
    for (flag, file) in &call.arguments.flags {
        let access = match flag.as_str() {
            "-a" | "-w" => Access::Write,
            "-n" | "-r" => Access::Read,
            _ => continue,
        };
        if file.is_none() && analyzer.state.get("HISTFILE").is_some() {
            for variable in analyzer.variables("HISTFILE") {
                let value = variable.trim_start_matches("HISTFILE=");
                let file = if value == "…" { Field::unknown("$HISTFILE") } else { file_of(value) };
                analyzer.touch(access, &file, call.command);
            }
        }
    }
}

/// The name of a variable, without its index.
pub(crate) fn variable(word: &Field) -> String {
    word.text.split(['=', '[']).next().unwrap_or_default().to_owned()
}

/// `declare`: with `-n` a name stands for another variable.
pub(crate) fn declare(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    if call.arguments.has(&["-n"]) {
        analyzer.state.variables.make_opaque();
    }
    export(analyzer, call);
}

/// `export`, and what `declare` does without its options.
pub(crate) fn export(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let is_local = analyzer.is_local(call.fields);
    for operand in &call.arguments.operands {
        let (name, value) = match operand.text.split_once('=') {
            Some((name, value)) => (name, Some(operand.with(value))),
            None => (operand.text.as_str(), None),
        };
        if is_local {
            let saved = analyzer.state.variables.saved(name);
            analyzer.make_local(saved);
        }
        match value {
            // The parser did not see this as an assignment, because it is quoted.
            Some(value) => {
                let is_known = value.kind != FieldKind::Unknown;
                // An unknown value may be a list, which an array expands once more.
                let made_here = !is_known && analyzer.is_made_here(&value);
                let value = if is_known { Value::one(value) } else { Value::Unknown };
                analyzer.give_value(name, value, Vec::new());
                analyzer.expand_compound(name, call.fields);
                if made_here && declares_array(call.fields) {
                    analyzer.doubt_script(name);
                }
            }
            None if is_local => analyzer.state.set(name, Value::one(Field::literal(""))),
            None => {}
        }
    }
}

/// Whether an option of a shell starts or stops exporting each variable: `-a`, `+a`, `-o allexport`.
fn exports_all(option: &str, next: &str) -> Option<bool> {
    let flags = option.strip_prefix(['-', '+']).filter(|flags| !flags.starts_with('-'))?;
    let is_meant = flags.contains('a') || flags.ends_with('o') && next == "allexport";
    if is_meant { Some(option.starts_with('-')) } else { None }
}

/// The words after the options of `set`, if it sets the arguments.
fn set_arguments(words: &[Field]) -> Option<&[Field]> {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        match word.text.as_str() {
            "--" => return words.get(at + 1..),
            "-" => return words.get(at + 1..).filter(|rest| !rest.is_empty()),
            option if option.starts_with(['-', '+']) => at += 1 + usize::from(option.ends_with('o')),
            _ => return words.get(at..),
        }
    }
    None
}

/// `set -a` and `set -- a b`.
pub(crate) fn set(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let words = call.fields.get(1..).unwrap_or_default();
    let options = words.iter().take_while(|field| field.text != "--");
    for (at, option) in options.enumerate() {
        let next = words.get(at + 1).map_or("", |field| field.text.as_str());
        if let Some(all) = exports_all(&option.text, next) {
            analyzer.state.exports.all = all;
        }
    }
    if let Some(arguments) = set_arguments(words) {
        analyzer.state.positional = Some(Rc::new(arguments.to_vec()));
    }
}

/// `shift` and `shift COUNT`.
pub(crate) fn shift(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let count = call.fields.get(1).map_or(Some(1), |field| field.text.parse::<usize>().ok());
    let arguments = count.and_then(|count| analyzer.state.arguments_after(count));
    analyzer.state.positional = arguments.map(Rc::new);
}
