//! The files that count as changed.

use std::io;
use std::path::Path;

use super::Request;
use conclaude_core::file_pattern::{FilePattern, Location};
use conclaude_os::git::{self, FileSelection};
use conclaude_store::store;

#[derive(Default)]
pub(super) struct Given {
    pub(super) files: Vec<Location>,
    /// Patterns that match nothing.
    pub(super) warnings: Vec<String>,
}

/// The files that are given to commands, relative to the folder of the config.
pub(super) fn given(request: &Request, work: &Path) -> io::Result<Given> {
    let is_all = request.all_files || !request.files.is_empty();
    let listed = git::list(work, if is_all { FileSelection::All } else { FileSelection::Changed });
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
        ..Location::default()
    });
    let mut is_used = vec![false; patterns.len()];
    let mut is_meant = |file: &Location| {
        let mut is_covered = patterns.is_empty();
        for (pattern, is_used) in patterns.iter().zip(&mut is_used) {
            let covers = pattern.covers(file);
            *is_used |= covers;
            is_covered |= covers;
        }
        is_covered
    };
    let found: Vec<Location> = locations.filter(|file| is_meant(file)).collect();
    if found.is_empty() && !patterns.is_empty() {
        return Err(io::Error::other(format!(
            "no file of {} matches {}; patterns are those of .gitignore, and ignored files do not count",
            work.display(),
            request.files.join(", ")
        )));
    }
    let unused = request.files.iter().zip(is_used).filter(|(_, is_used)| !is_used);
    let warnings = unused.map(|(glob, _)| format!("--files `{glob}` matches no file")).collect();
    Ok(Given { files: found, warnings })
}

fn patterns(globs: &[String]) -> io::Result<Vec<FilePattern>> {
    let compiled = globs.iter().map(|glob| {
        // What a shell made of a pattern are paths.
        let glob = glob.strip_prefix("./").unwrap_or(glob);
        FilePattern::new(glob, None).map_err(|error| io::Error::other(format!("--files `{glob}`: {error}")))
    });
    compiled.collect()
}
