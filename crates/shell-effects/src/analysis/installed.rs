//! Files below directories of installed programs that a command prints: `cat $(npm root -g)/x/package.json`.

use crate::Base;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::Field;
use crate::glob::escaped;
use crate::programs::languages::SourceLanguage;

/// The path of a module that the code of `python -c` prints.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ModulePath {
    File,
    Directory,
}

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
