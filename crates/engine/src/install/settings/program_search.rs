//! The part of a registered line that finds the native program, so that no event starts Node or Python: in the packages of the
//! project, next to npm's launcher, on the PATH. The same line works on every machine, and uses only builtins of the shell.

use std::fmt::Write;

use conclaude_core::dialect::ProjectFolder;

/// Where the program is searched before the PATH: in folders this number of levels above the project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramSearch {
    /// `node_modules`, in the layout of npm and pnpm.
    pub node_modules: Option<usize>,
    /// `.venv`.
    pub venv: Option<usize>,
}

/// No project has more levels.
pub(in crate::install) const MAX_LEVELS: usize = 16;

/// Sets `c` to the program of this platform in the folder of packages `$1`. If there are both architectures of a system, `uname`
/// decides. Started on another platform, a shell would read the program as a script.
const PACKAGE: &str = r#"o=linux; [ -d /System ] && o=darwin; f() { c=$1/@conclaude/cli-$o-x64/conclaude; b=$1/@conclaude/cli-$o-arm64/conclaude; [ -x "$b" ] && { [ -x "$c" ] && [ "$(uname -m)" = x86_64 ] || c=$b; }; }; "#;

/// pnpm's `conclaude` is a link to a folder next to its dependencies.
const IN_NODE_MODULES: &str = "/node_modules/conclaude/..";
const IN_VENV: &str = "/.venv/bin";
const NONE: &str = "c=; ";
/// A virtual environment of another system has a Python that does not exist here.
const VENV: &str =
    r#"[ -x "$c" ] || { c=$d/conclaude; [ -h "$d/python" ] && [ ! -e "$d/python" ] && c=; }; "#;
const ON_PATH: &str = r#"[ -x "$c" ] || { p=$(command -v conclaude) || "#;
/// npm's launcher is a link from `bin` to `lib/node_modules`.
const BESIDE_LAUNCHER: &str =
    r#"; f "${p%/*}/../lib/node_modules/conclaude/node_modules"; [ -x "$c" ] || c=$p; }"#;

/// The project in a command line.
fn folder(project: ProjectFolder) -> &'static str {
    match project {
        ProjectFolder::Variable => "${CLAUDE_PROJECT_DIR:-.}",
        ProjectFolder::Process => ".",
    }
}

impl ProgramSearch {
    /// The script that sets `c` to the program, and runs `missing` if there is none.
    pub(super) fn script(self, project: ProjectFolder, missing: &str) -> String {
        let above = |levels: usize| format!("{}{}", folder(project), "/..".repeat(levels));
        let mut script = PACKAGE.to_owned();
        let _ = match self.node_modules {
            Some(levels) => write!(script, "f \"{}{IN_NODE_MODULES}\"; ", above(levels)),
            None => write!(script, "{NONE}"),
        };
        if let Some(levels) = self.venv {
            let _ = write!(script, "d=\"{}{IN_VENV}\"; {VENV}", above(levels));
        }
        format!("{script}{ON_PATH}{missing}{BESIDE_LAUNCHER}")
    }

    /// Parses a script of ours. Also returns what it does without a program.
    pub(super) fn parse(script: &str) -> Option<(ProgramSearch, &str)> {
        let rest = script.strip_prefix(PACKAGE)?;
        let (node_modules, rest) = match rest.strip_prefix(NONE) {
            Some(rest) => (None, rest),
            None => levels(rest.strip_prefix("f \"")?, IN_NODE_MODULES)?,
        };
        let (venv, rest) = match rest.strip_prefix("d=\"") {
            Some(rest) => {
                let (levels, rest) = levels(rest, IN_VENV)?;
                (levels, rest.strip_prefix(VENV)?)
            }
            None => (None, rest),
        };
        let missing = rest.strip_prefix(ON_PATH)?.strip_suffix(BESIDE_LAUNCHER)?;
        Some((ProgramSearch { node_modules, venv }, missing))
    }
}

/// The levels above the project at which a folder is, and the text after its path.
fn levels<'a>(text: &'a str, inside: &str) -> Option<(Option<usize>, &'a str)> {
    let (path, rest) = text.split_once("\"; ")?;
    let starts = [ProjectFolder::Variable, ProjectFolder::Process].map(folder);
    let above = starts.into_iter().find_map(|start| path.strip_prefix(start)?.strip_suffix(inside))?;
    let levels = above.len() / "/..".len();
    if levels > MAX_LEVELS || above != "/..".repeat(levels) { None } else { Some((Some(levels), rest)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_is_parsed() {
        for node_modules in [None, Some(0), Some(3)] {
            for venv in [None, Some(0), Some(1)] {
                for project in [ProjectFolder::Variable, ProjectFolder::Process] {
                    let search = ProgramSearch { node_modules, venv };
                    let script = search.script(project, "exit 0");
                    assert_eq!(ProgramSearch::parse(&script), Some((search, "exit 0")), "{script}");
                    let other = script.replace("p=$(command", "p=$(x; command");
                    assert_eq!(ProgramSearch::parse(&other), None, "{other}");
                }
            }
        }
    }

    #[test]
    fn another_path_is_not_ours() {
        let script =
            ProgramSearch { node_modules: Some(1), venv: None }.script(ProjectFolder::Variable, "exit 0");
        for path in
            ["/tmp/node_modules/conclaude/..", "${CLAUDE_PROJECT_DIR:-.}/../x/node_modules/conclaude/.."]
        {
            let other = script.replace("${CLAUDE_PROJECT_DIR:-.}/../node_modules/conclaude/..", path);
            assert_ne!(other, script);
            assert_eq!(ProgramSearch::parse(&other), None, "{other}");
        }
    }
}
