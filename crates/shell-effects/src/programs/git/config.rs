//! `git config`: which file it writes, and what the value is.

use super::call::Git;
use crate::Access;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::code::is_wholly_unknown;
use crate::analysis::field::Field;
use crate::programs::arguments::{self, Arguments};

/// Options that only look at settings.
const LOOKING: &[&str] = &[
    "-l",
    "--list",
    "--get",
    "--get-all",
    "--get-regexp",
    "--get-urlmatch",
    "--get-color",
    "--get-colorbool",
];
const CHANGING: &[&str] = &[
    "--add",
    "--unset",
    "--unset-all",
    "--replace-all",
    "--rename-section",
    "--remove-section",
    "-e",
    "--edit",
];

impl Git<'_> {
    /// It writes where a value is given, or something is removed or renamed.
    pub(crate) fn config(&self, analyzer: &mut Analyzer<'_>) {
        let arguments =
            arguments::parse("-f= --file= --blob= --type= --default= --value= --comment=", self.rest);
        let file = arguments.value(&["-f", "--file"]);
        if let Some(file) = file {
            analyzer.reads(file, self.command);
        }
        let Some(operands) = changed(&arguments) else { return };
        match file {
            Some(file) => {
                analyzer.by_option("--file", |analyzer| analyzer.touch(Access::Write, file, self.command))
            }
            None => self.scoped(analyzer, &arguments),
        }
        if let [key, value, ..] = operands {
            analyzer.git_setting(&key.text, value);
        }
    }

    /// The file of the user or of the machine. That of the repository is git's own.
    fn scoped(&self, analyzer: &mut Analyzer<'_>, arguments: &Arguments) {
        // Git takes what is short for one option.
        let has = |option: &str| {
            arguments.flags.iter().any(|(flag, _)| flag.len() > 3 && option.starts_with(flag.as_str()))
        };
        let home = analyzer.home.map(|home| format!("{}/.gitconfig", home.trim_end_matches('/')));
        let of_user = || home.map_or_else(|| Field::unknown("~/.gitconfig"), Field::literal);
        // A word directly behind `config` that is not known may be the option.
        let unknown = || self.rest.first().filter(|first| is_wholly_unknown(first)).cloned();
        let (option, file) = match () {
            () if has("--global") => ("--global", Some(of_user())),
            () if has("--system") => ("--system", Some(Field::literal("/etc/gitconfig"))),
            () => ("", unknown()),
        };
        if let Some(file) = file {
            analyzer.by_option(option, |analyzer| analyzer.touch(Access::Write, &file, self.command));
        }
    }
}

/// What is changed: key and value. None where settings are only shown.
fn changed(arguments: &Arguments) -> Option<&[Field]> {
    let (action, operands) = match arguments.operands.split_first() {
        Some((first, rest)) if matches!(first.text.as_str(), "get" | "list") => (None, rest),
        Some((first, rest))
            if matches!(
                first.text.as_str(),
                "set" | "unset" | "rename-section" | "remove-section" | "edit"
            ) =>
        {
            (Some(true), rest)
        }
        _ => (Some(false), arguments.operands.as_slice()),
    };
    let may_be_several = |field: &Field| is_wholly_unknown(field) && !field.holes.is_empty();
    let changes =
        action? || arguments.has(CHANGING) || operands.len() > 1 || operands.iter().any(may_be_several);
    (changes && !arguments.has(LOOKING)).then_some(operands)
}
