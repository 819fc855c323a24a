//! Programs that create, copy, move, link and delete files, or change their metadata.

use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::{Field, FieldKind};
use crate::analysis::stream::Stream;
use crate::glob::escaped;
use crate::programs::action::{Output, SourceUse, Transfer};
use crate::programs::arguments::{Arguments, Call, Flags};
use crate::programs::program::{DeletedFiles, Program, each, special, trees};
use crate::{Access, AdditionalFiles, Target};

const MV: Flags = "-t= -S= --target-directory= --suffix= --backup?";

const LN: Transfer = Transfer { source: SourceUse::Link, ..Transfer::COPY };
const CP: Transfer = Transfer {
    linking: &["-l", "-s", "--link", "--symbolic-link"],
    keeping_links: &["-d", "-P", "--no-dereference"],
    keeping_targets: &["-n", "--no-clobber"],
    copies_directories: true,
    ..Transfer::COPY
};

#[rustfmt::skip]
pub(crate) const FILES: &[Program] = &[
    special(&["chattr"], "-p= -v=", change_attributes),
    trees(&["chgrp", "chown"], "--reference=r", Access::Write, 1).whole(&["--reference"]),
    each(&["chflags", "setfacl", "sponge", "xattr"], "-m= --mode=", Access::Write, 0),
    // A mode may look like an option: `chmod -x FILE`.
    trees(&["chmod"], "--reference=r", Access::Write, 1).whole(&["--reference", "-r", "-s", "-t", "-w", "-x", "-X"]).output(Output::Nothing),
    special(&["cp"], "-t= -S= --target-directory= --suffix= --backup? --sparse= --reflink? --no-preserve= --preserve?", copy).transfers(&CP).output(Output::Nothing),
    special(&["dd"], "", dd),
    trees(&["gio-trash", "rimraf", "srm", "trash", "trash-put", "unlink"], "", Access::Delete, 0),
    special(&["install"], "-t= -S= -m= -o= -g= --target-directory= --suffix= --mode= --owner= --group= --backup?", install),
    special(&["link"], "", copy).transfers(&LN).changes_paths(),
    special(&["ln"], MV, copy).transfers(&LN).output(Output::Nothing).changes_paths(),
    special(&["mkfifo", "mknod"], "-m= --mode=", pipe),
    each(&["mkdir", "md"], "-m= --mode=", Access::MakeDirectory, 0).output(Output::Nothing).keeps_paths(),
    special(&["mv"], MV, copy).transfers(&Transfer { source: SourceUse::Move, ..Transfer::COPY }).output(Output::Nothing),
    special(&["file-rename", "prename", "rename", "rename.ul"], "", rename),
    special(&["rm"], "", remove).output(Output::Nothing).deletes(DeletedFiles::Operands),
    each(&["rmdir"], "", Access::Delete, 0),
    each(&["shred", "wipe"], "-n= -s= --iterations= --size=", Access::Write, 0).deletes(DeletedFiles::Operands),
    each(&["touch"], "-d= -t= -r=r --date= --reference=r --time=", Access::Write, 0).output(Output::Nothing).keeps_paths(),
    each(&["fallocate"], "-l= -o= --length= --offset=", Access::Write, 0),
    each(&["truncate"], "-s= -r=r --size= --reference=r", Access::Write, 0),
];

/// A named pipe: what goes through it is not followed.
fn pipe(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    for file in &call.arguments.operands {
        analyzer.touch(Access::Write, file, call.command);
        analyzer.wrote(file, Stream::Unknown, false, vec![call.command]);
    }
}

/// `install`: with `-d` it makes directories.
fn install(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    if !call.arguments.has(&["-d", "--directory"]) {
        return copy(analyzer, call);
    }
    for directory in &call.arguments.operands {
        analyzer.touch(Access::MakeDirectory, directory, call.command);
    }
}

/// `cp`, `mv`, `ln`: the last operand is the target, unless `-t` names it.
pub(crate) fn copy(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let (sources, target) = sources_and_target(call);
    for source in sources {
        sources_of(analyzer, call, source);
    }
    let Some(target) = target else { return };
    let is_directory = is_target_directory(&call.arguments, sources, &target);
    let is_open = |source: &Field| !source.is_literal() && !analyzer.knows_matches(source);
    let open: Vec<Field> = sources.iter().filter(|source| is_open(source)).cloned().collect();
    for source in &open {
        other_names(analyzer, call, source, &target);
    }
    let matched: Vec<Field> = sources.iter().flat_map(|source| copied(analyzer, source)).collect();
    for source in &matched {
        copy_one(analyzer, call, source, &Destination { path: &target, is_directory });
    }
}

/// The operands that are copied, and where to.
fn sources_and_target<'c>(call: &'c Call<'_>) -> (&'c [Field], Option<Field>) {
    let operands = call.arguments.operands.as_slice();
    match (call.arguments.value(&["-t", "--target-directory"]), operands.split_last()) {
        (Some(target), _) => (operands, Some(target.clone())),
        (None, Some((last, sources))) if !sources.is_empty() => (sources, Some(last.clone())),
        // `ln TARGET` makes a link of the same name here.
        (None, Some((only, _))) if call.program.transfer.source == SourceUse::Link => {
            (std::slice::from_ref(only), Some(Field::literal(".")))
        }
        _ => (operands, None),
    }
}

/// Whether the target is a directory, if that is known.
fn is_target_directory(arguments: &Arguments, sources: &[Field], target: &Field) -> Option<bool> {
    if arguments.has(&["-T", "--no-target-directory"]) {
        return Some(false);
    }
    let is_directory = arguments.has(&["-t", "--target-directory"])
        || sources.len() > 1
        || target.text.ends_with('/')
        || matches!(target.text.as_str(), "." | "..");
    if is_directory { Some(true) } else { None }
}

/// Copies, moves or links one file.
fn copy_one(analyzer: &mut Analyzer<'_>, call: &Call<'_>, source: &Field, destination: &Destination<'_>) {
    let Destination { path: target, is_directory } = *destination;
    analyzer.copy_content(source, target);
    if is_directory != Some(false) && target.is_literal() {
        let name = source.text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let inside = format!("{}/{name}", target.text.trim_end_matches('/'));
        analyzer.copy_content(source, &Field::literal(inside));
    }
    if call.arguments.has(call.program.transfer.keeping_targets) {
        analyzer.if_missing(&target.text, |analyzer| written(analyzer, call, source, destination));
    } else {
        written(analyzer, call, source, destination);
    }
    copied_tree(analyzer, call, source, destination);
    backed_up(analyzer, call, source, destination);
}

/// Keeps the replaced file under its name with a suffix: `cp -b -S .lock a b`.
fn backed_up(analyzer: &mut Analyzer<'_>, call: &Call<'_>, source: &Field, destination: &Destination<'_>) {
    let Destination { path: target, is_directory } = *destination;
    if !target.is_literal() {
        return;
    }
    let Some(suffix) = backup_suffix(analyzer, call) else { return };
    if is_directory != Some(true) {
        keeps_copy(analyzer, target, &suffix, call.command);
    }
    if is_directory != Some(false) {
        let name = source.text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let inside = target.with(format!("{}/{name}", target.text.trim_end_matches('/')));
        keeps_copy(analyzer, &inside, &suffix, call.command);
    }
}

/// Files that this script wrote in a directory which is copied or moved.
fn copied_tree(analyzer: &mut Analyzer<'_>, call: &Call<'_>, source: &Field, destination: &Destination<'_>) {
    let Destination { path: target, is_directory } = *destination;
    let use_of_source = call.program.transfer.source;
    if !(is_recursive(call) || use_of_source != SourceUse::Read) || !target.is_literal() {
        return;
    }
    let directory = target.text.trim_end_matches('/');
    let name = source.text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let is_whole = matches!(name, "" | "." | "..");
    let mut roots = Vec::new();
    if is_directory != Some(true) || is_whole {
        roots.push(directory.to_owned());
    }
    if is_directory != Some(false) && !is_whole {
        roots.push(format!("{directory}/{name}"));
    }
    if is_recursive(call) && source.is_literal() {
        roots.iter().for_each(|root| analyzer.copied_directory(source, root));
    }
    for file in analyzer.written_below(source) {
        let from = source.with(format!("{}/{file}", source.text.trim_end_matches('/')));
        for root in &roots {
            let to = format!("{root}/{file}");
            let to = Field::literal(to.strip_prefix("./").unwrap_or(&to));
            if use_of_source != SourceUse::Link {
                analyzer.touch(Access::Write, &to, call.command);
            }
            if analyzer.state.disk.has_room() {
                analyzer.copy_content(&from, &to);
            }
        }
    }
}

/// The files that are copied. Where the disk tells what a pattern matches, these are all.
fn copied(analyzer: &Analyzer<'_>, source: &Field) -> Vec<Field> {
    let mut files = analyzer.matched_files(source);
    // A pattern that matches nothing stands for itself.
    let is_matched =
        files.len() > 1 && files.iter().rev().skip(1).all(|file| analyzer.is_there_literally(file));
    if is_matched && !analyzer.has_made_files() {
        files.pop();
    }
    files
}

fn is_recursive(call: &Call<'_>) -> bool {
    call.arguments.has(&["-r", "-R", "-a", "--recursive", "--archive"])
}

fn sources_of(analyzer: &mut Analyzer<'_>, call: &Call<'_>, source: &Field) {
    let transfer = call.program.transfer;
    match transfer.source {
        SourceUse::Move => {
            // A moved file can be read under its new name.
            analyzer.touch(Access::Read, source, call.command);
            analyzer.touch_tree(Access::Delete, source, call.command);
        }
        SourceUse::Link => linked(analyzer, call, source),
        SourceUse::Read => {
            let is_recursive = is_recursive(call);
            let links = call.arguments.has(transfer.linking);
            let accesses = if links { [Access::Read, Access::Link].as_slice() } else { &[Access::Read] };
            for access in accesses {
                if is_recursive {
                    analyzer.touch_tree(*access, source, call.command);
                } else {
                    analyzer.touch(*access, source, call.command);
                }
            }
        }
    }
}

/// A symbolic link is relative to its own directory.
fn linked(analyzer: &mut Analyzer<'_>, call: &Call<'_>, source: &Field) {
    analyzer.touch(Access::Link, source, call.command);
    let is_symbolic = call.arguments.has(&["-s"]) || call.arguments.has_long("--symbolic");
    if is_symbolic && let Some(command) = analyzer.command_mut(call.command) {
        command.makes_symbolic_link = true;
    }
    let target = call.arguments.value(&["-t", "--target-directory"]).or(call.arguments.operands.last());
    let Some(target) = target.filter(|target| is_symbolic && target.is_literal()) else { return };
    if source.text.starts_with('/') || target.text == source.text {
        return;
    }
    let parent = target.text.rsplit_once('/').map(|(parent, _)| parent);
    for directory in parent.into_iter().chain([target.text.as_str()]) {
        analyzer.touch(Access::Link, &source.with(format!("{directory}/{}", source.text)), call.command);
    }
}

/// The directory in which a file is.
pub(crate) fn directory_of(file: &Field) -> Field {
    file.with(file.text.rsplit_once('/').map_or(".", |(directory, _)| directory))
}

/// The name of a file with the suffix of an option. A `*` in the suffix stands for the name. A suffix with a `/` and a `*` is the
/// whole path.
pub(crate) fn backup_of(file: &Field, addition: &str) -> Field {
    let (directory, name) = match file.text.rsplit_once('/') {
        Some((directory, name)) => (format!("{directory}/"), name),
        None => (String::new(), file.text.as_str()),
    };
    let made = if addition.contains('*') { addition.replace('*', name) } else { format!("{name}{addition}") };
    let is_path = addition.contains('*') && made.contains('/');
    file.with(if is_path { made } else { format!("{directory}{made}") })
}

/// The copies of files that a program changes: `-i.bak`, `-b -S .bak`.
pub(crate) fn keeps_copy(analyzer: &mut Analyzer<'_>, file: &Field, addition: &str, command: usize) {
    if file.kind != FieldKind::Unknown && !addition.is_empty() {
        analyzer.touch(Access::Write, &backup_of(file, addition), command);
    }
}

/// The suffix for the names of replaced files, from an option or a variable.
fn backup_suffix(analyzer: &Analyzer<'_>, call: &Call<'_>) -> Option<String> {
    if let Some(suffix) = call.arguments.value(&["-S", "--suffix"]) {
        return Some(suffix.text.clone());
    }
    let keeps = call.arguments.has(&["-b", "--backup"]);
    let variable = if keeps { analyzer.state.exports.values("SIMPLE_BACKUP_SUFFIX").next() } else { None };
    variable.map(str::to_owned)
}

/// Where files are copied or moved to.
pub(crate) struct Destination<'a> {
    pub(crate) path: &'a Field,
    /// `None` if that is unknown.
    pub(crate) is_directory: Option<bool>,
}

/// The file that a source becomes.
pub(crate) fn written(
    analyzer: &mut Analyzer<'_>,
    call: &Call<'_>,
    source: &Field,
    destination: &Destination<'_>,
) {
    let brings = AdditionalFiles { directory: may_bring_directory(analyzer, call, source), names: false };
    analyzer.with_additional_files(brings, |analyzer| written_there(analyzer, call, source, destination));
}

fn written_there(
    analyzer: &mut Analyzer<'_>,
    call: &Call<'_>,
    source: &Field,
    destination: &Destination<'_>,
) {
    let Destination { path: target, is_directory } = *destination;
    if is_directory == Some(false) && is_recursive(call) {
        // `cp -rT a b`: what is in `a` is merged into `b`.
        analyzer.touch_tree(Access::Write, target, call.command);
        return;
    }
    if !target.is_literal() || is_directory == Some(false) {
        analyzer.touch(Access::Write, target, call.command);
        return;
    }
    let name = name_there(call, &source.text);
    let has_parents = call.program.transfer.copies_directories && call.arguments.has_long("--parents");
    let is_made = has_parents || is_directory == Some(true) || analyzer.state.disk.has_made(&target.text);
    let directory = match target.text.trim_end_matches('/') {
        "" => "/",
        directory => directory,
    };
    let inside = |name: &str| match directory {
        "." => name.to_owned(),
        "/" => format!("/{name}"),
        directory => format!("{directory}/{name}"),
    };
    let written = match source.kind {
        _ if matches!(name, "" | "." | "..") => Target::Tree(directory.to_owned()),
        FieldKind::Literal if is_made => Target::Path(inside(name)),
        // It is not known which of its files have these names.
        FieldKind::Glob if is_made => Target::Among { written: inside(name), pattern: inside(name) },
        FieldKind::Unknown | FieldKind::Tree if is_made => Target::Unknown(inside(name)),
        _ => Target::Into { directory: directory.to_owned(), name: name.to_owned() },
    };
    analyzer.effect(Access::Write, written, call.command);
}

/// The name of a source below the target. With `--parents` it is the whole path.
fn name_there<'t>(call: &Call<'_>, source: &'t str) -> &'t str {
    let path = source.trim_end_matches('/');
    if call.arguments.has(&["--parents"]) {
        path.trim_start_matches('/')
    } else {
        path.rsplit('/').next().unwrap_or_default()
    }
}

/// Whether the target may become a directory, or a link to one.
fn may_bring_directory(analyzer: &Analyzer<'_>, call: &Call<'_>, source: &Field) -> bool {
    let transfer = call.program.transfer;
    let takes_any = transfer.source != SourceUse::Read
        || transfer.copies_directories && is_recursive(call)
        || call.arguments.has(transfer.keeping_links);
    takes_any && !analyzer.is_plain_file(source, call.command)
}

/// Files of a source whose names are not known: a search finds them, or a pattern also matches files that the script makes.
fn other_names(analyzer: &mut Analyzer<'_>, call: &Call<'_>, source: &Field, target: &Field) {
    let name = name_there(call, &source.text);
    let names = match source.kind {
        FieldKind::Literal => Vec::new(),
        FieldKind::Glob => vec![name.to_owned()],
        FieldKind::Tree => vec!["*".to_owned(), ".*".to_owned()],
        FieldKind::Unknown if name.contains(['$', '`', ')']) || source.holes.is_empty() => {
            vec!["*".to_owned()]
        }
        FieldKind::Unknown => Vec::new(),
    };
    if !target.is_literal() {
        return;
    }
    let brings = AdditionalFiles { directory: may_bring_directory(analyzer, call, source), names: true };
    let directory = target.text.trim_end_matches('/');
    for name in names {
        let written = format!("{directory}/{}", source.shown().rsplit('/').next().unwrap_or_default());
        let pattern = format!("{}/{name}", escaped(directory));
        analyzer.with_additional_files(brings, |analyzer| {
            analyzer.effect(Access::Write, Target::Among { written, pattern }, call.command);
        });
    }
}

/// `dd if=A of=B`.
fn dd(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    for field in call.fields.iter().skip(1) {
        if let Some(file) = field.text.strip_prefix("of=") {
            let file = field.with(file);
            analyzer.touch(Access::Write, &file, call.command);
            analyzer.wrote(&file, Stream::Unknown, false, vec![call.command]);
        } else if let Some(file) = field.text.strip_prefix("if=") {
            analyzer.touch(Access::Read, &field.with(file), call.command);
        }
    }
}

/// `rm`.
fn remove(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let is_recursive = call.arguments.has(&["-r", "-R", "--recursive"]);
    for operand in &call.arguments.operands {
        if is_recursive {
            analyzer.touch_tree(Access::Delete, operand, call.command);
        } else {
            analyzer.touch(Access::Delete, operand, call.command);
        }
    }
}

/// `rename FROM TO FILES`, or `rename CODE FILES` in Perl.
fn rename(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    if call.arguments.has(&["-n", "--no-act", "--nono"]) {
        return;
    }
    let operands = call.arguments.operands.as_slice();
    match operands {
        [code, files @ ..] if code.text.contains(['/', ';', '(', '{']) => {
            analyzer.inline_code("perl", code.shown());
            files.iter().for_each(|file| analyzer.touch_tree(Access::Delete, file, call.command));
        }
        [from, to, files @ ..] => {
            for file in files {
                analyzer.touch_tree(Access::Delete, file, call.command);
                if file.is_literal() {
                    let renamed = file.text.replacen(&from.text, &to.text, 1);
                    analyzer.touch(Access::Write, &Field::literal(renamed), call.command);
                }
            }
        }
        _ => {}
    }
}

/// `chattr -R +i FILE`: its modes start with a sign, and `-i` looks like an option.
fn change_attributes(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let is_mode = |operand: &&Field| operand.is_literal() && operand.text.starts_with(['+', '=']);
    for file in call.arguments.operands.iter().filter(|operand| !is_mode(operand)) {
        if call.arguments.has(&["-R"]) {
            analyzer.touch_tree(Access::Write, file, call.command);
        } else {
            analyzer.touch(Access::Write, file, call.command);
        }
    }
}
