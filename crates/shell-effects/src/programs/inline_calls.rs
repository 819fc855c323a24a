//! Calls of a shell or a program in code of other languages: `os.system("…")`, `execSync("…")`, `system("…")` of awk. The code is not
//! parsed: a name of such a function that is followed by a text counts.

use crate::Quoting;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::code::is_wholly_unknown;
use crate::analysis::field::{Field, FieldBuilder};

/// Further calls of one code are not looked at.
const MAX_CALLS: usize = 64;

/// Functions that run a command.
struct Runner {
    names: &'static [&'static str],
    /// How the names of the interpreters start that have them; empty for any.
    interpreters: &'static [&'static str],
    /// One of these words must be in the code; empty for none.
    among: &'static [&'static str],
    takes: Takes,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// A text for a shell.
    Text,
    /// A text for a shell, or the words of a command.
    TextOrWords,
    /// The words of a command.
    Words,
    /// A program, and then the words of a command with its name.
    NameAndWords,
}

#[rustfmt::skip]
const RUNNERS: &[Runner] = &[
    Runner { names: &["system"], interpreters: &[], among: &[], takes: Takes::TextOrWords },
    Runner { names: &["popen", "shell_exec", "passthru", "proc_open", "execSync", "getoutput", "getstatusoutput"], interpreters: &[], among: &[], takes: Takes::Text },
    Runner { names: &["execute"], interpreters: &["lua"], among: &[], takes: Takes::Text },
    Runner { names: &["run", "call", "check_call", "check_output", "Popen", "create_subprocess_shell"], interpreters: &["py"], among: &["subprocess"], takes: Takes::TextOrWords },
    Runner { names: &["spawn"], interpreters: &["py"], among: &["pty"], takes: Takes::TextOrWords },
    Runner { names: &["exec"], interpreters: &["perl", "php", "ruby"], among: &[], takes: Takes::TextOrWords },
    Runner { names: &["exec"], interpreters: &[], among: &["child_process"], takes: Takes::Text },
    Runner { names: &["spawnSync", "execFileSync"], interpreters: &[], among: &[], takes: Takes::Words },
    Runner { names: &["spawn", "execFile"], interpreters: &[], among: &["child_process"], takes: Takes::Words },
    Runner { names: &["execvp", "execv", "execl", "execlp", "execvpe", "execve", "posix_spawn"], interpreters: &[], among: &[], takes: Takes::NameAndWords },
    Runner { names: &["script"], interpreters: &["osascript"], among: &["do shell script"], takes: Takes::Text },
];

impl Runner {
    fn is_for(&self, interpreter: &str, code: &str) -> bool {
        (self.interpreters.is_empty() || self.interpreters.iter().any(|start| interpreter.starts_with(start)))
            && (self.among.is_empty() || self.among.iter().any(|word| code.contains(word)))
    }
}

/// Runs what code in another language hands to a shell, or starts itself.
pub(crate) fn run_calls(analyzer: &mut Analyzer<'_>, interpreter: &str, code: &str) {
    if !analyzer.work(code.len()) {
        return;
    }
    let mut found = calls(interpreter, code);
    if ["perl", "php", "ruby"].iter().any(|start| interpreter.starts_with(start)) {
        found.extend(in_backticks(code));
    }
    if interpreter == "make" {
        found.extend(recipes(code));
    }
    if interpreter == "awk" {
        found.extend(piped(code));
    }
    for call in found.into_iter().take(MAX_CALLS) {
        analyzer.as_part(|analyzer| {
            analyzer.subshell(|analyzer| match &call {
                InlineCall::Text(text) => analyzer.code(text, "sh"),
                InlineCall::Words(words) => analyzer.deeper(|analyzer| analyzer.run_fields(words)),
            });
        });
    }
}

/// What a call runs.
#[derive(Debug, PartialEq)]
enum InlineCall {
    Text(Field),
    Words(Vec<Field>),
}

fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn calls(interpreter: &str, code: &str) -> Vec<InlineCall> {
    let mut found = Vec::new();
    let runners: Vec<&Runner> = RUNNERS.iter().filter(|runner| runner.is_for(interpreter, code)).collect();
    let mut at = 0;
    while let Some(start) = code.get(at..).and_then(|rest| rest.find(is_part)).map(|start| at + start) {
        let rest = code.get(start..).unwrap_or_default();
        let name = rest.get(..rest.find(|c| !is_part(c)).unwrap_or(rest.len())).unwrap_or_default();
        at = start + name.len().max(1);
        let Some(runner) = runners.iter().find(|runner| runner.names.contains(&name)) else { continue };
        // `.exec(…)` is mostly a method of something else.
        let before = code.get(..start).unwrap_or_default();
        let is_method = before.ends_with('.')
            && !["child_process.", "cp.", "\").", "').", "`)."].iter().any(|owner| before.ends_with(owner));
        if name == "exec" && is_method {
            continue;
        }
        found.extend(call(runner.takes, code.get(at..).unwrap_or_default()));
    }
    found
}

/// A call, from what follows the name of its function.
fn call(takes: Takes, rest: &str) -> Option<InlineCall> {
    let rest = rest.trim_start();
    let rest = match rest.strip_prefix('(') {
        Some(inner) => inner,
        None if rest.starts_with(['"', '\'', '`']) => rest,
        None => return None,
    };
    let arguments = Arguments::read(rest);
    let mut words = arguments.words;
    if takes == Takes::NameAndWords && !words.is_empty() {
        words.remove(0);
    }
    let first = words.first().filter(|first| !is_wholly_unknown(first))?;
    let is_text = match takes {
        Takes::Text => true,
        Takes::TextOrWords => !arguments.is_list && words.len() == 1,
        Takes::Words | Takes::NameAndWords => false,
    };
    Some(if is_text { InlineCall::Text(first.clone()) } else { InlineCall::Words(words) })
}

/// The arguments of a call as far as they are texts. Named ones and those that are something else at the end are left out.
#[derive(Default)]
struct Arguments {
    words: Vec<Field>,
    /// Whether the first one is a list of words.
    is_list: bool,
}

impl Arguments {
    fn read(mut rest: &str) -> Arguments {
        let mut arguments = Arguments::default();
        let mut word: Option<FieldBuilder> = None;
        let (mut depth, mut is_named) = (0_usize, false);
        while let Some(c) = rest.chars().next() {
            if let Some((text, after)) = literal(rest) {
                word.get_or_insert_default().value(&text);
                rest = after;
                continue;
            }
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
            match c {
                '[' | '(' | '{' if word.is_none() && !is_named => {
                    arguments.is_list |= arguments.words.is_empty();
                    depth += 1;
                }
                // Of a call or an index inside of it, nothing is known.
                '[' | '(' | '{' => {
                    word.get_or_insert_default().unknown("$x", Quoting::Quoted);
                    rest = after_bracket(rest);
                }
                ',' | ']' | ')' | '}' | ';' | '\n' => {
                    let word = word.take().map(|word| word.finish(false));
                    if !is_named {
                        arguments.words.extend(word);
                    }
                    is_named = false;
                    let closes = matches!(c, ']' | ')' | '}');
                    let ends = c == ';' || c == '\n' && depth == 0 && !arguments.words.is_empty();
                    if ends || closes && depth == 0 {
                        break;
                    }
                    depth -= usize::from(closes);
                }
                '=' | ':' => {
                    is_named = true;
                    word = None;
                }
                c if c.is_whitespace() => {}
                _ => {
                    rest = rest.trim_start_matches(|c: char| is_part(c) || c == '.');
                    word.get_or_insert_default().unknown("$x", Quoting::Quoted);
                }
            }
        }
        if !is_named {
            arguments.words.extend(word.map(|word| word.finish(false)));
        }
        // What follows the texts is a callback, or options.
        while arguments.words.len() > 1 && arguments.words.last().is_some_and(is_wholly_unknown) {
            arguments.words.pop();
        }
        arguments
    }
}

/// The rest after the bracket that closes one.
fn after_bracket(mut rest: &str) -> &str {
    let mut depth = 1_usize;
    while let Some(c) = rest.chars().next() {
        if let Some((_, after)) = literal(rest) {
            rest = after;
            continue;
        }
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        match c {
            '[' | '(' | '{' => depth += 1,
            ']' | ')' | '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    rest
}

/// A text in quotes, and the rest after it: also with a prefix (`r"…"`), in three quotes, and with parts that are not known.
fn literal(code: &str) -> Option<(Field, &str)> {
    let letters = code.bytes().take(2).take_while(|byte| b"rRbBuUfF".contains(byte)).count();
    let (prefix, rest) = code.split_at_checked(letters)?;
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
    let three = quote.to_string().repeat(3);
    let end = if rest.starts_with(&three) { three } else { quote.to_string() };
    let is_raw = prefix.contains(['r', 'R']);
    let is_format = prefix.contains(['f', 'F']);
    let mut text = FieldBuilder::default();
    text.quoted("");
    let mut rest = rest.get(end.len()..)?;
    loop {
        if let Some(after) = rest.strip_prefix(&end) {
            return Some((text.finish(false), after));
        }
        let c = rest.chars().next()?;
        rest = rest.get(c.len_utf8()..)?;
        let opens = match c {
            '{' if is_format => Some(rest),
            '$' if quote == '`' => rest.strip_prefix('{'),
            '#' if quote == '"' => rest.strip_prefix('{'),
            _ => None,
        };
        if let Some(inner) = opens {
            text.unknown("$x", Quoting::Bare);
            rest = after_bracket(inner);
        } else if c == '\\' && !is_raw {
            rest = escape(rest, &mut text);
        } else {
            text.quoted(c.encode_utf8(&mut [0; 4]));
        }
    }
}

/// Adds what an escape stands for; the rest after it.
fn escape<'a>(rest: &'a str, text: &mut FieldBuilder) -> &'a str {
    let Some(c) = rest.chars().next() else { return rest };
    let after = rest.get(c.len_utf8()..).unwrap_or_default();
    let (digits, radix, start) = match c {
        'x' => (2, 16, after),
        'u' => (4, 16, after.trim_start_matches('{')),
        '0'..='7' => (3, 8, rest),
        _ => (0, 0, after),
    };
    if digits == 0 {
        match c {
            'n' => text.quoted("\n"),
            't' => text.quoted("\t"),
            'r' => text.quoted("\r"),
            '\n' => {}
            c => text.quoted(c.encode_utf8(&mut [0; 4])),
        }
        return after;
    }
    let count = start.chars().take(digits).take_while(|c| c.is_digit(radix)).count();
    let (number, rest) = start.split_at_checked(count).unwrap_or((start, ""));
    if let Some(c) = u32::from_str_radix(number, radix).ok().and_then(char::from_u32) {
        text.quoted(c.encode_utf8(&mut [0; 4]));
    }
    if c == 'u' { rest.strip_prefix('}').unwrap_or(rest) } else { rest }
}

/// The lines of a makefile that a shell runs: those after a tab, and what follows a `;` after the targets.
fn recipes(code: &str) -> Vec<InlineCall> {
    let code = code.replace("\\\n", " ");
    let lines = code.lines().filter_map(|line| match line.strip_prefix('\t') {
        Some(recipe) => Some(recipe),
        None => line.split_once(':')?.1.split_once(';').map(|(_, recipe)| recipe),
    });
    let texts = lines.map(|line| without_variables(line.trim_start_matches(['@', '-', '+', ' ', '\t'])));
    texts.map(|text| InlineCall::Text(Field::literal(text))).collect()
}

/// A recipe as the shell gets it: `$$` is a dollar, and make replaces `$x`, mostly by nothing.
fn without_variables(recipe: &str) -> String {
    let mut text = String::new();
    let mut rest = recipe.chars().peekable();
    while let Some(c) = rest.next() {
        match (c, rest.peek()) {
            ('$', Some('$')) => {
                rest.next();
                text.push('$');
            }
            ('$', Some('(' | '{')) => text.push(c),
            ('$', _) => {
                rest.next();
            }
            _ => text.push(c),
        }
    }
    text
}

/// What Perl, Ruby and PHP run: `` `…` ``, `qx(…)`, `%x(…)`.
fn in_backticks(code: &str) -> Vec<InlineCall> {
    let mut found: Vec<InlineCall> = code
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|text| !text.trim().is_empty())
        .map(|text| InlineCall::Text(Field::literal(text)))
        .collect();
    for start in code.match_indices("qx").chain(code.match_indices("%x")).map(|(at, name)| at + name.len()) {
        let rest = code.get(start..).unwrap_or_default().trim_start();
        let close = match rest.chars().next() {
            Some('(') => ')',
            Some('{') => '}',
            Some('[') => ']',
            Some(other @ ('|' | '/' | '!' | '~')) => other,
            _ => continue,
        };
        let text = rest.get(1..).and_then(|inner| inner.split_once(close)).map(|(text, _)| text);
        found.extend(text.map(|text| InlineCall::Text(Field::literal(text))));
    }
    found
}

/// What awk pipes to and from: `print | "…"`, `"…" | getline`.
fn piped(code: &str) -> Vec<InlineCall> {
    let mut found = Vec::new();
    let mut rest = code;
    let mut last: Option<Field> = None;
    let mut is_after_pipe = false;
    while let Some(c) = rest.chars().next() {
        if c == '"'
            && let Some((text, after)) = literal(rest)
        {
            if is_after_pipe {
                found.push(InlineCall::Text(text.clone()));
            }
            (last, is_after_pipe, rest) = (Some(text), false, after);
            continue;
        }
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        match c {
            '|' if rest.starts_with('|') => rest = rest.get(1..).unwrap_or_default(),
            '|' => {
                rest = rest.trim_start_matches('&');
                if rest.trim_start().starts_with("getline") {
                    found.extend(last.take().map(InlineCall::Text));
                }
                is_after_pipe = true;
            }
            c if c.is_whitespace() => {}
            _ => (last, is_after_pipe) = (None, false),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(interpreter: &str, code: &str) -> Vec<String> {
        let mut found = calls(interpreter, code);
        if interpreter == "awk" {
            found.extend(piped(code));
        }
        let text = |call: InlineCall| match call {
            InlineCall::Text(text) => text.text,
            InlineCall::Words(words) => words.iter().map(|word| format!("[{}]", word.text)).collect(),
        };
        found.into_iter().map(text).collect()
    }

    #[test]
    fn texts_for_a_shell_are_found() {
        for (interpreter, code, expected) in [
            ("python3", "os.system('ls -l')", "ls -l"),
            ("python3", "os.system(r'a\\b')", "a\\b"),
            ("python3", "os.system(\"\\x72m \\162\")", "rm r"),
            ("python3", "os.system(f'rm {name} x')", "rm $x x"),
            ("python3", "os.system('rm ' + name)", "rm $x$x"),
            ("python3", "os.popen('''a\nb''').read()", "a\nb"),
            ("python3", "subprocess.run('a b', shell=True, cwd='/x')", "a b"),
            ("python3", "subprocess.run(['a', 'b c'], check=True)", "[a][b c]"),
            ("python3", "subprocess.run(['a', path, 'c'])", "[a][$x][c]"),
            ("node", "cp.execSync(`a ${b.c('}')} d`)", "a $x d"),
            ("node", "require('child_process').exec('a b', (e) => { f(e) })", "a b"),
            ("node", "spawnSync('a', ['b', 'c'], {cwd: 'd'})", "[a][b][c]"),
            ("perl", "system 'a b';", "a b"),
            ("perl", "system('a', 'b')", "[a][b]"),
            ("ruby", "system(\"a #{b} c\")", "a $x c"),
            ("awk", "BEGIN { system(\"a\" ) }", "a"),
            ("awk", "{ print $1 | \"sort -u\" }", "sort -u"),
            ("awk", "{ \"date\" | getline x }", "date"),
        ] {
            assert_eq!(shown(interpreter, code), [expected], "{code}");
        }
    }

    #[test]
    fn other_code_runs_nothing() {
        for (interpreter, code) in [
            ("python3", "exec('print(1)')"),
            ("python3", "operating_system('x')"),
            ("python3", "system = 'x'"),
            ("python3", "os.system(command)"),
            ("python3", "app.run('x')"),
            ("node", "/a/.exec('b')"),
            ("node", "require('child_process'); db.exec('create table x (a int)')"),
            ("awk", "{ print $1 \" | \" f(x) \" | \" $2 }"),
            ("awk", "$1 == \"a\" || $2 == \"b\""),
        ] {
            assert_eq!(shown(interpreter, code), Vec::<String>::new(), "{code}");
        }
    }
}
