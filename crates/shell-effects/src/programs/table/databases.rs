//! Clients of databases.

use super::row::{Action, Program, Stdin, row, runs};
use crate::programs::databases;

const SQL: Stdin = Stdin::Sql { has_hash_comments: false };
const MYSQL: Stdin = Stdin::Sql { has_hash_comments: true };

const fn client(name: &'static str, stdin: Stdin) -> Program {
    row(name, "", Action::Unknown).stdin(stdin)
}

/// Sorted by name.
#[rustfmt::skip]
pub(crate) const DATABASES: &[Program] = &[
    client("clickhouse-client", SQL),
    client("cockroach", SQL),
    client("duckdb", SQL),
    client("litecli", SQL),
    client("mariadb", MYSQL),
    client("mongo", Stdin::Queries),
    client("mongosh", Stdin::Queries),
    client("mycli", MYSQL),
    client("mysql", MYSQL),
    client("pgcli", SQL),
    client("psql", SQL),
    client("redis-cli", Stdin::Queries),
    client("sqlcmd", SQL),
    runs("sqlite3", "-cmd= -init=r -separator= -newline= -nullvalue= -mmap= -maxsize=", databases::sqlite).stdin(SQL),
    client("usql", SQL),
];
