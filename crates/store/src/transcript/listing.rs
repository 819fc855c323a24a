//! The files of transcripts below a folder, and what was left out: nothing is passed over silently.

use std::io;
use std::path::{Path, PathBuf};

use conclaude_core::dialect::claude::layout;

/// What is in a folder that may be read, and what may not.
#[derive(Debug, Default)]
pub struct Listing {
    pub(super) files: Vec<PathBuf>,
    pub left_out: SkippedFiles,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkippedFiles {
    /// Links to folders, which could lead in a circle, and to nothing.
    pub links: u64,
    /// Files without a byte.
    pub empty: u64,
    /// Folders and files that cannot be read, with the reason.
    pub unreadable: Vec<String>,
}

impl SkippedFiles {
    pub fn add(&mut self, other: SkippedFiles) {
        self.links += other.links;
        self.empty += other.empty;
        self.unreadable.extend(other.unreadable);
    }
}

impl Listing {
    /// All transcripts in a folder and so many levels below it. Links to folders are not followed, so it comes to an end.
    pub(super) fn of(folder: &Path, max_depth: usize) -> Listing {
        let mut found = Listing::default();
        let mut open = vec![(folder.to_owned(), 0)];
        while let Some((folder, depth)) = open.pop() {
            let entries = match std::fs::read_dir(&folder) {
                Ok(entries) => entries,
                // A session without subagents has no folder.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => {
                    found.unreadable(&folder, &error);
                    continue;
                }
            };
            for entry in entries {
                match entry {
                    Ok(entry) => {
                        let below = found.take(&entry).filter(|_| depth < max_depth);
                        open.extend(below.map(|folder| (folder, depth + 1)));
                    }
                    Err(error) => found.unreadable(&folder, &error),
                }
            }
        }
        found
    }

    fn unreadable(&mut self, path: &Path, error: &io::Error) {
        self.left_out.unreadable.push(format!("{} cannot be read: {error}", path.display()));
    }

    /// Takes what is a transcript; a folder is to be looked into.
    fn take(&mut self, entry: &std::fs::DirEntry) -> Option<PathBuf> {
        let path = entry.path();
        let is_named = layout::is_transcript(&path);
        let (kind, is_link) = match entry.file_type() {
            Ok(kind) if kind.is_symlink() => (path.metadata().map(|target| target.file_type()), true),
            kind => (kind, false),
        };
        match kind {
            Ok(kind) if kind.is_dir() && !is_link => return Some(path),
            Ok(kind) if !kind.is_dir() && !is_named => {}
            Ok(kind) if kind.is_file() => match path.metadata() {
                Ok(metadata) if metadata.len() == 0 => self.left_out.empty += 1,
                Ok(_) => self.files.push(path),
                Err(error) => self.unreadable(&path, &error),
            },
            _ if is_link => self.left_out.links += 1,
            Ok(_) => self.unreadable(&path, &io::Error::other("it is not a regular file")),
            Err(error) => self.unreadable(&path, &error),
        }
        None
    }
}
