//! Programs that run another command, which is given by their own arguments.

use crate::Access;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::Field;
use crate::analysis::stream::{self, Stream};
use crate::programs::arguments::{self, Call};
use crate::programs::interpreters::without_dash;

/// The flags of a program that runs the rest of its words, and how many operands come before that.
const WRAPPERS: &[(&str, &str, usize)] = &[
    ("busybox", "", 0),
    ("builtin", "", 0),
    ("caffeinate", "-t= -w=", 0),
    ("chroot", "--userspec= --groups=", 1),
    ("chronic", "", 0),
    ("chrt", "", 1),
    ("command", "", 0),
    ("cpulimit", "-l= -p= -e= -P= --limit= --pid=", 0),
    ("dbus-run-session", "--config-file= --dbus-daemon=", 0),
    ("doas", "-u= -C=", 0),
    ("eatmydata", "", 0),
    ("exec", "-a=", 0),
    ("fakeroot", "-l= -s= -i= -b=", 0),
    ("firejail", "", 0),
    ("gtimeout", "-s= -k= --signal= --kill-after=", 1),
    ("ionice", "-c= -n= -p= --class= --classdata=", 0),
    ("linux32", "", 0),
    ("linux64", "", 0),
    ("ltrace", "-o=w -e= -p= -u=", 0),
    ("nice", "-n= --adjustment=", 0),
    ("nohup", "", 0),
    ("nsenter", "-t= -S= -G= --target= --setuid= --setgid=", 0),
    ("numactl", "", 0),
    ("perf", "-e= -o=w -p= -F= -r= --output=w", 1),
    ("pkexec", "--user=", 0),
    ("prlimit", "-p= --pid=", 0),
    ("proxychains", "-f=", 0),
    ("proxychains4", "-f=", 0),
    ("rlwrap", "-f= -H= -s= -C= -b= -p?", 0),
    ("setarch", "", 1),
    ("setpriv", "--reuid= --regid= --groups= --inh-caps= --ambient-caps= --bounding-set= --securebits=", 0),
    ("setsid", "", 0),
    ("ssh-agent", "-a= -t= -E= -P= -O=", 0),
    ("sshpass", "-p= -f=r -d=", 0),
    ("stdbuf", "-i= -o= -e= --input= --output= --error=", 0),
    ("strace", "-o=w -e= -p= -u= -s= -E=", 0),
    (
        "sudo",
        "-u= -g= -h= -p= -C= -D= -R= -T= -U= -r= -t= --user= --group= --host= --prompt= --chdir= --chroot=",
        0,
    ),
    ("systemd-inhibit", "--what= --who= --why= --mode=", 0),
    (
        "systemd-run",
        "-u= -p= -H= -M= -E= --unit= --property= --slice= --uid= --gid= --setenv= --on-active= --on-calendar=",
        0,
    ),
    ("taskset", "", 1),
    ("time", "-f= -o=w --format= --output=w", 0),
    ("timeout", "-s= -k= --signal= --kill-after=", 1),
    ("torsocks", "-u= -p= -P=", 0),
    ("toybox", "", 0),
    ("tsocks", "", 0),
    ("unbuffer", "", 0),
    ("unshare", "-R= -w= -S= -G= --root= --wd= --setuid= --setgid=", 0),
    ("valgrind", "", 0),
    ("xvfb-run", "-e= -f= -n= -s= -p= -w= --error-file= --server-num= --server-args=", 0),
];

/// `sudo`, `timeout` and others.
pub(crate) fn wrapper(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let words = call.fields.get(1..).unwrap_or_default();
    let Some((_, flags, operands)) = WRAPPERS.iter().find(|(name, ..)| *name == call.name) else { return };
    let (arguments, length) = arguments::parse_up_to(flags, words, true);
    analyzer.files_of_flags(flags, &arguments, call.command);
    let rest = words.get(length + operands..).unwrap_or_default();
    if call.name == "command" && arguments.has(&["-v", "-V"]) {
        if let [name] = rest {
            analyzer.output = Stream::text(name.clone());
        }
        return;
    }
    // Without a command it is a shell, or prints settings for one.
    if rest.is_empty() {
        let is_shell = matches!(call.name, "chroot" | "nsenter" | "unshare" | "fakeroot" | "firejail");
        if is_shell || arguments.has(&["-s", "-i", "--shell", "--login"]) && call.name != "ssh-agent" {
            analyzer.code_from_input(call.name, true);
        } else if call.name == "ssh-agent" {
            analyzer.output = Stream::Nothing;
        }
        return;
    }
    // Some take variables before the command.
    let assigned = rest.iter().take_while(|field| call.name == "sudo" && is_assignment(field)).count();
    let (assigned, rest) = rest.split_at_checked(assigned).unwrap_or((&[], rest));
    let edits = call.name == "sudo" && arguments.has(&["-e", "--edit"]);
    if edits {
        for file in rest {
            analyzer.touch(Access::Write, file, call.command);
        }
        return;
    }
    let assigned: Vec<String> = assigned.iter().map(Field::shown).collect();
    let before = analyzer.state.exports.clone();
    analyzer.state.exports.give(assigned.clone());
    analyzer.wrap(call.command, |analyzer| analyzer.run_fields(rest));
    analyzer.run_variables(&assigned, call.command);
    analyzer.state.exports = before;
}

fn is_assignment(field: &Field) -> bool {
    let Some((name, _)) = field.text.split_once('=') else { return false };
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

pub(crate) fn env(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let words = call.fields.get(1..).unwrap_or_default();
    let flags = "-u= -C= -S= --unset= --chdir= --split-string=";
    let (arguments, length) = arguments::parse_up_to(flags, words, true);
    let rest = words.get(length..).unwrap_or_default();
    // `-` alone is `-i`.
    let rest = without_dash(rest);
    let assigned = rest.iter().take_while(|field| is_assignment(field)).count();
    let (assigned, rest) = rest.split_at_checked(assigned).unwrap_or((&[], rest));
    analyzer.subshell(|analyzer| {
        // What it sets is not followed into the command, so nothing is known of variables there.
        analyzer.state = analyzer.state.child(Vec::new());
        let assigned: Vec<String> = assigned.iter().map(Field::shown).collect();
        analyzer.state.exports.give(assigned.clone());
        if let Some(directory) = arguments.value(&["-C", "--chdir"]) {
            analyzer.state.directories.enter(directory);
        }
        match arguments.value(&["-S", "--split-string"]) {
            Some(code) => {
                let rest: Vec<String> = rest.iter().map(Field::shown).collect();
                analyzer.code(&code.with(format!("{} {}", code.text, rest.join(" "))), "env");
            }
            None => analyzer.wrap(call.command, |analyzer| analyzer.run_fields(rest)),
        }
        analyzer.run_variables(&assigned, call.command);
    });
}

/// `watch`, `su -c`, `flock FILE -c`, `script -c`, `sg GROUP -c`: a command as one text or as words.
pub(crate) fn text_wrapper(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let words = call.fields.get(1..).unwrap_or_default();
    let flags = match call.name {
        "watch" => "-n= --interval= -q= --equexit=",
        _ => {
            "-n= -w= -E= -u= -g= -G= -s= -c= -O= -I= -B= -T= --timeout= --command= --user= --group= --shell="
        }
    };
    let (options, length) = arguments::parse_up_to(flags, words, true);
    let rest = words.get(length..).unwrap_or_default();
    // What is locked, the group, the file for what is typed.
    let skipped = usize::from(matches!(call.name, "flock" | "sg" | "script")).min(rest.len());
    let (operands, command) = rest.split_at_checked(skipped).unwrap_or((&[], rest));
    if call.name == "script" {
        operands.iter().for_each(|file| analyzer.touch(Access::Write, file, call.command));
    }
    let (later, length) = arguments::parse_up_to("-c= --command=", command, true);
    let mut codes = vec![options.value(&["-c", "--command"]), later.value(&["-c", "--command"])];
    if matches!(call.name, "su" | "runuser" | "script") {
        codes.push(call.arguments.value(&["-c", "--command"]));
    }
    if let (Some(code), true) = (codes.into_iter().flatten().next(), call.name != "watch") {
        analyzer.wrap(call.command, |analyzer| analyzer.subshell(|analyzer| analyzer.code(code, "sh")));
        return;
    }
    let command = command.get(length..).unwrap_or_default();
    let takes_code = matches!(call.name, "watch" | "sg") && !options.has(&["-x", "--exec"]);
    let takes_words = matches!(call.name, "watch" | "flock" | "script") || options.has(&["-u", "--user"]);
    if command.is_empty() || !(takes_code || takes_words) {
        // A shell, of another user or group.
        if !matches!(call.name, "watch" | "flock") {
            analyzer.code_from_input(call.name, true);
        }
    } else if takes_code {
        let code = stream::joined(command, " ");
        analyzer.wrap(call.command, |analyzer| analyzer.subshell(|analyzer| analyzer.code(&code, "sh")));
    } else {
        analyzer.wrap(call.command, |analyzer| analyzer.run_fields(command));
    }
}

/// `entr`: a command for files that change, or with `-s` a text.
pub(crate) fn entr(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let words = call.fields.get(1..).unwrap_or_default();
    let (options, length) = arguments::parse_up_to("", words, true);
    let rest = words.get(length..).unwrap_or_default();
    analyzer.input = Stream::Inherited;
    if options.has(&["-s"]) {
        let code = stream::joined(rest, " ");
        analyzer.wrap(call.command, |analyzer| analyzer.subshell(|analyzer| analyzer.code(&code, "sh")));
    } else {
        analyzer.wrap(call.command, |analyzer| analyzer.run_fields(rest));
    }
}

impl Analyzer<'_> {
    /// Runs the command of one that only runs another.
    pub(crate) fn wrap(&mut self, command: usize, run: impl FnOnce(&mut Self)) {
        let before = self.script.commands.len();
        self.deeper(run);
        let runs_another = self.script.commands.len() > before;
        if let Some(command) = self.script.commands.get_mut(command) {
            command.wraps |= runs_another;
        }
    }
}
