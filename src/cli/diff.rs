//! What would change in a file, line by line, with a little of what stands around it.

use std::io::{self, Write};
use std::path::Path;

use anstyle::{AnsiColor, Style};

const ADDED: Style = AnsiColor::Green.on_default();
const REMOVED: Style = AnsiColor::Red.on_default();
const HEADING: Style = Style::new().bold();

/// Lines around a change that are shown with it.
const CONTEXT: usize = 2;

/// Beyond this, finding the smallest difference is not worth the wait.
const MOST_PAIRS: usize = 4_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line<'a> {
    Kept(&'a str),
    Removed(&'a str),
    Added(&'a str),
}

/// Prints the difference between two texts of a file.
pub(super) fn print(out: &mut impl Write, path: &Path, before: &str, after: &str) -> io::Result<()> {
    writeln!(out, "{HEADING}{}{HEADING:#}", path.display())?;
    let lines = difference(before, after);
    let changed: Vec<usize> = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| !matches!(line, Line::Kept(_)))
        .map(|(at, _)| at)
        .collect();
    let is_near = |at: usize| {
        let next = changed.partition_point(|change| *change < at);
        let before = next.checked_sub(1).and_then(|index| changed.get(index));
        before.is_some_and(|change| at - change <= CONTEXT)
            || changed.get(next).is_some_and(|change| change - at <= CONTEXT)
    };
    let mut gap = false;
    for (at, line) in lines.iter().enumerate() {
        if !is_near(at) {
            gap = true;
            continue;
        }
        if std::mem::take(&mut gap) {
            writeln!(out, "  …")?;
        }
        match line {
            Line::Kept(line) => writeln!(out, "  {line}")?,
            Line::Removed(line) => writeln!(out, "{REMOVED}- {line}{REMOVED:#}")?,
            Line::Added(line) => writeln!(out, "{ADDED}+ {line}{ADDED:#}")?,
        }
    }
    Ok(())
}

fn difference<'a>(before: &'a str, after: &'a str) -> Vec<Line<'a>> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - start;
    let end = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let part = |lines: &[&'a str]| lines.get(start..lines.len() - end).unwrap_or_default().to_vec();
    let kept = |lines: &[&'a str]| lines.iter().copied().map(Line::Kept).collect::<Vec<_>>();
    let mut all = kept(old.get(..start).unwrap_or_default());
    all.extend(middle(&part(&old), &part(&new)));
    all.extend(kept(old.get(old.len() - end..).unwrap_or_default()));
    all
}

/// The smallest difference, by the longest common subsequence.
fn middle<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    if old.len().saturating_mul(new.len()) > MOST_PAIRS {
        let removed = old.iter().copied().map(Line::Removed);
        return removed.chain(new.iter().copied().map(Line::Added)).collect();
    }
    // common[i][j]: the length of what old[i..] and new[j..] have in common.
    let width = new.len() + 1;
    let mut common = vec![0_u32; (old.len() + 1) * width];
    let get = |common: &[u32], i: usize, j: usize| common.get(i * width + j).copied().unwrap_or(0);
    for (i, a) in old.iter().enumerate().rev() {
        for (j, b) in new.iter().enumerate().rev() {
            let value = if a == b {
                get(&common, i + 1, j + 1) + 1
            } else {
                get(&common, i + 1, j).max(get(&common, i, j + 1))
            };
            if let Some(cell) = common.get_mut(i * width + j) {
                *cell = value;
            }
        }
    }
    let (mut i, mut j, mut lines) = (0, 0, Vec::new());
    loop {
        match (old.get(i), new.get(j)) {
            (Some(a), Some(b)) if a == b => {
                lines.push(Line::Kept(a));
                (i, j) = (i + 1, j + 1);
            }
            (Some(a), b) if b.is_none() || get(&common, i + 1, j) >= get(&common, i, j + 1) => {
                lines.push(Line::Removed(a));
                i += 1;
            }
            (_, Some(b)) => {
                lines.push(Line::Added(b));
                j += 1;
            }
            _ => return lines,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(before: &str, after: &str) -> String {
        let mut out = Vec::new();
        print(&mut out, Path::new("file"), before, after).unwrap();
        anstream::adapter::strip_str(&String::from_utf8(out).unwrap()).to_string()
    }

    #[test]
    fn only_what_changes_and_its_neighbours_are_shown() {
        let before: String = (1..=20).map(|n| format!("{n}\n")).collect();
        let after = before.replace("5\n6\n", "five\n6\n").replace("18\n", "18\nnew\n");
        assert_eq!(
            shown(&before, &after),
            "file\n  …\n  3\n  4\n- 5\n+ five\n  6\n  7\n  …\n  17\n  18\n+ new\n  19\n  20\n"
        );
    }

    #[test]
    fn a_new_file_is_all_added_and_a_removed_one_all_removed() {
        assert_eq!(shown("", "a\nb\n"), "file\n+ a\n+ b\n");
        assert_eq!(shown("a\n", ""), "file\n- a\n");
        assert_eq!(shown("a\n", "a\n"), "file\n");
    }
}
