//! `find` and `fd`.

use super::arguments::Call;
use super::batches::{found, replaced};
use super::state::{Field, FieldKind};
use super::stream::Stream;
use super::walk::Walk;
use super::{Access, Target};

/// Tests of `find` that limit what it finds by name.
const NAMES: &[&str] = &["-name", "-iname"];
/// Tests and actions of `find` with one argument.
const VALUED: &[&str] = &[
    "-path",
    "-ipath",
    "-wholename",
    "-regex",
    "-iregex",
    "-type",
    "-size",
    "-mtime",
    "-atime",
    "-ctime",
    "-mmin",
    "-amin",
    "-cmin",
    "-newer",
    "-user",
    "-group",
    "-perm",
    "-maxdepth",
    "-mindepth",
    "-printf",
    "-lname",
    "-links",
    "-inum",
    "-samefile",
    "-fstype",
    "-regextype",
    "-uid",
    "-gid",
    "-context",
    "-xtype",
];

pub(super) fn find(walk: &mut Walk<'_>, call: &Call<'_>) {
    let words = call.fields.get(1..).unwrap_or_default();
    let is_expression = |field: &Field| {
        field.is_literal()
            && (field.text.starts_with('-') && field.text.len() > 2
                || matches!(field.text.as_str(), "(" | "!" | ")"))
    };
    let start = words.iter().position(is_expression).unwrap_or(words.len());
    let (roots, expression) = words.split_at_checked(start).unwrap_or((words, &[]));
    let mut roots: Vec<Field> =
        roots.iter().filter(|field| !matches!(field.text.as_str(), "-L" | "-H" | "-P")).cloned().collect();
    if roots.is_empty() {
        roots.push(Field::literal("."));
    }
    // A name limits what is found only if nothing else may be found instead.
    let has_alternative =
        expression.iter().any(|field| matches!(field.text.as_str(), "-o" | "-or" | "!" | "-not" | ","));
    let names: Vec<&Field> = expression
        .windows(2)
        .filter_map(|pair| match pair {
            [test, name] if NAMES.contains(&test.text.as_str()) => Some(name),
            _ => None,
        })
        .collect();
    let name = names.first().copied().filter(|_| !has_alternative && names.len() == 1);
    let targets: Vec<Target> = roots.iter().map(|root| below(root, name)).collect();
    let runs = actions(walk, call, expression, &targets);
    walk.output = if runs { Stream::Unknown } else { Stream::Files(targets) };
}

/// What a search from a root finds.
fn below(root: &Field, name: Option<&Field>) -> Target {
    let path = root.text.trim_end_matches('/');
    match (root.kind, name) {
        (FieldKind::Unknown, _) => Target::Unknown(root.text.clone()),
        (FieldKind::Glob | FieldKind::Tree, _) => Target::Unknown(root.shown()),
        (FieldKind::Literal, Some(name)) if name.kind == FieldKind::Literal => {
            let prefix = if path == "." { String::new() } else { format!("{path}/") };
            Target::Glob(format!("{prefix}**/{}", name.text))
        }
        (FieldKind::Literal, _) => Target::Tree(root.text.clone()),
    }
}

/// What it does to what it finds; whether it runs a command for that.
fn actions(walk: &mut Walk<'_>, call: &Call<'_>, expression: &[Field], targets: &[Target]) -> bool {
    let mut at = 0;
    let mut runs = false;
    while let Some(field) = expression.get(at) {
        at += 1;
        match field.text.as_str() {
            "-delete" => {
                for target in targets {
                    walk.by_option("-delete", |walk| {
                        walk.effect(Access::Delete, target.clone(), call.command);
                    });
                }
            }
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                if let Some(file) = expression.get(at) {
                    walk.by_option(&field.text, |walk| walk.touch(Access::Write, file, call.command));
                }
                at += 1;
            }
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let rest = expression.get(at..).unwrap_or_default();
                let ends = |field: &Field| matches!(field.text.as_str(), ";" | "+");
                let length = rest.iter().position(ends).unwrap_or(rest.len());
                let command = rest.get(..length).unwrap_or_default();
                for target in targets {
                    let by = found(target);
                    let fields: Vec<Field> = command.iter().map(|word| replaced(word, "{}", &by)).collect();
                    walk.deeper(|walk| walk.run_fields(&fields));
                }
                at += length + 1;
                runs = true;
            }
            "-files0-from" => {
                if let Some(file) = expression.get(at) {
                    walk.reads(file, call.command);
                }
                at += 1;
            }
            test if VALUED.contains(&test) || NAMES.contains(&test) => at += 1,
            _ => {}
        }
    }
    runs
}

/// `fd PATTERN ROOTS -x COMMAND`.
pub(super) fn fd(walk: &mut Walk<'_>, call: &Call<'_>) {
    let words = call.fields.get(1..).unwrap_or_default();
    let runs = |field: &Field| matches!(field.text.as_str(), "-x" | "--exec" | "-X" | "--exec-batch");
    let Some(at) = words.iter().position(runs) else { return };
    let command: Vec<Field> = words.get(at + 1..).unwrap_or_default().to_vec();
    let by = Field::unknown("what was found");
    let has_mark = command.iter().any(|word| word.text.contains("{}"));
    let mut fields: Vec<Field> = command.iter().map(|word| replaced(word, "{}", &by)).collect();
    if !has_mark {
        fields.push(by);
    }
    walk.deeper(|walk| walk.run_fields(&fields));
}
