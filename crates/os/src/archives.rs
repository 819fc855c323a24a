//! The names in an archive, without unpacking it. An ambiguous archive is not read at all.

use std::path::Path;

use crate::budget::Budget;
use crate::files;

mod gzip;
mod tar;
mod zip;

/// Larger archives are not read, packed or unpacked.
const MAX_PACKED: u64 = 8 << 20;
const MAX_UNPACKED: usize = 32 << 20;

/// Archives of more files are not read.
const MAX_MEMBERS: usize = 2_000;

/// The names of the files in an archive that `tar` unpacks, packed by gzip or not. A directory has a `/` at its end. `None` if
/// the archive cannot be read for certain, if it has links, or if a name leads out of the target directory.
#[must_use]
pub fn tar_members(path: &Path, budget: &Budget) -> Option<Vec<String>> {
    let bytes = files::read_bytes(path, MAX_PACKED).ok()?;
    let names = if bytes.starts_with(&[0x1f, 0x8b]) && !tar::is_header(&bytes) {
        tar::names(&gzip::gunzip(&bytes, MAX_UNPACKED, budget)?)?
    } else {
        tar::names(&bytes)?
    };
    checked(names)
}

/// Like `tar_members`, for an archive that `unzip` unpacks.
#[must_use]
pub fn zip_members(path: &Path) -> Option<Vec<String>> {
    checked(zip::names(&files::read_bytes(path, MAX_PACKED).ok()?)?)
}

fn checked(names: Vec<String>) -> Option<Vec<String>> {
    if names.iter().all(|name| stays_inside(name)) { Some(names) } else { None }
}

/// Whether a name certainly stays in the target directory. Some programs drop control characters, and the text after a `;`.
fn stays_inside(name: &str) -> bool {
    !name.starts_with('/')
        && !name.contains(['\\', ':', ';'])
        && !name.contains(char::is_control)
        && name.split('/').all(|part| part != "..")
        && !name.is_empty()
}

/// Whether a reader found too many members.
fn is_too_many(names: &[String]) -> bool {
    names.len() > MAX_MEMBERS
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn run(folder: &Path, command: &str) {
        let output = Command::new("sh").args(["-c", command]).current_dir(folder).output().unwrap();
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn listed(folder: &Path, name: &str) -> Option<Vec<String>> {
        let mut names = tar_members(&folder.join(name), &Budget::unlimited())?;
        names.sort();
        Some(names)
    }

    #[test]
    fn the_names_in_archives_are_those_that_tar_lists() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let long = format!("d/{}", "long/".repeat(40));
        std::fs::create_dir_all(folder.join(&long)).unwrap();
        for (name, size) in [("a.txt", 3), ("d/b.txt", 70_000), ("d/.env", 0)] {
            let text: Vec<u8> = (0..size).map(|at: usize| (at * 31 % 251) as u8).collect();
            std::fs::write(folder.join(name), text).unwrap();
        }
        std::fs::write(folder.join(&long).join("x"), "x").unwrap();
        for (archive, options) in [
            ("a.tar", "--format=gnu -cf"),
            ("b.tar", "--format=pax -cf"),
            ("d.tgz", "-czf"),
            ("e.tar.gz", "--format=pax -czf"),
        ] {
            run(folder, &format!("tar {options} {archive} a.txt d"));
            let output = Command::new("tar").args(["-tf", archive]).current_dir(folder).output().unwrap();
            let mut expected: Vec<String> =
                String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect();
            expected.sort();
            assert_eq!(listed(folder, archive), Some(expected), "{archive}");
        }
        run(folder, "tar --format=ustar -cf c.tar a.txt d/b.txt");
        assert_eq!(listed(folder, "c.tar"), Some(vec!["a.txt".to_owned(), "d/b.txt".to_owned()]));
        for level in [1, 6, 9] {
            run(folder, &format!("tar -cf - a.txt d | gzip -{level} > l{level}.tgz"));
            assert_eq!(
                listed(folder, &format!("l{level}.tgz")).map(|names| names.len()),
                listed(folder, "a.tar").map(|names| names.len())
            );
        }
    }

    #[test]
    fn what_leads_elsewhere_or_cannot_be_read_is_not_listed() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        std::fs::write(folder.join("a"), "x").unwrap();
        std::os::unix::fs::symlink("a", folder.join("link")).unwrap();
        std::fs::hard_link(folder.join("a"), folder.join("hard")).unwrap();
        std::fs::create_dir(folder.join("d")).unwrap();
        for (archive, command) in [
            ("link.tar", "tar -cf link.tar link"),
            ("hard.tar", "tar -cf hard.tar a hard"),
            ("up.tar", "cd d && tar -P -cf ../up.tar ../a"),
            ("root.tar", "tar -P -cf root.tar \"$PWD/a\""),
            ("two.tar", "tar -cf one.tar a && cat one.tar one.tar > two.tar"),
            ("cut.tgz", "tar -czf whole.tgz a && head -c 60 whole.tgz > cut.tgz"),
            ("text", "echo no > text"),
            ("more.tgz", "tar -czf m.tgz a && cat m.tgz m.tgz > more.tgz"),
        ] {
            run(folder, command);
            assert_eq!(listed(folder, archive), None, "{archive}");
        }
    }

    #[test]
    fn names_that_programs_change_are_not_listed() {
        for name in [
            "Cargo.lock;1",
            "Cargo\u{1}.lock",
            "a\nb",
            "a\u{7f}",
            "a\u{9b}b",
            "a\\b",
            "c:a",
            "",
            "/a",
            "a/../b",
        ] {
            assert!(!stays_inside(name), "{name:?}");
        }
        for name in ["a", "./a", "a b/ä.txt", "a//b/", "..a/b.."] {
            assert!(stays_inside(name), "{name:?}");
        }
    }

    #[test]
    fn the_program_decides_what_an_archive_is() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        std::fs::write(folder.join("a"), "x").unwrap();
        run(folder, "tar -cf a.tar a && tar -czf a.tgz a");
        for name in ["a.tar", "a.tgz"] {
            assert!(listed(folder, name).is_some());
            assert_eq!(zip_members(&folder.join(name)), None, "{name}");
        }
        std::fs::write(folder.join("a.zip"), test_support::zip_archive(&[("a", 8)], &[])).unwrap();
        assert!(zip_members(&folder.join("a.zip")).is_some());
        assert_eq!(listed(folder, "a.zip"), None);
    }
}
