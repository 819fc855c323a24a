//! The files that count as changed.

use std::io;
use std::path::Path;

use super::Request;
use crate::file_pattern::{FilePattern, Location};
use crate::git::{self, Listed};
use crate::store;

/// The files that are given to commands, relative to the folder of the config.
pub(super) fn given(request: &Request, work: &Path) -> io::Result<Vec<Location>> {
    let is_all = request.all_files || !request.files.is_empty();
    let listed = git::list(work, if is_all { Listed::All } else { Listed::Changed });
    let listed = match listed.map_err(io::Error::other)? {
        Some(listed) => listed,
        None if is_all => store::files_below(work)?,
        None => {
            return Err(io::Error::other(format!(
                "{} is not in a git repository, so it is not known what has changed: use --files or --all-files",
                work.display()
            )));
        }
    };
    let patterns = patterns(&request.files)?;
    let locations = listed.into_iter().map(|name| Location {
        absolute: work.join(&name).to_string_lossy().into_owned(),
        relative: Some(name),
        is_directory: false,
    });
    let is_meant = |file: &Location| patterns.is_empty() || patterns.iter().any(|one| one.covers(file));
    let found: Vec<Location> = locations.filter(is_meant).collect();
    if found.is_empty() && !patterns.is_empty() {
        return Err(io::Error::other(format!(
            "no file of {} matches {}; patterns are those of .gitignore, and ignored files do not count",
            work.display(),
            request.files.join(", ")
        )));
    }
    Ok(found)
}

fn patterns(globs: &[String]) -> io::Result<Vec<FilePattern>> {
    let compiled = globs.iter().map(|glob| {
        // What a shell made of a pattern are paths.
        let glob = glob.strip_prefix("./").unwrap_or(glob);
        FilePattern::new(glob, None).map_err(|error| io::Error::other(format!("--files `{glob}`: {error}")))
    });
    compiled.collect()
}
