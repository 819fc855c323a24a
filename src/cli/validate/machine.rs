//! The result of `validate` for programs: JSON, and annotations of GitHub Actions.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{CheckedConfig, contents, no_config};
use crate::cli::out::Out;
use conclaude_core::config::{ConfigError, LocatedProblem, Remark};
use conclaude_os::environment;

pub(super) fn json(out: &mut Out<'_>, checked: &CheckedConfig) -> io::Result<()> {
    let errors = &checked.loaded.errors;
    let error = match (&checked.path, errors.first()) {
        (None, _) => Some(no_config()),
        (_, Some(error)) => Some(error.summary()),
        (_, None) => None,
    };
    let report = json!({
        "valid": error.is_none(),
        "path": checked.path,
        "files": checked.files(),
        "error": error,
        "problems": errors.iter().flat_map(ConfigError::located).collect::<Vec<_>>(),
        "warnings": warnings(checked),
        "notes": located(checked, &checked.notes).collect::<Vec<_>>(),
        "contents": if error.is_none() { contents(&checked.loaded.config) } else { Vec::new() },
    });
    out.json(&report)
}

/// The warnings as problems. A warning that is not about a value has only a message.
fn warnings(checked: &CheckedConfig) -> Vec<Value> {
    let remarks = located(checked, &checked.warnings);
    remarks.chain(checked.others.iter().map(|text| json!({ "message": text }))).collect()
}

fn located<'a>(checked: &'a CheckedConfig, remarks: &'a [Remark]) -> impl Iterator<Item = Value> + 'a {
    remarks.iter().map(|remark| {
        let located = remark.locate(&checked.loaded.origins);
        let value = located.and_then(|(source, problem)| {
            serde_json::to_value(LocatedProblem::of(&problem, &source.text, &source.path)).ok()
        });
        value.unwrap_or_else(|| json!({ "message": remark.in_one_line() }))
    })
}

/// One workflow command per problem, warning and note.
pub(super) fn github(out: &mut Out<'_>, checked: &CheckedConfig) -> io::Result<()> {
    let Some(path) = &checked.path else {
        return writeln!(out, "::error::{}", escaped(&no_config()));
    };
    let file = |path: &Path| escaped_property(&in_repository(path).display().to_string());
    let warnings = checked.warnings.iter().map(|remark| ("warning", remark));
    for (level, remark) in warnings.chain(checked.notes.iter().map(|remark| ("notice", remark))) {
        match remark.locate(&checked.loaded.origins) {
            Some((source, problem)) => {
                let located = LocatedProblem::of(&problem, &source.text, &source.path);
                annotation(out, level, &located, &file(&source.path))?;
            }
            None => writeln!(out, "::{level} file={}::{}", file(path), escaped(&remark.in_one_line()))?,
        }
    }
    for warning in &checked.others {
        writeln!(out, "::warning file={}::{}", file(path), escaped(warning))?;
    }
    for error in &checked.loaded.errors {
        annotate(out, error, &file(error.path()))?;
    }
    Ok(())
}

fn annotation(
    out: &mut Out<'_>,
    level: &'static str,
    problem: &LocatedProblem<'_>,
    file: &str,
) -> io::Result<()> {
    let help = problem.help.map(|help| format!("\nhelp: {help}")).unwrap_or_default();
    let colon = if problem.label.is_empty() { "" } else { ": " };
    let text = escaped(&format!("{}{colon}{}{help}", problem.message, problem.label));
    let (line, column, end) = (problem.line, problem.column, problem.end_column);
    writeln!(out, "::{level} file={file},line={line},col={column},endColumn={end}::{text}")
}

fn annotate(out: &mut Out<'_>, error: &ConfigError, file: &str) -> io::Result<()> {
    let problems = error.located();
    if problems.is_empty() {
        return writeln!(out, "::error file={file}::{}", escaped(&error.summary()));
    }
    problems.iter().try_for_each(|problem| annotation(out, "error", problem, file))
}

/// GitHub finds a file by its path in the repository: the workspace, else the current folder.
fn in_repository(path: &Path) -> PathBuf {
    let Ok(real) = path.canonicalize() else { return path.to_owned() };
    let workspace = environment::os_value("GITHUB_WORKSPACE").map(PathBuf::from);
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
