//! The change of a file, as a unified diff.

use std::io;
use std::path::Path;
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use similar::{ChangeTag, TextDiff};

use crate::cli::out::{Out, Paint};
use conclaude_core::text::{clean, revealed};
use conclaude_os::budget::Budget;

const ADDED: Paint = Paint(AnsiColor::Green.on_default());
const REMOVED: Paint = Paint(AnsiColor::Red.on_default());
const PLAIN: Paint = Paint(Style::new());
const HUNK: Paint = Paint(AnsiColor::Cyan.on_default());
const HEADING: Paint = Paint(Style::new().bold());

/// Lines around a change that are shown with it.
const CONTEXT: usize = 2;

/// After this time the diff may be larger than necessary.
const LIMIT: Duration = Duration::from_secs(1);

pub(super) fn print(out: &mut Out<'_>, path: &Path, before: &str, after: &str) -> io::Result<()> {
    let path = path.display();
    writeln!(out, "{HEADING}--- {path}{HEADING:#}\n{HEADING}+++ {path}{HEADING:#}")?;
    let mut is_exact = true;
    let [before, after] = [before, after].map(|text| text.split_inclusive('\n').collect::<Vec<&str>>());
    let diff =
        TextDiff::configure().timeout(Budget::unlimited().at_least(LIMIT)).diff_slices(&before, &after);
    for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
        writeln!(out, "{HUNK}{}{HUNK:#}", hunk.header())?;
        for change in hunk.iter_changes() {
            let style = match change.tag() {
                ChangeTag::Equal => PLAIN,
                ChangeTag::Delete => REMOVED,
                ChangeTag::Insert => ADDED,
            };
            let own = change.value().trim_end_matches(['\r', '\n']);
            let line = revealed(own);
            is_exact &= line == own && (out.keeps_tags() || clean(&line) == own);
            writeln!(out, "{style}{}{line}{style:#}", change.tag())?;
            if !change.value().ends_with('\n') {
                writeln!(out, "\\ No newline at end of file")?;
            }
        }
    }
    if !is_exact {
        let tags = if out.keeps_tags() { "" } else { "‹ stands for the bracket of a tag, " };
        writeln!(out, "note: {tags}\\u{{…}} for a character that cannot be seen")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(before: &str, after: &str) -> String {
        let mut text = Vec::new();
        print(&mut Out::to(&mut text), Path::new("file"), before, after).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn only_what_changes_and_its_neighbours_are_shown() {
        let before: String = (1..=20).map(|n| format!("{n}\n")).collect();
        let after = before.replace("5\n6\n", "five\n6\n").replace("18\n", "18\nnew\n");
        insta::assert_snapshot!(shown(&before, &after), @"
        --- file
        +++ file
        @@ -3,5 +3,5 @@
         3
         4
        -5
        +five
         6
         7
        @@ -17,4 +17,5 @@
         17
         18
        +new
         19
         20
        ");
    }

    #[test]
    fn a_new_file_is_all_added_and_a_removed_one_all_removed() {
        insta::assert_snapshot!(shown("", "a\r\nb"), @r"
        --- file
        +++ file
        @@ -0,0 +1,2 @@
        +a
        +b
        \ No newline at end of file
        ");
        insta::assert_snapshot!(shown("a\n", ""), @"
        --- file
        +++ file
        @@ -1 +0,0 @@
        -a
        ");
        insta::assert_snapshot!(shown("", "<system-reminder>\u{1b}[8m\n"), @r"
        --- file
        +++ file
        @@ -0,0 +1 @@
        +‹system-reminder>\u{1b}[8m
        note: ‹ stands for the bracket of a tag, \u{…} for a character that cannot be seen
        ");
        insta::assert_snapshot!(shown("a\n", "a\n"), @"
        --- file
        +++ file
        ");
    }
}
