//! Database clients: the SQL that they get, and `sqlite3`, whose database is a file and whose commands name other files.

use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::Field;
use crate::analysis::stream::Stream;
use crate::programs::action::Stdin;
use crate::programs::archives;
use crate::programs::arguments::{self, Call};
use crate::programs::program::{Program, special, tool};
use crate::programs::start_up;
use crate::{Access, SimpleCommand};

const SQL: Stdin = Stdin::Sql { has_hash_comments: false };
const MYSQL: Stdin = Stdin::Sql { has_hash_comments: true };

#[rustfmt::skip]
pub(crate) const DATABASES: &[Program] = &[
    tool(&["redis-cli"], "-h= -p= -s= -a= -u= -r= -i= -n= -d= -D= -t= --user= --pass= --sni= --cacert= --cert= --key=").stdin(Stdin::Queries),
    special(&["beeline", "bq", "clickhouse", "clickhouse-client", "clickhouse-local", "cockroach", "cqlsh", "duckdb", "hive", "impala-shell",
        "isql", "litecli", "mssql-cli", "pgcli", "presto", "snow", "snowsql", "spark-sql", "sqlcmd", "sqlplus", "trino", "turso", "usql",
        "wrangler"], "", statements).stdin(SQL),
    special(&["psql"], "-o=c -L=c --output=c --log-file=c -c= --command= -f=f --file=f --psqlrc=c -d= -h= -p= -U= -v= -F= -R= -P= -T=", statements).stdin(SQL).start_up(&["~/.psqlrc", "$PSQLRC"]),
    special(&["mariadb", "mycli", "mysql"], "--tee=c --defaults-file=c --defaults-extra-file=c --login-path=c --plugin-dir=c --init-command=c", statements).stdin(MYSQL),
    Program::new(&["mongo", "mongosh"]).stdin(Stdin::Queries),
    special(&["sqlite3"], "-cmd= -init=f --init=f -A! -separator= -newline= -nullvalue= -mmap= -maxsize=", sqlite).stdin(SQL).passing_database(":memory:").start_up(&["~/.sqliterc", "~/.config/sqlite3/sqliterc"]),
];

/// The SQL that a database client gets.
#[derive(Debug)]
pub struct Sql<'a> {
    /// Its arguments and its standard input. Each may hold statements.
    pub texts: Vec<&'a str>,
    /// Whether a comment may start with `#`.
    pub has_hash_comments: bool,
}

impl SimpleCommand {
    /// The SQL that it runs, if it is a database client, in whatever directory.
    #[must_use]
    pub fn sql(&self) -> Option<Sql<'_>> {
        let Stdin::Sql { has_hash_comments } = self.entry?.stdin else { return None };
        if self.is_in_memory() {
            return None;
        }
        let words = self.words.iter().skip(1);
        // Each argument counts: SQL could be in the value of an unlisted option.
        let texts = words.map(|word| attached(word)).chain(self.input.as_deref()).collect();
        Some(Sql { texts, has_hash_comments })
    }
}

/// Commands that replace a database in memory by another one.
const OPENING: &[&str] = &["attach", ".open", ".restore", ".shell", ".system"];

impl SimpleCommand {
    /// Whether it only has a database that ends with it: `sqlite3 :memory: 'drop table x'`.
    fn is_in_memory(&self) -> bool {
        let is_option = |word: &&String| word.starts_with('-');
        let texts = self.words.iter().chain(&self.input);
        let opens = |text: &String| {
            let text = text.to_ascii_lowercase();
            OPENING.iter().any(|name| text.contains(name))
        };
        let database = self.words.iter().skip(1).find(|word| !is_option(word)).map(String::as_str);
        database.is_some()
            && self.entry.is_some_and(|program| program.passing_database == database)
            && self.unknown.is_empty()
            && !texts.into_iter().any(opens)
    }
}

/// A word, or the value in one: `--command=…`, `-c…`.
fn attached(word: &str) -> &str {
    if word.starts_with("--") {
        return word.split_once('=').map_or(word, |(_, value)| value);
    }
    let mut short = word.char_indices().skip(2);
    match short.next() {
        Some((at, _)) if word.starts_with('-') => word.get(at..).unwrap_or(word),
        _ => word,
    }
}

/// Text before the name of a file, in a statement or a client's command.
const NAMING_FILES: &[&str] = &[
    "attach",
    "copy",
    "create extension",
    "dumpfile",
    "language c",
    "language pl",
    "infile",
    "load_file",
    "lo_export",
    "lo_import",
    "load '",
    "outfile",
    "pg_read",
    "read_",
    "readfile",
    "source ",
    "tee ",
    "\\e",
    "\\i",
    "\\lo_",
    "\\s ",
    "\\setenv",
    "\\o",
    "\\g",
    "\\w",
    "\\.",
];

/// Text before shell code, which ends with its line or its quote.
const RUNNING: &[&str] = &["\\!", "system ", "program '", "\\copy program '"];

/// Clients whose statements may name files and run commands.
fn statements(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    analyzer.unknown_program(call.fields);
    let mut texts: Vec<String> =
        call.fields.iter().skip(1).map(|field| attached(&field.shown()).to_owned()).collect();
    if let Stream::Text(printed) = analyzer.input() {
        texts.push(printed.text.text.clone());
    }
    if !call.program.start_up.is_empty() {
        texts.extend(start_up::texts(analyzer, call.program).into_iter().map(|text| text.text));
    }
    for text in texts.into_iter().filter(|text| text.contains([' ', '\\', '('])) {
        let lower = text.to_ascii_lowercase();
        for start in RUNNING {
            for (at, name) in lower.match_indices(start) {
                let rest = text.get(at + name.len()..).unwrap_or_default();
                let end = if name.ends_with('\'') { '\'' } else { '\n' };
                let code = Field::literal(rest.split(end).next().unwrap_or_default());
                analyzer.as_part(|analyzer| analyzer.subshell(|analyzer| analyzer.code(&code, "sh")));
            }
        }
        if NAMING_FILES.iter().any(|name| lower.contains(name)) {
            analyzer.acts_by(&text, call.command);
            analyzer.inline_code(call.name, text);
        }
    }
}

/// The first words of statements that only read.
const READING: &[&str] = &[
    "select",
    "with",
    "explain",
    "pragma",
    "values",
    ".schema",
    ".tables",
    ".dump",
    ".indexes",
    ".databases",
];

/// The file of a database, which may be given as `file:PATH?OPTIONS`.
fn database_file(database: &Field) -> Field {
    match database.text.strip_prefix("file:") {
        Some(rest) => database.with(rest.split(['?', '#']).next().unwrap_or(rest)),
        None => database.clone(),
    }
}

fn sqlite(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let memory = Field::literal(":memory:");
    let (database, statements) = call.arguments.operands.split_first().unwrap_or((&memory, &[]));
    let mut texts: Vec<Field> = call.arguments.values(&["-cmd"]).chain(statements).cloned().collect();
    if statements.is_empty()
        && let Stream::Text(printed) = analyzer.input()
    {
        texts.push(printed.text.clone());
    }
    let database = &database_file(database);
    if database.text != ":memory:" {
        analyzer.reads(database, call.command);
        let only_reads = !texts.is_empty() && texts.iter().all(|text| only_reads(&text.text));
        if !only_reads && !call.arguments.has(&["-r", "-readonly"]) {
            analyzer.touch(Access::Write, database, call.command);
        }
    }
    if let Some(at) = call.fields.iter().position(|field| field.text.starts_with("-A")) {
        let first =
            call.fields.get(at).map(|field| field.with(format!("-{}", field.text.trim_start_matches("-A"))));
        let files = call.fields.iter().skip(at + 1).filter(|field| *field != database);
        let words: Vec<Field> = first.into_iter().chain(files.cloned()).collect();
        return archive(analyzer, call, &words);
    }
    // The directory changes for the following commands.
    analyzer.in_directory(None, |analyzer| {
        for text in start_up::texts(analyzer, call.program) {
            run_statements(analyzer, call, &[text], true);
        }
        for file in call.arguments.values(&["-init"]) {
            read_file(analyzer, call, file);
        }
        run_statements(analyzer, call, &texts, statements.is_empty());
    });
}

/// Words with which a statement of `sqlite3` may name a file. After `load` any function may exist.
#[rustfmt::skip]
const SQLITE_FILES: &[&str] = &["attach", "csv", "edit", "fsdir", "load", "lsmode", "pragma", "readfile", "vacuum", "virtual", "writefile", "zipfile"];

/// Whether a text may name a file in a statement: commands of `sqlite3`, unknown parts, and the words above.
fn names_files(text: &Field) -> bool {
    let lower = text.text.to_ascii_lowercase();
    !text.is_literal()
        || lower.lines().any(|line| line.trim_start().starts_with('.'))
        || SQLITE_FILES.iter().any(|word| lower.contains(word))
}

/// Statements, and commands of `sqlite3` itself.
fn run_statements(analyzer: &mut Analyzer<'_>, call: &Call<'_>, texts: &[Field], is_input: bool) {
    let may_name = texts.iter().any(names_files);
    // A command in an argument may continue over line breaks.
    let (commands, texts): (Vec<&Field>, Vec<&Field>) =
        texts.iter().partition(|text| !is_input && text.text.trim_start().starts_with('.'));
    for text in commands {
        let command = text.text.trim_start().trim_start_matches('.').replace('\n', " ");
        dot_command(analyzer, call, &command);
    }
    for text in texts {
        for line in text.text.lines() {
            match line.trim_start().strip_prefix('.') {
                Some(command) => dot_command(analyzer, call, command),
                None => {
                    let lower = line.to_ascii_lowercase();
                    if ACTING.iter().any(|name| lower.contains(name)) {
                        analyzer.acts_by(line, call.command);
                    }
                    edited(analyzer, line);
                    if may_name {
                        analyzer.inline_code("sqlite3", line.to_owned());
                    }
                }
            }
        }
    }
}

/// What writes a file or loads code in a statement.
const ACTING: [&str; 5] = ["fts3_tokenizer", "into '", "into \"", "load_extension", "writefile"];

/// A file of statements that this script wrote.
fn read_file(analyzer: &mut Analyzer<'_>, call: &Call<'_>, file: &Field) {
    let Stream::Text(printed) = analyzer.content(file) else { return };
    let text = printed.text.clone();
    analyzer.deeper(|analyzer| run_statements(analyzer, call, std::slice::from_ref(&text), true));
}

/// `sqlite3 -A OPTIONS FILES`, `.archive OPTIONS FILES`: a database as an archive, with the options of tar.
fn archive(analyzer: &mut Analyzer<'_>, call: &Call<'_>, words: &[Field]) {
    let arguments = arguments::parse("-f=w -C= --file=w --directory=", words);
    analyzer.files_of_flags("-f=w --file=w", &arguments, call.command);
    if arguments.has(&["-x", "--extract"]) {
        return archives::extracted(analyzer, call, arguments.value(&["-C", "--directory"]), None);
    }
    analyzer.in_directory(arguments.value(&["-C", "--directory"]), |analyzer| {
        arguments.operands.iter().for_each(|file| analyzer.touch_tree(Access::Read, file, call.command));
    });
}

/// `edit(TEXT, EDITOR)` in a statement.
fn edited(analyzer: &mut Analyzer<'_>, statement: &str) {
    for (at, name) in statement.match_indices("edit(") {
        let rest = statement.get(at + name.len()..).unwrap_or_default();
        for code in rest.split(['\'', '"']).skip(1).step_by(2).map(Field::literal) {
            analyzer.as_part(|analyzer| analyzer.only_commands(|analyzer| analyzer.code(&code, "sh")));
        }
    }
}

fn only_reads(text: &str) -> bool {
    let statements = text.split([';', '\n']).map(str::trim).filter(|statement| !statement.is_empty());
    statements.into_iter().all(|statement| {
        let first = statement.split_whitespace().next().unwrap_or_default();
        let sets = first.eq_ignore_ascii_case("pragma") && statement.contains('=');
        READING.iter().any(|word| first.eq_ignore_ascii_case(word)) && !sets
    })
}

/// What a command of `sqlite3` itself does, apart from running code.
#[derive(Clone, Copy, Eq, PartialEq)]
enum DotEffect {
    /// It does more than its files show.
    Acts,
    Reads,
    Writes,
}

/// A command of `sqlite3` itself: `.read FILE`.
struct DotCommand {
    name: &'static str,
    may_be_abbreviated: bool,
    effects: &'static [DotEffect],
}

const fn dot(name: &'static str, effects: &'static [DotEffect]) -> DotCommand {
    DotCommand { name, may_be_abbreviated: true, effects }
}

const fn dot_in_full(name: &'static str, effects: &'static [DotEffect]) -> DotCommand {
    DotCommand { name, may_be_abbreviated: false, effects }
}

const DOT_COMMANDS: &[DotCommand] = &[
    dot("archive", &[DotEffect::Acts]),
    dot("backup", &[DotEffect::Writes]),
    dot_in_full("cd", &[DotEffect::Acts]),
    dot("clone", &[DotEffect::Writes]),
    dot_in_full("excel", &[DotEffect::Acts]),
    dot("import", &[DotEffect::Reads]),
    dot("load", &[DotEffect::Acts, DotEffect::Reads]),
    dot("log", &[DotEffect::Writes]),
    dot("once", &[DotEffect::Writes]),
    dot("open", &[DotEffect::Reads, DotEffect::Writes]),
    dot("output", &[DotEffect::Writes]),
    dot("read", &[DotEffect::Reads]),
    dot("restore", &[DotEffect::Acts, DotEffect::Reads]),
    dot("save", &[DotEffect::Writes]),
    dot("session", &[DotEffect::Acts]),
    dot("trace", &[DotEffect::Writes]),
    dot_in_full("www", &[DotEffect::Acts]),
];

/// Whether a name abbreviates a command.
fn abbreviates(name: &str, full: &str) -> bool {
    !name.is_empty() && full.starts_with(name)
}

/// Whether a command does this. An abbreviation of several commands may be any of them.
fn may_do(name: &str, effect: DotEffect) -> bool {
    let is = |command: &DotCommand| {
        name == command.name || command.may_be_abbreviated && abbreviates(name, command.name)
    };
    DOT_COMMANDS.iter().any(|command| command.effects.contains(&effect) && is(command))
}

/// A command of `sqlite3` itself.
fn dot_command(analyzer: &mut Analyzer<'_>, call: &Call<'_>, command: &str) {
    let (name, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
    // A backslash before a character has no effect.
    let name = name.replace('\\', "");
    let rest = rest.trim();
    let is = |full: &str| abbreviates(&name, full);
    if is("shell") || is("system") {
        return dot_shell(analyzer, rest);
    }
    if may_do(&name, DotEffect::Acts) {
        analyzer.acts_by(&format!(".{name}"), call.command);
    }
    let words = || rest.split_whitespace().map(|word| word.trim_matches(['\'', '"']));
    let mut files = words().filter(|word| !word.starts_with('-'));
    if name == "cd" {
        if let Some(directory) = files.next() {
            analyzer.state.directories.enter(&Field::literal(directory));
        }
    } else if is("archive") || name == "ar" {
        archive(analyzer, call, &words().map(Field::literal).collect::<Vec<_>>());
    } else if is("session") && rest.split_whitespace().any(|word| matches!(word, "changeset" | "patchset")) {
        if let Some(file) = files.next_back() {
            analyzer.touch(Access::Write, &Field::literal(file), call.command);
        }
    } else {
        dot_files(analyzer, call, &name, rest);
    }
}

/// `.shell CODE`.
fn dot_shell(analyzer: &mut Analyzer<'_>, code: &str) {
    analyzer.subshell(|analyzer| analyzer.code(&Field::literal(code), "sh"));
    // The shell gets its words without quotes.
    if code.contains(['\'', '"', '\\']) {
        let bare = code.replace(['\'', '"', '\\'], "");
        analyzer.subshell(|analyzer| analyzer.code(&Field::literal(bare), "sh"));
    }
}

/// `.read '|CODE'`: what the code prints are statements.
fn read_printed(analyzer: &mut Analyzer<'_>, call: &Call<'_>, name: &str, printed: Stream) {
    match printed {
        Stream::Text(printed) if !printed.and_more => {
            analyzer
                .deeper(|analyzer| run_statements(analyzer, call, std::slice::from_ref(&printed.text), true));
        }
        Stream::Nothing | Stream::File => {}
        _ if abbreviates(name, "read") => analyzer.doubt_script(call.name),
        _ => {}
    }
}

/// `.read FILE`, `.once FILE`. After a `|`, the rest of the line is shell code.
fn dot_files(analyzer: &mut Analyzer<'_>, call: &Call<'_>, name: &str, rest: &str) {
    let (reads, writes) = (may_do(name, DotEffect::Reads), may_do(name, DotEffect::Writes));
    if !reads && !writes {
        return;
    }
    let words = rest.split_whitespace().map(|word| word.trim_matches(['\'', '"']));
    for file in words.filter(|word| !word.starts_with('-')) {
        // A backslash before it has no effect.
        if file.trim_start_matches('\\').starts_with('|') {
            let code = rest.trim_matches(['\'', '"', '\\']).trim_start_matches('|');
            let printed = analyzer.printing(|analyzer| {
                analyzer.subshell(|analyzer| analyzer.code(&Field::literal(code), "sh"));
            });
            return read_printed(analyzer, call, name, printed);
        }
        let file = Field::literal(file.replace('\\', ""));
        if reads {
            analyzer.touch(Access::Read, &file, call.command);
            read_file(analyzer, call, &file);
        }
        if writes {
            analyzer.by_option(name, |analyzer| analyzer.touch(Access::Write, &file, call.command));
        }
    }
}
