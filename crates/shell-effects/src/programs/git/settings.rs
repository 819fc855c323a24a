//! The settings of git: those that a script writes or passes, what they make git run, and `git config`.

use super::{GitCall, commands, settings_file};
use crate::Access;
use crate::analysis::analyzer::Analyzer;
use crate::analysis::exports::file_of;
use crate::analysis::field::Field;
use crate::analysis::stream::Stream;
use crate::analysis::unknown_code::is_wholly_unknown;
use crate::programs::arguments::{self, Arguments};
use crate::programs::start_up;

/// Settings with a command for a shell: the section, and the names after an optional subsection.
const PROGRAMS: &[(&str, &[&str])] = &[
    ("browser", &["cmd", "path"]),
    ("core", &["alternaterefscommand", "askpass", "editor", "fsmonitor", "gitproxy", "pager", "sshcommand"]),
    ("diff", &["command", "external", "textconv"]),
    ("difftool", &["cmd", "path"]),
    ("filter", &["clean", "process", "smudge"]),
    ("gc", &["recentobjectshook"]),
    ("gpg", &["defaultkeycommand", "program"]),
    ("guitool", &["cmd"]),
    ("hook", &["command"]),
    ("imap", &["tunnel"]),
    ("instaweb", &["browser", "httpd"]),
    ("interactive", &["difffilter"]),
    ("lfs", &["clean", "path", "smudge"]),
    ("man", &["cmd", "path"]),
    ("merge", &["driver"]),
    ("mergetool", &["cmd", "path"]),
    ("remote", &["receivepack", "uploadpack"]),
    ("sendemail", &["cccmd", "headercmd", "sendmailcmd", "tocmd"]),
    ("sequence", &["editor"]),
    ("svn", &["authorsprog"]),
    ("tar", &["command"]),
    ("trailer", &["cmd", "command"]),
    ("uploadpack", &["packobjectshook"]),
];

/// Options that only show settings.
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

impl GitCall {
    /// `git remote add --mirror=push NAME URL`: each push to it mirrors.
    pub(super) fn remote(&self, analyzer: &mut Analyzer<'_>) {
        self.connects(analyzer);
        let mirrors = self.arguments.values(&["--mirror"]).any(|kind| kind.text == "push");
        if mirrors && let [_, name, ..] = self.arguments.operands.as_slice() {
            analyzer.git_setting(&format!("remote.{}.mirror", name.text), &Field::literal("true"));
        }
    }

    /// `git clone -c KEY=VALUE`.
    pub(super) fn settings(&self, analyzer: &mut Analyzer<'_>) {
        let options = arguments::parse("-c= --config=", &self.rest);
        for setting in options.values(&["-c", "--config"]) {
            if let Some((key, value)) = setting.text.split_once('=') {
                analyzer.git_setting(key, &setting.with(value));
            }
        }
    }
}

/// Settings files include each other. Deeper ones are not read.
const MAX_INCLUDED: usize = 4;

impl Analyzer<'_> {
    /// The settings in variables: `GIT_CONFIG_COUNT` with keys and values, `GIT_CONFIG_PARAMETERS`. Also the files of the user
    /// and the repository, if this script wrote them.
    pub(super) fn git_settings_outside(&mut self) {
        let variables = std::rc::Rc::clone(self.state.exports.variables());
        for variable in variables.iter() {
            let Some((name, value)) = variable.split_once('=') else { continue };
            if let Some(number) = name.strip_prefix("GIT_CONFIG_KEY_") {
                self.git_setting_of_variable(value, &format!("GIT_CONFIG_VALUE_{number}"));
            } else if name == "GIT_CONFIG_PARAMETERS" {
                for (key, value) in parameters(value) {
                    self.git_setting(&key, &Field::literal(value));
                }
            } else if matches!(name, "GIT_CONFIG_GLOBAL" | "GIT_CONFIG_SYSTEM" | "GIT_CONFIG") {
                let last = self.last_command();
                self.touch(Access::Read, &file_of(value), last);
                self.git_settings_in(&file_of(value));
            } else if name == "GIT_TEMPLATE_DIR" {
                self.template(&file_of(value));
            }
        }
        if self.state.disk.is_untouched() {
            return;
        }
        self.written_hooks(&Field::literal(".git/hooks"));
        let of_user = [".gitconfig", ".config/git/config"];
        let mut files: Vec<Field> = of_user.iter().flat_map(|file| start_up::at_home(self, file)).collect();
        let configs = self.state.exports.values("XDG_CONFIG_HOME");
        files.extend(configs.map(|config| file_of(&format!("{config}/git/config"))));
        files.push(Field::literal(".git/config"));
        files.iter().for_each(|file| self.git_settings_in(file));
    }

    /// The settings in a file that others include. A relative path starts from the file that names it, which is one of git's.
    fn git_included(&mut self, path: &Field) {
        if let Some(rest) = path.text.strip_prefix("~/") {
            return start_up::at_home(self, rest).iter().for_each(|file| self.git_settings_in(file));
        }
        self.git_settings_in(path);
        if !path.text.starts_with('/') {
            let mut files = vec![path.with(format!(".git/{}", path.text))];
            files.extend(start_up::at_home(self, &path.text));
            files.iter().for_each(|file| self.git_settings_in(file));
        }
    }

    /// The address of a repository. `ext::COMMAND` runs the command, in which `% ` is a blank within a word. `NAME::…` runs the
    /// program `git-remote-NAME`.
    pub(super) fn connected(&mut self, address: &Field) {
        const BLANK: char = '\u{1}';
        let Some((name, command)) = address.text.split_once("::") else {
            // Over the network it starts ssh, which this script may have written.
            if address.text.starts_with("ssh://")
                || address.text.contains(':') && !address.text.contains("://")
            {
                let last = self.last_command();
                self.program_on_path(&[Field::literal("ssh")], last);
            }
            return;
        };
        if name != "ext" {
            let last = self.last_command();
            return self.written_program(&format!("git-remote-{name}"), &[], last);
        }
        let command = command.replace("% ", &BLANK.to_string());
        let words = command.split_whitespace().map(|word| address.with(word.replace(BLANK, " ")));
        let words: Vec<Field> = words.collect();
        self.as_part(|analyzer| analyzer.deeper(|analyzer| analyzer.run_fields(&words)));
    }

    /// The hooks in a template for new repositories.
    pub(super) fn template(&mut self, directory: &Field) {
        self.written_hooks(&directory.with(format!("{}/hooks", directory.text.trim_end_matches('/'))));
    }

    /// Hooks that this script wrote.
    fn written_hooks(&mut self, directory: &Field) {
        let command = self.last_command();
        self.written_programs_in(directory, command);
    }

    /// A setting whose value a variable holds.
    pub(super) fn git_setting_of_variable(&mut self, key: &str, variable: &str) {
        let values: Vec<String> = self.state.exports.values(variable).map(str::to_owned).collect();
        for value in values {
            let value = if value == "…" { Field::unknown("") } else { Field::literal(value) };
            self.git_setting(key, &value);
        }
    }

    /// The settings in a file that this script wrote.
    fn git_settings_in(&mut self, file: &Field) {
        let Some(written) = self.written(file) else { return };
        let depth = self.git_includes;
        if depth >= MAX_INCLUDED {
            return self.doubt_script("git");
        }
        self.git_includes += 1;
        for part in written.parts() {
            match part {
                Stream::Text(printed) if printed.text.is_literal() && !printed.and_more => {
                    for (key, value) in settings_file::settings_of(&printed.text.text) {
                        self.git_setting(&key, &Field::literal(value));
                    }
                }
                Stream::File | Stream::Nothing | Stream::Inherited => {}
                _ => self.doubt_script("git"),
            }
        }
        self.git_includes = depth;
    }

    /// A credential helper: code after `!`, the path of a program, or the end of the name `git-credential-NAME`.
    fn credential_helper(&mut self, value: &Field) {
        let code =
            value.text.strip_prefix('!').or(Some(value.text.as_str()).filter(|text| text.contains('/')));
        match code {
            Some(code) => self.subshell(|analyzer| analyzer.code(&value.with(code), "sh")),
            None => {
                let last = self.last_command();
                self.written_program(&format!("git-credential-{}", value.text), &[], last);
            }
        }
    }

    /// What a setting makes git run: a program, or an alias. We assume that the alias runs now.
    pub(super) fn git_setting(&mut self, key: &str, value: &Field) {
        let written = key;
        let key = key.to_ascii_lowercase();
        let (section, name) =
            (key.split('.').next().unwrap_or_default(), key.rsplit('.').next().unwrap_or_default());
        if section == "remote"
            && let Some(words) = pushed(written, name, &value.text)
        {
            return self.as_part(|analyzer| analyzer.deeper(|analyzer| analyzer.run_fields(&words)));
        }
        if matches!((section, name), ("core" | "sequence", "editor")) {
            commands::edited_by(self, &value.text);
        }
        let names_program = section == "pager"
            || PROGRAMS.iter().any(|(known, names)| *known == section && names.contains(&name));
        self.as_part(|analyzer| match section {
            "alias" if value.is_literal() => {
                analyzer.subshell(|analyzer| analyzer.git_alias(&value.text, &[]));
                analyzer.state.disk.git_aliases.define(name, value.text.clone());
            }
            "core" if name == "hookspath" => analyzer.written_hooks(value),
            "submodule" if name == "update" => {
                if let Some(code) = value.text.strip_prefix('!') {
                    analyzer.subshell(|analyzer| analyzer.code(&value.with(code), "sh"));
                }
            }
            "include" | "includeif" if name == "path" => analyzer.git_included(value),
            "credential" if name == "helper" => analyzer.credential_helper(value),
            "init" if name == "templatedir" => analyzer.template(value),
            "remote" if matches!(name, "pushurl" | "url") => analyzer.connected(value),
            "url" => {
                let address = written.split_once('.').and_then(|(_, rest)| rest.rsplit_once('.'));
                if let Some((address, _)) = address {
                    analyzer.connected(&Field::literal(address));
                }
            }
            _ if names_program => analyzer.subshell(|analyzer| analyzer.code(value, "sh")),
            _ => {}
        });
    }
}

impl GitCall {
    /// It writes if a value is given, or something is removed or renamed.
    pub(super) fn config(&self, analyzer: &mut Analyzer<'_>) {
        let arguments = &self.arguments;
        let file = arguments.value(&["-f", "--file"]);
        if let Some(file) = file {
            analyzer.reads(file, self.command);
        }
        let Some(operands) = changed(arguments) else { return };
        analyzer.acts_by(operands.first().map_or("edit", |key| key.text.as_str()), self.command);
        match file {
            Some(file) => {
                analyzer.by_option("--file", |analyzer| analyzer.touch(Access::Write, file, self.command))
            }
            None => self.scoped(analyzer, arguments),
        }
        let renames = arguments.has(&["--rename-section"])
            || arguments.operands.first().is_some_and(|first| first.text == "rename-section");
        match operands {
            // Its settings are no longer those that were looked at.
            [_, section, ..] if renames && may_run(&section.text) => analyzer.doubt_script("git config"),
            [key, value, ..] => analyzer.git_setting(&key.text, value),
            _ => {}
        }
    }

    /// The file of the user or of the machine. The repository's file belongs to git itself.
    fn scoped(&self, analyzer: &mut Analyzer<'_>, arguments: &Arguments) {
        // Git accepts an abbreviation of an option.
        let has = |option: &str| {
            arguments.flags.iter().any(|(flag, _)| flag.len() > 3 && option.starts_with(flag.as_str()))
        };
        let home = analyzer.home().map(|home| format!("{}/.gitconfig", home.trim_end_matches('/')));
        let of_user = || home.map_or_else(|| Field::unknown("~/.gitconfig"), Field::literal);
        // An unknown word directly after `config` may be the option.
        let unknown = || self.rest.first().filter(|first| is_wholly_unknown(first)).cloned();
        let (option, file) = if has("--global") {
            ("--global", Some(of_user()))
        } else if has("--system") {
            ("--system", Some(Field::literal("/etc/gitconfig")))
        } else {
            ("", unknown())
        };
        if let Some(file) = file {
            analyzer.by_option(option, |analyzer| analyzer.touch(Access::Write, &file, self.command));
        }
    }
}

/// Whether settings of a section may run something. What a remote runs is mostly not set.
fn may_run(section: &str) -> bool {
    let section = section.split('.').next().unwrap_or(section).to_ascii_lowercase();
    matches!(section.as_str(), "alias" | "include" | "includeif" | "pager")
        || section != "remote" && PROGRAMS.iter().any(|(known, _)| *known == section)
}

/// The changed key and value. `None` if settings are only shown.
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
    if changes && !arguments.has(LOOKING) { Some(operands) } else { None }
}

/// The settings of `GIT_CONFIG_PARAMETERS`: `'KEY'='VALUE'` or `'KEY=VALUE'`, each in quotes.
fn parameters(text: &str) -> Vec<(String, String)> {
    let (mut words, mut word, mut is_quoted) = (Vec::new(), String::new(), false);
    for c in text.chars() {
        match c {
            '\'' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(std::mem::take(&mut word)),
            c => word.push(c),
        }
    }
    words.push(word);
    let pair = |word: String| word.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned()));
    words.into_iter().filter_map(pair).collect()
}

/// What `git push` does because of a setting of a remote, as its own words.
fn pushed(key: &str, name: &str, value: &str) -> Option<Vec<Field>> {
    let remote =
        key.split_once('.').and_then(|(_, rest)| rest.rsplit_once('.')).map_or("", |(remote, _)| remote);
    let words = match name {
        "push" => ["git", "push", remote, value],
        "mirror" if !matches!(value, "false" | "no" | "off" | "0") => ["git", "push", "--mirror", remote],
        _ => return None,
    };
    Some(words.into_iter().map(Field::literal).collect())
}
