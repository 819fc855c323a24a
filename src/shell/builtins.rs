//! Builtins that change the state of the shell, and those whose output is known.

use std::rc::Rc;

use super::Base;
use super::arguments::Call;
use super::interpreters::{is_descriptor, is_input};
use super::state::{Field, FieldKind, Input, Output, Value};
use super::walk::Walk;

/// A longer path of a directory is no path that exists.
const MAX_BASE: usize = 4096;

pub(super) fn echo(walk: &mut Walk<'_>, call: &Call<'_>) {
    let mut words = call.fields.get(1..).unwrap_or_default();
    if call.name == "printf" {
        if let Some(variable) = call.arguments.value(&["-v"]) {
            walk.state.set(&variable.text, Value::Unknown);
        }
        let format = words.first().map(|field| field.text.as_str());
        words = match format {
            Some("%s" | "%s\\n" | "%s " | "%b") => words.get(1..).unwrap_or_default(),
            Some(text) if !text.contains(['%', '\\']) => words,
            _ => return,
        };
    } else {
        while let Some(("-n" | "-e" | "-E" | "-ne" | "-en", rest)) =
            words.split_first().map(|(first, rest)| (first.text.as_str(), rest))
        {
            words = rest;
        }
    }
    // Redirected output is not what the next command reads.
    if walk.redirected == 0 && words.iter().all(Field::is_literal) {
        let text: Vec<&str> = words.iter().map(|field| field.text.as_str()).collect();
        let separator = if call.name == "printf" { "\n" } else { " " };
        walk.output = Output::Text(text.join(separator).into());
    }
}

pub(super) fn cat(walk: &mut Walk<'_>, call: &Call<'_>) {
    for operand in &call.arguments.operands {
        walk.reads(operand, call.command);
    }
    let passes = call.arguments.operands.iter().all(|operand| operand.text == "-");
    if passes && let Input::Text(text) = &walk.input {
        walk.output = Output::Text(Rc::clone(text));
    }
}

pub(super) fn cd(walk: &mut Walk<'_>, call: &Call<'_>) {
    let target = match call.arguments.operands.first() {
        Some(field) if call.arguments.operands.len() == 1 => field.clone(),
        None if call.name == "cd" => walk.home.map_or_else(|| Field::unknown("~"), Field::literal),
        _ => Field::unknown("cd"),
    };
    if call.name == "pushd" {
        let bases = walk.state.bases.clone();
        walk.state.pushed.push(bases);
    }
    let bases: Vec<Base> = walk.state.bases.iter().map(|base| moved(base, &target)).collect();
    // Paths that grow with every command are copied with every command.
    let length =
        |base: &Base| if let Base::At(at) | Base::IfMissing { at, .. } = base { at.len() } else { 0 };
    walk.work(bases.iter().map(|base| 8 * length(base)).sum());
    walk.state.change_directory(bases);
    if walk.made_directory(&target.text) {
        walk.state.succeed();
    }
}

pub(super) fn popd(walk: &mut Walk<'_>, _: &Call<'_>) {
    let bases = walk.state.pushed.pop().unwrap_or_else(|| vec![Base::Unknown]);
    walk.state.bases = bases;
}

/// The directory after `cd target`, without looking at the disk, as the shell does it.
pub(super) fn moved(base: &Base, target: &Field) -> Base {
    if target.kind != FieldKind::Literal || target.text == "-" || target.text.starts_with('+') {
        return Base::Unknown;
    }
    let path = &target.text;
    if path.len() > MAX_BASE {
        return Base::Unknown;
    }
    if path.starts_with('/') {
        return Base::At(normal(path));
    }
    match base {
        Base::At(at) | Base::IfMissing { at, .. } if at.len() > MAX_BASE => Base::Unknown,
        Base::At(at) => Base::At(joined(at, path)),
        Base::IfMissing { missing, at } => Base::IfMissing { missing: missing.clone(), at: joined(at, path) },
        Base::Unknown => Base::Unknown,
    }
}

fn joined(at: &str, path: &str) -> String {
    if at.is_empty() { normal(path) } else { normal(&format!("{at}/{path}")) }
}

/// A path without `.`, `..` and doubled slashes.
fn normal(path: &str) -> String {
    let is_absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            ".." if is_absolute => {}
            part => parts.push(part),
        }
    }
    format!("{}{}", if is_absolute { "/" } else { "" }, parts.join("/"))
}

pub(super) fn eval(walk: &mut Walk<'_>, call: &Call<'_>) {
    let words = call.fields.get(1..).unwrap_or_default();
    let text: Vec<String> = words.iter().map(Field::shown).collect();
    let text = text.join(" ");
    if words.iter().all(|field| field.kind != FieldKind::Unknown) {
        walk.script_text(&text);
    } else {
        walk.unknown_code("eval", text);
    }
}

/// `trap 'commands' EXIT`.
pub(super) fn trap(walk: &mut Walk<'_>, call: &Call<'_>) {
    if let [code, _, ..] = call.arguments.operands.as_slice() {
        walk.subshell(|walk| walk.code(code, "bash"));
    }
}

pub(super) fn source(walk: &mut Walk<'_>, call: &Call<'_>) {
    match call.arguments.operands.first() {
        Some(file) if is_input(file) => walk.code_from_input(call, true),
        Some(file) if is_descriptor(file) => walk.code_from_process(call.name, true),
        Some(file) => walk.reads(file, call.command),
        None => {}
    }
}

pub(super) fn alias(walk: &mut Walk<'_>, call: &Call<'_>) {
    for operand in &call.arguments.operands {
        if let Some((name, text)) = operand.text.split_once('=') {
            let aliases = Rc::make_mut(&mut walk.state.aliases);
            aliases.retain(|(known, _)| known != name);
            if aliases.len() < 64 {
                aliases.push((name.to_owned(), text.to_owned()));
            }
        }
    }
}

/// Builtins that give variables values which we do not know.
pub(super) fn read(walk: &mut Walk<'_>, call: &Call<'_>) {
    for operand in &call.arguments.operands {
        let name = operand.text.split(['=', '[']).next().unwrap_or_default();
        walk.state.set(name, Value::Unknown);
    }
    if let Some(name) = call.arguments.value(&["-a"]) {
        let name = name.text.clone();
        walk.state.set(&name, Value::Unknown);
    }
    if call.arguments.operands.is_empty() {
        walk.state.set(if call.name == "read" { "REPLY" } else { "MAPFILE" }, Value::Unknown);
    }
}

pub(super) fn declare(walk: &mut Walk<'_>, call: &Call<'_>) {
    if call.arguments.has(&["-n"]) && call.name != "export" {
        walk.state.is_opaque = true;
    }
    // What the parser did not see as an assignment, since it is quoted.
    for operand in &call.arguments.operands {
        if let Some((name, value)) = operand.text.split_once('=') {
            let value = operand.with(value);
            let is_known = value.kind != FieldKind::Unknown;
            walk.state.set(name, if is_known { Value::Options(vec![value]) } else { Value::Unknown });
        }
    }
}

/// `set -- a b` and `shift`.
pub(super) fn set(walk: &mut Walk<'_>, call: &Call<'_>) {
    let words = call.fields.get(1..).unwrap_or_default();
    if call.name == "shift" {
        let count = words.first().map_or(Some(1), |field| field.text.parse::<usize>().ok());
        walk.state.positional = match (&walk.state.positional, count) {
            (Some(fields), Some(count)) => Some(Rc::new(fields.iter().skip(count).cloned().collect())),
            _ => None,
        };
    } else if let Some(at) = words.iter().position(|field| field.text == "--") {
        walk.state.positional = Some(Rc::new(words.iter().skip(at + 1).cloned().collect()));
    } else if !call.arguments.operands.is_empty() {
        walk.state.positional = None;
    }
}
