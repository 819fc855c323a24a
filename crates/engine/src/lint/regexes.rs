//! Regular expressions in place of globs: they are valid globs that match nothing, or something else.

use super::coverage::is_literal;
use super::{CommandEntry, command_keys, commands};
use conclaude_core::config::{
    CommandMatch, ConclaudeConfig, FileGlob, NameGlob, Remark, ToolAction, ToolPatternText, ToolRuleConfig,
};
use conclaude_core::dialect::claude::notation::ToolInputPattern;
use conclaude_core::event::Subject;
use shell_effects::glob::{Glob, GlobKind};
use shell_effects::has_subcommands;

use self::expression::Expression;

mod expression;
#[cfg(test)]
mod tests;

/// What a pattern is compared with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ComparisonTarget {
    Files,
    Commands,
    /// Names of tools and agents, and other values of a payload.
    Names,
}

impl ComparisonTarget {
    fn why(self) -> &'static str {
        match self {
            ComparisonTarget::Files => "patterns of files are globs, as in .gitignore",
            ComparisonTarget::Commands => "patterns of commands are globs, compared with the whole command",
            ComparisonTarget::Names => "patterns of names are globs",
        }
    }

    fn kind(self) -> GlobKind {
        match self {
            ComparisonTarget::Files => GlobKind::Path,
            ComparisonTarget::Commands | ComparisonTarget::Names => GlobKind::Name,
        }
    }
}

/// The position of a pattern, and its name in the remark.
#[derive(Default)]
struct PatternPosition<'a> {
    keys: Vec<&'a str>,
    what: &'a str,
    /// The text around the pattern: `Bash(` and `)`.
    around: (&'a str, &'a str),
}

impl PatternPosition<'_> {
    fn remark(&self, pattern: &str, compared: ComparisonTarget) -> Option<Remark> {
        let help = self.help(pattern, compared)?;
        let title = format!("{}: `{pattern}` is a regular expression", self.what);
        Some(Remark::new(self.keys.iter().copied(), title).because(compared.why()).help(help))
    }

    /// What to write instead of a regular expression. `None` for a glob.
    fn help(&self, pattern: &str, compared: ComparisonTarget) -> Option<String> {
        let (mark, plain) = match pattern.strip_prefix('!') {
            Some(rest) if compared == ComparisonTarget::Files => ("!", rest),
            _ => ("", pattern),
        };
        if !is_regex(plain, compared) {
            return None;
        }
        let glob = Expression::new(plain).glob(compared);
        let is_better = |glob: &String| {
            !glob.is_empty() && !is_regex(glob, compared) && Glob::check(glob, compared.kind()).is_ok()
        };
        let Some(glob) = glob.filter(is_better) else {
            return Some("write it with * ? [abc] [a-z] [!a] {foo,bar}".into());
        };
        let help = format!("write {}", self.written(&format!("{mark}{glob}")));
        Some(match dotted(plain) {
            Some(before) => {
                let dotted = self.written(&format!("{mark}{before}[.]*"));
                format!("{help}, or {dotted} for names that start with a dot")
            }
            None => help,
        })
    }

    /// A pattern with the text around it, in YAML quotes.
    fn written(&self, pattern: &str) -> String {
        let (before, after) = self.around;
        format!("{:?}", format!("{before}{pattern}{after}"))
    }
}

pub(super) fn remarks(config: &ConclaudeConfig) -> Vec<Remark> {
    let mut found = Vec::new();
    of_sections(config, &mut found);
    of_guards(config, &mut found);
    of_permissions(config, &mut found);
    found
}

fn of_sections(config: &ConclaudeConfig, found: &mut Vec<Remark>) {
    for (event, section) in &config.sections {
        if !matches!(event.row().subject, Subject::Field(_) | Subject::Agent) {
            continue;
        }
        for (pattern, _) in section.entries() {
            let (what, pattern) = (event.row().section, pattern.as_str());
            let position =
                PatternPosition { keys: vec![what, "commands", pattern], what, ..Default::default() };
            found.extend(position.remark(pattern, ComparisonTarget::Names));
        }
    }
    for CommandEntry { event, pattern, index, command } in commands(config) {
        let (what, index) = (event.row().section, index.to_string());
        let keys = |key| command_keys(what, pattern, &index, key).to_vec();
        if let Some(agent) = &command.agent {
            let position = PatternPosition { keys: keys("agent"), what, ..Default::default() };
            found.extend(position.remark(agent.as_str(), ComparisonTarget::Names));
        }
        for (at, glob) in command.files.iter().flatten().enumerate() {
            let at = at.to_string();
            let position = PatternPosition {
                keys: keys("files").into_iter().chain([at.as_str()]).collect(),
                what,
                ..Default::default()
            };
            found.extend(position.remark(glob.as_str(), ComparisonTarget::Files));
        }
    }
}

fn of_guards(config: &ConclaudeConfig, found: &mut Vec<Remark>) {
    const SECTION: &str = "preToolUse";
    let guards = &config.guards;
    for (what, list) in [
        ("uneditableFiles", &guards.uneditable_files),
        ("unreadableFiles", &guards.unreadable_files),
        ("preventAdditions", &guards.prevent_additions),
    ] {
        for (index, rule) in list.iter().flatten().enumerate() {
            let index = index.to_string();
            let position = PatternPosition { keys: vec![SECTION, what, &index], what, ..Default::default() };
            found.extend(position.remark(rule.value.0.pattern.as_str(), ComparisonTarget::Files));
            let agent = rule.value.0.agent.as_ref().map(NameGlob::as_str);
            let position =
                PatternPosition { keys: vec![SECTION, what, &index, "agent"], what, ..Default::default() };
            found.extend(agent.and_then(|agent| position.remark(agent, ComparisonTarget::Names)));
        }
    }
    let what = "toolUsageValidation";
    for (index, rule) in guards.tool_usage_validation.iter().flatten().enumerate() {
        let (rule, index) = (&rule.value, index.to_string());
        let at = |key| PatternPosition { keys: vec![SECTION, what, &index, key], what, ..Default::default() };
        found.extend(of_tool(&rule.tool, rule.action != ToolAction::Allow, &at("tool")));
        let agent = rule.agent.as_ref().map(NameGlob::as_str);
        found.extend(agent.and_then(|agent| at("agent").remark(agent, ComparisonTarget::Names)));
        let file = rule.pattern.as_ref().map(FileGlob::as_str);
        found.extend(file.and_then(|file| at("pattern").remark(file, ComparisonTarget::Files)));
        if let Some(command) = &rule.command_pattern {
            let position = at("commandPattern");
            let remark = position.remark(command.as_str(), ComparisonTarget::Commands);
            let exact = || {
                if is_exact(rule) { exact(command.as_str(), &position, ", or use `options`") } else { None }
            };
            found.extend(remark.or_else(exact));
        }
    }
}

/// Whether a rule that refuses compares only the whole command.
fn is_exact(rule: &ToolRuleConfig) -> bool {
    rule.action != ToolAction::Allow
        && rule.match_mode != Some(CommandMatch::Prefix)
        && rule.options.is_none()
}

fn of_permissions(config: &ConclaudeConfig, found: &mut Vec<Remark>) {
    let what = "permissionRequest";
    let allow = config.permissions.allow.iter().flatten().map(|rule| &rule.value.0.pattern);
    let deny = config.permissions.deny.iter().flatten().map(|rule| &rule.value.0.pattern);
    let allow = allow.enumerate().map(|(index, pattern)| ("allow", index, pattern));
    for (list, index, pattern) in
        allow.chain(deny.enumerate().map(|(index, pattern)| ("deny", index, pattern)))
    {
        let index = index.to_string();
        let position = PatternPosition { keys: vec![what, list, &index], what, ..Default::default() };
        found.extend(of_tool(pattern, list == "deny", &position));
    }
}

/// A pattern in Claude Code's notation: the tool, and the value that its input is compared with.
fn of_tool(tool: &ToolPatternText, refuses: bool, position: &PatternPosition<'_>) -> Option<Remark> {
    let text = tool.as_str().trim();
    let (name, input) = text.split_at(text.find('(').unwrap_or(text.len()));
    let at = |around| PatternPosition { keys: position.keys.clone(), what: position.what, around };
    let before = format!("{name}(");
    let position = &at((&before, ")"));
    at(("", input)).remark(name, ComparisonTarget::Names).or_else(|| match &tool.pattern.input {
        ToolInputPattern::Command { glob, prefix } => {
            let exact = || if refuses && !prefix { exact(glob, position, "") } else { None };
            position.remark(glob, ComparisonTarget::Commands).or_else(exact)
        }
        ToolInputPattern::File { pattern, .. } => position.remark(pattern, ComparisonTarget::Files),
        _ => None,
    })
}

/// A command that ends with an option and has no `*`: the intended command has arguments after it.
fn exact(pattern: &str, position: &PatternPosition<'_>, otherwise: &str) -> Option<Remark> {
    let (_, option) = pattern.rsplit_once(' ')?;
    if !is_literal(pattern) || !option.starts_with('-') || option.trim_matches('-').is_empty() {
        return None;
    }
    let title = format!("{}: `{pattern}` matches only this command without arguments", position.what);
    let remark = Remark::new(position.keys.iter().copied(), title);
    Some(
        remark
            .because("nothing may follow it")
            .help(format!("write {}{otherwise}", position.written(&format!("{pattern}*")))),
    )
}

/// The text before a final `.*` that, as a glob, would be a name with a dot in front. A pattern with `^` is certainly not a glob.
fn dotted(pattern: &str) -> Option<&str> {
    let before = pattern.strip_suffix(".*")?;
    let is_glob = before.ends_with([' ', '/']) && !before.contains('*') && !before.starts_with('^');
    if is_glob { Some(before) } else { None }
}

/// Whether a text has parts that only a regular expression has. `.*` alone does not count: `.env.*` and `.*` are globs.
fn is_regex(pattern: &str, compared: ComparisonTarget) -> bool {
    let is_anchored = pattern.starts_with('^') || pattern.ends_with('$') && !pattern.ends_with("\\$");
    let has_escape = |characters: &[char]| {
        let mut rest = pattern.chars().peekable();
        while let Some(character) = rest.next() {
            if character == '\\'
                && let Some(escaped) = rest.next()
                && characters.contains(&escaped)
                // `src\build` is a path of Windows.
                && (compared == ComparisonTarget::Commands || !rest.peek().is_some_and(|next| next.is_alphanumeric()))
            {
                return true;
            }
        }
        false
    };
    let has_dots = match compared {
        ComparisonTarget::Names => pattern.contains(".*"),
        ComparisonTarget::Files => {
            dotted(pattern).is_some()
                || pattern.contains(".*") && (pattern.contains("\\.") || pattern.contains("\\/"))
        }
        ComparisonTarget::Commands => dotted(pattern).is_some() || has_command_dots(pattern),
    };
    is_anchored
        || has_dots
        || pattern.contains(".+")
        || has_repeated_class(pattern)
        || has_escape(&['d', 'D', 'w', 'W', 's', 'S', 'b', 'B'])
        || has_group(pattern)
        || has_alternatives(pattern, compared)
}

/// `a|b`. Names may be written so, and a pipe of a shell has blanks around it.
fn has_alternatives(pattern: &str, compared: ComparisonTarget) -> bool {
    let is_part = |c: char| !c.is_whitespace() && !matches!(c, '|' | '&' | '\\');
    compared != ComparisonTarget::Names
        && !pattern.contains(['\'', '"', '[', '('])
        && pattern.match_indices('|').any(|(at, _)| {
            let (before, after) = (pattern.get(..at).unwrap_or_default(), pattern.get(at + 1..));
            before.ends_with(is_part) && after.is_some_and(|after| after.starts_with(is_part))
        })
}

/// `[a-z]+`.
fn has_repeated_class(pattern: &str) -> bool {
    pattern.split('[').skip(1).any(|rest| {
        rest.split_once(']').is_some_and(|(class, after)| !class.is_empty() && after.starts_with('+'))
    })
}

/// `(a|b)` and `(?:a)`. A group of a shell has spaces.
fn has_group(pattern: &str) -> bool {
    pattern.contains("(?")
        || pattern.split('(').skip(1).any(|rest| {
            rest.split_once(')').is_some_and(|(group, _)| group.contains('|') && !group.contains(' '))
        })
}

/// `.*` before an option, at the start, or after a subcommand. `mkfs.*` is a glob.
fn has_command_dots(pattern: &str) -> bool {
    let is_subcommand = |before: &str| {
        let mut words = before.split(' ');
        let program = words.next().unwrap_or_default();
        let rest: Vec<&str> = words.collect();
        let is_word =
            |word: &&str| !word.is_empty() && word.chars().all(|c| c.is_ascii_alphabetic() || c == '-');
        has_subcommands(program) && matches!(rest.as_slice(), [word] if is_word(word))
    };
    pattern.match_indices(".*").any(|(at, _)| {
        let (before, after) =
            (pattern.get(..at).unwrap_or_default(), pattern.get(at + 2..).unwrap_or_default());
        let follows_word = before.ends_with(|c: char| c.is_alphanumeric());
        after.starts_with("--")
            || follows_word && (after.starts_with('-') || after.starts_with(" -"))
            || before.is_empty() && after.starts_with(|c: char| c.is_alphabetic())
            || is_subcommand(before)
    })
}
