//! Patches: which files they change, by their text.

use crate::Access;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::Field;
use crate::analysis::stream::Stream;

/// Patches of more files are not looked into.
const MAX_FILES: usize = 2_000;

/// Starts of lines after which the name of a file follows.
const NAMING: &[&str] = &[
    "--- ",
    "+++ ",
    "*** ",
    "Index:",
    "rename from ",
    "rename to ",
    "copy from ",
    "copy to ",
    "diff --git ",
];

/// What makes a patch one that is not understood here: links, submodules, quoted names, and text that is packed.
const UNCLEAR: &[&str] = &[" 120000", " 160000", "content-transfer-encoding:"];

/// How a program takes the names in a patch.
pub(crate) struct PatchNames<'f> {
    /// How many directories at the start of a name are left out. None for all, as `patch` does.
    pub(crate) strip: Option<usize>,
    /// The directory that names start from.
    pub(crate) directory: Option<&'f Field>,
}

/// The files that patches change: files, or the standard input if there are none. If they are not known, they are asked about.
pub(crate) fn apply(analyzer: &mut Analyzer<'_>, patches: &[Field], how: &PatchNames<'_>, command: usize) {
    let Some(names) = all_names(analyzer, patches, how.strip, command) else {
        let files = Field::unknown("the files of the patch");
        return analyzer.touch(Access::Write, &files, command);
    };
    for name in names {
        let path = match how.directory {
            Some(directory) => format!("{}/{name}", directory.text.trim_end_matches('/')),
            None => name,
        };
        analyzer.touch(Access::Write, &Field::literal(path), command);
    }
}

fn all_names(
    analyzer: &Analyzer<'_>,
    patches: &[Field],
    strip: Option<usize>,
    command: usize,
) -> Option<Vec<String>> {
    if !patches.is_empty() {
        let mut all = Vec::new();
        for patch in patches {
            all.extend(names(&analyzer.earlier_text(patch, command)?, strip)?);
        }
        return Some(all);
    }
    match (analyzer.input(), analyzer.input_file()) {
        (Stream::Text(printed), _) if printed.is_exact && !printed.and_more && printed.text.is_literal() => {
            names(&printed.text.text, strip)
        }
        (Stream::File, Some(file)) => names(&analyzer.earlier_text(file, command)?, strip),
        _ => None,
    }
}

/// The names of the files in a patch. None if there are none, or if not all of them are certain.
fn names(text: &str, strip: Option<usize>) -> Option<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    for line in text.lines() {
        // `patch` finds changes that are indented or quoted in a mail.
        let line = line.trim_start_matches(['X', ' ', '\t']);
        let small = line.to_ascii_lowercase();
        if UNCLEAR.iter().any(|unclear| small.contains(unclear)) {
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

/// Adds a name without its first directories.
fn add(names: &mut Vec<String>, name: &str, strip: Option<usize>) -> Option<()> {
    if name == "/dev/null" || name.is_empty() {
        return Some(());
    }
    let is_outside = name.starts_with(['/', '~']) || name.split('/').any(|part| part == "..");
    if is_outside || name.contains(['"', '\\', '\0']) {
        return None;
    }
    let stripped = match strip {
        Some(count) => name.splitn(count + 1, '/').nth(count),
        None => name.rsplit('/').next(),
    };
    // Fewer directories than are left out: it is taken as it is.
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
            ("Content-Transfer-Encoding: base64\n+++ b/x\n", 1, None),
            ("nothing\n", 1, None),
        ] {
            assert_eq!(found(text, strip).as_deref(), expected, "{text}");
        }
        assert_eq!(names("--- a/b/x\n", None), Some(vec!["x".to_owned()]));
    }
}
