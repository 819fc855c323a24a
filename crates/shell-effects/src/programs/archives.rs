//! Archives and compressed files.

use crate::analysis::analyzer::Analyzer;
use crate::analysis::environment::ArchiveFormat;
use crate::analysis::field::{Field, FieldKind};
use crate::analysis::stream::{self, Stream};
use crate::programs::action::{Action, Compression};
use crate::programs::arguments::{self, Call, Flags};
use crate::programs::batches;
use crate::programs::program::{Program, special};
use crate::programs::tar;
use crate::{Access, AdditionalFiles};

#[rustfmt::skip]
pub(crate) const ARCHIVES: &[Program] = &[
    special(&["7z", "7za", "7zz"], "-o? -p? -m? -t? -x? -i? -w? -v? -s? -a? -r?", seven),
    special(&["bsdtar", "tar"], "", tar::tar),
    compresses(&["bzip2"], BZIP2),
    compresses(&["gzip", "pigz"], GZIP),
    compresses(&["xz"], XZ),
    compresses(&["zstd", "zstdmt"], ZSTD),
    compresses(&["bunzip2"], Compression { expands: true, ..BZIP2 }),
    compresses(&["gunzip", "unpigz"], Compression { expands: true, ..GZIP }),
    compresses(&["unxz"], Compression { expands: true, ..XZ }),
    compresses(&["unzstd"], Compression { expands: true, ..ZSTD }),
    special(&["cpio"], "-F= -I= -O= -D= -E=r -C= -H= -M= -R= --file= --directory= --pattern-file=r --format= --owner=", cpio),
    special(&["ar", "gcc-ar", "llvm-ar"], "", library),
    special(&["gpgtar"], "-o=w -C= -T=l -r= -u= --output=w --directory= --files-from=l --gpg= --gpg-args= --recipient= --local-user=", gpgtar),
    special(&["jar"], "", jar),
    special(&["unzip"], "-d= -x= -P=", unzip),
    special(&["zip"], "-m! --move! -lf=w -la! --logfile-path=w -i= -x= -t= -tt= -P= -b= -n= -TT= -O=w --out=w --unzip-command= --temp-path= --password= --suffixes=", zip),
];

const COMPRESSION: Flags = "-S= -o=w -T= --suffix= --threads= --files? --files0? --filelist=l --rm!";
const GZIP: Compression =
    Compression { extension: ".gz", extension_options: &["-S", "--suffix"], expands: false, keeps: false };
const BZIP2: Compression = Compression { extension: ".bz2", ..GZIP };
const XZ: Compression = Compression { extension: ".xz", ..GZIP };
const ZSTD: Compression =
    Compression { extension: ".zst", extension_options: &[], expands: false, keeps: true };

const fn compresses(names: &'static [&'static str], compression: Compression) -> Program {
    Program::new(names).options(COMPRESSION).action(Action::Compress(compression))
}

/// A file that is unpacked. A pattern of the archiver matches in all directories.
pub(crate) fn unpacked_member(
    analyzer: &mut Analyzer<'_>,
    call: &Call<'_>,
    member: &Field,
    is_pattern: bool,
) {
    let is_pattern = is_pattern && member.is_literal() && member.text.contains(['*', '?', '[']);
    if !is_pattern {
        return analyzer.touch_tree(Access::Write, member, call.command);
    }
    for pattern in [member.text.clone(), format!("**/{}", member.text)] {
        analyzer.touch(Access::Write, &Field::new(pattern, FieldKind::Glob), call.command);
    }
}

const JAR: Flags = "-f= -C= --file=";

/// `jar xf ARCHIVE`.
fn jar(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let arguments = arguments::parse(JAR, &dashed(JAR, call.fields.get(1..).unwrap_or_default()));
    let archive = arguments.value(&["-f", "--file"]);
    let Some(archive) = archive else { return };
    if arguments.has(&["-x", "--extract"]) {
        analyzer.reads(archive, call.command);
        extracted(analyzer, call, arguments.value(&["-C", "--dir"]), Some(archive));
    } else if arguments.has(&["-c", "-u", "--create", "--update"]) {
        analyzer.touch(Access::Write, archive, call.command);
        for file in &arguments.operands {
            match file.text.strip_prefix('@') {
                Some(list) => {
                    let list = file.with(list);
                    analyzer.reads(&list, call.command);
                    analyzer.listed_in(&list).iter().for_each(|file| analyzer.reads(file, call.command));
                }
                None => analyzer.touch_tree(Access::Read, file, call.command),
            }
        }
    } else {
        analyzer.reads(archive, call.command);
    }
}

/// `ar -M`: a script on its input names the archives.
fn library(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    analyzer.unknown_program(call.fields);
    let takes_script = call.arguments.has(&["-M"]);
    if let Stream::Text(printed) = analyzer.input().clone()
        && takes_script
    {
        for word in stream::split(&printed.text, |c| c.is_whitespace() || c == ',') {
            analyzer.touch(Access::Write, &word, call.command);
        }
    }
}

/// `gpgtar --create FILES`, `gpgtar --extract ARCHIVE`.
fn gpgtar(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let arguments = &call.arguments;
    for program in arguments.values(&["--gpg"]) {
        let words = [program.clone()];
        analyzer.as_part(|analyzer| analyzer.deeper(|analyzer| analyzer.run_fields(&words)));
    }
    for file in &arguments.operands {
        analyzer.touch_tree(Access::Read, file, call.command);
    }
    if arguments.has(&["-d", "--decrypt", "--extract"]) {
        extracted(analyzer, call, arguments.value(&["-C", "--directory"]), arguments.operands.first());
    }
}

/// The words after the name of `tar` or `jar`. The first one may lack its dash: then its flags take their values from the
/// following words in turn.
pub(crate) fn dashed(flags: Flags, words: &[Field]) -> Vec<Field> {
    let Some((first, rest)) = words.split_first().filter(|(first, _)| !first.text.starts_with('-')) else {
        return words.to_vec();
    };
    let mut out = Vec::new();
    let mut rest = rest.iter();
    for c in first.text.chars() {
        out.push(first.with(format!("-{c}")));
        if arguments::takes_next(flags, &format!("-{c}")) {
            out.extend(rest.next().cloned());
        }
    }
    out.extend(rest.cloned());
    out
}

/// An archive to unpack.
pub(crate) struct Extraction<'f> {
    pub(crate) directory: Option<&'f Field>,
    pub(crate) archive: Option<&'f Field>,
    pub(crate) format: ArchiveFormat,
    /// How many directories at the start of a name are left out. None if other options change the names.
    pub(crate) strip: Option<usize>,
}

/// Writes the files in an archive, if they are known.
pub(crate) fn looked_into(analyzer: &mut Analyzer<'_>, call: &Call<'_>, unpacked: &Extraction<'_>) -> bool {
    let Extraction { directory, archive: Some(archive), format, strip: Some(strip) } = *unpacked else {
        return false;
    };
    let Some(members) = analyzer.earlier_members(format, archive, call.command) else {
        return false;
    };
    // Programs do not agree whether these parts count.
    let is_unclear =
        |member: &String| member.trim_end_matches('/').split('/').any(|part| part.is_empty() || part == ".");
    if directory.is_some_and(|directory| !directory.is_literal())
        || strip > 0 && members.iter().any(is_unclear)
    {
        return false;
    }
    for member in members {
        let is_directory = member.ends_with('/');
        let parts: Vec<&str> =
            member.split('/').filter(|part| !part.is_empty() && *part != ".").skip(strip).collect();
        let name = parts.join("/");
        if name.is_empty() {
            continue;
        }
        let path = match directory {
            Some(directory) => format!("{}/{name}", directory.text.trim_end_matches('/')),
            None => name,
        };
        let access = if is_directory { Access::MakeDirectory } else { Access::Write };
        analyzer.touch(access, &Field::literal(path), call.command);
    }
    true
}

/// The content of an archive is unknown. Its target may be known.
pub(crate) fn extracted(
    analyzer: &mut Analyzer<'_>,
    call: &Call<'_>,
    directory: Option<&Field>,
    archive: Option<&Field>,
) {
    let brings = AdditionalFiles { directory: true, names: false };
    match directory.filter(|directory| directory.text != ".") {
        Some(directory) => analyzer.with_additional_files(brings, |analyzer| {
            analyzer.touch_tree(Access::Write, directory, call.command);
        }),
        None if analyzer.is_outside_start() => analyzer.with_additional_files(brings, |analyzer| {
            analyzer.touch_tree(Access::Write, &Field::literal("."), call.command);
        }),
        None => {
            let of = archive.map_or_else(|| "the archive".to_owned(), Field::shown);
            analyzer.touch(Access::Write, &Field::unknown(format!("the files in {of}")), call.command);
        }
    }
}

fn unzip(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let arguments = &call.arguments;
    let Some((archive, members)) = arguments.operands.split_first() else { return };
    analyzer.reads(archive, call.command);
    if arguments.has(&["-l", "-t", "-p", "-v", "-Z", "-z"]) {
        return;
    }
    let directory = arguments.value(&["-d"]);
    if members.is_empty() || arguments.has(&["-C"]) {
        let is_plain =
            arguments.flags.iter().all(|(flag, _)| ["-o", "-n", "-q", "-u", "-d"].contains(&flag.as_str()))
                && arguments.values(&["-d"]).count() < 2
                && !analyzer.may_be_given(&["UNZIP", "UNZIPOPT", "ZIPINFO", "ZIPINFOOPT"]);
        let unpacked = Extraction {
            directory,
            archive: Some(archive),
            format: ArchiveFormat::Zip,
            strip: if is_plain { Some(0) } else { None },
        };
        if !looked_into(analyzer, call, &unpacked) {
            extracted(analyzer, call, directory, Some(archive));
        }
        return;
    }
    for member in members {
        let inside = match directory {
            Some(directory) => {
                member.with(format!("{}/{}", directory.text.trim_end_matches('/'), member.text))
            }
            None => member.clone(),
        };
        unpacked_member(analyzer, call, &inside, true);
    }
}

/// `cpio -o` and `-p` read names of files from their input; `-i` and `-p DIRECTORY` write them.
fn cpio(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let arguments = &call.arguments;
    let passes = arguments.has(&["-p", "--pass-through"]);
    for archive in arguments.values(&["-F", "-I", "-O", "--file"]) {
        let creates = arguments.has(&["-o", "--create", "-O"]);
        analyzer.touch(if creates { Access::Write } else { Access::Read }, archive, call.command);
    }
    if passes || arguments.has(&["-o", "--create"]) {
        for file in batches::lines(analyzer.input()) {
            analyzer.reads(&file, call.command);
        }
    }
    let passed_to = if passes { arguments.operands.first() } else { None };
    let directory = passed_to.or(arguments.value(&["-D", "--directory"]));
    if passes || arguments.has(&["-i", "--extract"]) && !arguments.has(&["-t", "--list", "--to-stdout"]) {
        extracted(analyzer, call, directory, None);
    }
}

/// `7z x ARCHIVE -oDIRECTORY`, `7z a ARCHIVE FILES`.
fn seven(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let [action, archive, files @ ..] = call.arguments.operands.as_slice() else { return };
    match action.text.as_str() {
        "a" | "u" | "d" | "rn" => {
            analyzer.touch(Access::Write, archive, call.command);
            files.iter().for_each(|file| analyzer.touch_tree(Access::Read, file, call.command));
        }
        "x" | "e" => {
            analyzer.reads(archive, call.command);
            extracted(analyzer, call, call.arguments.value(&["-o"]), Some(archive));
        }
        _ => analyzer.reads(archive, call.command),
    }
}

/// The words of `zip` without what it leaves out: `-x a b`, up to the next option or `@`. The option keeps its first value.
fn without_left_out(words: &[Field]) -> Vec<Field> {
    let mut kept = Vec::with_capacity(words.len());
    let mut left_out = None;
    for word in words {
        let is_end = word.text.starts_with('-') || word.text == "@" || !word.is_literal();
        match left_out {
            _ if matches!(word.text.as_str(), "-x" | "--exclude") => left_out = Some(0),
            Some(0) => left_out = Some(1),
            Some(_) if !is_end => continue,
            _ => left_out = None,
        }
        kept.push(word.clone());
    }
    kept
}

fn zip(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    for code in call.arguments.values(&["-TT", "--unzip-command"]) {
        analyzer.as_part(|analyzer| analyzer.subshell(|analyzer| analyzer.code(code, "sh")));
    }
    // Its value may be part of the same word.
    let attached = call.fields.iter().filter_map(|field| Some(field.with(field.text.strip_prefix("-TT")?)));
    for code in attached.filter(|code| !code.text.is_empty()) {
        analyzer.as_part(|analyzer| analyzer.subshell(|analyzer| analyzer.code(&code, "sh")));
    }
    let words = without_left_out(call.fields.get(1..).unwrap_or_default());
    let operands = arguments::parse(call.program.options, &words).operands;
    let Some((archive, files)) = operands.split_first() else { return };
    analyzer.touch(Access::Write, archive, call.command);
    let listed = if call.arguments.has(&["-@", "--names-stdin"]) {
        batches::lines(analyzer.input())
    } else {
        Vec::new()
    };
    let is_move = |word: &str| word == "--move" || !word.starts_with("--") && word.contains('m');
    let given = |more: &str| more.split_whitespace().any(is_move);
    let moves = call.arguments.has(&["-m", "--move"]) || analyzer.state.exports.values("ZIPOPT").any(given);
    for file in files.iter().chain(&listed) {
        analyzer.touch_tree(Access::Read, file, call.command);
        if moves {
            analyzer.touch_tree(Access::Delete, file, call.command);
        }
    }
}

/// `gzip` and similar programs replace a file by another one.
pub(crate) fn compress(analyzer: &mut Analyzer<'_>, call: &Call<'_>, compression: Compression) {
    let arguments = &call.arguments;
    let keeps = arguments.has(&["-k", "--keep"]) || compression.keeps && !arguments.has(&["--rm"]);
    let expands = compression.expands || arguments.has(&["-d", "--decompress"]);
    let suffix = arguments.value(compression.extension_options);
    let extension = suffix.map_or(compression.extension, |suffix| suffix.text.as_str());
    let mut files = arguments.operands.clone();
    for (_, list) in
        arguments.flags.iter().filter(|(flag, _)| matches!(flag.as_str(), "--files" | "--files0"))
    {
        let list = list.clone().unwrap_or_else(|| Field::literal("-"));
        files.extend(analyzer.listed_in(&list));
    }
    let only_reads = arguments.has(&["-c", "-l", "-t", "--stdout", "--to-stdout", "--list", "--test"]);
    let is_recursive = arguments.has(&["-r", "--recursive"]);
    for file in &files {
        if is_recursive && !only_reads {
            analyzer.touch_tree(if keeps { Access::Write } else { Access::Delete }, file, call.command);
            continue;
        }
        analyzer.reads(file, call.command);
        if only_reads {
            continue;
        }
        if !keeps {
            analyzer.touch(Access::Delete, file, call.command);
        }
        let other = match file.text.strip_suffix(extension) {
            Some(plain) if expands => plain.to_owned(),
            _ if expands => continue,
            _ => format!("{}{extension}", file.text),
        };
        analyzer.touch(Access::Write, &file.with(other), call.command);
    }
}
