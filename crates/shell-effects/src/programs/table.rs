//! The programs that are known: which row of which table.

mod databases;
mod flags;
mod readers;
mod row;
mod runners;
mod silent;
mod writers;

use databases::DATABASES;
use readers::READERS;
use row::row;
pub(crate) use row::{Action, Program, Stdin};
use runners::RUNNERS;
use silent::SILENT;
use writers::WRITERS;

/// What touches nothing.
const NOTHING: Program = row("", "", Action::Nothing);

/// The program of a command's first word: by its name, or by its path in a directory for programs.
pub(crate) fn find(word: &str) -> Option<&'static Program> {
    let name = match word.rsplit_once('/') {
        Some((directory, name)) if directory.ends_with("bin") && !directory.ends_with(".bin") => name,
        Some(_) => return None,
        None => word,
    };
    by_name(name)
}

/// The program of this name, wherever it is.
pub(crate) fn by_name(name: &str) -> Option<&'static Program> {
    if SILENT.binary_search(&name).is_ok() {
        return Some(&NOTHING);
    }
    let find = |table: &'static [Program]| {
        let at = table.binary_search_by(|program| program.alias.cmp(name)).ok()?;
        table.get(at)
    };
    find(RUNNERS).or_else(|| find(READERS)).or_else(|| find(WRITERS)).or_else(|| find(DATABASES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_sorted_so_that_they_are_found_in_one_table_only() {
        let mut all: Vec<&str> = SILENT.to_vec();
        assert!(SILENT.is_sorted());
        for table in [READERS, RUNNERS, WRITERS, DATABASES] {
            assert!(table.is_sorted_by_key(|program| program.alias));
            all.extend(table.iter().map(|program| program.alias));
        }
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count, "a program has two rows");
    }
}
