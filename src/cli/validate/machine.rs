//! The result of `validate` for programs: JSON, and annotations of GitHub Actions.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::{Checked, contents, no_config};
use crate::cli::out::Out;
use crate::config::ConfigError;

pub(super) fn json(out: &mut Out<'_>, checked: &Checked) -> io::Result<()> {
    let errors = &checked.loaded.errors;
    let error = match (&checked.path, errors.first()) {
        (None, _) => Some(no_config()),
        (_, Some(error)) => Some(error.summary()),
        (_, None) => None,
    };
    let report = json!({
        "valid": error.is_none(),
        "path": checked.path,
        "files": checked.files().collect::<Vec<_>>(),
        "error": error,
        "problems": errors.iter().flat_map(ConfigError::located).collect::<Vec<_>>(),
        "warnings": checked.warnings,
        "contents": if error.is_none() { contents(&checked.loaded.config) } else { Vec::new() },
    });
    out.json(&report)
}

/// One workflow command per problem and warning.
pub(super) fn github(out: &mut Out<'_>, checked: &Checked) -> io::Result<()> {
    let Some(path) = &checked.path else {
        return writeln!(out, "::error::{}", escaped(&no_config()));
    };
    let file = |path: &Path| escaped_property(&in_repository(path).display().to_string());
    for warning in &checked.warnings {
        writeln!(out, "::warning file={}::{}", file(path), escaped(warning))?;
    }
    for error in &checked.loaded.errors {
        annotate(out, error, &file(error.path()))?;
    }
    Ok(())
}

fn annotate(out: &mut Out<'_>, error: &ConfigError, file: &str) -> io::Result<()> {
    let problems = error.located();
    if problems.is_empty() {
        return writeln!(out, "::error file={file}::{}", escaped(&error.summary()));
    }
    for problem in problems {
        let help = problem.help.map(|help| format!("\nhelp: {help}")).unwrap_or_default();
        let text = escaped(&format!("{}: {}{help}", problem.message, problem.label));
        let (line, column, end) = (problem.line, problem.column, problem.end_column);
        writeln!(out, "::error file={file},line={line},col={column},endColumn={end}::{text}")?;
    }
    Ok(())
}

/// GitHub finds a file by its path in the repository: the workspace, else the current folder.
fn in_repository(path: &Path) -> PathBuf {
    let Ok(real) = path.canonicalize() else { return path.to_owned() };
    let workspace = std::env::var_os("GITHUB_WORKSPACE").map(PathBuf::from);
    let bases = workspace.into_iter().chain(std::env::current_dir());
    let mut relative = bases
        .filter_map(|base| base.canonicalize().ok())
        .filter_map(|base| real.strip_prefix(base).map(Path::to_owned).ok());
    relative.next().unwrap_or_else(|| path.to_owned())
}

fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn escaped_property(text: &str) -> String {
    escaped(text).replace(':', "%3A").replace(',', "%2C")
}
