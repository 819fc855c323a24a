//! Programs that run another command from their own arguments.

use crate::analysis::analyzer::Analyzer;
use crate::analysis::code::Language;
use crate::analysis::field::{Field, FieldBuilder};
use crate::analysis::stream::{self, Stream};
use crate::programs::action::{Action, CommandText, Output, Stdin, TextOption};
use crate::programs::arguments::{self, Call, Flags};
use crate::programs::batches;
use crate::programs::interpreters::without_dash;
use crate::programs::program::{Control, Program, special, wraps};
use crate::programs::search;
use crate::{Access, Quoting};

/// Options of programs that take a command as a text.
const SU: Flags = "-n= -w= -E= -u= -g= -G= -s= -c= -O= -I= -B= -T= --timeout= --interval= --command= --user= --group= --shell=";
const FLOCK: Flags = "-w= -E= -c= --wait= --timeout= --conflict-exit-code= --command=";
const SCRIPT: Flags = "-c= -E= -I=w -B=w -O=w -T=w -t?w --timing?w -m= -o= --command= --echo= --log-in=w --log-out=w --log-io=w --log-timing=w \
    --logging-format= --output-limit=";
/// Options of `xargs` and `parallel`.
const BATCH: Flags = "-I= -J= -R= -n= -P= -L= -s= -d= -E= -a=r -j= --max-args= --max-procs= --max-lines= --delimiter= --replace? \
    --arg-file=r --jobs= -i? -S= --colsep= --joblog= --results= --timeout= --retries= --delay= --tmpdir= --workdir=d --wd=d --process-slot-var= \
    --max-chars= --eof?";

#[rustfmt::skip]
pub(crate) const WRAPPERS: &[Program] = &[
    wraps(&[
        "annotate-output", "busybox", "catchsegv", "ccache", "chronic", "dbus-launch", "debconf", "distcc", "dumb-init", "eatmydata",
        "ifne", "kstart", "nocache", "nohup", "nosetuid", "numactl", "run-one", "sccache", "setsid", "tini", "torify", "toybox", "tsocks",
        "unbuffer",
    ], "", 0),
    wraps(&["valgrind", "valgrind.bin"], "--log-file=w --xml-file=w --massif-out-file=w --callgrind-out-file=w --cachegrind-out-file=w --dhat-out-file=w --suppressions=r --tool= --trace-children-skip=", 0),
    wraps(&["aa-exec"], "-p= -n= --profile= --namespace=", 0),
    wraps(&["cgexec"], "-g=", 0),
    wraps(&["chpst"], "-u= -U= -b= -e= -/= -n= -l= -L= -m= -d= -o= -p= -f= -c=", 0),
    wraps(&["daemonize"], "-c=d -e=w -o=w -p=w -l=w -u= -E=", 0),
    wraps(&["debconf-apt-progress"], "--from= --to= --logfile=w --logstderr=", 0),
    wraps(&["dpkg-architecture"], "-a= -t= -A= -T= -q= -i= -e=", 0),
    wraps(&["envdir", "faketime", "gosu", "setuidgid", "su-exec"], "", 1),
    wraps(&["gp-collect-app"], "-o=w -O=w -d=d", 0),
    special(&["gpg-agent"], "--options=r --log-file=w --homedir= --pinentry-program= --default-cache-ttl= --max-cache-ttl=", agent).ends_at_operand(),
    wraps(&["msgexec"], "-i=r -D= --input=r --directory=", 0),
    wraps(&["msgfilter"], "-i=r -o=w -D= -w= --input=r --output-file=w --directory= --width=", 0),
    wraps(&["heaptrack"], "-o=w --output=w -p= --pid=", 0),
    wraps(&["i386", "linux32", "linux64", "x86_64", "uname26", "ppc", "ppc32", "ppc64", "arm", "armv7l", "armv8l", "i486", "i586", "i686", "s390", "s390x", "sparc", "sparc64"], "", 0),
    wraps(&["memusage"], "-n= -p=w -d=w -b= -x= -y= --progname= --png=w --data=w --buffer= --title=", 0),
    wraps(&["proot"], "-r= -b= -q= -w=d -v= -k= -m= --rootfs= --bind= --qemu= --cwd=d", 0).changes_paths(),
    wraps(&["qemu-aarch64", "qemu-arm", "qemu-i386", "qemu-x86_64"], "-L= -E= -U= -cpu= -s= -g= -D=w -0=", 0),
    wraps(&["run0"], "-u= -g= -D=d --user= --group= --chdir=d --setenv= --unit= --property=", 0),
    wraps(&["runcon"], "-t= -u= -r= -l= --type= --user= --role= --range=", 0),
    wraps(&["sandbox-exec"], "-f=r -n= -p= -D=", 0),
    wraps(&["softlimit"], "-a= -c= -d= -f= -l= -m= -o= -p= -r= -s= -t=", 0),
    wraps(&["sotruss"], "-F= -T= -e= -f? -o=w --from= --to= --output=w", 0),
    wraps(&["systemd-cat"], "-t= -p= --identifier= --priority= --stderr-priority=", 0),
    wraps(&["systemd-socket-activate"], "-l= -E= --listen= --setenv= --fdname=", 0),
    wraps(&["trickle"], "-u= -d= -w= -t= -l= -n=", 0),
    wraps(&["uclampset"], "-m= -M= -p= --util-min= --util-max= --pid=", 0),
    wraps(&["caffeinate"], "-t= -w=", 0),
    wraps(&["chroot"], "--userspec= --groups=", 1).stdin(Stdin::Shell).changes_paths(),
    wraps(&["choom"], "-n= -p= --adjust= --pid=", 0),
    wraps(&["chrt", "taskset"], "", 1),
    wraps(&["cpulimit"], "-l= -p= -e= -P= --limit= --pid=", 0),
    wraps(&["dbus-run-session"], "--config-file= --dbus-daemon=", 0),
    wraps(&["doas"], "-u= -C=", 0),
    special(&["entr"], "", entr).ends_at_operand(),
    special(&["env"], "-u= -C= -P= -S= -a= --unset= --chdir= --split-string= --argv0=", env).ends_at_operand().keeps_paths(),
    wraps(&["fakeroot", "fakeroot-ng", "fakeroot-sysv", "fakeroot-tcp"], "-l= -s=w -i=r -b= --lib= --faked=", 0).stdin(Stdin::Shell),
    wraps(&["firejail"], "", 0).stdin(Stdin::Shell),
    command_text(&["flock"], FLOCK, CommandText { operands: 1, locks_operands: true, takes_words: true, ..CommandText::NEW }),
    wraps(&["timeout"], "-s= -k= --signal= --kill-after=", 1).controls(Control::Wrapper),
    wraps(&["ionice"], "-c= -n= -p= --class= --classdata=", 0),
    wraps(&[
        "ld-linux-aarch64.so.1", "ld-linux-x86-64.so.2", "ld-linux.so.2", "ld-musl-aarch64.so.1", "ld-musl-x86_64.so.1", "ld.so",
    ], "--library-path= --inhibit-rpath= --audit= --preload= --argv0=", 0),
    wraps(&["ltrace"], "-o=w -e= -p= -u=", 0),
    wraps(&["nice"], "-n= --adjustment=", 0).controls(Control::Wrapper),
    wraps(&["nsenter"], "-t= -S= -G= -w?d --target= --setuid= --setgid= --wd=d", 0).stdin(Stdin::Shell).changes_paths(),
    special(&["parallel"], BATCH, batches::parallel).ends_at_operand(),
    wraps(&["perf"], "-e= -o=w -p= -F= -r= --output=w", 1),
    wraps(&["pkexec"], "--user=", 0),
    wraps(&["prlimit"], "-p= --pid=", 0),
    wraps(&["proxychains", "proxychains4"], "-f=", 0),
    wraps(&["rlwrap"], "-f= -H= -s= -C= -b= -p?", 0),
    command_text(&["newgrp"], SU, CommandText::NEW).stdin(Stdin::Shell),
    command_text(&["runuser", "su"], SU, CommandText { login: &["-", "-l", "--login"], option: TextOption::Anywhere, ..CommandText::NEW }).stdin(Stdin::Shell),
    command_text(&["script"], SCRIPT, CommandText { operands: 1, writes_operands: true, option: TextOption::Anywhere, takes_words: true, ..CommandText::NEW }).stdin(Stdin::Shell),
    special(&["sg"], SU, group_or_search).stdin(Stdin::Shell),
    special(&["setarch"], "", architecture).ends_at_operand(),
    wraps(&["setpriv"], "--reuid= --regid= --groups= --inh-caps= --ambient-caps= --bounding-set= --securebits=", 0),
    special(&["ssh-agent"], "-a= -t= -E= -P= -O=", ssh_agent).ends_at_operand().output(Output::Settings(&[])),
    wraps(&["sshpass"], "-p= -f=r -d=", 0),
    wraps(&["stdbuf"], "-i= -o= -e= --input= --output= --error=", 0),
    special(&["strace"], "-o= -a= -b= -e= -p= -u= -s= -E= -I= -O= -P= -S= -X= --output= --trace= --attach= --user= --env=", traced).ends_at_operand(),
    special(&["sudo"], "-u= -g= -h= -p= -C= -D=d -R= -T= -U= -r= -t= --user= --group= --host= --prompt= --chdir=d --chroot=", sudo).ends_at_operand().keeps_paths(),
    wraps(&["systemd-inhibit"], "--what= --who= --why= --mode=", 0),
    wraps(&["systemd-run"], "-u= -p= -H= -M= -E= --unit= --property= --slice= --uid= --gid= --setenv= --on-active= --on-calendar= --working-directory=d", 0),
    wraps(&["torsocks"], "-u= -p= -P=", 0),
    wraps(&["unshare"], "-R= -w=d -S= -G= --root= --wd=d --setuid= --setgid=", 0).stdin(Stdin::Shell).changes_paths(),
    command_text(&["watch"], "-n= --interval= -q= --equexit=", CommandText { option: TextOption::Nowhere, takes_text: true, takes_words: true, ..CommandText::NEW }),
    special(&["xargs"], BATCH, batches::xargs).ends_at_operand(),
    wraps(&["xvfb-run"], "-e= -f= -n= -s= -p= -w= --error-file= --server-num= --server-args=", 0),
];

/// `timeout` and others: the command comes after this number of operands.
pub(crate) fn wrapper(analyzer: &mut Analyzer<'_>, call: &Call<'_>, operands: usize) {
    let directories: Vec<Field> = call.arguments.values(&["-p", "--property"]).filter_map(working).collect();
    let command = call.rest.get(operands..).unwrap_or_default();
    analyzer.in_directory(&directories, |analyzer| wrapped(analyzer, call, &[], command));
}

/// `strace -o FILE COMMAND`, or `-o '|CODE'`.
fn traced(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    for output in call.arguments.values(&["-o", "--output"]) {
        match output.text.strip_prefix(['|', '!']) {
            Some(code) => {
                let code = output.with(code);
                analyzer.as_part(|analyzer| analyzer.subshell(|analyzer| analyzer.code(&code, "sh")));
            }
            None => analyzer.touch(Access::Write, output, call.command),
        }
    }
    wrapper(analyzer, call, 0);
}

/// `gpg-agent --daemon COMMAND`.
fn agent(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    for program in call.arguments.values(&["--pinentry-program"]) {
        let words = [program.clone()];
        analyzer.as_part(|analyzer| analyzer.deeper(|analyzer| analyzer.run_fields(&words)));
    }
    wrapper(analyzer, call, 0);
}

/// `exec -a NAME COMMAND`.
pub(crate) fn exec(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    analyzer.with_given_name(call.arguments.value(&["-a"]), |analyzer| wrapper(analyzer, call, 0));
}

/// The directory of `systemd-run -p WorkingDirectory=…`.
fn working(property: &Field) -> Option<Field> {
    property.text.strip_prefix("WorkingDirectory=").map(|directory| property.with(directory))
}

/// Where a login with one of these options starts: in the home directory of an unknown user.
fn login(call: &Call<'_>, options: &[&str]) -> Option<Field> {
    let is_login = call.arguments.has(options)
        || call.fields.iter().any(|field| field.text == "-" && options.contains(&"-"));
    if is_login { Some(Field::unknown("~")) } else { None }
}

/// Runs a command with the variables that are set for it.
pub(crate) fn wrapped(analyzer: &mut Analyzer<'_>, call: &Call<'_>, assigned: &[Field], command: &[Field]) {
    // Without a command it may be a shell.
    if command.is_empty() && assigned.is_empty() {
        let asks_for_shell = call.arguments.has(&["-s", "-i", "--shell", "--login"]);
        if asks_for_shell || call.program.stdin == Stdin::Shell {
            analyzer.code_from_input(call.name, Language::NewShell);
        }
        return;
    }
    let assigned: Vec<String> = assigned.iter().map(Field::shown).collect();
    analyzer.with_exports(&assigned, |analyzer| {
        analyzer.wrap(call.command, |analyzer| analyzer.run_fields(command));
        analyzer.run_variables(&assigned, call.command);
    });
}

/// `sudo`: variables may be set before the command; with `-e` it edits files.
fn sudo(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let assigned = call.rest.iter().take_while(|field| is_assignment(field)).count();
    let (assigned, rest) = call.rest.split_at_checked(assigned).unwrap_or((&[], call.rest));
    if call.arguments.has(&["-e", "--edit"]) {
        for file in rest {
            analyzer.touch(Access::Write, file, call.command);
        }
    } else {
        let directory = login(call, &["-i", "--login"]);
        analyzer.in_directory(&directory, |analyzer| wrapped(analyzer, call, assigned, rest));
    }
}

/// `setarch ARCHITECTURE OPTIONS COMMAND`. The architecture may be missing.
fn architecture(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let skipped = if call.fields.get(1).is_some_and(|first| first.text.starts_with('-')) { 0 } else { 1 };
    let rest = call.rest.get(skipped..).unwrap_or_default();
    let (_, length) = arguments::parse_up_to("", rest, true);
    wrapped(analyzer, call, &[], rest.get(length..).unwrap_or_default());
}

/// `builtin`, `command` and `time`: the shell runs the command itself, so its changes stay.
pub(crate) fn in_this_shell(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    analyzer.run_here(call.command, call.rest);
}

/// `command`: with `-v` it only says where a program is.
pub(crate) fn command(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    if !call.arguments.has(&["-v", "-V"]) {
        in_this_shell(analyzer, call);
    } else if let [name] = call.rest {
        analyzer.set_output(Stream::text(name.clone()));
    }
}

/// `ssh-agent`: without a command it prints settings for a shell.
fn ssh_agent(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    if call.rest.is_empty() {
        analyzer.set_output(Stream::Nothing);
    } else {
        wrapper(analyzer, call, 0);
    }
}

fn is_assignment(field: &Field) -> bool {
    let Some((name, _)) = field.text.split_once('=') else { return false };
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The option of `env` whose value becomes several words.
const SPLIT: &[&str] = &["-S", "--split-string"];

/// `env OPTIONS NAME=VALUE COMMAND`.
fn env(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let words = call.fields.get(1..).unwrap_or_default();
    let (arguments, length) = arguments::parse_up_to_flag(call.program.options, words, SPLIT);
    // `-` alone is `-i`.
    let rest = without_dash(words.get(length..).unwrap_or_default());
    if let Some(text) = arguments.value(SPLIT) {
        return analyzer.in_directory(arguments.value(&["-C", "--chdir"]), |analyzer| {
            split_command(analyzer, call, text, rest);
        });
    }
    // Any name may be set, such as that of a function.
    let assigned = rest.iter().take_while(|field| field.text.find('=').is_some_and(|at| at > 0)).count();
    let (assigned, rest) = rest.split_at_checked(assigned).unwrap_or((&[], rest));
    // Its variables are not followed into the command, so they are unknown there.
    analyzer.new_shell(Vec::new(), |analyzer| {
        let assigned: Vec<String> = assigned.iter().map(Field::shown).collect();
        analyzer.state.exports.give(assigned.clone());
        if let Some(directory) = arguments.value(&["-C", "--chdir"]) {
            analyzer.state.directories.enter(directory);
        }
        analyzer.with_given_name(arguments.value(&["-a", "--argv0"]), |analyzer| {
            analyzer.wrap(call.command, |analyzer| analyzer.run_fields(rest));
        });
        analyzer.run_variables(&assigned, call.command);
    });
}

/// `env -S TEXT WORDS`: the parts of the text replace it, including options. The words after it belong to the same command.
fn split_command(analyzer: &mut Analyzer<'_>, call: &Call<'_>, text: &Field, rest: &[Field]) {
    let env = call.fields.first().cloned();
    if text.is_literal() {
        let words: Vec<Field> =
            env.into_iter().chain(split_string(&text.text)).chain(rest.iter().cloned()).collect();
        return analyzer.wrap(call.command, |analyzer| analyzer.run_fields(&words));
    }
    let quoted = |field: &Field| if field.is_literal() { field.with(field.quoted()) } else { field.clone() };
    let words: Vec<Field> = [text.clone()].into_iter().chain(rest.iter().map(quoted)).collect();
    analyzer.new_shell(Vec::new(), |analyzer| analyzer.code(&stream::joined(&words, " "), "env"));
}

/// The words of `env -S TEXT`, as far as they are read.
#[derive(Default)]
struct SplitWords {
    words: Vec<Field>,
    /// The word at hand.
    word: Option<FieldBuilder>,
}

impl SplitWords {
    fn push(&mut self, c: char) {
        self.word.get_or_insert_default().quoted(c.encode_utf8(&mut [0; 4]));
    }

    fn end_word(&mut self) {
        self.words.extend(self.word.take().map(|word| word.finish(false)));
    }
}

/// The words of `env -S TEXT`.
fn split_string(text: &str) -> Vec<Field> {
    let mut split = SplitWords::default();
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let next = chars.as_str().chars().next();
        match (quote, c) {
            (None, '\'' | '"') => {
                quote = Some(c);
                split.word.get_or_insert_default();
            }
            (Some(open), c) if open == c => quote = None,
            (None, '#') if split.word.is_none() => break,
            (None, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c') => split.end_word(),
            (Some('\''), '\\') if !matches!(next, Some('\\' | '\'')) => split.push(c),
            (_, '\\') => {
                chars.next();
                match (quote, next) {
                    (_, Some('c')) => break,
                    (None, Some('_')) => split.end_word(),
                    (_, next) => split.push(escaped(next.unwrap_or('\\'))),
                }
            }
            (None | Some('"'), '$') => {
                let name = chars.as_str().strip_prefix('{').and_then(|rest| rest.split_once('}'));
                let (name, rest) = name.unwrap_or(("", chars.as_str()));
                split.word.get_or_insert_default().unknown(&format!("${name}"), Quoting::Bare);
                chars = rest.chars();
            }
            _ => split.push(c),
        }
    }
    split.end_word();
    split.words
}

/// The character that `env -S` makes of this one after a backslash.
fn escaped(c: char) -> char {
    match c {
        '_' => ' ',
        'f' => '\x0c',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\x0b',
        other => other,
    }
}

/// `sg GROUP CODE`, or ast-grep, which has the same name.
fn group_or_search(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    if search::is_ast_grep(call.fields) {
        search::ast_grep(analyzer, call);
    } else {
        run_command_text(analyzer, call, CommandText { operands: 1, takes_text: true, ..CommandText::NEW });
    }
}

const fn command_text(names: &'static [&'static str], options: Flags, text: CommandText) -> Program {
    Program::new(names).options(options).action(Action::Command(text))
}

/// A command as one text or as words.
pub(crate) fn run_command_text(analyzer: &mut Analyzer<'_>, call: &Call<'_>, text: CommandText) {
    let words = call.fields.get(1..).unwrap_or_default();
    let (options, length) = arguments::parse_up_to(call.program.options, words, true);
    let rest = words.get(length..).unwrap_or_default();
    let (operands, command) = rest.split_at_checked(text.operands.min(rest.len())).unwrap_or((&[], rest));
    // The command may read the open file.
    if text.locks_operands {
        operands.iter().for_each(|file| lock(analyzer, file, call.command));
    }
    if text.writes_operands {
        operands.iter().for_each(|file| analyzer.touch(Access::Write, file, call.command));
    }
    let (later, length) = arguments::parse_up_to("-c= --command=", command, true);
    let option = ["-c", "--command"];
    let code = match text.option {
        TextOption::Nowhere => None,
        TextOption::First => options.value(&option).or(later.value(&option)),
        TextOption::Anywhere => {
            options.value(&option).or(later.value(&option)).or(call.arguments.value(&option))
        }
    };
    if let Some(code) = code {
        return analyzer.in_directory(&login(call, text.login), |analyzer| {
            analyzer.wrap(call.command, |analyzer| analyzer.subshell(|analyzer| analyzer.code(code, "sh")));
        });
    }
    let command = command.get(length..).unwrap_or_default();
    let takes_text = text.takes_text && !options.has(&["-x", "--exec"]);
    let takes_words = text.takes_words || options.has(&["-u", "--user"]);
    if command.is_empty() || !(takes_text || takes_words) {
        // A shell of another user or group.
        if call.program.stdin == Stdin::Shell {
            analyzer.code_from_input(call.name, Language::NewShell);
        }
    } else if takes_text {
        let code = stream::joined(command, " ");
        analyzer.wrap(call.command, |analyzer| analyzer.subshell(|analyzer| analyzer.code(&code, "sh")));
    } else {
        analyzer.wrap(call.command, |analyzer| analyzer.run_fields(command));
    }
}

/// `flock FILE` makes the file if it is missing. It may also be a directory, or a number. Any program that locks something makes a
/// file with the name of a lock, and leaves it empty.
fn lock(analyzer: &mut Analyzer<'_>, file: &Field, command: usize) {
    analyzer.reads(file, command);
    let is_number = file.text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number && !file.text.ends_with(['/', '.']) && !file.text.ends_with("lock") {
        analyzer.if_missing(&file.text, |analyzer| analyzer.touch(Access::Write, file, command));
    }
}

/// `entr`: a command for files that change, or with `-s` a text.
fn entr(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    analyzer.set_input(Stream::Inherited);
    if call.arguments.has(&["-s"]) {
        let code = stream::joined(call.rest, " ");
        analyzer.wrap(call.command, |analyzer| analyzer.subshell(|analyzer| analyzer.code(&code, "sh")));
    } else {
        analyzer.wrap(call.command, |analyzer| analyzer.run_fields(call.rest));
    }
}
