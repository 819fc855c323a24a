//! Claude Code's notation for uses of a tool: `Read`, `mcp__github__*`, `Bash(git status*)`, `Edit(./docs/**)`,
//! `WebFetch(domain:example.com)`, `Agent(coder)`.

use thiserror::Error;

use super::{
    EDIT, KNOWN, READ, SHELL, WITH_COMMAND, current_name, is_ruled_as_shell, mcp, ruled_as_edit,
    ruled_as_read,
};
use crate::dialect::claude::agents;
use crate::file_pattern::FilePattern;
use crate::pattern::{Pattern, alternatives_of};
use shell_effects::glob::{Glob, GlobError, GlobKind};

/// A glob over the tool's name, and a pattern for its input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolPattern {
    pub tool: Glob,
    pub input: ToolInputPattern,
}

/// A pattern for the input of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolInputPattern {
    Any,
    /// A glob over each simple command. With `prefix`, anything may follow it at a word boundary.
    Command {
        glob: String,
        prefix: bool,
    },
    /// A pattern of the files that the tool reads or writes.
    File {
        pattern: String,
        writes: bool,
    },
    /// A glob over the host of a URL.
    Domain(String),
    /// A glob over a field.
    Field {
        name: &'static str,
        glob: String,
    },
}

/// The tools with a specifier, for messages.
const SPECIFIED: &str = "Bash, Monitor, PowerShell, Read, Edit, Write, WebFetch, Agent and Skill";

/// Why a text is not a use of a tool.
#[derive(Debug, Error)]
pub enum NotationError {
    #[error("`)` without a `(` before it")]
    Unopened,
    #[error("it must end with the `)` that closes its `(`")]
    Unclosed,
    #[error("alternatives are written `{0}`")]
    Alternatives(String),
    #[error("case counts, and no tool is called `{name}`: write `{known}`")]
    Case { name: String, known: &'static str },
    #[error("write `WebFetch(domain:{0})`")]
    Domain(String),
    #[error("what is in parentheses is compared for {SPECIFIED} only; write `{0}` for every use of it")]
    Specifier(String),
    #[error("{0}")]
    Glob(GlobError),
}

impl From<GlobError> for NotationError {
    fn from(error: GlobError) -> NotationError {
        NotationError::Glob(error)
    }
}

impl ToolPattern {
    /// # Errors
    /// Says what is wrong with it.
    pub fn parse(text: &str) -> Result<ToolPattern, NotationError> {
        let text = text.trim();
        let Some((tool, rest)) = text.split_once('(') else {
            if text.contains(')') {
                return Err(NotationError::Unopened);
            }
            return Ok(ToolPattern { tool: tool_glob(text)?, input: ToolInputPattern::Any });
        };
        // A group of a regular expression is about names; `Bash(a | b)` is a command.
        let takes_input = |name: &str| WITH_COMMAND.contains(&name) || KNOWN.contains(&name);
        if rest.contains('|')
            && !takes_input(current_name(tool.trim()))
            && let Some(spelling) = alternatives_of(text)
        {
            return Err(NotationError::Alternatives(spelling));
        }
        let Some(inner) = rest.strip_suffix(')') else {
            return Err(NotationError::Unclosed);
        };
        let (tool, inner) = (tool_glob(tool.trim())?, inner.trim());
        let is_any = inner.is_empty() || inner == "*";
        let input = if is_any { ToolInputPattern::Any } else { input(tool.as_str(), inner)? };
        ToolPattern { tool, input }.checked()
    }

    fn checked(self) -> Result<ToolPattern, NotationError> {
        match &self.input {
            ToolInputPattern::Any => {}
            ToolInputPattern::Command { glob: pattern, .. }
            | ToolInputPattern::Domain(pattern)
            | ToolInputPattern::Field { glob: pattern, .. } => {
                Glob::new(pattern, GlobKind::Name)?;
            }
            ToolInputPattern::File { pattern, .. } => {
                FilePattern::of_rule(pattern, None)?;
            }
        }
        Ok(self)
    }

    /// Whether it matches a tool with this name, whatever the input is.
    pub fn names(&self, tool: &str) -> bool {
        let tool = current_name(tool);
        let by_kind = match &self.input {
            // As in Claude Code, a rule for one of these two applies to all tools of its kind.
            ToolInputPattern::File { writes: true, .. } => {
                self.tool.as_str() == EDIT && ruled_as_edit().any(|name| name == tool)
            }
            ToolInputPattern::File { writes: false, .. } => {
                self.tool.as_str() == READ && ruled_as_read().any(|name| name == tool)
            }
            _ => false,
        };
        let by_server = self
            .server()
            .and_then(|server| tool.strip_prefix(server))
            .is_some_and(|rest| rest.starts_with("__"));
        let matches = |tool: &str| self.tool.matches(tool).unwrap_or(false);
        by_kind || by_server || matches(tool) || is_ruled_as_shell(tool, true) && matches(SHELL)
    }

    /// An MCP server, which stands for all of its tools.
    fn server(&self) -> Option<&str> {
        let text = self.tool.as_str();
        text.strip_prefix(mcp::PREFIX).filter(|server| !server.contains("__")).map(|_| text)
    }

    /// The matching names, as one glob.
    ///
    /// # Errors
    /// Where that is longer than a pattern may be.
    pub fn glob(&self) -> Result<Glob, GlobError> {
        let several = match (&self.input, self.server()) {
            (ToolInputPattern::File { .. }, _) => {
                self.tools().filter(|tools| tools.len() > 1).map(|tools| tools.join(","))
            }
            (_, Some(server)) => Some(format!("{server},{server}__*")),
            _ => None,
        };
        several
            .map_or_else(|| Ok(self.tool.clone()), |names| Glob::new(&format!("{{{names}}}"), GlobKind::Name))
    }

    pub fn is_about_files(&self) -> bool {
        matches!(self.input, ToolInputPattern::File { .. })
    }

    /// The names of the matching tools. `None` if their number is unlimited.
    pub fn tools(&self) -> Option<Vec<&str>> {
        match &self.input {
            ToolInputPattern::File { writes: true, .. } if self.tool.as_str() == EDIT => {
                Some(ruled_as_edit().collect())
            }
            ToolInputPattern::File { writes: false, .. } if self.tool.as_str() == READ => {
                Some(ruled_as_read().collect())
            }
            _ => {
                let names: Vec<&str> = alternatives(self.tool.as_str()).collect();
                let is_plain = |name: &&str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
                let is_finite = names.iter().all(is_plain) && self.server().is_none();
                if is_finite { Some(names) } else { None }
            }
        }
    }

    /// Like `tools`, but as alternatives of a matcher, which may be regular expressions.
    pub fn alternatives(&self) -> Option<Vec<String>> {
        if let Some(names) = self.tools() {
            return Some(names.into_iter().map(str::to_owned).collect());
        }
        let mut tools = Pattern::try_from(self.tool.as_str().to_owned()).ok()?.alternatives()?;
        // A server stands for all of its tools.
        tools.extend(self.server().map(|server| format!("{server}__.*")));
        Some(tools)
    }
}

/// The names in `{a,b}`. Any other glob stays as it is.
fn alternatives(glob: &str) -> impl Iterator<Item = &str> {
    let list = glob.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    let list = list.filter(|list| !list.contains(['{', '}', '[', '\\']));
    list.unwrap_or(glob).split(if list.is_some() { ',' } else { '\0' })
}

/// A glob over the names of tools. A glob that certainly matches nothing is an error.
fn tool_glob(text: &str) -> Result<Glob, NotationError> {
    if text != SHELL {
        if let Some(spelling) = alternatives_of(text) {
            return Err(NotationError::Alternatives(spelling));
        }
        let is_known = |name: &&str| KNOWN.contains(name) || current_name(name) != *name;
        for name in alternatives(text).filter(|name| !is_known(name)) {
            if let Some(known) = KNOWN.iter().find(|known| known.eq_ignore_ascii_case(name)) {
                return Err(NotationError::Case { name: name.to_owned(), known });
            }
        }
    }
    Ok(Glob::new(current_name(text), GlobKind::Name)?)
}

fn input(tool: &str, inner: &str) -> Result<ToolInputPattern, NotationError> {
    Ok(match tool {
        shell if WITH_COMMAND.contains(&shell) => command(inner),
        "WebFetch" => match inner.strip_prefix("domain:").map(str::trim) {
            Some(domain) if !domain.is_empty() => ToolInputPattern::Domain(domain.to_lowercase()),
            _ => return Err(NotationError::Domain(host_like(inner).to_owned())),
        },
        "Agent" => ToolInputPattern::Field { name: agents::TYPE, glob: inner.to_owned() },
        "Skill" => ToolInputPattern::Field { name: "skill", glob: inner.to_owned() },
        reader if ruled_as_read().any(|name| name == reader) => {
            ToolInputPattern::File { pattern: inner.to_owned(), writes: false }
        }
        writer if ruled_as_edit().any(|name| name == writer) => {
            ToolInputPattern::File { pattern: inner.to_owned(), writes: true }
        }
        other => {
            return Err(NotationError::Specifier(other.to_owned()));
        }
    })
}

/// `npm run:*` and `npm run *` also stand for `npm run` alone.
fn command(inner: &str) -> ToolInputPattern {
    let before = inner.strip_suffix(":*").or_else(|| inner.strip_suffix(" *"));
    match before.map(str::trim_end).filter(|before| !before.is_empty() && !before.ends_with('\\')) {
        Some(before) => ToolInputPattern::Command { glob: before.to_owned(), prefix: true },
        None => ToolInputPattern::Command { glob: inner.to_owned(), prefix: false },
    }
}

/// What was probably meant as a domain.
fn host_like(text: &str) -> &str {
    let host = text.split_once("://").map_or(text, |(_, rest)| rest);
    host.split('/').next().filter(|host| !host.is_empty()).unwrap_or("example.com")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        match ToolPattern::parse(text) {
            Ok(pattern) => format!("{} {:?}", pattern.tool.as_str(), pattern.input),
            Err(error) => format!("error: {error}"),
        }
    }

    #[test]
    fn patterns_are_read_as_claude_code_writes_them() {
        let all = [
            "Read",
            "mcp__github__*",
            "Task",
            "Bash(*)",
            "Bash()",
            "Bash(git status*)",
            "Bash(npm run:*)",
            "Bash(npm run *)",
            "Bash(* --version)",
            "Read(./docs/**)",
            "Edit(//etc/hosts)",
            "WebFetch(domain:Example.com)",
            "Agent(coder)",
            "Skill(deploy)",
        ];
        insta::assert_snapshot!(all.map(|text| format!("{text} = {}", shown(text))).join("\n"), @r#"
        Read = Read Any
        mcp__github__* = mcp__github__* Any
        Task = Agent Any
        Bash(*) = Bash Any
        Bash() = Bash Any
        Bash(git status*) = Bash Command { glob: "git status*", prefix: false }
        Bash(npm run:*) = Bash Command { glob: "npm run", prefix: true }
        Bash(npm run *) = Bash Command { glob: "npm run", prefix: true }
        Bash(* --version) = Bash Command { glob: "* --version", prefix: false }
        Read(./docs/**) = Read File { pattern: "./docs/**", writes: false }
        Edit(//etc/hosts) = Edit File { pattern: "//etc/hosts", writes: true }
        WebFetch(domain:Example.com) = WebFetch Domain("example.com")
        Agent(coder) = Agent Field { name: "subagent_type", glob: "coder" }
        Skill(deploy) = Skill Field { name: "skill", glob: "deploy" }
        "#);
    }

    #[test]
    fn what_is_no_pattern_is_said() {
        let all = [
            "Bash(git",
            "Bash)",
            "WebFetch(https://example.com/x)",
            "mcp__x__y(z)",
            "Bash(git [a)",
            "*(x)",
            "bash",
            "read(x)",
            "{Edit,webfetch}",
            "Bash|Read",
            "Edit, Write",
            "Read|Bash(git *)",
        ];
        insta::assert_snapshot!(all.map(|text| format!("{text} = {}", shown(text))).join("\n"), @"
        Bash(git = error: it must end with the `)` that closes its `(`
        Bash) = error: `)` without a `(` before it
        WebFetch(https://example.com/x) = error: write `WebFetch(domain:example.com)`
        mcp__x__y(z) = error: what is in parentheses is compared for Bash, Monitor, PowerShell, Read, Edit, Write, WebFetch, Agent and Skill only; write `mcp__x__y` for every use of it
        Bash(git [a) = error: `[` without a `]` after it
        *(x) = error: what is in parentheses is compared for Bash, Monitor, PowerShell, Read, Edit, Write, WebFetch, Agent and Skill only; write `*` for every use of it
        bash = error: case counts, and no tool is called `bash`: write `Bash`
        read(x) = error: case counts, and no tool is called `read`: write `Read`
        {Edit,webfetch} = error: case counts, and no tool is called `webfetch`: write `WebFetch`
        Bash|Read = error: alternatives are written `{Bash,Read}`
        Edit, Write = error: alternatives are written `{Edit,Write}`
        Read|Bash(git *) = error: alternatives are written `{Read,Bash}`
        ");
    }

    #[test]
    fn a_pattern_names_its_tools() {
        for (pattern, tool, expected) in [
            ("Read", "Read", true),
            ("Read", "Grep", false),
            ("Read(./x)", "Grep", true),
            ("Edit(./x)", "Write", true),
            ("Write(./x)", "Edit", false),
            ("Task", "Agent", true),
            ("Agent(coder)", "Task", true),
            ("mcp__github", "mcp__github__list", true),
            ("mcp__github", "mcp__github2__list", false),
            ("mcp__*", "mcp__github__list", true),
            ("Bash", "BashOutput", false),
            ("Bash", "Monitor", true),
            ("Bash(npm *)", "Monitor", true),
            ("Monitor", "Bash", false),
            ("Bash", "PowerShell", false),
            ("{Edit,Write}", "Write", true),
        ] {
            assert_eq!(ToolPattern::parse(pattern).unwrap().names(tool), expected, "{pattern} {tool}");
        }
    }
}
