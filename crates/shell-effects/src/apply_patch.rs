//! Patches in the form that coding agents write: `*** Begin Patch`, then headers that name files, each followed by its changes.

use crate::Access;

/// Where a patch starts. Text before it is ignored.
const START: &str = "*** Begin Patch";

/// A patch with more files is not examined.
const MAX_FILES: usize = 2_000;

/// A file of a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchedFile {
    /// As the patch names it.
    pub path: String,
    /// `Write` or `Delete`.
    pub access: Access,
    /// The patch changes a file that exists.
    pub exists: bool,
}

/// The files of a patch, in its order. `None` if there are none or too many, or if one has no name.
#[must_use]
pub fn files(text: &str) -> Option<Vec<PatchedFile>> {
    let patch = text.get(text.find(START)?..)?;
    let mut files: Vec<PatchedFile> = Vec::new();
    let mut updated: Option<String> = None;
    for line in patch.lines() {
        if line.starts_with(['+', '-']) {
            continue;
        }
        let Some((header, path)) = header(line.trim()) else { continue };
        if path.is_empty() || path.contains('\0') || files.len() >= MAX_FILES {
            return None;
        }
        let path = path.to_owned();
        let (access, exists) = match header {
            Header::Add | Header::Move => (Access::Write, false),
            Header::Update => (Access::Write, true),
            Header::Delete => (Access::Delete, true),
        };
        if header == Header::Move
            && let Some(path) = updated.take()
        {
            files.push(PatchedFile { path, access: Access::Delete, exists: true });
        }
        updated = if header == Header::Update { Some(path.clone()) } else { None };
        let file = PatchedFile { path, access, exists };
        if !files.contains(&file) {
            files.push(file);
        }
    }
    if files.is_empty() { None } else { Some(files) }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Header {
    Add,
    Update,
    Delete,
    Move,
}

const HEADERS: [(&str, Header); 4] = [
    ("*** Add File:", Header::Add),
    ("*** Update File:", Header::Update),
    ("*** Delete File:", Header::Delete),
    ("*** Move to:", Header::Move),
];

/// A header line: its kind, and the file that it names.
fn header(line: &str) -> Option<(Header, &str)> {
    HEADERS.iter().find_map(|(start, header)| Some((*header, line.strip_prefix(start)?.trim())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `w` is written, `u` changed, `d` deleted.
    fn found(text: &str) -> Option<String> {
        let shown = |file: PatchedFile| {
            let mark = match (file.access, file.exists) {
                (Access::Delete, _) => 'd',
                (_, true) => 'u',
                _ => 'w',
            };
            format!("{mark} {}", file.path)
        };
        Some(files(text)?.into_iter().map(shown).collect::<Vec<_>>().join(", "))
    }

    #[test]
    fn every_header_names_a_file() {
        for (text, expected) in [
            ("*** Begin Patch\n*** Add File: a b\n+x\n*** End Patch\n", Some("w a b")),
            ("*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** Delete File: b\n", Some("u a, d b")),
            ("*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n x\n", Some("u a, d a, w b")),
            ("*** Begin Patch\r\n*** Add File: a\r\n+x\r\n", Some("w a")),
            ("cat <<E\n*** Begin Patch\n   *** Add File:a  \n", Some("w a")),
            // Added lines are content, even if they look like headers.
            ("*** Begin Patch\n*** Add File: a\n+*** Add File: .env\n-*** Delete File: b\n", Some("w a")),
            ("*** Add File: .env\n*** Begin Patch\n*** Add File: a\n", Some("w a")),
            ("*** Begin Patch\n*** End Patch\n", None),
            ("*** Begin Patch\n*** Add File: \n+x\n", None),
            ("*** Add File: a\n", None),
            ("", None),
        ] {
            assert_eq!(found(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_patch_with_too_many_files_is_not_looked_into() {
        let headers: String = (0..10_000).map(|n| format!("*** Add File: f{n}\n")).collect();
        assert_eq!(files(&format!("{START}\n{headers}")), None);
    }

    proptest::proptest! {
        /// A file is found however the patch is cut: by content, blanks, line ends, or other files around it.
        #[test]
        fn a_path_is_found_however_the_patch_is_cut(
            path in "[a-zA-Z0-9_./-]([a-zA-Z0-9_./ -]{0,20}[a-zA-Z0-9_./-])?",
            before in "([+ -@][ -~]{0,30}\r?\n){0,8}",
            after in "([+ -@][ -~]{0,30}\r?\n){0,8}",
            indent in "[ \t]{0,3}",
            header in 0..4_usize,
            prefix in "[a-z <'-]{0,20}\n?",
        ) {
            let (name, kind) = HEADERS[header];
            let before = before.replace("*** ", "");
            let text = format!("{prefix}{START}\n{before}{indent}{name} {path}\n{after}");
            // A name that is cut off does not count.
            let is_cut = |text: &str| text.lines().any(header_is_bare);
            if let Some(files) = files(&text) {
                let access = if kind == Header::Delete { Access::Delete } else { Access::Write };
                proptest::prop_assert!(files.iter().any(|file| file.path == path.trim() && file.access == access));
            } else {
                proptest::prop_assert!(is_cut(&text));
            }
        }
    }

    fn header_is_bare(line: &str) -> bool {
        header(line.trim()).is_some_and(|(_, path)| path.is_empty())
    }
}
