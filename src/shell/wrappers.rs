//! Programs that run another command, which is given by their own arguments.

use super::arguments::{self, Call};
use super::builtins::moved;
use super::state::{Field, FieldKind, Input};
use super::walk::Walk;
use super::{Access, Target};

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
    if call.name == "command" && arguments.has(&["-v", "-V"]) {
        return;
    }
    let rest = words.get(length + operands..).unwrap_or_default();
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
    let rest = rest.split_first().filter(|(first, _)| first.text == "-").map_or(rest, |(_, rest)| rest);
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
        _ => walk.unknown_program(call.fields),
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
    let more = match (&walk.input, listed) {
        (_, [_, listed @ ..]) => listed.to_vec(),
        (Input::Text(text), _) if !arguments.has(&["-a", "--arg-file"]) => {
            text.split_whitespace().map(Field::literal).collect()
        }
        (Input::Files(files), _) => files.iter().map(found).collect(),
        _ => vec![Field::unknown("the arguments of xargs")],
    };
    let uses_placeholder =
        placeholder.filter(|mark| rest.iter().any(|field| field.text.contains(mark.as_str())));
    walk.input = Input::Unknown;
    match uses_placeholder {
        Some(mark) => {
            for field in &more {
                let fields: Vec<Field> = rest.iter().map(|word| replaced(word, &mark, field)).collect();
                walk.wrap(call.command, |walk| walk.run_fields(&fields));
            }
        }
        None => {
            let fields: Vec<Field> = rest.iter().cloned().chain(more).collect();
            walk.wrap(call.command, |walk| walk.run_fields(&fields));
        }
    }
}

/// A word with a placeholder replaced by what it stands for.
pub(super) fn replaced(word: &Field, mark: &str, by: &Field) -> Field {
    if !word.text.contains(mark) {
        return word.clone();
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

    /// Runs a word as a script of its own.
    pub(super) fn code(&mut self, code: &Field, interpreter: &str) {
        if code.kind == FieldKind::Unknown {
            self.unknown_code(interpreter, code.text.clone());
        } else {
            self.script_text(&code.shown());
        }
    }
}
