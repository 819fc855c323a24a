//! Directories as values: those that the shell knows itself, such as `$OLDPWD` and `~`, and those that commands print, such as
//! those of installed programs: `cat $(npm root -g)/x/package.json`.

use std::path::Path;

use crate::Base;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::directories::normalise_text;
use crate::analysis::exports::file_of;
use crate::analysis::field::Field;
use crate::analysis::stream::Stream;
use crate::glob::escaped;
use crate::programs::languages::SourceLanguage;
use crate::syntax::parser::is_name;
use crate::syntax::tree::{AndOrList, Join, List};

/// A file of git, as the end of what asks for its path.
const GIT_PATH: &str = "git rev-parse --git-path ";
/// Files of git that all work trees share.
const SHARED: &[&str] =
    &["config", "description", "hooks", "info", "objects", "packed-refs", "refs/heads", "refs/tags"];

impl Analyzer<'_> {
    pub(crate) fn current_directory(&self) -> Option<Field> {
        self.same_answer(|environment, at| environment.directory(at))
    }

    /// The directory that `cd -` goes back to. As a value, it must not depend on where it is used.
    pub(crate) fn previous_directory(&self, as_value: bool) -> Option<Field> {
        let mut possible = self.state.directories.before().iter().filter(|base| self.is_possible(base));
        let (Some(Base::At(at)), None) = (possible.next(), possible.next()) else { return None };
        if at.starts_with('/') {
            return Some(Field::literal(at.as_str()));
        }
        if let Some(absolute) = self.environment().directory(at) {
            return Some(Field::literal(absolute));
        }
        match self.state.bases() {
            [Base::At(here)] if !as_value && is_below_start(here) => {
                let up = here.split('/').filter(|part| !part.is_empty()).map(|_| "../").collect::<String>();
                let path = format!("{up}{at}");
                Some(Field::literal(if path.is_empty() { "." } else { &path }))
            }
            _ => None,
        }
    }

    /// The home directory of the command at hand, which the script may have set.
    pub(crate) fn home_here(&self) -> Option<Field> {
        let unknown = || Field::unknown("$HOME");
        if self.state.exports.has("HOME") {
            let mut values = self.state.exports.values("HOME");
            return match (values.next(), values.next()) {
                (Some(value), None) if value != "…" => Some(file_of(value)),
                _ => Some(unknown()),
            };
        }
        match self.state.get("HOME") {
            Some(value) => Some(value.single().cloned().unwrap_or_else(unknown)),
            None => self.home().map(Field::literal),
        }
    }

    /// Whether there may be a variable of this name, set here or before.
    pub(crate) fn may_be_set(&self, name: &str) -> bool {
        name.bytes().all(is_name)
            && (self.is_set_here(name) || self.environment().is_set(name) != Some(false))
    }

    /// The absolute path of a word. If that is not known, the path as it is written.
    pub(crate) fn absolute(&self, path: &str) -> Field {
        let from = |at: &str| if at.is_empty() { path.to_owned() } else { format!("{at}/{path}") };
        let known = if path.starts_with('/') {
            None
        } else {
            self.same_answer(|environment, at| environment.directory(&from(at)))
        };
        known.unwrap_or_else(|| Field::literal(normalise_text(path)))
    }

    /// What commands joined by `&&` print: `cd DIRECTORY && pwd`. The printed directory exists, so all of them succeeded.
    pub(crate) fn printed_at_success(&self, list: &List, output: &Stream) -> Option<Field> {
        let [AndOrList { rest, negates: false, background: false, .. }] = list.as_slice() else {
            return None;
        };
        let Stream::Text(printed) = output else { return None };
        let path = printed.text.text.trim_end_matches('\n');
        let is_path = path.starts_with('/') && !path.contains('\n') && printed.text.is_literal();
        let is_there = || self.environment().is_there(path) == Some(true);
        if rest.iter().all(|(join, _)| *join == Join::And) && is_path && !printed.and_more && is_there() {
            Some(Field::literal(path))
        } else {
            None
        }
    }

    /// The directory that a command prints, from its text.
    pub(crate) fn printed_directory(&self, text: &str) -> Option<Field> {
        // Where the first command prints something, it has succeeded.
        let first = text.split("||").next().unwrap_or(text).trim();
        let first = first.trim_end_matches("2>/dev/null").trim_end_matches("2> /dev/null").trim_end();
        let program = first.split(' ').next().unwrap_or_default();
        // Then it prints what the script says.
        if self.state.functions.get(program).is_some() || self.state.aliases.get(program).is_some() {
            return None;
        }
        match first {
            "pwd" if first == text => Some(self.current_directory().unwrap_or_else(|| Field::literal("."))),
            "git rev-parse --show-toplevel" if self.is_plain_git() => {
                self.same_answer(|environment, at| environment.top_level(at))
            }
            "git rev-parse --git-common-dir" | "git rev-parse --path-format=absolute --git-common-dir"
                if self.is_plain_git() =>
            {
                self.same_answer(|environment, at| environment.common_directory(at))
            }
            "dirname $PWD" | "dirname \"$PWD\"" | "dirname $(pwd)" | "dirname \"$(pwd)\""
                if first == text =>
            {
                let here = self.current_directory()?;
                let parent = here.text.rsplit_once('/').map_or("", |(parent, _)| parent);
                Some(Field::literal(if parent.is_empty() { "/" } else { parent }))
            }
            "git rev-parse --git-dir" | "git rev-parse --absolute-git-dir" if self.is_plain_git() => {
                let common = self.same_answer(|environment, at| environment.common_directory(at))?;
                let top = self.same_answer(|environment, at| environment.top_level(at))?;
                // Of another work tree it is a directory in there.
                if common.text == format!("{}/.git", top.text) { Some(common) } else { None }
            }
            _ if self.is_plain_git() && first.starts_with(GIT_PATH) => {
                let path = first.strip_prefix(GIT_PATH)?.trim_matches(['"', '\'']);
                let is_shared = SHARED.iter().any(|shared| Path::new(path).starts_with(shared));
                let is_plain = path.bytes().all(|byte| is_name(byte) || b"-./".contains(&byte));
                let common = self.same_answer(|environment, at| environment.common_directory(at))?;
                let known = is_shared && is_plain && !path.contains("..");
                if known { Some(Field::literal(format!("{}/{path}", common.text))) } else { None }
            }
            "go env GOMODCACHE" | "go env GOPATH" if first == text && self.is_plain_go() => {
                let name = first.rsplit(' ').next().unwrap_or_default();
                self.environment().go_setting(name).map(Field::literal)
            }
            _ => None,
        }
    }
}

/// Whether a directory is the one in which the whole command starts, or below that.
fn is_below_start(at: &str) -> bool {
    !at.starts_with('/') && !at.split('/').any(|part| part == "..")
}

/// The path of a module that the code of `python -c` prints.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ModulePath {
    File,
    Directory,
}

/// Directories of installed programs.
impl Analyzer<'_> {
    /// A pattern for a file below a directory of installed programs that a command prints.
    pub(crate) fn pattern_of_installed(&self, word: &Field) -> Option<String> {
        let [(part, _)] = word.holes.as_slice() else { return None };
        let (printed, rest) = word.text.split_at_checked(part.end)?;
        let command = printed.strip_prefix("$(")?.strip_suffix(')')?;
        let (program, arguments) = command.split_once(' ').unwrap_or((command, ""));
        let is_listed =
            || self.program(program).is_some_and(|program| program.installed.contains(&arguments));
        let module = || self.module_path(command);
        if part.start > 0 || rest.contains("..") || !self.is_installed(program) {
            None
        } else if rest.is_empty() {
            if module() == Some(ModulePath::File) { Some("/usr/lib/*.py".to_owned()) } else { None }
        } else if rest.starts_with('/') && (is_listed() || module() == Some(ModulePath::Directory)) {
            Some(format!("/usr/lib/*{}", escaped(rest)))
        } else {
            None
        }
    }

    /// What `python3 -c 'import x; print(x.__file__)'` prints, if the module is not part of the project.
    fn module_path(&self, command: &str) -> Option<ModulePath> {
        let (program, code) = command.split_once(" -c ")?;
        let code = code.trim();
        let quote = code.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        let code = code.get(1..)?.strip_suffix(quote)?;
        let (imports, print) = code.strip_prefix("import ")?.split_once(';')?;
        let modules: Vec<&str> = imports.split(',').map(str::trim).collect();
        let printed = print.trim().strip_prefix("print(")?.strip_suffix(')')?;
        let of_directory = printed.strip_prefix("os.path.dirname(").and_then(|rest| rest.strip_suffix(')'));
        let (module, kind) = match (of_directory, printed.strip_suffix(".__path__[0]")) {
            (Some(file), _) => (file.strip_suffix(".__file__")?, ModulePath::Directory),
            (None, Some(module)) => (module, ModulePath::Directory),
            (None, None) => (printed.strip_suffix(".__file__")?, ModulePath::File),
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
        let is_meant = |name: &&str| *name == module || matches!(*name, "os" | "sys");
        let is_python =
            self.program(program).is_some_and(|program| program.language == Some(SourceLanguage::Python));
        let is_plain = is_python
            && module.chars().all(is_name)
            && modules.contains(&module)
            && modules.iter().all(is_meant)
            && !self.has_made_files()
            && !["PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP"].iter().any(|name| self.is_set_here(name));
        if is_plain && modules.iter().all(|name| self.has_no_module(name)) { Some(kind) } else { None }
    }

    /// Whether the current directory has no module of this name.
    fn has_no_module(&self, module: &str) -> bool {
        let name = module.split('.').next().unwrap_or(module);
        let is_free = |base: &Base| match base {
            Base::At(at) | Base::IfMissing { at, .. } => {
                let folder = if at.is_empty() { String::new() } else { format!("{at}/") };
                [name.to_owned(), format!("{name}.py")]
                    .iter()
                    .all(|file| self.environment().is_there(&format!("{folder}{file}")) == Some(false))
            }
            Base::Unknown => false,
        };
        self.state.bases().iter().all(is_free)
    }
}
