//! Projects in Python: the tools that they name, run by uv, poetry or pdm where there is a lock file.

use super::{CheckKind, EditCheck, Package, ProjectCheck, ProjectKind, manifests, members, workspaces};

/// Any of them may name the tools.
pub(super) const FILES: [&str; 5] =
    ["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "requirements-dev.txt"];

pub(super) fn with_members(package: &Package<'_>) -> Vec<ProjectKind> {
    let text = package.read("pyproject.toml").unwrap_or_default();
    let patterns = workspaces::of_toml(&text, "tool.uv.workspace");
    let members = members(package, &patterns, "pyproject.toml", one);
    one(package).into_iter().chain(members.into_iter().filter(ProjectKind::has_checks)).collect()
}

struct PythonProject<'a> {
    package: &'a Package<'a>,
    /// All files that may name tools.
    text: String,
}

impl PythonProject<'_> {
    fn names(&self, tool: &str, files: &[&str]) -> bool {
        self.text.contains(tool) || files.iter().any(|file| self.package.exists(file))
    }

    /// The command that starts a tool of the project. uv installs only some groups of dependencies unless others are named.
    fn runner(&self, tool: &str) -> String {
        if self.package.has_lock("uv.lock") {
            match self.other_group(tool) {
                Some(group) => format!("uv run --group {group} "),
                None => "uv run ".into(),
            }
        } else if self.package.has_lock("poetry.lock") {
            "poetry run ".into()
        } else if self.package.has_lock("pdm.lock") {
            "pdm run ".into()
        } else {
            String::new()
        }
    }

    /// The group of dependencies with the tool, unless it is installed by default.
    fn other_group(&self, tool: &str) -> Option<String> {
        let is_tool = |needed: &String| {
            needed
                .strip_prefix(tool)
                .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '-'))
        };
        let groups = manifests::lists(&self.text, "dependency-groups");
        let groups: Vec<&str> = groups
            .iter()
            .filter(|(_, needs)| needs.iter().any(is_tool))
            .map(|(name, _)| name.as_str())
            .collect();
        let defaults = manifests::list(&self.text, "tool.uv", "default-groups");
        let is_default = |group: &&str| *group == "dev" || defaults.iter().any(|own| own == group);
        if groups.iter().any(is_default) || self.text.contains("default-groups = \"all\"") {
            return None;
        }
        groups.first().map(|group| (*group).to_owned())
    }

    /// Only tools that the project names are installed.
    fn lint(&self) -> Option<&'static str> {
        if self.names("ruff", &["ruff.toml", ".ruff.toml"]) {
            let is_fixing = |text: &str| text.lines().any(|line| line.split('#').next().is_some_and(is_fix));
            let own = ["ruff.toml", ".ruff.toml"].iter().filter_map(|name| self.package.read(name));
            let fixes = is_fixing(&self.text) || own.into_iter().any(|text| is_fixing(&text));
            Some(if fixes { "ruff check --no-fix ." } else { "ruff check ." })
        } else if self.names("flake8", &[".flake8"]) {
            Some("flake8")
        } else if self.names("pylint", &[".pylintrc"]) {
            Some("pylint --recursive=y .")
        } else {
            None
        }
    }

    fn format(&self) -> Option<&'static str> {
        if manifests::has_table(&self.text, "tool.ruff.format") {
            Some("ruff format --check .")
        } else if manifests::has_table(&self.text, "tool.black") {
            Some("black --check .")
        } else {
            None
        }
    }

    fn types(&self) -> Option<&'static str> {
        if manifests::has_table(&self.text, "tool.mypy") {
            let names_files = ["files", "packages", "modules"]
                .iter()
                .any(|key| manifests::has_key(&self.text, "tool.mypy", key));
            Some(if names_files { "mypy" } else { "mypy ." })
        } else if self.package.exists("mypy.ini") {
            Some("mypy .")
        } else if manifests::has_table(&self.text, "tool.pyright")
            || self.package.exists("pyrightconfig.json")
        {
            Some("pyright")
        } else {
            None
        }
    }

    fn test(&self) -> Option<&'static str> {
        if self.names("pytest", &["pytest.ini", "conftest.py", "tests/conftest.py"]) {
            Some("pytest")
        } else if self.package.exists("manage.py") {
            Some("python manage.py test")
        } else {
            None
        }
    }
}

/// Whether the line of a configuration makes ruff change files.
fn is_fix(line: &str) -> bool {
    line.split_once('=').is_some_and(|(key, value)| key.trim() == "fix" && value.trim() == "true")
}

fn one(package: &Package<'_>) -> Option<ProjectKind> {
    let found: Vec<_> = FILES.iter().filter_map(|name| Some((*name, package.read(name)?))).collect();
    let file = found.first()?.0;
    let text: Vec<&str> = found.iter().map(|(_, text)| text.as_str()).collect();
    let project = PythonProject { package, text: text.join("\n") };
    let tools = [
        (CheckKind::Lint, project.lint()),
        (CheckKind::Format, project.format()),
        (CheckKind::Types, project.types()),
        (CheckKind::Test, project.test()),
    ];
    let command = |command: &str| {
        let tool = command.split(' ').next().unwrap_or_default();
        format!("{}{command}", project.runner(tool))
    };
    let checks = tools.into_iter().filter_map(|(kind, run)| Some(ProjectCheck::new(kind, command(run?))));
    let edits = match project.lint() {
        Some(lint) if lint.starts_with("ruff") => {
            let run = command(&lint.replace(" .", " {files}"));
            Some(EditCheck { run, files: "*.py" })
        }
        _ => None,
    };
    Some(ProjectKind { file, folder: package.folder.into(), checks: checks.collect(), edits })
}
