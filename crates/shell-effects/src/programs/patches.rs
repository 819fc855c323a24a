//! Patches: the files that their text changes.

use crate::Access;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::Field;
use crate::analysis::stream::Stream;
use crate::apply_patch;

/// Patches of more files are not examined.
const MAX_FILES: usize = 2_000;

/// Starts of lines before the name of a file.
const NAMING: &[&str] = &[
    "--- ",
    "+++ ",
    "*** ",
    "Index:",
    "rename from ",
    "rename to ",
    "rename old ",
    "rename new ",
    "copy from ",
    "copy to ",
    "diff --git ",
];

/// Starts of lines before the mode of a file.
const MODES: &[&str] = &["old mode", "new mode", "new file mode", "deleted file mode"];

/// The modes of files that are not links, as git writes them.
const PLAIN_MODES: &[&str] = &["100644", "100755"];

/// Marks of a patch that is not understood here: links, submodules, packed text, and lists of other patches.
const UNCLEAR: &[&str] =
    &[" 120000", " 160000", "content-transfer-encoding:", "# this series applies on git commit"];

/// How a program reads the names in a patch.
pub(crate) struct PatchNames {
    /// How many leading directories are removed from a name; `None` for all. Several entries are all possible.
    pub(crate) strips: Vec<Option<usize>>,
    /// The directories that names may start from.
    pub(crate) directories: Vec<Field>,
}

/// The files that patches change. The patches are in files, or in the standard input if there are none. If the changed files are
/// unknown, the user is asked.
pub(crate) fn apply(analyzer: &mut Analyzer<'_>, patches: &[Field], how: &PatchNames, command: usize) {
    let Some(names) = all_names(analyzer, patches, &how.strips, command) else {
        let files = Field::unknown("the files of the patch");
        return analyzer.touch(Access::Write, &files, command);
    };
    for directory in &how.directories {
        for name in &names {
            let path = format!("{}/{name}", directory.text.trim_end_matches('/'));
            analyzer.touch(Access::Write, &Field::literal(path), command);
        }
    }
}

fn all_names(
    analyzer: &Analyzer<'_>,
    patches: &[Field],
    strips: &[Option<usize>],
    command: usize,
) -> Option<Vec<String>> {
    let mut all = Vec::new();
    for text in texts(analyzer, patches, command)? {
        for strip in strips {
            all.extend(names(&text, *strip)?);
        }
    }
    all.sort();
    all.dedup();
    Some(all)
}

/// The files of a coding agent's patch: from its argument, else from its standard input.
pub(crate) fn apply_agent_patch(analyzer: &mut Analyzer<'_>, argument: Option<&Field>, command: usize) {
    let text = match argument {
        Some(patch) if patch.is_literal() => Some(patch.text.clone()),
        Some(_) => None,
        None => texts(analyzer, &[], command).and_then(|mut texts| texts.pop()),
    };
    let Some(files) = text.as_deref().and_then(apply_patch::files) else {
        let files = Field::unknown("the files of the patch");
        return analyzer.touch(Access::Write, &files, command);
    };
    for file in files {
        analyzer.touch(file.access, &Field::literal(file.path), command);
    }
}

/// The texts of patches: of files, or the standard input if there are none.
fn texts(analyzer: &Analyzer<'_>, patches: &[Field], command: usize) -> Option<Vec<String>> {
    if !patches.is_empty() {
        // The name `-` means the standard input too.
        let text = |patch: &Field| {
            let is_input = patch.text == "-";
            if is_input { None } else { analyzer.text_of(patch, command) }
        };
        return patches.iter().map(text).collect();
    }
    match (analyzer.input(), analyzer.input_file()) {
        (Stream::Text(printed), _) if printed.is_exact && !printed.and_more && printed.text.is_literal() => {
            Some(vec![printed.text.text.clone()])
        }
        (Stream::File | Stream::Text(_), Some(file)) => Some(vec![analyzer.text_of(file, command)?]),
        _ => None,
    }
}

/// The names of the files in a patch. `None` if there are none, or if some are uncertain.
fn names(text: &str, strip: Option<usize>) -> Option<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    for line in text.lines() {
        // `patch` finds changes that are indented or quoted in a mail.
        let line = line.trim_start_matches(['X', ' ', '\t']);
        let small = line.to_ascii_lowercase();
        if UNCLEAR.iter().any(|unclear| small.contains(unclear)) || has_other_mode(&small) {
            return None;
        }
        for (_, named) in NAMING.iter().flat_map(|start| line.split_once(start)) {
            // A date follows a tab. Without one, it may follow a blank.
            let whole = named.split('\t').next().unwrap_or(named).trim();
            for name in whole.split_whitespace().chain([whole]) {
                add(&mut names, name, strip)?;
            }
        }
        if names.len() > MAX_FILES {
            return None;
        }
    }
    if names.is_empty() { None } else { Some(names) }
}

/// Whether a line gives a file a special mode, in any spelling of the number.
fn has_other_mode(line: &str) -> bool {
    if let Some(mode) = MODES.iter().find_map(|start| line.strip_prefix(start)) {
        return !PLAIN_MODES.contains(&mode.trim());
    }
    // `index OLD..NEW MODE`
    let Some((_, mode)) = line.strip_prefix("index ").and_then(|rest| rest.split_once("..")) else {
        return false;
    };
    let mode = mode.trim_start_matches(|c: char| c.is_ascii_hexdigit()).trim();
    !mode.is_empty() && !PLAIN_MODES.contains(&mode)
}

/// Adds a name without its leading directories.
fn add(names: &mut Vec<String>, name: &str, strip: Option<usize>) -> Option<()> {
    if name == "/dev/null" || name.is_empty() {
        return Some(());
    }
    let is_outside = name.starts_with(['/', '~']) || name.split('/').any(|part| part == "..");
    // Programs count empty parts differently.
    if is_outside || name.contains(['"', '\\', '\0']) || name.contains("//") {
        return None;
    }
    let stripped = match strip {
        Some(count) => name.splitn(count + 1, '/').nth(count),
        None => name.rsplit('/').next(),
    };
    // If there are fewer directories, the name is used as it is.
    let stripped = stripped.unwrap_or(name).trim_start_matches("./");
    if !stripped.is_empty() && !names.iter().any(|known| known == stripped) {
        names.push(stripped.to_owned());
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, strip: usize) -> Option<String> {
        names(text, Some(strip)).map(|names| names.join(" "))
    }

    #[test]
    fn the_files_of_a_patch_are_found_however_it_is_written() {
        for (text, strip, expected) in [
            ("--- a/x.rs\n+++ b/x.rs\n@@ -1 +1 @@\n-a\n+b\n", 1, Some("x.rs")),
            ("diff --git a/d/x b/d/y\nrename from d/x\nrename to d/y\n", 1, Some("d/x d/y d/x b/d/y x y")),
            ("--- /dev/null\n+++ b/.env\t2020-01-01\n", 1, Some(".env")),
            ("  --- a/x\n  +++ b/.env\n", 1, Some("x .env")),
            ("- --- a/x\n- +++ b/.env\n", 1, Some("x .env")),
            ("Index: Cargo.lock\n", 0, Some("Cargo.lock")),
            ("*** a/x\n--- b/y\n", 1, Some("x y")),
            ("--- x\n+++ .env 2020-01-01 00:00\n", 0, Some("x .env 2020-01-01 00:00 .env 2020-01-01 00:00")),
            ("--- a/x\n+++ b/../y\n", 1, None),
            ("--- a/x\n+++ /etc/passwd\n", 1, None),
            ("--- a/x\n+++ \"b/\\056env\"\n", 1, None),
            ("diff --git a/l b/l\nnew file mode 120000\n+++ b/l\n", 1, None),
            ("diff --git a/l b/l\nnew file mode 0120000\n+++ b/l\n", 1, None),
            ("diff --git a/l b/l\nnew file mode \t120000\n+++ b/l\n", 1, None),
            ("diff --git a/l b/l\nold mode 00120000\nnew mode 100644\n", 1, None),
            ("diff --git a/l b/l\nindex a1..b2 0120000\n--- a/l\n+++ b/l\n", 1, None),
            ("--- a/l\nnew file mode 100755\nindex a1..b2 100644\nindex 00..b2\n", 1, Some("l")),
            ("diff --git a/x b/x\nrename old .env\nrename new y\n", 1, Some("x x b/x .env y")),
            ("--- a//.env\n+++ b//.env\n", 1, None),
            ("# This series applies on GIT commit a1\nother.patch\n--- a/x\n", 1, None),
            ("Content-Transfer-Encoding: base64\n+++ b/x\n", 1, None),
            ("nothing\n", 1, None),
        ] {
            assert_eq!(found(text, strip).as_deref(), expected, "{text}");
        }
        assert_eq!(names("--- a/b/x\n", None), Some(vec!["x".to_owned()]));
    }
}
