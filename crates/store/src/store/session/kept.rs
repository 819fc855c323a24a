//! What a session remembers of agents that gates let in: outside the project, where neither an agent's tools nor
//! `git clean -fdx` reach; without a home in the project.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{KEPT, Session};
use crate::store::{expect_arrivals, outside};
use conclaude_os::files;
use conclaude_os::log;

const MAX_BYTES: u64 = 64 << 20;

impl Session {
    /// # Errors
    /// When it can be written neither outside the project nor in it.
    pub fn keep<T: Serialize>(&self, name: &str, value: &T) -> io::Result<()> {
        if self.is_read_only {
            return Ok(());
        }
        let Some(folder) = &self.outside else { return self.write(name, value) };
        let text = serde_json::to_vec(value)?;
        let path = folder.join(format!("{name}.json"));
        match make_private(folder).and_then(|()| files::write_atomically(&path, &text)) {
            Ok(()) => {
                expect_arrivals(&self.root);
                Ok(())
            }
            Err(error) => {
                log::debug(|| format!("{}: {error}; it is kept in the project", folder.display()));
                self.write(name, value)
            }
        }
    }

    pub fn kept<T: for<'a> Deserialize<'a>>(&self, name: &str) -> Option<T> {
        let outside = self.outside.as_ref().and_then(|folder| {
            let text = files::read_text(&folder.join(format!("{name}.json")), MAX_BYTES).ok()?;
            serde_json::from_str(&text).ok()
        });
        outside.or_else(|| self.read(name))
    }

    /// The names of kept values that start with the prefix.
    pub fn kept_names(&self, prefix: &str) -> BTreeSet<String> {
        let entries = self.readable().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let names = names.filter_map(|name| Some(name.strip_suffix(".json")?.to_owned()));
        names.filter(|name| name.starts_with(prefix)).collect()
    }

    fn readable(&self) -> impl Iterator<Item = PathBuf> {
        let inside = self.is_ours().then(|| self.folder.clone());
        self.outside.clone().into_iter().chain(inside)
    }
}

/// The folders outside of projects in which something with this prefix is of the project with this root.
pub fn folders_of(root: &Path, prefix: &str) -> Vec<PathBuf> {
    let is_of_root = |path: &PathBuf| {
        let text = files::read_text(path, MAX_BYTES).unwrap_or_default();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        value.get("root").and_then(serde_json::Value::as_str).is_some_and(|named| Path::new(named) == root)
    };
    let has_call = |folder: &PathBuf| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix));
        named.map(|entry| entry.path()).any(|path| is_of_root(&path))
    };
    folders().into_iter().filter(has_call).collect()
}

fn folders() -> Vec<PathBuf> {
    let base = outside().map(|folder| folder.join(KEPT)).filter(|folder| files::is_real_folder(folder));
    let entries = base.and_then(|base| fs::read_dir(base).ok()).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| files::is_real_folder(path)).collect()
}

/// Prompts are in there: for the user alone.
fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(folder)
}
