//! Subcommands of git that settings define.

use std::path::Path;

use crate::analysis::analyzer::Analyzer;
use crate::analysis::field::Field;
use crate::analysis::stream::Stream;
use crate::programs::arguments::{self, Arguments};

impl Analyzer<'_> {
    /// Runs an alias that this script defined. Returns whether there is one.
    pub(super) fn known_git_alias(&mut self, name: &str, rest: &[Field]) -> bool {
        let name = name.to_ascii_lowercase();
        let Some(alias) = self.state.disk.git_aliases.get(&name).cloned() else { return false };
        // An alias does not expand itself.
        self.restoring(
            |analyzer| &mut analyzer.state.disk.git_aliases,
            |analyzer| {
                analyzer.state.disk.git_aliases.remove(&name);
                for text in alias.bodies.as_slice() {
                    analyzer.git_alias(text, rest);
                }
            },
        );
        true
    }

    /// An alias with the words after it.
    pub(super) fn git_alias(&mut self, alias: &str, rest: &[Field]) {
        match alias.strip_prefix('!') {
            Some(code) => {
                let words: Vec<String> = rest.iter().map(Field::as_word).collect();
                let code = Field::literal(format!("{code} {}", words.join(" ")));
                self.subshell(|analyzer| analyzer.code(&code, "sh"));
            }
            None => {
                let words = std::iter::once("git".to_owned())
                    .chain(arguments::words_in_quotes(alias))
                    .map(Field::literal);
                let words: Vec<Field> = words.chain(rest.iter().cloned()).collect();
                self.deeper(|analyzer| analyzer.run_fields(&words));
            }
        }
    }

    /// Whether a program changed a file with settings of git, so that an unknown subcommand may be an alias.
    pub(super) fn may_have_git_alias(&self) -> bool {
        let is_settings = |path: &&str| {
            [".git/config", ".gitconfig", "git/config"].iter().any(|end| Path::new(path).ends_with(end))
        };
        let is_unknown = |path: &str| {
            let written = self.state.disk.written(path);
            written.is_none_or(|file| file.parts().contains(&Stream::Unknown))
        };
        self.written_by_others("git").filter(is_settings).any(is_unknown)
    }
}

/// Runs an alias of `-c`. It may use another alias of `-c`, but not itself.
pub(super) fn given_alias(
    analyzer: &mut Analyzer<'_>,
    global: &Arguments,
    (name, text): (&str, &str),
    rest: &[Field],
) {
    analyzer.restoring(
        |analyzer| &mut analyzer.state.disk.git_aliases,
        |analyzer| {
            for setting in global.values(&["-c"]) {
                if let Some((key, value)) = setting.text.split_once('=')
                    && is_alias(key)
                    && let Some((_, name)) = key.split_once('.')
                {
                    analyzer.state.disk.git_aliases.define(&name.to_ascii_lowercase(), value.to_owned());
                }
            }
            analyzer.state.disk.git_aliases.remove(&name.to_ascii_lowercase());
            analyzer.git_alias(text, rest);
        },
    );
}

/// The subcommand that `-c alias.NAME=…` defines.
pub(super) fn alias(global: &Arguments, subcommand: &str) -> Option<String> {
    let mut found = None;
    for setting in global.values(&["-c"]) {
        if let Some((key, value)) = setting.text.split_once('=')
            && is_alias(key)
            && let Some((_, name)) = key.split_once('.')
            && name.eq_ignore_ascii_case(subcommand)
        {
            found = Some(value.to_owned());
        }
    }
    found
}

pub(super) fn is_alias(key: &str) -> bool {
    key.split('.').next().is_some_and(|section| section.eq_ignore_ascii_case("alias"))
}
