//! Programs that run another command, which is given by their own arguments.

use super::arguments::{self, Arguments, Call};
use super::builtins::moved;
use super::interpreters::without_dash;
use super::quotes::decoded;
use super::state::{Field, FieldKind};
use super::stream::{self, Stream};
use super::walk::Walk;
use super::{Access, Quoting, Target};

/// The flags of a program that runs the rest of its words, and how many operands come before that.
const WRAPPERS: &[(&str, &str, usize)] = &[
    ("busybox", "", 0),
    ("builtin", "", 0),
    ("caffeinate", "-t= -w=", 0),
    ("chroot", "--userspec= --groups=", 1),
    ("chrt", "", 1),
    ("command", "", 0),
    ("doas", "-u= -C=", 0),
    ("exec", "-a=", 0),
    ("gtimeout", "-s= -k= --signal= --kill-after=", 1),
    ("ionice", "-c= -n= -p= --class= --classdata=", 0),
    ("ltrace", "-o=w -e= -p= -u=", 0),
    ("nice", "-n= --adjustment=", 0),
    ("nohup", "", 0),
    ("numactl", "", 0),
    ("setsid", "", 0),
    ("stdbuf", "-i= -o= -e= --input= --output= --error=", 0),
    ("strace", "-o=w -e= -p= -u= -s= -E=", 0),
    (
        "sudo",
        "-u= -g= -h= -p= -C= -D= -R= -T= -U= -r= -t= --user= --group= --host= --prompt= --chdir= --chroot=",
        0,
    ),
    ("taskset", "", 1),
    ("time", "-f= -o=w --format= --output=w", 0),
    ("timeout", "-s= -k= --signal= --kill-after=", 1),
    ("toybox", "", 0),
    ("unbuffer", "", 0),
];

/// `sudo`, `timeout` and others.
pub(super) fn wrapper(walk: &mut Walk<'_>, call: &Call<'_>) {
    let words = call.fields.get(1..).unwrap_or_default();
    let Some((_, flags, operands)) = WRAPPERS.iter().find(|(name, ..)| *name == call.name) else { return };
    let (arguments, length) = arguments::parse_up_to(flags, words, true);
    let rest = words.get(length + operands..).unwrap_or_default();
    if call.name == "command" && arguments.has(&["-v", "-V"]) {
        if let [name] = rest {
            walk.output = Stream::text(name.clone());
        }
        return;
    }
    // Without a command it is a shell.
    if rest.is_empty() && (call.name == "chroot" || arguments.has(&["-s", "-i", "--shell", "--login"])) {
        walk.code_from_input(call.name, true);
        return;
    }
    // Some take variables before the command.
    let assigned = rest.iter().take_while(|field| call.name == "sudo" && is_assignment(field)).count();
    let (assigned, rest) = rest.split_at_checked(assigned).unwrap_or((&[], rest));
    let edits = call.name == "sudo" && arguments.has(&["-e", "--edit"]);
    if edits {
        for file in rest {
            walk.touch(Access::Write, file, call.command);
        }
        return;
    }
    let before = walk.state.give(assigned.iter().map(Field::shown));
    walk.wrap(call.command, |walk| walk.run_fields(rest));
    walk.state.environment = before;
}

fn is_assignment(field: &Field) -> bool {
    let Some((name, _)) = field.text.split_once('=') else { return false };
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

pub(super) fn env(walk: &mut Walk<'_>, call: &Call<'_>) {
    let words = call.fields.get(1..).unwrap_or_default();
    let flags = "-u= -C= -S= --unset= --chdir= --split-string=";
    let (arguments, length) = arguments::parse_up_to(flags, words, true);
    let rest = words.get(length..).unwrap_or_default();
    // `-` alone is `-i`.
    let rest = without_dash(rest);
    let assigned = rest.iter().take_while(|field| is_assignment(field)).count();
    let (assigned, rest) = rest.split_at_checked(assigned).unwrap_or((&[], rest));
    walk.subshell(|walk| {
        // What it sets is not followed into the command, so nothing is known of variables there.
        walk.state = walk.state.child(Vec::new());
        walk.state.give(assigned.iter().map(Field::shown));
        if let Some(directory) = arguments.value(&["-C", "--chdir"]) {
            walk.state.bases = walk.state.bases.iter().map(|base| moved(base, directory)).collect();
        }
        match arguments.value(&["-S", "--split-string"]) {
            Some(code) => {
                let rest: Vec<String> = rest.iter().map(Field::shown).collect();
                walk.code(&code.with(format!("{} {}", code.text, rest.join(" "))), "env");
            }
            None => walk.wrap(call.command, |walk| walk.run_fields(rest)),
        }
    });
}

/// `watch`, `su -c`, `flock FILE -c`, `script -c`: a command as one text or as words.
pub(super) fn text_wrapper(walk: &mut Walk<'_>, call: &Call<'_>) {
    if let Some(code) = call.arguments.value(&["-c", "--command"]) {
        walk.subshell(|walk| walk.code(code, "sh"));
        return;
    }
    let words = call.fields.get(1..).unwrap_or_default();
    let flags = "-n= --interval= -w= --timeout= -E=";
    let (_, length) = arguments::parse_up_to(flags, words, true);
    let skipped = usize::from(call.name == "flock");
    let rest = words.get(length + skipped..).unwrap_or_default();
    match rest {
        [] => {}
        [code] if call.name == "watch" => walk.subshell(|walk| walk.code(code, "sh")),
        rest if matches!(call.name, "watch" | "flock") => {
            walk.wrap(call.command, |walk| walk.run_fields(rest));
        }
        // Another user's shell.
        _ => walk.code_from_input(call.name, true),
    }
}

/// `xargs` and `parallel`: the arguments come from the standard input.
pub(super) fn xargs(walk: &mut Walk<'_>, call: &Call<'_>) {
    let words = call.fields.get(1..).unwrap_or_default();
    let flags = "-I= -J= -R= -n= -P= -L= -s= -d= -E= -a=r -j= --max-args= --max-procs= --max-lines= --delimiter= --replace? --arg-file=r --jobs= -i?";
    let (arguments, length) = arguments::parse_up_to(flags, words, true);
    let rest = words.get(length..).unwrap_or_default();
    let placeholder = arguments.value(&["-I", "--replace"]).map(|field| field.text.clone());
    let placeholder = placeholder.or_else(|| arguments.has(&["-i", "--replace"]).then(|| "{}".to_owned()));
    let placeholder = placeholder.or_else(|| (call.name == "parallel").then(|| "{}".to_owned()));
    let (rest, listed) = match rest.iter().position(|field| field.text == ":::") {
        Some(at) => rest.split_at_checked(at).unwrap_or((rest, &[])),
        None => (rest, &[][..]),
    };
    let uses_placeholder =
        placeholder.filter(|mark| rest.iter().any(|field| field.text.contains(mark.as_str())));
    let more = match (&walk.input, listed) {
        (_, [_, listed @ ..]) => listed.to_vec(),
        _ if arguments.has(&["-a", "--arg-file"]) => vec![Field::unknown(GIVEN)],
        (input, _) => given(input, &arguments, uses_placeholder.is_some()),
    };
    walk.input = Stream::Unknown;
    match uses_placeholder {
        Some(mark) => {
            let mut output = Stream::Nothing;
            for field in &more {
                let fields: Vec<Field> = rest.iter().map(|word| replaced(word, &mark, field)).collect();
                walk.wrap(call.command, |walk| walk.run_fields(&fields));
                output.add(std::mem::take(&mut walk.output));
            }
            walk.output = output;
        }
        None => {
            let fields: Vec<Field> = rest.iter().cloned().chain(more).collect();
            walk.wrap(call.command, |walk| walk.run_fields(&fields));
        }
    }
}

/// What is not known of the arguments of `xargs`.
const GIVEN: &str = "the arguments of xargs";

/// The words that are given on the standard input: lines, where each takes the position of a placeholder.
fn given(input: &Stream, arguments: &Arguments, by_lines: bool) -> Vec<Field> {
    let printed = match input {
        Stream::Text(printed) => printed,
        Stream::Files(files) => return files.iter().map(found).collect(),
        _ => return vec![Field::unknown(GIVEN)],
    };
    let delimiter =
        arguments.value(&["-d", "--delimiter"]).and_then(|field| decoded(&field.text, false).chars().next());
    let mut words = match delimiter {
        _ if arguments.has(&["-0", "--null"]) => stream::split(&printed.text, |c| c == '\0'),
        Some(delimiter) => stream::split(&printed.text, |c| c == delimiter),
        None if by_lines => stream::split(&printed.text, |c| c == '\n'),
        None => stream::split(&printed.text, char::is_whitespace),
    };
    if printed.and_more {
        words.push(Field::unknown(GIVEN));
    }
    words
}

/// A word with a placeholder replaced by what it stands for.
pub(super) fn replaced(word: &Field, mark: &str, by: &Field) -> Field {
    if !word.text.contains(mark) {
        return word.clone();
    }
    if word.kind == FieldKind::Literal && by.kind == FieldKind::Unknown {
        let by = if by.holes.is_empty() {
            Field { holes: vec![(0..by.text.len(), Quoting::Quoted)], ..by.clone() }
        } else {
            by.clone()
        };
        let parts: Vec<Field> = word.text.split(mark).map(Field::literal).collect();
        return stream::joined_by(&parts, &by);
    }
    let kind = match (word.kind, by.kind) {
        (_, FieldKind::Tree) if word.text == mark => FieldKind::Tree,
        (FieldKind::Unknown, _) | (_, FieldKind::Unknown | FieldKind::Tree) => FieldKind::Unknown,
        (FieldKind::Glob, _) | (_, FieldKind::Glob) => FieldKind::Glob,
        _ => FieldKind::Literal,
    };
    Field::new(word.text.replace(mark, &by.text), kind)
}

/// What `find` found, as a word.
pub(super) fn found(target: &Target) -> Field {
    match target {
        Target::Path(path) => Field::literal(path.as_str()),
        Target::Glob(pattern) => Field::new(pattern.as_str(), FieldKind::Glob),
        Target::Tree(root) => Field::new(root.as_str(), FieldKind::Tree),
        Target::Into { .. } | Target::WorkTree | Target::Unknown(_) => Field::unknown("what was found"),
    }
}

impl Walk<'_> {
    /// Runs the command of one that only runs another.
    fn wrap(&mut self, command: usize, run: impl FnOnce(&mut Self)) {
        let before = self.script.commands.len();
        self.deeper(run);
        let runs_another = self.script.commands.len() > before;
        if let Some(command) = self.script.commands.get_mut(command) {
            command.wraps |= runs_another;
        }
    }
}
