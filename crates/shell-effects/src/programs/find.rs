//! `find`: where the found files are, and what it does to them.

use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::{Field, FieldKind};
use crate::analysis::stream::{SEARCHED, Stream, found};
use crate::glob::{Glob, GlobKind, escaped};
use crate::programs::arguments::Call;
use crate::programs::batches::replaced;
use crate::programs::expression::{Expression, FindAction, FindConditions, FoundFiles};
use crate::{Access, Target};

pub(crate) fn find(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let words = call.fields.get(1..).unwrap_or_default();
    let mut start = 0;
    while let Some(option) = words.get(start).map(|field| field.text.as_str()) {
        start += match option {
            "-L" | "-H" | "-P" => 1,
            "-D" => 2,
            level if level.starts_with("-O") => 1,
            _ => break,
        };
    }
    let words = words.get(start..).unwrap_or_default();
    let is_expression = |field: &Field| {
        field.is_literal()
            && (field.text.starts_with('-') && field.text.len() > 1
                || matches!(field.text.as_str(), "(" | "!" | ")" | ","))
    };
    let start = words.iter().position(is_expression).unwrap_or(words.len());
    let (roots, words) = words.split_at_checked(start).unwrap_or((words, &[]));
    let expression = Expression::read(words);
    let here = [Field::literal(".")];
    let listed = expression.roots_from.map(|_| [Field::unknown("the files that it is given")]);
    let roots = match &listed {
        Some(listed) => listed.as_slice(),
        None if roots.is_empty() => &here,
        None => roots,
    };
    // A directory in an unset variable.
    let of_unset =
        |root: &Field| if analyzer.is_only_unset(root) { Field::unknown(SEARCHED) } else { root.clone() };
    let roots: Vec<Field> = roots.iter().map(of_unset).collect();
    if let Some(file) = expression.roots_from {
        analyzer.reads(file, call.command);
    }
    do_actions(analyzer, call, &expression, &roots);
}

/// Does the actions of an expression with what is found below the roots.
fn do_actions(analyzer: &mut Analyzer<'_>, call: &Call<'_>, expression: &Expression<'_>, roots: &[Field]) {
    let mut output = Stream::Nothing;
    for (action, files) in &expression.actions {
        let searches_here = !matches!(action, FindAction::Delete);
        let targets = targets(files, &expression.asked_for, roots, searches_here);
        match action {
            FindAction::Delete => delete(analyzer, call, files, targets),
            // A command without `{}` acts on other files of that directory.
            FindAction::RunThere(command) if !command.iter().any(|word| word.text.contains("{}")) => {
                for root in roots {
                    analyzer.in_directory([root], |analyzer| {
                        analyzer.deeper(|analyzer| analyzer.run_fields(command));
                    });
                }
                output = Stream::Unknown;
            }
            FindAction::Run(command) | FindAction::RunThere(command) => {
                for target in &targets {
                    let by = found(target);
                    let fields: Vec<Field> = command.iter().map(|word| replaced(word, "{}", &by)).collect();
                    analyzer.deeper(|analyzer| analyzer.run_fields(&fields));
                }
                output = Stream::Unknown;
            }
            FindAction::Print(true) => match &mut output {
                Stream::Nothing => output = Stream::Files(targets),
                Stream::Files(files) => files.extend(targets),
                _ => {}
            },
            FindAction::Print(false) => output = Stream::Unknown,
            FindAction::Write(option, file) => {
                analyzer
                    .by_option(&option.text, |analyzer| analyzer.touch(Access::Write, file, call.command));
            }
        }
    }
    analyzer.set_output(output);
}

/// What is found below the roots.
fn targets(files: &FoundFiles, asked_for: &[&str], roots: &[Field], searches_here: bool) -> Vec<Target> {
    let mut targets = Vec::new();
    for root in roots {
        files.iter().for_each(|limits| below(root, limits, asked_for, &mut targets));
        // Without a value it is the current directory.
        if root.text == SEARCHED && searches_here {
            files.iter().for_each(|limits| below_literal(".", limits, asked_for, &mut targets));
        }
    }
    targets
}

/// `-delete`.
fn delete(analyzer: &mut Analyzer<'_>, call: &Call<'_>, files: &FoundFiles, targets: Vec<Target>) {
    let is_any = |limits: &FindConditions| limits.name.is_none() && limits.path.is_none();
    // Only an empty directory is deleted.
    if files.iter().all(|limits| limits.is_directory && is_any(limits)) {
        return;
    }
    for target in targets {
        analyzer.by_option("-delete", |analyzer| analyzer.effect(Access::Delete, target, call.command));
    }
}

/// What a search from a root finds.
fn below(root: &Field, limits: &FindConditions, asked_for: &[&str], targets: &mut Vec<Target>) {
    match root.kind {
        FieldKind::Unknown => targets.push(Target::Unknown(root.text.clone())),
        FieldKind::Tree => targets.push(Target::Unknown(root.shown())),
        // The files that the pattern matches are among those of its directory.
        FieldKind::Glob => {
            let folder = root.text.trim_end_matches('/').rsplit_once('/').map_or("", |(folder, _)| folder);
            let is_absolute = root.text.starts_with('/');
            let prefix = if folder.is_empty() && !is_absolute { String::new() } else { format!("{folder}/") };
            match (&limits.name, limits.is_directory) {
                (None, false) => targets.push(Target::Trees(root.text.clone())),
                (name, is_directory) => targets.push(anywhere(&prefix, name.as_deref(), is_directory)),
            }
        }
        FieldKind::Literal => below_literal(&root.text, limits, asked_for, targets),
    }
}

fn below_literal(root: &str, limits: &FindConditions, asked_for: &[&str], targets: &mut Vec<Target>) {
    let folder = root.trim_end_matches('/');
    let prefix = if folder == "." { String::new() } else { format!("{}/", escaped(folder)) };
    let name = limits.name.as_deref();
    let paths = limits.path.as_deref().and_then(|path| path_patterns(path, root, &prefix));
    match paths {
        Some(patterns) => targets.extend(patterns.into_iter().map(|mut pattern| {
            if let (Some(name), Some(any)) = (name, pattern.strip_suffix("**/*")) {
                pattern = format!("{any}**/{name}");
            }
            Target::Glob(if limits.is_directory { format!("{pattern}/") } else { pattern })
        })),
        None if name.is_some() || limits.is_directory => {
            targets.push(anywhere(&prefix, name, limits.is_directory));
        }
        None => {
            targets.push(Target::Tree(root.to_owned()));
            // A command that reads all files does not target one of them. But a name that a test asks for counts.
            targets.extend(asked_for.iter().map(|name| Target::Path(format!("{folder}/{name}"))));
            return;
        }
    }
    let is_found = |pattern: &str, text: &str| {
        Glob::new(pattern, GlobKind::Name).ok().and_then(|glob| glob.matches(text)).unwrap_or(true)
    };
    let own_name = folder.rsplit('/').next().unwrap_or(folder);
    if name.is_none_or(|name| is_found(name, own_name))
        && limits.path.as_deref().is_none_or(|path| is_found(path, root))
        && (name.is_some() || limits.path.is_some())
    {
        targets.push(Target::Path(root.to_owned()));
    }
}

/// Files of a name, or directories, at any depth.
fn anywhere(prefix: &str, name: Option<&str>, is_directory: bool) -> Target {
    let name = name.unwrap_or_default();
    let end = if is_directory && !name.is_empty() { "/" } else { "" };
    Target::Glob(format!("{prefix}**/{name}{end}"))
}

/// Shell patterns for at least the paths that a pattern of `-path` matches. Its wildcards cross directories, so only a part
/// between two slashes without wildcards is a directory. `None` if that limits nothing.
fn path_patterns(pattern: &str, root: &str, prefix: &str) -> Option<Vec<String>> {
    if pattern.contains(['[', '\\']) {
        return None;
    }
    let is_wild = |part: &str| part.contains(['*', '?']);
    let (folders, last) = match pattern.rsplit_once('/') {
        Some((folders, last)) => (folders.split('/').collect(), last),
        None => (Vec::new(), pattern),
    };
    let starts_anywhere = is_wild(folders.first().copied().unwrap_or(last));
    // The root may match a directory of the pattern.
    let is_in_root = |folder: &&&str| !is_wild(folder) && root.split('/').any(|part| part == **folder);
    if starts_anywhere && folders.iter().any(|folder| is_in_root(&folder)) {
        return None;
    }
    let mut start = if starts_anywhere { format!("{prefix}**/") } else { String::new() };
    for folder in folders {
        match folder {
            "." if start.is_empty() => {}
            folder if !is_wild(folder) => start.extend([folder, "/"]),
            _ if start.ends_with("**/") => {}
            _ => start.push_str("**/"),
        }
    }
    if !is_wild(last) {
        return Some(vec![format!("{start}{last}")]);
    }
    let before = last.split(['*', '?']).next().unwrap_or_default();
    let after = last.rsplit(['*', '?']).next().unwrap_or_default();
    let deep =
        if start.ends_with("**/") { format!("{start}*{after}") } else { format!("{start}**/*{after}") };
    let is_start = starts_anywhere && !pattern.contains('/');
    match before {
        _ if is_start && after.is_empty() => None,
        "" => Some(vec![deep]),
        _ if is_start => Some(vec![deep]),
        before => Some(vec![format!("{start}{last}"), format!("{start}{before}*/**/*{after}")]),
    }
}
