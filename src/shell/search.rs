//! `fd`, `grep` and `rg`.

use super::Target;
use super::arguments::{self, Arguments, Call, Flags};
use super::batches::replaced;
use super::state::{Field, FieldKind};
use super::stream::Stream;
use super::walk::Walk;

const FD: Flags = "-e= -t= -E= -d= -S= -o= -c= -j= --extension= --type= --exclude= --max-depth= --min-depth= --size= --owner= \
    --changed-within= --changed-before= --color= --threads= --base-directory=";

/// `fd PATTERN ROOTS -x COMMAND`.
pub(super) fn fd(walk: &mut Walk<'_>, call: &Call<'_>) {
    let words = call.fields.get(1..).unwrap_or_default();
    let runs = |field: &Field| matches!(field.text.as_str(), "-x" | "--exec" | "-X" | "--exec-batch");
    let Some(at) = words.iter().position(runs) else {
        let arguments = arguments::parse(FD, words);
        // What it is asked to print may be any text.
        if !arguments.has(&["--format"]) {
            walk.output = listed(arguments.operands.get(1..).unwrap_or_default());
        }
        return;
    };
    let command: Vec<Field> = words.get(at + 1..).unwrap_or_default().to_vec();
    let by = Field::unknown("what was found");
    let has_mark = command.iter().any(|word| word.text.contains("{}"));
    let mut fields: Vec<Field> = command.iter().map(|word| replaced(word, "{}", &by)).collect();
    if !has_mark {
        fields.push(by);
    }
    walk.deeper(|walk| walk.run_fields(&fields));
}

/// `grep PATTERN FILES`, `rg PATTERN FILES`; with `-l` they print in which the pattern is found.
pub(super) fn lines(walk: &mut Walk<'_>, call: &Call<'_>) {
    let arguments = &call.arguments;
    let has_pattern = arguments.has(&["-e", "-f", "--regexp", "--file", "--files"]);
    let files = arguments.operands.get(usize::from(!has_pattern)..).unwrap_or_default();
    for file in files {
        walk.reads(file, call.command);
    }
    for pattern in arguments.values(&["-g", "--glob", "--iglob", "--include"]) {
        included(walk, pattern, call.command);
    }
    if arguments.has(&["-l", "--files-with-matches", "--files"]) {
        walk.output = listed(files);
    } else if let Stream::Files(names) = &walk.input
        && files.is_empty()
        && let Some(kept) = kept(arguments)
    {
        walk.output = Stream::Files(names.iter().cloned().chain(kept).collect());
    }
}

/// The names that `grep` is asked to keep, of those on its input: none by name with `-v`, or those that end like one. None if any
/// may be meant.
fn kept(arguments: &Arguments) -> Option<Vec<Target>> {
    if arguments.has(&["-v", "--invert-match"]) {
        return Some(Vec::new());
    }
    let pattern = arguments.operands.first().filter(|pattern| pattern.is_literal())?;
    let endings = pattern.text.strip_prefix("\\.")?.strip_suffix('$')?;
    let endings = endings.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).unwrap_or(endings);
    let is_plain =
        |ending: &str| !ending.is_empty() && ending.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let files = endings.split('|').map(|ending| is_plain(ending).then(|| Target::Path(format!(".{ending}"))));
    files.collect()
}

/// A search that is limited to files of one name reads them; `.env*` is like `.env`.
fn included(walk: &mut Walk<'_>, pattern: &Field, command: usize) {
    let name = pattern.text.trim_start_matches("**/");
    let name = if name.starts_with('.') { name.trim_end_matches('*') } else { name };
    if !name.is_empty() && !name.contains(['*', '?', '[', '{', '!', '\\']) {
        walk.reads(&Field::literal(name), command);
    }
}

/// The files that a search from these roots names, or from the current directory.
fn listed(roots: &[Field]) -> Stream {
    let file = |root: &Field| match root.kind {
        FieldKind::Literal if matches!(root.text.trim_end_matches('/'), "." | "") => Target::WorkTree,
        FieldKind::Literal => Target::Tree(root.text.clone()),
        FieldKind::Glob => Target::Glob(root.text.clone()),
        FieldKind::Tree | FieldKind::Unknown => Target::Unknown(root.shown()),
    };
    let files: Vec<Target> = roots.iter().map(file).collect();
    Stream::Files(if files.is_empty() { vec![Target::WorkTree] } else { files })
}
