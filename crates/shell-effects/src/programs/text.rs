//! Programs that read text and print it, or write it to another file.

use crate::Access;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::{Field, FieldKind};
use crate::analysis::stream::Stream;
use crate::programs::action::Output;
use crate::programs::arguments::{Call, Flags};
use crate::programs::awk;
use crate::programs::files::keeps_copy;
use crate::programs::git;
use crate::programs::harmless;
use crate::programs::languages::SourceLanguage;
use crate::programs::patches::{self, PatchNames};
use crate::programs::program::{Program, each, reads, special};
use crate::programs::sed;
use crate::programs::system::{HASH, NUMBER};

const BAT: Flags = "--build! --source=c --target=c -l= -r= -H= --language= --theme= --style= --line-range= --wrap= --tabs= --highlight-line= --pager=x \
    --paging= --color=";
const DIFF: Flags = "-U= -C= --unified= --context= -I= --label= -x= -X=r --exclude= --exclude-from=r --color? -W= \
    --from-file=r --to-file=r";
const HEAD: Flags = "-n= -c= --lines= --bytes= --pid= -s= --sleep-interval=";
const OPENSSL: Flags = "- -in= -out=w -keyout=w -newkey= -subj= -days= -config=f -engine=c -provider=c -provider-path=c -extensions= -addext= -servername= -connect= -inform= -outform= -set_serial= -o=w -f=r -e= -k= -pass= -passin= -inkey=r -key= -cert= -writerand=w -rand=r -msgfile=w -keylogfile=w -sess_out=w -sess_in=r -signature=r -sigfile=r -prverify=r -verify=r -sign=r -outdir=w \
    -certsout=w -cacertsout=w -extracertsout=w -crlcertout=w -content=r -certfile= -CAserial=w -reqout=w -respout=w -rspout=w -queryfile=r -data=r -CAfile= --output=w -r= \
    --recipient= -i=r -t= -b= -C= -N= -u=";
const SORT: Flags = "-o=w -k= -t= -S= -T= --output=w --key= --field-separator= --buffer-size= --temporary-directory= \
    --files0-from=l --compress-program= --parallel=";
const AWK: Flags = "-F= -v= -W=c -f=f -i=c -l=c -e=e -E=f -o?c -o! -p?c -p! -d?c -d! -D! --debug! --field-separator= --assign= --source=e --file=f --include=c \
    --load=c --exec=f --pretty-print?c --profile?c --dump-variables?c";

#[rustfmt::skip]
pub(crate) const TEXT: &[Program] = &[
    reads(&["age"], "-r= -R=r -i=r -o=w --recipient= --recipients-file=r --identity=r --output=w"),
    reads(&[
        "addr2line", "b2sum", "b3sum", "bc", "bzcat", "ccat", "cksum", "cmp", "colordiff", "comm", "delta", "glow",
        "ldd", "lnav", "look", "md5", "md5sum", "mdcat", "most", "nm", "open", "otool", "pbcopy", "pg",
        "ptx", "readelf", "rev", "sha1sum", "sha224sum", "sha256", "sha256sum", "sha384sum", "sha512sum", "sum",
        "tailf", "tsort", "uuencode", "who", "xclip", "xdg-open", "xsel", "xzcat", "zcat", "zless",
        "zmore",
    ], ""),
    reads(&["diff3"], "--diff-program=x -L= --label="),
    reads(&["more"], "-n= --lines=").takes_commands().harmless(harmless::MORE),
    reads(&["base32", "base64", "basenc"], "-w= --wrap= -i=r -o=w --input=r --output=w"),
    reads(&["bat", "batcat"], BAT),
    reads(&["column"], "-s= -c= -o= -N= -R= -t? --separator= --output-separator="),
    reads(&["csvcut"], "-c= -d="),
    reads(&["csvgrep"], "-c= -m= -r= -f=r -d="),
    reads(&["csvlook"], "-d="),
    special(&["cut"], "-d= -f= -b= -c= --delimiter= --fields= --bytes= --characters= --output-delimiter=", cut),
    reads(&["dc"], "-e= -f=r --expression= --file=r"),
    reads(&["diff"], DIFF),
    reads(&["expand", "unexpand"], "-t= --tabs="),
    reads(&["fmt", "fold"], "-w= -p= -g= --width= --prefix="),
    reads(&["gpg", "gpg2", "gpgv"], "-o=w -r= -u= -R= --output=w --recipient= --hidden-recipient= --local-user= --passphrase= --passphrase-file=r --homedir= --keyserver= --cipher-algo= --pinentry-mode= --status-file=w --log-file=w --logger-file=w --attribute-file=w --command-file=r --options=r --batch-file=r --agent-program=x --gpg-agent-program=x --dirmngr-program=x --photo-viewer=x --keyserver-options=c --load-extension=c --trustdb-name=c --show-photos!"),
    reads(&["hd", "hexdump"], "-n= -s= -e= -f=r"),
    reads(&["head", "tail"], HEAD).output(Output::Lines),
    reads(&["highlight"], "-o=w --output=w -i=r --input=r -O= -S="),
    reads(&["iconv"], "-f= -t= -o=w --from-code= --to-code= --output=w"),
    reads(&["join"], "-a= -e= -j= -o= -t= -v= -1= -2="),
    reads(&["less"], "-o=w -O=w -p= -t= -x= -y= -z= -k=f -T=r --log-file=w --LOG-FILE=w --pattern= --tag= --tabs= --lesskey-file=f --lesskey-src=f").takes_commands().harmless(harmless::LESS),
    reads(&["nl"], "-b= -d= -f= -h= -i= -l= -n= -s= -v= -w="),
    reads(&["objdump"], "-j= -M= -b= -m="),
    reads(&["od"], "-A= -j= -N= -S= -t= -w? --address-radix= --skip-bytes= --read-bytes= --format="),
    special(&["openssl"], OPENSSL, openssl).output(Output::Like(random)),
    reads(&["paste"], "-d= --delimiters="),
    reads(&["pr"], "-h= -l= -o= -w= -W= --header= --length= --width="),
    reads(&["pygmentize"], "-l= -f= -o=w -O= -F= -S="),
    each(&["sd"], "-n= -f= --max-replacements= --flags=", Access::Write, 2),
    reads(&["sdiff"], "--diff-program=x -o=w -w= -I= --output=w --width="),
    reads(&["shasum"], "-a= --algorithm="),
    reads(&["shuf"], "-n= -o=w --head-count= --output=w --random-source=r -i= --input-range=").output(Output::Lines),
    special(&["sort"], SORT, sort).output(Output::Lines),
    reads(&["strings"], "-n= -t= -e= --bytes= --radix="),
    reads(&["tac"], "-s= --separator=").output(Output::Lines),
    reads(&["uudecode"], "-o=w --output-file=w"),
    special(&["wc"], "--files0-from=l --total=", words).output(Output::Like(count)).keeps_paths(),
    reads(&["zstdcat"], "-o=w -D=r --filelist=l --output-dir-flat=w"),
    reads(&["xmllint"], "--shell! -o=w --output=w --schema=r --xpath= --encode= --dtdvalid= --relaxng=r --schematron=r --path= --pattern= --maxmem="),
    special(&["awk", "mawk", "nawk"], AWK, awk::awk).language(SourceLanguage::Awk),
    special(&["csplit"], "-f= -b= -n= --prefix= --suffix-format= --digits=", csplit),
    special(&["gojq", "jaq", "jq"], "-f=f --from-file=f --arg= --argjson= --slurpfile= --rawfile= --indent= -L=c --library-path=c", jq),
    special(&["sed"], "-e= -f=f -i? -I? -l= --expression= --file=f --in-place? --line-length=", sed::sed),
    special(&["apply_patch", "applypatch"], "", apply_patch),
    special(&["patch"], "-i=r -o=w -p= -d= -B= -D= -F= -r=w -V= -z= -Y= --suffix= --prefix= --basename-prefix= --version-control= --input=r --output=w --strip= --directory= --fuzz= --reject-file=w", patch),
    special(&["split"], "-a= -b= -C= -l= -n= -t= --bytes= --line-bytes= --lines= --number= --suffix-length= --additional-suffix= --filter= --separator=", split),
    special(&["uniq"], "-f= -s= -w= --skip-fields= --skip-chars= --check-chars= --group? --all-repeated?", uniq),
    special(&["xxd"], "-c= -g= -l= -o= -s= -n=", filter),
    special(&["yq"], "-s=c --split-exp=c --split-exp-file=f -f=r --from-file=f -o= -p= --output-format= --input-format= --indent= -I=", yq),
];

/// `cut -d' ' -f1`, `cut -d: -f1`: the first field of each line.
fn cut(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let arguments = &call.arguments;
    arguments.operands.iter().for_each(|file| analyzer.reads(file, call.command));
    let is = |names: &[&str], value: &str| {
        arguments.value(names).is_some_and(|field| field.is_literal() && field.text == value)
    };
    let takes_first =
        arguments.operands.is_empty() && arguments.flags.len() == 2 && is(&["-f", "--fields"], "1");
    if takes_first && let Some(separator) = arguments.value(&["-d", "--delimiter"]) {
        first_fields(analyzer, separator);
    }
}

/// Hashes or names of files that start the lines on the input are printed.
pub(crate) fn first_fields(analyzer: &mut Analyzer<'_>, separator: &Field) {
    if !separator.is_literal() {
        return;
    }
    match (analyzer.input(), separator.text.as_str()) {
        (Stream::HashLines, " ") => analyzer.set_output(git::hashes(git::HASH)),
        (Stream::FileLines(files), ":") => analyzer.set_output(Stream::Files(files.clone())),
        _ => {}
    }
}

/// `wc`: the size of a file does not reveal its content.
fn words(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let flags = &call.arguments.flags;
    let only_size =
        !flags.is_empty() && flags.iter().all(|(flag, _)| matches!(flag.as_str(), "-c" | "--bytes"));
    if !only_size {
        call.arguments.operands.iter().for_each(|file| analyzer.reads(file, call.command));
    }
}

/// `openssl COMMAND -in FILE`: commands that show a certificate do not show a key. A key in an option is used, but not shown.
fn openssl(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    for file in call.arguments.values(&["-key", "-cert", "-certfile", "-CAfile"]) {
        analyzer.unknown_words(&[Field::literal("openssl"), file.with(format!("--key={}", file.text))]);
    }
    let Some((action, files)) = call.arguments.operands.split_first() else { return };
    let shows_certificate = matches!(action.text.as_str(), "crl" | "ocsp" | "verify" | "x509");
    for file in call.arguments.values(&["-in"]).chain(files) {
        if shows_certificate {
            let name = format!("--cert={}", file.text);
            analyzer.unknown_words(&[Field::literal("openssl"), file.with(name)]);
        } else {
            analyzer.reads(file, call.command);
        }
    }
}

/// `sort FILES`, which may run a program for its temporary files.
fn sort(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    for program in call.arguments.values(&["--compress-program"]) {
        let words = [program.clone()];
        analyzer.as_part(|analyzer| analyzer.deeper(|analyzer| analyzer.run_fields(&words)));
    }
    let operands = &call.arguments.operands;
    if operands.is_empty() && matches!(analyzer.input(), Stream::Files(_)) {
        analyzer.set_output(analyzer.input().clone());
    }
    operands.iter().for_each(|operand| analyzer.reads(operand, call.command));
}

/// `uniq IN OUT`, which prints each line once.
fn uniq(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let is_plain = call.arguments.operands.is_empty() && !call.arguments.has(&["-c", "--count"]);
    if is_plain && matches!(analyzer.input(), Stream::Files(_)) {
        analyzer.set_output(analyzer.input().clone());
    }
    filter(analyzer, call);
}

/// `xxd IN OUT`.
fn filter(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    if let Some(input) = call.arguments.operands.first() {
        analyzer.reads(input, call.command);
    }
    if let Some(output) = call.arguments.operands.get(1) {
        analyzer.by_option(&output.text, |analyzer| analyzer.touch(Access::Write, output, call.command));
        analyzer.wrote(output, Stream::Unknown, false, vec![call.command]);
    }
}

/// `split FILE PREFIX`, or `split --filter CODE`.
fn split(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let operands = &call.arguments.operands;
    if let Some(file) = operands.first() {
        analyzer.reads(file, call.command);
    }
    if let Some(code) = call.arguments.value(&["--filter"]) {
        return analyzer.as_part(|analyzer| analyzer.subshell(|analyzer| analyzer.code(code, "sh")));
    }
    let prefix = operands.get(1).cloned().unwrap_or_else(|| Field::literal("x"));
    let addition = call.arguments.value(&["--additional-suffix"]);
    pieces(
        analyzer,
        call,
        &prefix,
        &addition.map_or_else(String::new, |addition| format!("aa{}", addition.text)),
    );
}

/// `csplit -f PREFIX FILE`.
fn csplit(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    if let Some(file) = call.arguments.operands.first() {
        analyzer.reads(file, call.command);
    }
    let prefix = call.arguments.value(&["-f", "--prefix"]).cloned().unwrap_or_else(|| Field::literal("xx"));
    let format = call.arguments.value(&["-b", "--suffix-format"]);
    pieces(analyzer, call, &prefix, &format.map_or_else(String::new, |format| numbered(&format.text)));
}

/// Writes files whose names start with a prefix. The first one has this addition.
fn pieces(analyzer: &mut Analyzer<'_>, call: &Call<'_>, prefix: &Field, addition: &str) {
    let target = match prefix.kind {
        FieldKind::Literal => Field::new(format!("{}*", prefix.text), FieldKind::Glob),
        _ => prefix.clone(),
    };
    analyzer.touch(Access::Write, &target, call.command);
    // No pattern matches a file that does not exist yet, so the first name is used.
    if prefix.is_literal() && !addition.is_empty() {
        analyzer.touch(Access::Write, &prefix.with(format!("{}{addition}", prefix.text)), call.command);
    }
    if target.kind == FieldKind::Glob {
        let start = Field::literal(target.text.trim_end_matches('*'));
        analyzer.wrote_pieces(&start);
    }
}

/// A format of `printf` for a number, with the number 0.
fn numbered(format: &str) -> String {
    let Some((before, rest)) = format.split_once('%') else { return format.to_owned() };
    let after =
        rest.find(|c: char| c.is_ascii_alphabetic()).and_then(|at| rest.get(at + 1..)).unwrap_or_default();
    format!("{before}0{after}")
}

/// `jq`: a program, then files.
fn jq(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let operands = query_operands(analyzer, call);
    for file in operands.into_iter().skip(query_words(call)) {
        analyzer.reads(file, call.command);
    }
}

/// `yq`: like `jq`, but a subcommand may come first, and with `-i` it changes the files.
fn yq(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let is_subcommand = |field: &&Field| matches!(field.text.as_str(), "eval" | "e" | "eval-all" | "ea");
    let operands = query_operands(analyzer, call);
    let evaluates = operands.first().is_some_and(is_subcommand);
    for file in operands.into_iter().skip(query_words(call) + usize::from(evaluates)) {
        if call.arguments.has(&["-i", "--inplace"]) {
            analyzer.by_option("-i", |analyzer| analyzer.touch(Access::Write, file, call.command));
        }
        analyzer.reads(file, call.command);
    }
}

/// How many operands are the program.
fn query_words(call: &Call<'_>) -> usize {
    usize::from(!call.arguments.has(&["-f", "--from-file"]))
}

/// The operands of `jq`. Reads the files that options with two values name.
fn query_operands<'c>(analyzer: &mut Analyzer<'_>, call: &'c Call<'_>) -> Vec<&'c Field> {
    let words = call.fields.get(1..).unwrap_or_default();
    // Options with two values: the second one is a file, or is read as an operand.
    let mut taken: Vec<&Field> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let Some(value) = words.get(at + 2) else { break };
        match word.text.as_str() {
            "--rawfile" | "--slurpfile" => {
                analyzer.reads(value, call.command);
                taken.push(value);
            }
            "--arg" | "--argjson" => taken.push(value),
            _ => {}
        }
    }
    call.arguments.operands.iter().filter(|operand| !taken.contains(operand)).collect()
}

fn apply_patch(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    patches::apply_agent_patch(analyzer, call.arguments.operands.first(), call.command);
}

fn patch(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    if call.arguments.has(&["--dry-run"]) {
        return;
    }
    for directory in call.arguments.values(&["-d", "--directory"]) {
        analyzer.touch(Access::Checkout, directory, call.command);
    }
    match call.arguments.operands.first() {
        Some(file) => {
            if !call.arguments.has(&["-o", "--output"]) {
                analyzer.in_directory(call.arguments.value(&["-d", "--directory"]), |analyzer| {
                    analyzer.touch(Access::Write, file, call.command);
                    patch_copies(analyzer, call, file);
                });
            }
            if let Some(changes) = call.arguments.operands.get(1) {
                analyzer.reads(changes, call.command);
            }
        }
        None if call.arguments.has(&["-o", "--output"]) => {}
        None => patch_files(analyzer, call),
    }
}

/// The copies that `patch` keeps of a file.
fn patch_copies(analyzer: &mut Analyzer<'_>, call: &Call<'_>, file: &Field) {
    for suffix in call.arguments.values(&["-z", "--suffix"]) {
        keeps_copy(analyzer, file, &suffix.text, call.command);
    }
    for prefix in call.arguments.values(&["-B", "--prefix"]) {
        analyzer.touch(Access::Write, &file.with(format!("{}{}", prefix.text, file.text)), call.command);
    }
    for prefix in call.arguments.values(&["-Y", "--basename-prefix"]) {
        keeps_copy(analyzer, file, &format!("{}*", prefix.text), call.command);
    }
}

/// Options of `patch` that do not change which files it modifies.
#[rustfmt::skip]
const PATCH: &[&str] = &[
    "-p", "--strip", "-i", "--input", "-d", "--directory", "-N", "--forward", "-s", "--silent", "--quiet", "-u", "--unified", "-f", "--force",
    "-t", "--batch", "-R", "--reverse", "-E", "-l", "-F", "--fuzz", "--verbose", "--no-backup-if-mismatch",
];

/// Variables that name the backups of `patch`, or change which files it modifies.
const PATCH_VARIABLES: &[&str] =
    &["SIMPLE_BACKUP_SUFFIX", "VERSION_CONTROL", "PATCH_VERSION_CONTROL", "POSIXLY_CORRECT", "PATCH_GET"];

/// The files that a patch names.
fn patch_files(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let arguments = &call.arguments;
    let strip = arguments.value(&["-p", "--strip"]);
    let count = strip.map(|strip| strip.text.parse::<usize>());
    let directory = arguments.value(&["-d", "--directory"]);
    let is_plain = arguments.flags.iter().all(|(flag, _)| PATCH.contains(&flag.as_str()))
        && directory.is_none_or(Field::is_literal)
        && arguments.values(&["-d", "--directory"]).count() < 2
        && !analyzer.may_be_given(PATCH_VARIABLES);
    match count {
        Some(Err(_)) => {
            analyzer.touch(Access::Write, &Field::unknown("the files of the patch"), call.command)
        }
        _ if !is_plain => {
            analyzer.touch(Access::Write, &Field::unknown("the files of the patch"), call.command)
        }
        count => {
            let here = directory.cloned().unwrap_or_else(|| Field::literal("."));
            // It enters the directory first.
            let from_here = |patch: &Field| match directory {
                Some(_) if !patch.text.starts_with(['/', '-']) => {
                    patch.with(format!("{}/{}", here.text, patch.text))
                }
                _ => patch.clone(),
            };
            let patches: Vec<Field> = arguments.values(&["-i", "--input"]).map(from_here).collect();
            // Without a number, it is the last part or the whole name.
            let strips = match count.and_then(Result::ok) {
                Some(count) => vec![Some(count)],
                None => vec![None, Some(0)],
            };
            let how = PatchNames { strips, directories: vec![here] };
            patches::apply(analyzer, &patches, &how, call.command);
        }
    }
}

/// `openssl rand -hex LENGTH` prints a hash.
fn random(arguments: &[&str]) -> Option<String> {
    if matches!(arguments, ["rand", "-hex", _]) { Some(HASH.to_owned()) } else { None }
}

/// `wc -l < FILE` prints a number.
fn count(arguments: &[&str]) -> Option<String> {
    if matches!(arguments, ["-l" | "-c" | "-w", "<", _]) { Some(NUMBER.to_owned()) } else { None }
}
