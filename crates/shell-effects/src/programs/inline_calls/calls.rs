//! The calls that run a command, or act like one: their functions are in `runners`.

use crate::analysis::field::Field;
use crate::analysis::unknown_code::is_wholly_unknown;
use crate::programs::inline_calls::runners::{MOVED, RUNNERS, Runner, RunnerArguments};
use crate::programs::inline_calls::text_arguments::{TextArguments, literal};
use crate::programs::inline_calls::{MAX_CALLS, is_part};
use crate::programs::languages::SourceLanguage;
use crate::programs::table;

/// What a call runs.
#[derive(Debug, PartialEq)]
pub(super) enum InlineCall {
    Text(Field),
    Words(Vec<Field>),
}

impl InlineCall {
    /// Whether it is a shell that reads its commands from what the code writes to it.
    pub(super) fn is_bare_shell(&self) -> bool {
        let mut words = match self {
            InlineCall::Text(text) => text.text.split(' ').collect::<Vec<_>>(),
            InlineCall::Words(words) => words.iter().map(|word| word.text.as_str()).collect(),
        };
        words.retain(|word| !word.starts_with('-'));
        let program = words.first().and_then(|word| table::by_name(table::name_of(word)));
        words.len() == 1 && program.is_some_and(|program| program.quotes_like_sh)
    }

    /// Whether a part of it is unknown.
    fn has_gap(&self) -> bool {
        match self {
            InlineCall::Text(text) => !text.is_literal(),
            InlineCall::Words(words) => !words.iter().all(Field::is_literal),
        }
    }
}

/// What makes the path of a file, and its methods that delete it.
const PATHS: &[&str] = &["Path(", "File(", "Pathname.new(", "Pathname("];

const DELETING: &[&str] = &["unlink", "rmdir", "rmtree", "delete", "deleteDir", "deleteRecursively"];

/// The calls that a code shows, and whether it has others: a function that is named and not called, or called with something else.
pub(super) fn calls(interpreter: &str, code: &str) -> (Vec<InlineCall>, bool) {
    let (mut found, mut hides_call) = (Vec::new(), false);
    let language = SourceLanguage::of(interpreter);
    let runners: Vec<&Runner> = RUNNERS.iter().filter(|runner| runner.is_for(language, code)).collect();
    let mut at = 0;
    while let Some(start) = code.get(at..).and_then(|rest| rest.find(is_part)).map(|start| at + start) {
        let rest = code.get(start..).unwrap_or_default();
        let name = rest.get(..rest.find(|c| !is_part(c)).unwrap_or(rest.len())).unwrap_or_default();
        at = start + name.len().max(1);
        let before = code.get(..start).unwrap_or_default();
        if DELETING.contains(&name)
            && let Some(path) = path_before(before)
        {
            found.push(InlineCall::Words(vec![Field::literal("rm"), Field::literal("-rf"), path]));
            continue;
        }
        let Some(runner) = runner_of(&runners, name, before) else { continue };
        let rest = code.get(at..).unwrap_or_default();
        // `File.rm!(…)` of Elixir.
        let rest = rest.strip_prefix('!').filter(|rest| rest.starts_with('(')).unwrap_or(rest);
        let is_many = found.len() >= MAX_CALLS;
        let constant = if runner.takes.runs() || is_many { None } else { with_constant(code, rest) };
        let rest = constant.as_deref().unwrap_or(rest);
        let bare = if language == Some(SourceLanguage::Perl) { bareword(rest) } else { None };
        match call(runner.takes, rest).or(bare) {
            Some(call) => {
                // A text that is joined to others may be part of another text.
                hides_call |= runner.takes.runs() && call.has_gap();
                found.push(call);
            }
            None => hides_call |= runner.takes.runs() && may_run(language, rest),
        }
    }
    (found, hides_call)
}

/// Whether a text is the name of a function that runs programs.
pub(super) fn names_runner(interpreter: &str, text: &str) -> bool {
    let language = SourceLanguage::of(interpreter);
    let is_named = |runner: &&Runner| runner.takes.runs() && runner.names.contains(&text);
    RUNNERS.iter().filter(is_named).any(|runner| runner.languages.is_empty() || runner.is_for(language, text))
}

/// What a function of this name does, if the code before it says that it is that function.
fn runner_of<'r>(runners: &[&'r Runner], name: &str, before: &str) -> Option<&'r Runner> {
    let is_owner = |owner: &&str| before.ends_with(owner);
    let is_meant = |runner: &&&Runner| {
        runner.names.contains(&name) && (runner.owners.is_empty() || runner.owners.iter().any(is_owner))
    };
    let runner = runners.iter().find(is_meant)?;
    // `.exec(…)` is mostly a method of something else.
    let is_method = before.ends_with('.')
        && !["child_process.", "cp.", "getRuntime().", "\").", "').", "`)."]
            .iter()
            .any(|owner| before.ends_with(owner));
    if name == "exec" && is_method { None } else { Some(runner) }
}

/// Whether the name of a function and the code after it may run something. `system()` does not, nor does a name in a text, a key or
/// a definition.
fn may_run(language: Option<SourceLanguage>, rest: &str) -> bool {
    let is_language = language.is_some_and(|language| language != SourceLanguage::Make);
    let rest = rest.trim_start();
    let is_empty_call = rest.strip_prefix('(').is_some_and(|inner| inner.trim_start().starts_with(')'));
    is_language && !is_empty_call
}

/// Perl takes a word without quotes for a text: `system ls`.
fn bareword(rest: &str) -> Option<InlineCall> {
    let rest = rest.strip_prefix([' ', '('])?.trim_start();
    let word = rest.get(..rest.find(|c| !is_part(c) && c != '-').unwrap_or(rest.len()))?;
    let is_word = word.starts_with(|c: char| c.is_ascii_alphabetic()) && !matches!(word, "q" | "qq" | "qw");
    if is_word { Some(InlineCall::Text(Field::literal(word))) } else { None }
}

/// A call, from the code after the name of its function.
fn call(takes: RunnerArguments, rest: &str) -> Option<InlineCall> {
    let rest = rest.trim_start();
    let rest = match rest.strip_prefix('(') {
        Some(inner) => inner,
        None if rest.starts_with(['"', '\'', '`']) => rest,
        None => return None,
    };
    let arguments = TextArguments::read(rest);
    let mut words = arguments.words;
    if takes == RunnerArguments::ModeNameAndWords && !words.is_empty() {
        words.remove(0);
    }
    if matches!(takes, RunnerArguments::ModeNameAndWords | RunnerArguments::NameAndWords) && !words.is_empty()
    {
        // The program may have another name for itself.
        let own_name = usize::from(words.len() > 1 && !words.first().is_some_and(is_wholly_unknown));
        words.remove(own_name);
    }
    let first = words.first().filter(|first| !is_wholly_unknown(first))?;
    if let RunnerArguments::Operands(command) = takes {
        let command = command.iter().map(|word| Field::literal(*word));
        // An option or a function follows the path.
        let count = if takes == MOVED { 2 } else { usize::MAX };
        let operands = words.into_iter().take(count).filter(|word| !is_wholly_unknown(word));
        return Some(InlineCall::Words(command.chain(operands).collect()));
    }
    let is_text = match takes {
        RunnerArguments::Text => true,
        RunnerArguments::TextOrWords => !arguments.is_list && words.len() == 1,
        // `spawn('ls -l', {shell: true})`
        _ => !arguments.is_list && words.len() == 1 && first.text.contains(' '),
    };
    Some(if is_text { InlineCall::Text(first.clone()) } else { InlineCall::Words(words) })
}

/// The text in `Path("…").unlink()`.
fn path_before(before: &str) -> Option<Field> {
    let before = before.strip_suffix(").")?;
    let inner = PATHS.iter().find_map(|path| Some(before.rsplit_once(path)?.1))?;
    let (text, rest) = literal(inner.trim())?;
    if rest.is_empty() { Some(text) } else { None }
}

/// What follows the name of a function, with the text of the variable that is its first argument: `(p)` after `p = '/x'` is `('/x')`.
fn with_constant(code: &str, rest: &str) -> Option<String> {
    let inner = rest.trim_start();
    let inner = inner.strip_prefix('(').unwrap_or(inner).trim_start();
    let length = inner.find(|c| !is_part(c) && c != '$').unwrap_or(inner.len());
    let (name, after) = inner.split_at_checked(length)?;
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let is_whole = after.trim_start().is_empty() || after.trim_start().starts_with([',', ')', ';', '\n']);
    if is_whole { Some(format!("({}{after}", constant(code, name)?)) } else { None }
}

/// The text, in its quotes, that a name is set to once.
fn constant<'c>(code: &'c str, name: &str) -> Option<&'c str> {
    let mut found = None;
    for (at, _) in code.match_indices(name) {
        let before = code.get(..at).unwrap_or_default();
        let rest = code.get(at + name.len()..).unwrap_or_default();
        if before.ends_with(|c| is_part(c) || c == '.') || rest.starts_with(is_part) {
            continue;
        }
        let Some(value) =
            rest.trim_start().strip_prefix('=').filter(|value| !value.starts_with(['=', '>', '~']))
        else {
            continue;
        };
        let value = value.trim_start();
        let (_, after) = literal(value)?;
        // A text that something is joined to is another one.
        let is_whole = after.trim_start_matches([' ', '\t']).is_empty()
            || after.trim_start_matches([' ', '\t']).starts_with([';', '\n', ',', ')', '}']);
        if found.is_some() || !is_whole {
            return None;
        }
        found = value.get(..value.len() - after.len());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::inline_calls::notations::piped;
    use crate::programs::inline_calls::with_home;

    fn shown(interpreter: &str, code: &str) -> Vec<String> {
        let mut found = calls(interpreter, code).0;
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
            ("python3", "import shutil\nshutil.rmtree('/a', ignore_errors=True)", "[rm][-rf][/a]"),
            ("python3", "os.remove('a')", "[rm][-rf][a]"),
            ("python3", "Path('/a').unlink(missing_ok=True)", "[rm][-rf][/a]"),
            ("python3", "shutil.move('/a', 'b')", "[mv][/a][b]"),
            ("node", "require('fs').rmSync('/a', {recursive: true, force: true})", "[rm][-rf][/a]"),
            ("node", "fs.rm('a', { recursive: true }, () => {})", "[rm][-rf][a]"),
            ("node", "fs.rmSync(`${d}/a`)", "[rm][-rf][$x/a]"),
            ("perl", "unlink 'a', 'b';", "[rm][-rf][a][b]"),
            ("ruby", "FileUtils.rm_rf('/a')", "[rm][-rf][/a]"),
            ("ruby", "FileUtils.rm_rf(['a', 'b'])", "[rm][-rf][a][b]"),
            ("php", "unlink('a');", "[rm][-rf][a]"),
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
            ("python3", "names.remove('/a')"),
            ("python3", "'a'.replace('/a', 'b')"),
            ("python3", "shutil.rmtree(directory)"),
            ("node", "map.delete('/a'); list.remove('/b')"),
            ("ruby", "hash.delete('/a')"),
        ] {
            assert_eq!(shown(interpreter, code), Vec::<String>::new(), "{code}");
        }
    }

    #[test]
    fn the_home_directory_is_known_in_code() {
        for (code, expected) in [
            ("rmtree(os.path.expanduser('~/a'))", "[rm][-rf][/h/a]"),
            ("fs.rmSync(os.homedir())", "[rm][-rf][/h]"),
            ("fs.rmSync(process.env.HOME + '/a')", "[rm][-rf][/h$x/a]"),
            ("rmtree(Path.home())", "[rm][-rf][/h]"),
            ("FileUtils.rm_rf(Dir.home)", "[rm][-rf][/h]"),
        ] {
            assert_eq!(shown("ruby", &with_home(code, "/h").unwrap()), [expected], "{code}");
        }
        assert_eq!(with_home("print('a ~ b')", "/h"), None);
    }
}
