//! `fd`, `grep` and `rg`.

use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::{Field, FieldKind};
use crate::analysis::stream::{self, Stream};
use crate::glob::escaped;
use crate::programs::arguments::{self, Arguments, Call, Flags};
use crate::programs::batches::replaced;
use crate::programs::expression::name_pattern;
use crate::programs::find;
use crate::programs::program::{DeletedFiles, Program, special};
use crate::{Access, Base, Target};

const FD: Flags = "-e= -t= -E= -d= -S= -o= -c= -j= --extension= --type= --exclude= --max-depth= --min-depth= --size= --owner= \
    --changed-within= --changed-before= --color= --threads= --base-directory=";
const RG: Flags = "--ackrc=f -e= -f=r -g= -t= -T= -m= -A= -B= -C= -r= -d= -j= -M= -E= -G= --regexp= --file=r --glob= --iglob= \
    --type= --type-not= --max-count= --max-depth= --replace= --sort= --sortr= --threads= --encoding= \
    --ignore-file=r --after-context= --before-context= --context= --color= --colors= --max-columns= \
    --pager=x --pre= --pre-glob= --hostname-bin= --engine= --type-add= --context-separator=";
const GREP: Flags = "-e= -f=r -m= -A= -B= -C= -D= -d= --regexp= --file=r --max-count= --after-context= --before-context= \
    --context= --include= --exclude= --exclude-from=r --exclude-dir= --label= --color? --colour? \
    --binary-files= --devices= --directories=";

/// The options of ast-grep. `-r` is a text in `run`, and a file of rules in `scan`.
const AST_GREP: Flags = "-p= -r= -l= -c=r -j= -A= -B= -C= -t= --pattern= --rewrite= --lang= --config=r --rule=r --threads= --selector= \
    --strictness= --globs= --json? --color= --inline-rules= --filter= --after= --before= --context= --max-results=";

#[rustfmt::skip]
pub(crate) const SEARCH: &[Program] = &[
    special(&["ack", "ag", "rg"], RG, grep_below).keeps_paths(),
    special(&["rgrep"], GREP, grep_below).keeps_paths(),
    special(&["egrep", "fgrep", "grep", "pcregrep", "zgrep"], GREP, grep).keeps_paths(),
    special(&["ast-grep"], "", ast_grep),
    special(&["fd", "fdfind"], FD, fd),
    special(&["find"], "", find::find).deletes(DeletedFiles::Found),
];

/// Whether the words of `sg` are those of ast-grep: options, or a subcommand before other words. `sg GROUP -c CODE` is the other
/// program.
pub(crate) fn is_ast_grep(words: &[Field]) -> bool {
    let is_option = |word: Option<&Field>| {
        word.is_some_and(|word| word.text.len() > 1 && word.text.starts_with('-') && word.text != "-c")
    };
    let is_subcommand = |word: &Field| matches!(word.text.as_str(), "run" | "scan" | "test" | "new" | "lsp");
    is_option(words.get(1)) || words.get(1).is_some_and(is_subcommand) && is_option(words.get(2))
}

/// `ast-grep run -p PATTERN PATHS`: with `-U` it changes the files in which it finds something.
pub(crate) fn ast_grep(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let words = call.fields.get(1..).unwrap_or_default();
    let skipped = usize::from(words.first().is_some_and(|word| !word.text.starts_with('-')));
    let arguments = arguments::parse(AST_GREP, words.get(skipped..).unwrap_or_default());
    analyzer.files_of_flags(AST_GREP, &arguments, call.command);
    let writes = arguments.has(&["-U", "--update-all", "-i", "--interactive"]);
    for file in &arguments.operands {
        if writes {
            analyzer.touch(Access::Format, file, call.command);
        }
        analyzer.reads(file, call.command);
    }
}

/// `fd PATTERN ROOTS -x COMMAND`.
fn fd(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let words = call.fields.get(1..).unwrap_or_default();
    let runs = |field: &Field| matches!(field.text.as_str(), "-x" | "--exec" | "-X" | "--exec-batch");
    let at = words.iter().position(runs).unwrap_or(words.len());
    let joined = words.iter().take(at).enumerate().find_map(|(at, word)| Some((at, joined_command(word)?)));
    if let Some((at, command)) = joined {
        let (start, rest) =
            (call.fields.get(..=at).unwrap_or_default(), words.get(at + 1..).unwrap_or_default());
        let separate: Vec<Field> = [start, &[Field::literal("-x")], command.as_slice(), rest].concat();
        return fd(
            analyzer,
            &Call { fields: &separate, arguments: Arguments::default(), rest: &[], ..*call },
        );
    }
    let arguments = arguments::parse(call.program.options, words.get(..at).unwrap_or_default());
    let endings: Vec<String> =
        arguments.values(&["-e", "--extension"]).map(|ending| format!("*.{}", ending.text)).collect();
    let found = listed(
        arguments.operands.get(1..).unwrap_or_default(),
        &name_patterns(endings.iter().map(String::as_str), true),
    );
    if at == words.len() {
        // A format may print any text.
        if !arguments.has(&["--format"]) {
            analyzer.set_output(found);
        }
        return;
    }
    let command = words.get(at + 1..).unwrap_or_default();
    let has_mark = command.iter().any(|word| word.text.contains("{}"));
    for by in found_by_fd(&arguments, if endings.is_empty() { None } else { Some(found) }) {
        let mut fields: Vec<Field> = command.iter().map(|word| replaced(word, "{}", &by)).collect();
        if !has_mark {
            fields.push(by);
        }
        analyzer.deeper(|analyzer| analyzer.run_fields(&fields));
    }
}

/// What `fd` passes to a command: the files that it finds by their endings, or by a part of their names.
fn found_by_fd(arguments: &Arguments, by_ending: Option<Stream>) -> Vec<Field> {
    let by_pattern = arguments.has(&["-p", "--full-path", "-g", "--glob", "-F", "--fixed-strings"]);
    let by_name = || {
        if by_pattern {
            return None;
        }
        let name = arguments.operands.first().and_then(contained)?;
        Some(listed(arguments.operands.get(1..).unwrap_or_default(), &[name]))
    };
    let by_ending = by_ending.filter(|found| matches!(found, Stream::Files(_)));
    match by_ending.or_else(by_name) {
        Some(Stream::Files(files)) => files.iter().map(stream::found).collect(),
        _ => vec![Field::unknown("what was found")],
    }
}

/// The command that starts in one word with flags: `-Hxrm`. Empty if it is the next word.
fn joined_command(word: &Field) -> Option<Vec<Field>> {
    let flags = word.text.strip_prefix('-').filter(|flags| !flags.starts_with('-') && flags.len() > 1)?;
    let takes_value = |c: char| "etEdSojc".contains(c);
    let at = flags.find(|c| takes_value(c) || matches!(c, 'x' | 'X'))?;
    let command = flags.get(at..)?.strip_prefix(['x', 'X'])?;
    Some(if command.is_empty() { Vec::new() } else { vec![word.with(command)] })
}

/// The shell pattern for names with this text. `fd` ignores the case of lower-case text.
fn contained(text: &Field) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !text.is_literal() || text.text.is_empty() || !text.text.chars().all(is_plain) {
        return None;
    }
    let any_case = |c: char| {
        if c.is_ascii_lowercase() { format!("[{c}{}]", c.to_ascii_uppercase()) } else { c.to_string() }
    };
    Some(format!("*{}*", text.text.chars().map(any_case).collect::<String>()))
}

/// `grep PATTERN FILES`.
fn grep(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let is_recursive = call.arguments.has(&["-r", "-R", "--recursive", "--dereference-recursive"]);
    lines(analyzer, call, is_recursive);
}

/// `rg PATTERN FILES`, which searches directories without an option.
fn grep_below(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    lines(analyzer, call, true);
}

/// The first operand is a pattern, unless an option gives that. Reads the other operands as files. With `-l` the names of matching
/// files are printed.
fn lines(analyzer: &mut Analyzer<'_>, call: &Call<'_>, is_recursive: bool) {
    let arguments = &call.arguments;
    let has_pattern = arguments.has(&["-e", "-f", "--regexp", "--file", "--files"]);
    let files = arguments.operands.get(usize::from(!has_pattern)..).unwrap_or_default();
    for program in arguments.values(&["--pre", "--hostname-bin"]) {
        let words = [program.clone(), Field::unknown("the files that are searched")];
        analyzer.as_part(|analyzer| analyzer.deeper(|analyzer| analyzer.run_fields(&words)));
    }
    let here = Field::literal(".");
    let is_somewhere = is_recursive && analyzer.state.bases().iter().all(|base| *base == Base::Unknown);
    for file in files {
        // A search without a directory is one of the current directory, too.
        if is_somewhere && matches!(file.text.as_str(), "." | "./") {
            continue;
        }
        // Without a value it is the current directory.
        let is_here = is_recursive && analyzer.is_only_unset(file);
        let below = if is_recursive { analyzer.below_unset(file) } else { None };
        analyzer.reads(if is_here { &here } else { below.as_ref().unwrap_or(file) }, call.command);
    }
    for pattern in arguments.values(&["-g", "--glob", "--iglob", "--include"]) {
        included(analyzer, pattern, call.command);
    }
    if arguments.has(&["-l", "--files-with-matches", "--files"]) {
        let patterns =
            arguments.values(&["-g", "--glob", "--iglob", "--include"]).map(|field| field.text.as_str());
        analyzer.set_output(listed(files, &name_patterns(patterns, arguments.has(&["--iglob"]))));
    } else if starts_with_names(analyzer, call, files, is_recursive) {
        let patterns =
            arguments.values(&["-g", "--glob", "--iglob", "--include"]).map(|field| field.text.as_str());
        if let Stream::Files(files) = listed(files, &name_patterns(patterns, arguments.has(&["--iglob"]))) {
            analyzer.set_output(Stream::FileLines(files));
        }
    } else if files.is_empty() {
        kept_lines(analyzer, arguments);
    }
}

/// What is kept of the names on the input.
fn kept_lines(analyzer: &mut Analyzer<'_>, arguments: &Arguments) {
    match analyzer.input() {
        Stream::Files(names) => {
            if let Some(kept) = kept(arguments, names) {
                analyzer.set_output(Stream::Files(kept));
            }
        }
        Stream::FileLines(_) if !arguments.has(CHANGED) && !arguments.has(CONTEXT) => {
            analyzer.set_output(analyzer.input().clone());
        }
        _ => {}
    }
}

/// Options of `grep` with which other lines are printed too.
const CONTEXT: &[&str] = &["-A", "-B", "-C", "--after-context", "--before-context", "--context"];

/// Options of `grep` and `rg` with which each line still starts with the name of its file and a colon, if there are several files.
#[rustfmt::skip]
const NAMING: &[&str] = &[
    "-E", "-F", "-G", "-P", "-R", "-S", "-e", "-g", "-i", "-m", "-n", "-o", "-s", "-t", "-v", "-w", "-x",
    "--exclude", "--exclude-dir", "--extended-regexp", "--fixed-strings", "--glob", "--hidden", "--iglob", "--ignore-case", "--include",
    "--invert-match", "--line-number", "--max-count", "--no-ignore", "--no-messages", "--only-matching", "--perl-regexp", "--recursive",
    "--regexp", "--smart-case", "--type", "--type-not", "--word-regexp", "-H", "--with-filename",
];

/// Whether each line of the output starts with the name of a file. It does not if only one file is searched.
fn starts_with_names(analyzer: &Analyzer<'_>, call: &Call<'_>, files: &[Field], is_recursive: bool) -> bool {
    let arguments = &call.arguments;
    let is_ripgrep = call.program.names.contains(&"rg");
    // Of `grep`, `-I` leaves binary files out. Of `rg`, it leaves the names out, and `-r` changes the text.
    let is_naming = |(flag, _): &(String, Option<Field>)| {
        NAMING.contains(&flag.as_str()) || !is_ripgrep && matches!(flag.as_str(), "-I" | "-r")
    };
    let has_names = match files {
        // Without a file `rg` reads its input.
        [] => {
            is_recursive && (!is_ripgrep || matches!(analyzer.input(), Stream::Inherited | Stream::Nothing))
        }
        [file] => arguments.has(&["-H", "--with-filename"]) || is_recursive && analyzer.was_directory(file),
        // An empty word vanishes.
        _ => files.iter().all(Field::is_literal),
    };
    has_names && arguments.flags.iter().all(is_naming)
}

/// Options of `grep` with which lines are not printed unchanged.
const CHANGED: &[&str] =
    &["-c", "--count", "-n", "--line-number", "-o", "--only-matching", "-b", "-f", "--file"];

/// What `grep` keeps of the names on its input: those that end like a file, start like a directory, or have a word in them. With
/// `-v` all might be left, and of the files of git also where the pattern is not understood. None if any may be meant.
fn kept(arguments: &Arguments, names: &[Target]) -> Option<Vec<Target>> {
    if arguments.has(CHANGED) {
        return None;
    }
    if arguments.has(&["-v", "--invert-match"]) {
        return Some(names.to_vec());
    }
    let ignores_case = arguments.has(&["-i", "--ignore-case"]);
    let mut patterns = arguments.values(&["-e", "--regexp"]);
    let pattern = patterns.next().or(arguments.operands.first()).filter(|pattern| pattern.is_literal());
    let is_one = patterns.next().is_none();
    let matching = pattern.and_then(|pattern| {
        let alternatives = alternatives(&pattern.text);
        let kept: Option<Vec<_>> = alternatives
            .iter()
            .map(|text| kept_by(text, names, ignores_case).or_else(|| containing(text, ignores_case)))
            .collect();
        Some(kept?.concat())
    });
    match matching {
        Some(kept) if is_one => Some(kept),
        // A pattern that is made for one file says almost nothing: `v$` for `.env`.
        _ if names.iter().all(|name| *name == Target::WorkTree) && pattern.is_none_or(has_word) => {
            Some(names.to_vec())
        }
        // A search below a directory also finds hidden files, and these may be meant.
        _ => None,
    }
}

/// Whether a pattern has three letters in sequence.
fn has_word(pattern: &Field) -> bool {
    pattern.text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word.len() >= 3)
}

/// The alternatives of a pattern that no parentheses are around: `\.py$|\.pyi$`.
fn alternatives(pattern: &str) -> Vec<String> {
    let pattern = pattern.replace("\\|", "|").replace("\\?", "?").replace("\\(", "(").replace("\\)", ")");
    let (mut found, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    for (at, c) in pattern.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            '|' if depth == 0 => {
                found.push(pattern.get(start..at).unwrap_or_default().to_owned());
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(pattern.get(start..).unwrap_or_default().to_owned());
    found
}

/// The endings that `ts|tsx`, `(ts|js)x?` and `tsx?` stand for.
fn endings(pattern: &str) -> Option<Vec<String>> {
    let (inner, optional) = match pattern.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        Some((inner, rest)) => (inner, rest),
        None => ("", pattern),
    };
    let starts: Vec<&str> = inner.split('|').collect();
    let (end, shorter) = match optional.strip_suffix('?') {
        Some(end) => (end, end.char_indices().next_back().map(|(at, _)| at)),
        None => (optional, None),
    };
    let ends = [Some(end), shorter.and_then(|at| end.get(..at))];
    let all = starts.iter().flat_map(|start| ends.iter().flatten().map(move |end| format!("{start}{end}")));
    let all: Vec<String> = all.collect();
    if all.iter().all(|ending| is_plain(ending)) { Some(all) } else { None }
}

fn is_plain(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// The files whose name a pattern may match, or that of a directory around them. None if it tells too little about them.
fn containing(pattern: &str, ignores_case: bool) -> Option<Vec<Target>> {
    let parts = name_parts(pattern)?;
    let known = parts.iter().filter(|part| part.bytes().all(|byte| byte.is_ascii_alphanumeric())).count();
    if known < 2 {
        return None;
    }
    named(&parts.concat(), ignores_case)
}

/// The files with a text in their name, or in that of a directory around them.
fn named(text: &str, ignores_case: bool) -> Option<Vec<Target>> {
    let name = name_pattern(&Field::literal(format!("*{text}*")), ignores_case)?;
    Some(vec![Target::Glob(format!("**/{name}")), Target::Glob(format!("**/{name}/**/*"))])
}

/// What a regular expression says about the last part of a path, as parts of a shell pattern. That pattern may match more.
fn name_parts(pattern: &str) -> Option<Vec<String>> {
    let mut parts: Vec<String> = Vec::new();
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..)?;
        rest = match c {
            '^' | '$' => after,
            '/' => {
                parts.clear();
                after
            }
            '*' | '+' | '?' | '{' => {
                parts.pop();
                parts.push("*".to_owned());
                if c == '{' { after.split_once('}')?.1 } else { after }
            }
            '(' => {
                parts.push("*".to_owned());
                after_group(after)?
            }
            '[' => {
                let (set, after) = after.split_once(']')?;
                parts.push(if is_plain(set) && set.len() == 1 { set.to_owned() } else { "?".to_owned() });
                after
            }
            '\\' => {
                let next = after.chars().next()?;
                parts.push(if next == '.' { ".".to_owned() } else { "*".to_owned() });
                after.get(next.len_utf8()..)?
            }
            c if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') => {
                parts.push(c.to_string());
                after
            }
            _ => {
                parts.push("?".to_owned());
                after
            }
        };
    }
    Some(parts)
}

/// What follows a group whose parenthesis was opened before.
fn after_group(text: &str) -> Option<&str> {
    let mut depth = 1_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return text.get(at + 1..);
        }
    }
    None
}

/// What one alternative of a pattern keeps.
fn kept_by(text: &str, names: &[Target], ignores_case: bool) -> Option<Vec<Target>> {
    if is_plain(text) {
        return named(text, ignores_case);
    }
    let (folder, rest) = match text.strip_prefix('^').and_then(|rest| rest.rsplit_once('/')) {
        Some((folder, rest)) if !ignores_case && folder.split('/').all(is_plain) => (Some(folder), rest),
        Some(_) => return None,
        None => (None, text),
    };
    if let (Some(folder), "" | ".*") = (folder, rest) {
        return Some(vec![Target::Tree(folder.to_owned())]);
    }
    let pattern = rest.strip_prefix(".*").unwrap_or(rest).strip_prefix("\\.")?.strip_suffix('$')?;
    let mut kept = Vec::new();
    for ending in endings(pattern)? {
        let name = name_pattern(&Field::literal(format!("*.{ending}")), ignores_case)?;
        match folder {
            Some(folder) => kept.push(Target::Glob(format!("{folder}/**/{name}"))),
            None => kept.extend(names.iter().map(|file| ending_like(file, &name))),
        }
    }
    Some(kept)
}

/// The found files whose name matches.
fn ending_like(file: &Target, name: &str) -> Target {
    match file {
        Target::WorkTree => Target::Glob(format!("**/{name}")),
        Target::Tree(root) if matches!(root.trim_end_matches('/'), "." | "") => {
            Target::Glob(format!("**/{name}"))
        }
        Target::Tree(root) => Target::Glob(format!("{}/**/{name}", escaped(root.trim_end_matches('/')))),
        file => file.clone(),
    }
}

/// The patterns for names that limit a search. `None` if it may also find other files.
fn name_patterns<'a>(patterns: impl Iterator<Item = &'a str>, ignores_case: bool) -> Vec<String> {
    let mut names = Vec::new();
    for pattern in patterns.filter(|pattern| !pattern.starts_with('!')) {
        let pattern = pattern.trim_start_matches("**/");
        let alternatives: Vec<String> = match (pattern.split_once('{'), pattern.split_once('}')) {
            (Some((start, _)), Some((inner, end))) if !end.contains(['{', '}']) => {
                let inner = inner.get(start.len() + 1..).unwrap_or_default();
                inner.split(',').map(|one| format!("{start}{one}{end}")).collect()
            }
            _ => vec![pattern.to_owned()],
        };
        for one in alternatives {
            match name_pattern(&Field::literal(one), ignores_case) {
                Some(name) if !name.contains(['/', '{', '}']) => names.push(name),
                _ => return Vec::new(),
            }
        }
    }
    names
}

/// A search that is limited to one name reads these files; `.env*` is like `.env`.
fn included(analyzer: &mut Analyzer<'_>, pattern: &Field, command: usize) {
    let name = pattern.text.trim_start_matches("**/");
    if name.starts_with('.') && name.contains('*') && pattern.is_literal() && !name.contains(['!', '\\', '{'])
    {
        analyzer.reads(&Field::glob(name), command);
    }
    let name = if name.starts_with('.') { name.trim_end_matches('*') } else { name };
    if !name.is_empty() && !name.contains(['*', '?', '[', '{', '!', '\\']) {
        analyzer.reads(&Field::literal(name), command);
    }
}

/// The files that a search prints, from these roots or from the current directory: those that match one of the patterns, if there
/// are any, and roots that are files.
fn listed(roots: &[Field], names: &[String]) -> Stream {
    let here = [Field::literal(".")];
    let roots = if roots.is_empty() { &here } else { roots };
    let mut files = Vec::new();
    for root in roots {
        let folder = root.text.trim_end_matches('/');
        let is_here = root.is_literal() && matches!(folder, "." | "");
        let prefix = match root.kind {
            FieldKind::Literal if is_here => String::new(),
            FieldKind::Literal => format!("{}/", escaped(folder)),
            FieldKind::Glob => format!("{folder}/"),
            FieldKind::Tree | FieldKind::Unknown => {
                files.push(Target::Unknown(root.shown()));
                continue;
            }
        };
        match root.kind {
            _ if is_here && names.is_empty() => files.push(Target::WorkTree),
            _ if is_here => {}
            FieldKind::Glob => files.push(Target::Glob(root.text.clone())),
            _ if names.is_empty() => files.push(Target::Tree(root.text.clone())),
            _ => files.push(Target::Path(root.text.clone())),
        }
        files.extend(names.iter().map(|name| Target::Glob(format!("{prefix}**/{name}"))));
    }
    Stream::Files(files)
}
