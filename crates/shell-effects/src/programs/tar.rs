//! `tar`: which files it packs and unpacks.

use crate::Access;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::environment::ArchiveFormat;
use crate::analysis::field::Field;
use crate::programs::archives::{Extraction, dashed, extracted, looked_into, unpacked_member};
use crate::programs::arguments::{self, Arguments, Call, Flags};

/// The options of tar. It parses its words itself, because the first may have no dash.
const TAR: Flags = "-P! --absolute-names! -f= -C= -T= -X=r -I=x -b= -g=w -F=x -H= -K= -L= -N= -V= --file= --directory= --files-from= \
    --exclude-from=r --add-file=r --exclude= --use-compress-program=x --to-command=x --transform= --xform= --strip-components= \
    --checkpoint-action= --owner= --group= --mode= --mtime= --listed-incremental=w --info-script=x --new-volume-script=x \
    --rsh-command=x --rmt-command=x --tape-length= --label= --newer= --newer-mtime= --after-date= --format= \
    --starting-file= --suffix= --sort= --blocking-factor= --volno-file=w --index-file=w --owner-map=r --group-map=r";

/// Options of tar that do not change the names of unpacked files.
#[rustfmt::skip]
const PLAIN_TAR: &[&str] = &[
    "-x", "--extract", "--get", "-f", "--file", "-z", "--gzip", "--gunzip", "-a", "--auto-compress", "-v", "--verbose", "-p", "-m", "--touch", "-o",
    "--no-same-owner", "--no-same-permissions", "-k", "--keep-old-files", "--skip-old-files", "--overwrite", "-C", "--directory", "--strip-components",
    "--exclude", "--warning",
];

/// What tar does with the members of an archive. Long options may be abbreviated.
#[derive(Clone, Copy)]
struct TarMode {
    creates: bool,
    extracts: bool,
}

impl TarMode {
    fn of(arguments: &Arguments) -> TarMode {
        let long = ["--create", "--append", "--update", "--concatenate"];
        TarMode {
            creates: arguments.has(&["-c", "-r", "-u", "-A"])
                || long.iter().any(|name| arguments.has_long(name)),
            extracts: arguments.has(&["-x", "--get"]) || arguments.has_long("--extract"),
        }
    }
}

pub(crate) fn tar(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    // The old style `tar xzf FILE`: the flags take their values in turn.
    let mut arguments = arguments::parse(TAR, &dashed(TAR, call.fields.get(1..).unwrap_or_default()));
    analyzer.files_of_flags(TAR, &arguments, call.command);
    let lists: Vec<Field> = arguments.values(&["-T", "--files-from"]).cloned().collect();
    for list in lists {
        analyzer.reads(&list, call.command);
        arguments.operands.extend(analyzer.listed_in(&list));
    }
    checkpoint_actions(analyzer, &arguments);
    let mode = TarMode::of(&arguments);
    let archive = arguments.value(&["-f", "--file"]);
    if let Some(archive) = archive.filter(|archive| archive.text != "-") {
        let is_remote = archive.text.split_once(':').is_some_and(|(host, _)| !host.contains('/'));
        if is_remote && !arguments.has(&["--force-local"]) {
            analyzer.acts_by(&archive.text, call.command);
        }
        analyzer.touch(if mode.creates { Access::Write } else { Access::Read }, archive, call.command);
    }
    let directory = arguments.value(&["-C", "--directory"]);
    analyzer.in_directory(directory, |analyzer| {
        members(analyzer, call, &arguments, mode);
    });
    if !mode.extracts || arguments.has(&["-O", "--to-stdout"]) {
        return;
    }
    analyzer.in_directory(directory, |analyzer| renamed_to(analyzer, &arguments, call.command));
    let renames = arguments.has(&["--transform", "--xform"]);
    if arguments.operands.is_empty() || renames {
        let strip = stripped_directories(analyzer, &arguments);
        let unpacked = Extraction { directory, archive, format: ArchiveFormat::Tar, strip };
        // Then names may lead anywhere.
        if arguments.has(&["-P", "--absolute-names"]) {
            analyzer.touch(Access::Write, &Field::unknown("the files in the archive"), call.command);
        } else if !looked_into(analyzer, call, &unpacked) {
            extracted(analyzer, call, directory, archive);
        }
    }
}

/// `--checkpoint-action=exec=CODE`.
fn checkpoint_actions(analyzer: &mut Analyzer<'_>, arguments: &Arguments) {
    for action in arguments.values(&["--checkpoint-action"]) {
        if let Some(code) = action.text.strip_prefix("exec=") {
            let code = action.with(code);
            analyzer.as_part(|analyzer| analyzer.subshell(|analyzer| analyzer.code(&code, "sh")));
        } else if !action.is_literal() {
            analyzer.doubt_script("tar");
        }
    }
}

/// The members that tar packs or unpacks by their names.
fn members(analyzer: &mut Analyzer<'_>, call: &Call<'_>, arguments: &Arguments, mode: TarMode) {
    let has_patterns = arguments.has_long("--wildcards");
    let removes = mode.creates
        && (arguments.has(&["--remove-files"])
            || analyzer.state.exports.values("TAR_OPTIONS").any(|more| more.contains("--remove-f")));
    for member in &arguments.operands {
        if mode.creates {
            analyzer.touch_tree(Access::Read, member, call.command);
            if removes {
                analyzer.touch_tree(Access::Delete, member, call.command);
            }
        } else if mode.extracts {
            unpacked_member(analyzer, call, member, has_patterns);
        }
    }
}

/// How many directories at the start of a name tar leaves out. None if its options may change names in other ways.
fn stripped_directories(analyzer: &Analyzer<'_>, arguments: &Arguments) -> Option<usize> {
    let is_plain = arguments.flags.iter().all(|(flag, _)| PLAIN_TAR.contains(&flag.as_str()))
        && [["-C", "--directory"].as_slice(), &["-f", "--file"], &["--strip-components"]]
            .iter()
            .all(|names| arguments.values(names).count() < 2)
        && !analyzer.may_be_given(&["TAR_OPTIONS", "GZIP"]);
    match arguments.value(&["--strip-components"]) {
        _ if !is_plain => None,
        Some(count) => count.text.parse().ok(),
        None => Some(0),
    }
}

/// The directories that `--transform s,FROM,TO,` puts before names.
fn renamed_to(analyzer: &mut Analyzer<'_>, arguments: &Arguments, command: usize) {
    for change in arguments.values(&["--transform", "--xform"]) {
        for change in change.text.split(';') {
            let Some(rest) = change.trim().strip_prefix('s') else { continue };
            let Some(separator) = rest.chars().next() else { continue };
            let to = rest.split(separator).nth(2).unwrap_or_default();
            if let Some((directory, _)) = to.rsplit_once('/') {
                let directory = if directory.is_empty() { "/" } else { directory };
                analyzer.touch_tree(Access::Write, &Field::literal(directory), command);
            }
        }
    }
}
