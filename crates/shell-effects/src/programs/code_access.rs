//! What code in another language may do to the files that it names. Looks for names of functions and modes of opening a file.
//! Code may write unless it is known to be harmless.

use crate::CodeAccess;
use crate::programs::code_reading;
use crate::programs::languages::SourceLanguage;

/// Parts of names of functions that may move, copy or delete a whole folder. These functions also write.
const MOVING_PARTS: &[&str] = &[
    "unlink", "renam", "copy", "rmtree", "rmdir", "rmsync", "cpsync", "symlink", "hardlink", "delet", "remov",
];

/// Whole names of functions that may move, copy or delete a whole folder.
const MOVING_NAMES: &[&str] = &["cp", "link", "move", "mv", "rm"];

/// Functions that run a whole command line, which may also move files.
const RUNNING_LINES: &[&str] = &["exec", "system"];

/// Parts of names of functions that write a file, or hide which function is called.
const WRITING_PARTS: &[&str] = &[
    "writ",
    "truncat",
    "chmod",
    "chown",
    "mkdir",
    "makedirs",
    "mkfifo",
    "mknod",
    "touch",
    "sav",
    "extract",
    "appendfile",
    "put_contents",
    "fileutils",
    "wronly",
    "rdwr",
    "o_creat",
    "mmap",
    "getattr",
    "__import__",
    "importlib",
    "globals",
    "builtins",
    "base64",
    "fromhex",
    "ctypes",
    "to_csv",
    "to_json",
    "to_excel",
    "to_parquet",
    "to_pickle",
    "sysopen",
    "syscall",
];

/// Whole names of functions that write a file.
const WRITING_NAMES: &[&str] = &[
    "chr",
    "compile",
    "dump",
    "eval",
    "exec",
    "function",
    "install",
    "move_uploaded_file",
    "creat",
    "vars",
    "fromcharcode",
    "send",
    "__send__",
    "pack",
    "unpack",
];

/// Functions that run another program. A known program is read as a command, but its arguments may be computed.
const RUNNING_PARTS: &[&str] =
    &["system", "exec", "spawn", "popen", "subprocess", "child_process", "fork", "passthru", "getoutput"];

/// Modes in which a file is opened for writing.
const MODES: &[&str] = &[
    "w", "wb", "wt", "w+", "wb+", "w+b", "ab", "at", "a+", "ab+", "a+b", "xb", "xt", "x+", "r+", "rb+",
    "r+b", "rt+", "r+t", "as", "ax", "wx", "wx+", "ax+",
];

/// Modes of one character, which usually mean something else: they count after a comma or a `=`.
const SHORT_MODES: &[&str] = &["a", "x"];

/// The access of a piece of code.
pub(crate) fn of(interpreter: &str, code: &str) -> CodeAccess {
    let Some(language) = code_reading::language_of(interpreter) else {
        return CodeAccess { writes: true, moves: true, runs: true };
    };
    let only_reads = code_reading::only_reads(language, code);
    let code = code.to_ascii_lowercase();
    let replaces = replaces_files(&code);
    let mut access = CodeAccess {
        writes: !only_reads
            || language != SourceLanguage::Awk && has_mode(&code)
            || redirects(language, &code)
            || replaces
            || opens_otherwise(language, &code)
            || ["os.open", "\\x", "\\u", "\\1"].iter().any(|hidden| code.contains(hidden)),
        moves: replaces,
        runs: code.contains('`') || code.contains("qx"),
    };
    for name in code.split(|c| !is_part(c)).filter(|name| !name.is_empty()) {
        let moves = MOVING_NAMES.contains(&name) || MOVING_PARTS.iter().any(|part| name.contains(part));
        // Python's `replace` may be that of a text or that of a file.
        let may_move =
            RUNNING_LINES.contains(&name) || language == SourceLanguage::Python && name == "replace";
        access.moves |= moves || may_move;
        access.writes |=
            moves || WRITING_NAMES.contains(&name) || WRITING_PARTS.iter().any(|part| name.contains(part));
        access.runs |= runs_programs(name);
    }
    access
}

/// Whether a function with this name in lower case may run another program.
pub(super) fn runs_programs(name: &str) -> bool {
    RUNNING_PARTS.iter().any(|part| name.contains(part))
}

/// Whether a text is the mode of opening a file for writing.
fn has_mode(code: &str) -> bool {
    let mut before = "";
    let mut rest = code;
    while let Some(at) = rest.find(['"', '\'']) {
        let quote = rest.get(at..=at).unwrap_or_default();
        let (start, after) = rest.split_at_checked(at + 1).unwrap_or((rest, ""));
        if let Some((text, _)) = after.split_once(quote) {
            let left = start.get(..at).unwrap_or_default().trim_end();
            let left = if left.is_empty() { before } else { left };
            if MODES.contains(&text) || SHORT_MODES.contains(&text) && left.ends_with([',', '=']) {
                return true;
            }
        }
        before = start;
        rest = after;
    }
    false
}

/// Whether a file may be opened in a mode that is not written there: `f = open`, `open(name, mode)`, `path.open(mode)`.
fn opens_otherwise(language: SourceLanguage, code: &str) -> bool {
    let is_read_mode = |mode: &str| {
        let mode = mode.trim_start().trim_start_matches("mode").trim_start_matches([' ', '=']);
        let quoted = [
            "'r'", "\"r\"", "'rb'", "\"rb\"", "'rt'", "\"rt\"", "encoding", "errors", "newline", "'utf",
            "\"utf",
        ];
        quoted.iter().any(|read| mode.starts_with(read))
    };
    code.match_indices("open").any(|(at, name)| {
        let (before, after) =
            (code.get(..at).unwrap_or_default(), code.get(at + name.len()..).unwrap_or_default());
        let after = after.strip_prefix("sync").unwrap_or(after);
        if before.ends_with(is_part) || after.starts_with(is_part) {
            return false;
        }
        let Some(arguments) = after.trim_start().strip_prefix('(') else { return true };
        if language == SourceLanguage::Perl {
            return true;
        }
        let (first, rest) = first_argument(arguments);
        let is_method = before.ends_with('.') && code.contains("path");
        match rest.chars().next() {
            Some(')') => is_method && !first.trim().is_empty() && !is_read_mode(first),
            Some(',') => !is_read_mode(rest.get(1..).unwrap_or_default()),
            _ => true,
        }
    })
}

/// The text up to the first comma or parenthesis that is not quoted, and the rest.
fn first_argument(arguments: &str) -> (&str, &str) {
    let mut quote = None;
    let end = arguments.find(|c: char| match quote {
        Some(open) => {
            if c == open {
                quote = None;
            }
            false
        }
        None if c == '"' || c == '\'' => {
            quote = Some(c);
            false
        }
        None => matches!(c, ',' | ')' | '('),
    });
    arguments.split_at_checked(end.unwrap_or(arguments.len())).unwrap_or((arguments, ""))
}

/// Redirections of awk and perl.
fn redirects(language: SourceLanguage, code: &str) -> bool {
    if language == SourceLanguage::Awk {
        return code.replace("||", "").contains('|') || awk_writes(code);
    }
    let code = code.replace("->", "").replace("=>", "").replace(">=", "");
    (language == SourceLanguage::Perl && code.contains('>'))
        || ["\">", "'>", "+<", "\"|", "'|"].iter().any(|mode| code.contains(mode))
}

/// Whether a `>` of awk may be a redirection. Outside of braces and in parentheses it compares.
fn awk_writes(code: &str) -> bool {
    let code = code.replace("> \"/dev/stderr\"", "").replace(">\"/dev/stderr\"", "");
    // It is unknown where a pattern ends.
    if code.contains('/') {
        return code.contains('>');
    }
    let (mut braces, mut parentheses, mut in_text, mut is_escaped) = (0_u32, 0_u32, false, false);
    for c in code.chars() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => in_text = !in_text,
            _ if in_text => {}
            '{' => braces += 1,
            '}' => braces = braces.saturating_sub(1),
            '(' => parentheses += 1,
            ')' => parentheses = parentheses.saturating_sub(1),
            '#' => return code.contains('>'),
            '>' if braces > 0 && parentheses == 0 => return true,
            _ => {}
        }
    }
    false
}

/// `os.replace` and `Path.replace`. Replacing in a text is not a write.
fn replaces_files(code: &str) -> bool {
    code.contains("os.replace")
        || code.contains("import replace")
        || code.contains("import *")
        || code.contains("path") && code.contains(".replace(")
}

/// Functions that run a program, or test whether one exists. They do not open their arguments. Not all functions that run a program
/// (`RUNNERS`) are here, only those whose first argument is certainly not opened.
const PROGRAM_USERS: &[&str] = &[
    "run",
    "call",
    "check_call",
    "check_output",
    "Popen",
    "system",
    "popen",
    "spawn",
    "spawnSync",
    "execFile",
    "execFileSync",
    "execSync",
    "exec",
    "execv",
    "execvp",
    "execve",
    "execl",
    "execlp",
    "which",
    "exists",
    "existsSync",
    "isfile",
    "is_file",
    "access",
    "accessSync",
    "file_exists",
];

/// Code without names of programs: the line that starts a script, and the first argument of a call that runs or tests a program.
pub(crate) fn without_programs(code: &str) -> String {
    let mut lines = code.splitn(2, '\n');
    let rest = match (lines.next(), lines.next()) {
        (Some(first), rest) if first.starts_with("#!") => rest.unwrap_or_default(),
        _ => code,
    };
    let mut kept = String::with_capacity(rest.len());
    let mut rest = rest;
    while let Some(at) = rest.find(['"', '\'']) {
        let quote = rest.get(at..=at).unwrap_or_default();
        let (start, after) = rest.split_at_checked(at + 1).unwrap_or((rest, ""));
        kept.push_str(start);
        let text = after.split_once(quote).map_or("", |(text, _)| text);
        let user = program_user(&kept);
        rest = if is_program(text) && user.is_some_and(|name| !is_other(code, name)) {
            after.get(text.len()..).unwrap_or_default()
        } else {
            after
        };
        // The closing quote opens nothing.
        if rest.len() < after.len() {
            kept.push_str(quote);
            rest = rest.get(quote.len()..).unwrap_or_default();
        }
    }
    kept.push_str(rest);
    kept
}

/// Where the system's programs are.
const PROGRAMS: &[&str] = &["/usr/", "/bin/", "/sbin/", "/opt/"];

/// Whether a text is the path of a program in a directory for programs.
fn is_program(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    let directory = text.rsplit_once('/').map(|(directory, _)| directory);
    PROGRAMS.iter().any(|start| text.starts_with(start))
        && text.chars().all(is_plain)
        && !text.contains("..")
        && directory.is_some_and(|directory| directory.ends_with("/bin") || directory.ends_with("/sbin"))
}

/// The function that runs or tests a program, if the first argument of its call follows.
fn program_user(code: &str) -> Option<&'static str> {
    let before = code.trim_end_matches(['"', '\'', '[', ' ', '\n', '\t']).strip_suffix('(')?;
    let name = before.rsplit(|c: char| !is_part(c)).next().unwrap_or_default();
    PROGRAM_USERS.iter().find(|user| **user == name).copied()
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether a function of this name may be another one: the code defines it, or does more than call it.
fn is_other(code: &str, name: &str) -> bool {
    code.match_indices(name).any(|(at, _)| {
        let before = code.get(..at).unwrap_or_default();
        let after = code.get(at + name.len()..).unwrap_or_default();
        let word = before.trim_end().rsplit(|c: char| !is_part(c)).next().unwrap_or_default();
        let is_whole = !before.ends_with(is_part) && !after.starts_with(is_part);
        let is_defined = before.ends_with([' ', '\t', '\n'])
            && matches!(word, "def" | "function" | "sub" | "as" | "class" | "async");
        let is_imported =
            before.ends_with("from subprocess import ") || before.ends_with("from shutil import ");
        is_whole && !is_imported && (is_defined || !after.starts_with('('))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_writes_is_told_from_code_that_only_reads() {
        for (interpreter, code) in [
            ("python3", "import json; print(json.load(open('package-lock.json'))['a'])"),
            ("python3", "print(open('Cargo.lock', 'r').read().replace('a', 'b'))"),
            ("python3", "import sys; print(len(sys.stdin.read().split('x')), open('go.sum').readlines()[0])"),
            ("node", "console.log(require('./package-lock.json').packages['a'].version)"),
            (
                "node",
                "const fs = require('fs'); console.log(JSON.parse(fs.readFileSync('package-lock.json', 'utf8')).name)",
            ),
            ("awk", "/name/ { getline; print }"),
            ("awk", "$1 > 3 && ($2 > 1 || NR > 5) { if ($3 > 4) print $2 }"),
            ("perl", "print if $h->{a} >= 1 and /x/"),
            ("ruby", "puts File.read('Gemfile.lock').lines.first"),
            ("python3", "print(open('Cargo.lock', encoding='utf-8').read(), open(\"go.sum\", \"rb\"))"),
            (
                "python3",
                "import json, sys\nwith open('package-lock.json', mode='r') as f:\n    d = json.load(f) # it's\nfor k, v in d.items():\n    print(k, v.get('a'), sys.argv[1])",
            ),
            ("python3", "from pathlib import Path; print(Path('Cargo.lock').read_text().count('name'))"),
            (
                "python3",
                "import json, collections\nd = json.load(open('Cargo.lock'))\nc = collections.Counter(k.split('/')[-1] for k in d)\nprint(c.most_common(10))",
            ),
            (
                "python3",
                "from collections import defaultdict\nd = defaultdict(list)\nfor l in open('Cargo.lock'):\n    print(f'{l.strip():>10} {len(d)} {{}}')",
            ),
            (
                "python3",
                "import os\nfor r, ds, fs in os.walk('.'):\n    for f in fs:\n        p = os.path.join(r, f)\n        print(p, os.path.getsize(p), 'Cargo.lock')",
            ),
            (
                "node",
                "const p = require('./package-lock.json'); console.log(JSON.stringify(Object.keys(p.packages), null, 2))",
            ),
            ("php", "echo json_decode(file_get_contents('composer.lock'))->hash;"),
        ] {
            assert!(!of(interpreter, code).writes, "{interpreter}: {code}");
        }
        for (interpreter, code) in [
            ("python3", "open('Cargo.lock', 'w')"),
            ("python3", "print(f'{foo(1)} Cargo.lock')"),
            ("python3", "open('Cargo.lock', f'{m}')"),
            ("python3", "open('Cargo.lock', f'w')"),
            ("python3", "import os; x = os.path.os; x.replace('a', 'Cargo.lock')"),
            ("python3", "import os.path as p; p.os.replace('a', 'Cargo.lock')"),
            ("python3", "from collections import Counter as c, abc; c('Cargo.lock')"),
            ("python3", "for (list) in [exit]: list('Cargo.lock')"),
            ("python3", "import os; os.walk('Cargo.lock', onerror=foo)"),
            ("python3", "open('Cargo.lock', mode = \"a\")"),
            ("python3", "f = open; f('Cargo.lock', *['w'])"),
            ("python3", "import os; os.replace('a', 'Cargo.lock')"),
            ("python3", "from pathlib import Path; Path('a').replace('Cargo.lock')"),
            ("python3", "import shutil; shutil.copy('a', 'Cargo.lock')"),
            ("python3", "import os; os.open('Cargo.lock', 65)"),
            ("python3", "getattr(__builtins__, 'open')('Cargo.lock', chr(119))"),
            ("python3", "import sys; open('Cargo.lock', sys.argv[1])"),
            ("python3", "f = open\nf('Cargo.lock', m)"),
            ("python3", "from pathlib import Path; Path('Cargo.lock').open(m)"),
            ("python3", "open('Cargo.lock', '\\x77')"),
            ("node", "require('fs').cpSync('a', 'Cargo.lock')"),
            ("node", "require('fs').rm('Cargo.lock', () => {})"),
            ("perl", "open(F, '>Cargo.lock')"),
            ("perl", "open F, '+<', 'Cargo.lock'"),
            ("awk", "{ print > \"Cargo.lock\" }"),
            ("awk", "{ print (1) > \"Cargo.lock\" }"),
            ("ruby", "File.open('Cargo.lock', 'w')"),
            ("php", "file_put_contents('Cargo.lock', '')"),
            ("lua", "print(1)"),
            ("python3", "import fileinput\nfor l in fileinput.input('Cargo.lock', inplace=True): print('x')"),
            ("python3", "import logging; logging.basicConfig(filename='Cargo.lock'); logging.error('x')"),
            ("python3", "print('x',file=open('Cargo.lock','r'+'+'))"),
            ("python3", "print('x',file=open('Cargo.lock','r' '+'))"),
            ("python3", "open('Cargo.lock', encoding='utf8', mode='tw')"),
            ("python3", "import io; io.FileIO('Cargo.lock','bw')"),
            ("python3", "from urllib.request import urlretrieve; urlretrieve('file:///a','Cargo.lock')"),
            ("python3", "import json, os; json.load(open('Cargo.lock'), object_hook=os.abort)"),
            ("python3", "import json; json.codecs.open('Cargo.lock', 'bw')"),
            ("python3", "import sys; sys.modules['o'+'s'].abort('Cargo.lock')"),
            ("python3", "print = exit\nprint('Cargo.lock')"),
            ("python3", "for print in [exit]: print('Cargo.lock')"),
            ("python3", "from os import abort as print; print('Cargo.lock')"),
            ("python3", "[exit][0]('Cargo.lock')"),
            ("python3", "# it's\nfoo('Cargo.lock') # '"),
            ("python3", "print(f'{foo(\"Cargo.lock\")}')"),
            ("python3", "sorted(['Cargo.lock'], key=foo)"),
            ("python3", "@foo\nx = 'Cargo.lock'"),
            ("node", "fs.readFileSync('Cargo.lock', {flag: 'w+'})"),
            ("node", "fs.readFileSync('Cargo.lock', {'flag': 'w+'})"),
            ("node", "JSON.parse('{\"Cargo.lock\":1}', Object.values(require('fs'))[70])"),
            ("node", "const a = require('fs'); Object.values(a)[70]('Cargo.lock')"),
            ("node", "require('./x.js'); console.log('Cargo.lock')"),
            ("node", "console.log(/'/, foo('Cargo.lock'), /'/)"),
            ("node", "['Cargo.lock'].forEach(vm.foo)"),
            ("perl", "$^I=\"\"; @ARGV=\"Cargo.lock\"; while(defined($_=readline)){print \"x\"}"),
            ("perl", "print \"@{[foo('Cargo.lock')]}\""),
            ("perl", "&{\"foo\"}(\"Cargo.lock\")"),
            ("ruby", "File.new(\"Cargo.lock\",513)"),
            ("ruby", "File.public_send(:foo, \"Cargo.lock\")"),
            ("ruby", "puts \"#{foo 'Cargo.lock'}\""),
            ("php", "error_log(\"x\",3,\"Cargo.lock\")"),
            ("php", "'foo'('Cargo.lock');"),
            ("php", "$f = 'foo'; $f('Cargo.lock');"),
            ("awk", "BEGIN{ARGV[1]=\"Cargo.lock\";ARGC=2}{print \"x\"}"),
            ("awk", "BEGIN{f=\"foo\"; @f(\"Cargo.lock\")}"),
        ] {
            assert!(of(interpreter, code).writes, "{interpreter}: {code}");
        }
        assert!(of("python3", "import subprocess as s; f = 'Cargo.lock'; s.run(['tee', f])").runs);
    }

    #[test]
    fn a_program_that_is_run_is_not_a_file_of_the_code() {
        for (code, expected) in [
            ("#!/usr/bin/env python3\nimport sys", "import sys"),
            ("#!/usr/bin/env python3", ""),
            ("run(['/usr/bin/env', 'ls'])", "run(['', 'ls'])"),
            ("os.path.exists(\"/usr/local/bin/x\")", "os.path.exists(\"\")"),
            ("open('/usr/bin/env', 'w')", "open('/usr/bin/env', 'w')"),
            ("run(['tee', '/usr/bin/env'])", "run(['tee', '/usr/bin/env'])"),
            ("run('tee /usr/bin/env')", "run('tee /usr/bin/env')"),
            ("run(['/usr/bin/../x', a])", "run(['/usr/bin/../x', a])"),
            ("it's '/usr/bin/x'", "it's '/usr/bin/x'"),
            ("run('/home/me/bin/.env')", "run('/home/me/bin/.env')"),
            ("def run(p): open(p)\nrun('/usr/bin/x')", "def run(p): open(p)\nrun('/usr/bin/x')"),
            ("run=open\nrun('/usr/bin/x')", "run=open\nrun('/usr/bin/x')"),
            ("from subprocess import run; run(['/usr/bin/x'])", "from subprocess import run; run([''])"),
        ] {
            assert_eq!(without_programs(code), expected, "{code}");
        }
    }
}
