//! Clients of databases: the SQL that they are given, and `sqlite3`, whose database is a file and whose commands name others.

use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::Field;
use crate::analysis::stream::Stream;
use crate::programs::arguments::Call;
use crate::programs::program::{Program, Stdin, special, tool};
use crate::{Access, SimpleCommand};

const SQL: Stdin = Stdin::Sql { has_hash_comments: false };
const MYSQL: Stdin = Stdin::Sql { has_hash_comments: true };

#[rustfmt::skip]
pub(crate) const DATABASES: &[Program] = &[
    tool(&["redis-cli"], "-h= -p= -s= -a= -u= -r= -i= -n= -d= -D= -t= --user= --pass= --sni= --cacert= --cert= --key=").stdin(Stdin::Queries),
    Program::new(&["clickhouse", "clickhouse-client", "clickhouse-local", "cockroach", "duckdb", "litecli", "pgcli", "psql", "sqlcmd", "usql"]).stdin(SQL),
    Program::new(&["mariadb", "mycli", "mysql"]).stdin(MYSQL),
    Program::new(&["mongo", "mongosh"]).stdin(Stdin::Queries),
    special(&["sqlite3"], "-cmd= -init=r -separator= -newline= -nullvalue= -mmap= -maxsize=", sqlite).stdin(SQL),
];

/// The SQL that a client of a database is given.
#[derive(Debug)]
pub struct Sql<'a> {
    /// Its arguments and its standard input. Each may hold statements.
    pub texts: Vec<&'a str>,
    /// Whether a comment may start with `#`.
    pub has_hash_comments: bool,
}

impl SimpleCommand {
    /// The SQL that it runs, if it is a client of a database, wherever that program is.
    #[must_use]
    pub fn sql(&self) -> Option<Sql<'_>> {
        let Stdin::Sql { has_hash_comments } = self.entry?.stdin else { return None };
        let words = self.words.iter().skip(1);
        // Each argument counts: an option that nobody listed would hide what it holds.
        let texts = words.map(|word| attached(word)).chain(self.input.as_deref()).collect();
        Some(Sql { texts, has_hash_comments })
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

/// How statements start that only read.
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

fn sqlite(analyzer: &mut Analyzer<'_>, call: &Call<'_>) {
    let memory = Field::literal(":memory:");
    let (database, statements) = call.arguments.operands.split_first().unwrap_or((&memory, &[]));
    let mut texts: Vec<Field> = call.arguments.values(&["-cmd"]).chain(statements).cloned().collect();
    if statements.is_empty()
        && let Stream::Text(printed) = analyzer.input()
    {
        texts.push(printed.text.clone());
    }
    if database.text != ":memory:" {
        analyzer.reads(database, call.command);
        let only_reads = !texts.is_empty() && texts.iter().all(|text| only_reads(&text.text));
        if !only_reads && !call.arguments.has(&["-r", "-readonly"]) {
            analyzer.touch(Access::Write, database, call.command);
        }
    }
    // A command in an argument goes on over its line breaks.
    let is_input = statements.is_empty();
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
                None => analyzer.inline_code("sqlite3", line.to_owned()),
            }
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

/// Commands of `sqlite3` with files.
const READING_FILES: &[&str] = &["import", "load", "open", "read", "restore"];
const WRITING_FILES: &[&str] = &["backup", "clone", "log", "once", "output", "save", "trace"];

/// `.read FILE` and others.
fn dot_command(analyzer: &mut Analyzer<'_>, call: &Call<'_>, command: &str) {
    let (name, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
    // A backslash before a character means nothing.
    let name = name.replace('\\', "");
    let rest = rest.trim();
    // What is short for a command is that command.
    let is = |full: &str| !name.is_empty() && full.starts_with(&name);
    if is("shell") || is("system") {
        analyzer.subshell(|analyzer| analyzer.code(&Field::literal(rest), "sh"));
        return;
    }
    let files = rest
        .split_whitespace()
        .map(|word| word.trim_matches(['\'', '"']))
        .filter(|word| !word.starts_with('-'));
    let access = if READING_FILES.iter().any(|full| is(full)) {
        Access::Read
    } else if WRITING_FILES.iter().any(|full| is(full)) {
        Access::Write
    } else {
        return;
    };
    for file in files {
        // `.read |CODE` and `.once |CODE` run it.
        match file.strip_prefix('|') {
            Some(_) => {
                return analyzer
                    .subshell(|analyzer| analyzer.code(&Field::literal(rest.trim_start_matches('|')), "sh"));
            }
            None => analyzer.touch(access, &Field::literal(file.replace('\\', "")), call.command),
        }
    }
}
