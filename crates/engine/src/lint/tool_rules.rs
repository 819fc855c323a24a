//! `toolUsageValidation`: rules that cannot match, and rules that come after a broader one.

use super::coverage::{alternatives, covers, covers_command, is_literal};
use super::permission_rules::covers_tools;
use super::{LintContext, names};
use conclaude_checks::guard::joins;
use conclaude_core::config::{
    CommandGlob, CommandMatch, FileGlob, Layer, NameGlob, Remark, ToolAction, ToolRuleConfig,
};
use conclaude_core::dialect::claude::notation::ToolInputPattern;
use conclaude_core::dialect::claude::tools;
use conclaude_core::yaml::Located;
use conclaude_store::load::LoadedConfig;
use shell_effects::glob::{Glob, GlobKind};

const KEY: &str = "toolUsageValidation";

pub(super) fn check(loaded: &LoadedConfig, context: &LintContext, found: &mut Vec<Remark>) {
    let rules: Vec<&Located<ToolRuleConfig>> =
        loaded.config.guards.tool_usage_validation.iter().flatten().collect();
    for (index, rule) in rules.iter().enumerate() {
        let at = index.to_string();
        let dead = RulePosition { index: &at };
        if let Some(remark) = dead.names(&rule.value, context).or_else(|| dead.commands(&rule.value)) {
            found.push(remark);
            continue;
        }
        // A rule that differs from an extended file is an intended exception.
        let earlier = rules.iter().take(index).filter(|earlier| earlier.source == rule.source);
        let cover = earlier.into_iter().find(|earlier| comes_before(&earlier.value, &rule.value));
        if let Some(cover) = cover {
            let what = format!("{KEY}: this rule for `{}` can never decide", rule.value.tool.as_str());
            // A rule that allows compares a command as written. A rule that denies compares further forms.
            let is_as_written = allows(&cover.value) && !allows(&rule.value);
            let matches = if is_as_written && rule.value.command_pattern.is_some() {
                "allows all that it matches as it is written"
            } else {
                "matches all that it matches"
            };
            let why = format!("the rule in line {} {matches}, and comes first", cover.line);
            let help =
                if cover.value.action == rule.value.action { "remove it" } else { "move it before that one" };
            found.push(dead.remark("tool", what).because(why).help(help));
        } else {
            found.extend(dead.overruled(index, &rules, loaded));
        }
    }
}

fn layer(rule: &Located<ToolRuleConfig>, loaded: &LoadedConfig) -> Layer {
    loaded.origins.sources().get(rule.source).map_or(Layer::default(), |source| source.layer)
}

struct RulePosition<'a> {
    index: &'a str,
}

impl RulePosition<'_> {
    fn remark(&self, key: &str, title: String) -> Remark {
        Remark::new(["preToolUse", KEY, self.index, key], title)
    }

    /// A rule that would only relax an outer layer, which is not overridable.
    fn overruled(
        &self,
        index: usize,
        rules: &[&Located<ToolRuleConfig>],
        loaded: &LoadedConfig,
    ) -> Option<Remark> {
        let rule = *rules.get(index)?;
        let is_outer = |one: &&&Located<ToolRuleConfig>| layer(one, loaded) < layer(rule, loaded);
        let outer = || rules.iter().filter(is_outer);
        let holds = |one: &ToolRuleConfig| {
            one.overridable != Some(true)
                && strictness(one.action) > strictness(rule.value.action)
                && comes_before(one, &rule.value)
        };
        let (at, held) = outer().enumerate().find(|(_, one)| holds(&one.value))?;
        // In its layer the first match decides: an earlier rule may be milder.
        let is_milder = |one: &&Located<ToolRuleConfig>| {
            layer(one, loaded) == layer(held, loaded)
                && strictness(one.value.action) < strictness(held.value.action)
        };
        if outer().take(at).any(is_milder) {
            return None;
        }
        let file = loaded.origins.sources().get(held.source)?.path.display();
        let what = format!("{KEY}: this rule for `{}` can never decide", rule.value.tool.as_str());
        let why =
            format!("{file}:{} is stricter, comes from an outer layer and is not overridable", held.line);
        Some(self.remark("tool", what).because(why).help("write `overridable: true` there, if it is yours"))
    }

    fn names(&self, rule: &ToolRuleConfig, context: &LintContext) -> Option<Remark> {
        let keys = |key| ["preToolUse", KEY, self.index, key];
        let tool = names::tool(rule.tool.pattern.tool.as_str()).map(|wrong| wrong.remark(&keys("tool"), KEY));
        tool.or_else(|| {
            let wrong = names::agent(rule.agent.as_ref()?.as_str(), context, true)?;
            Some(wrong.remark(&keys("agent"), KEY))
        })
    }

    /// A command pattern for a tool without a command, or a file pattern for a tool without a file.
    fn commands(&self, rule: &ToolRuleConfig) -> Option<Remark> {
        let tool = rule.tool.pattern.tool.as_str();
        let keys = [
            ("commandPattern", rule.command_pattern.is_some()),
            ("sqlPattern", rule.sql_pattern.is_some()),
            ("options", rule.options.is_some()),
            ("without", rule.without.is_some()),
        ];
        let command_key = keys.iter().find(|(_, is_given)| *is_given).map(|(key, _)| *key);
        if let Some(key) = command_key
            && !tools::WITH_COMMAND.iter().any(|known| matches(tool, known))
        {
            let remark = self.remark(key, format!("{KEY}: this rule for `{tool}` never matches"));
            return Some(
                remark
                    .because("only `Bash`, `Monitor` and `PowerShell` have a command to compare")
                    .help("write `tool: Bash`"),
            );
        }
        let spaced =
            rule.command_pattern.as_ref().map(CommandGlob::as_str).filter(|text| has_idle_spaces(text));
        if let Some(text) = spaced {
            let remark = self.remark("commandPattern", format!("{KEY}: `{text}` matches hardly anything"));
            let help = format!("write \"{}\"", text.split_whitespace().collect::<Vec<_>>().join(" "));
            return Some(remark.because("the words of a command are joined by one space").help(help));
        }
        let touches = alternatives(tool).iter().all(|one| is_literal(one) && !tools::may_touch_files(one));
        if rule.pattern.is_some() && touches {
            let remark = self.remark("pattern", format!("{KEY}: this rule for `{tool}` never matches"));
            let why = format!("`{tool}` names no file to compare");
            return Some(remark.because(why).help("remove `pattern`"));
        }
        let (key, missing) = without_effect(rule)?;
        let remark = self.remark(key, format!("{KEY}: `{key}` has no effect"));
        Some(remark.because(format!("there is no `{missing}`")).help(format!("remove `{key}`")))
    }
}

/// A key that only limits another one, which is missing.
fn without_effect(rule: &ToolRuleConfig) -> Option<(&'static str, &'static str)> {
    let limits = [
        ("matchMode", rule.match_mode.is_some(), "commandPattern", rule.command_pattern.is_some()),
        (
            "caseInsensitive",
            rule.case_insensitive.is_some(),
            "commandPattern",
            rule.command_pattern.is_some(),
        ),
        ("known", rule.known.is_some(), "commandPattern", rule.command_pattern.is_some()),
        ("sqlUnless", rule.sql_unless.is_some(), "sqlPattern", rule.sql_pattern.is_some()),
        ("access", rule.access.is_some(), "pattern", rule.pattern.is_some()),
        ("outside", rule.outside.is_some(), "pattern", rule.pattern.is_some()),
        ("exact", rule.exact.is_some(), "pattern", rule.pattern.is_some()),
    ];
    let idle = limits.into_iter().find(|(_, is_set, _, is_used)| *is_set && !is_used);
    idle.map(|(key, _, missing, _)| (key, missing))
}

/// Spaces that no command has: its words are compared with one space between them.
fn has_idle_spaces(pattern: &str) -> bool {
    pattern.contains("  ") || pattern.trim() != pattern
}

fn strictness(action: ToolAction) -> u8 {
    match action {
        ToolAction::Allow => 0,
        ToolAction::Ask => 1,
        ToolAction::Block => 2,
    }
}

fn matches(glob: &str, name: &str) -> bool {
    Glob::new(glob, GlobKind::Name).is_ok_and(|glob| glob.matches(name).unwrap_or(true))
}

/// Whether the first rule certainly matches everything that the second matches.
fn comes_before(first: &ToolRuleConfig, second: &ToolRuleConfig) -> bool {
    let text = |glob: &Option<NameGlob>| glob.as_ref().map(NameGlob::as_str).map(str::to_owned);
    let agents = match (text(&first.agent), text(&second.agent)) {
        (None, _) => true,
        (Some(first), Some(second)) => covers(&first, &second),
        (Some(_), None) => false,
    };
    let file = |rule: &ToolRuleConfig| rule.pattern.as_ref().map(FileGlob::as_str).map(str::to_owned);
    // A rule that allows must cover every file, one that blocks any.
    let files = match (file(first), file(second)) {
        (None, _) => true,
        (Some(one), Some(other)) => {
            let limits = |rule: &ToolRuleConfig| (rule.access, rule.outside, rule.exact);
            let is_limited = limits(first) != (None, None, None) && limits(first) != limits(second);
            one == other && allows(first) == allows(second) && !is_limited
        }
        (Some(_), None) => false,
    };
    let (one, other) = (&first.tool.pattern, &second.tool.pattern);
    // A notation for commands is compared like a command pattern.
    let inputs = match (&one.input, &other.input) {
        (ToolInputPattern::Any, _) => true,
        (ToolInputPattern::Command { .. }, _) if first.command_pattern.is_none() => true,
        (one, other) => one == other && allows(first) == allows(second),
    };
    covers_tools(one, other) && inputs && agents && files && covers_commands(first, second)
}

fn covers_commands(first: &ToolRuleConfig, second: &ToolRuleConfig) -> bool {
    let is_prefix = |rule: &ToolRuleConfig| command_of(rule).is_some_and(|(_, is_prefix)| is_prefix);
    let ignores_case = |rule: &ToolRuleConfig| rule.case_insensitive == Some(true);
    let pattern = |rule: &ToolRuleConfig| {
        let text = command_of(rule)?.0;
        Some(if ignores_case(first) { text.to_ascii_lowercase() } else { text.to_owned() })
    };
    // One of a rule's options is enough.
    let options = first.options.as_ref().is_none_or(|known| {
        let known = known.to_vec();
        let others = second.options.as_ref();
        known.is_empty() || others.is_some_and(|others| others.to_vec().iter().all(|one| known.contains(one)))
    });
    let commands = match (pattern(first), pattern(second)) {
        (None, _) => true,
        // Only patterns with an operator are compared with several commands at once.
        (Some(one), Some(other)) => {
            let is_same_form = joins(&one) || !joins(&other);
            is_same_form
                && (is_any(&one)
                    || (ignores_case(first) || !ignores_case(second))
                        && covers_command(&one, is_prefix(first), &other, is_prefix(second)))
        }
        (Some(one), None) if is_any(&one) => second.tool.pattern.tool.as_str() == tools::SHELL,
        (Some(_), None) => false,
    };
    let sql = |rule: &ToolRuleConfig| {
        rule.sql_pattern.as_ref().map(|pattern| pattern.as_str().to_ascii_lowercase())
    };
    let statements = match (sql(first), sql(second)) {
        (None, _) => true,
        (Some(one), Some(other)) => allows(first) == allows(second) && covers(&one, &other),
        (Some(_), None) => false,
    };
    let exceptions = first.without.as_ref().is_none_or(|names| second.without.as_ref() == Some(names))
        && first.sql_unless.as_ref().is_none_or(|unless| second.sql_unless.as_ref() == Some(unless));
    options && commands && statements && exceptions
}

/// The pattern of commands, and whether anything may follow it.
fn command_of(rule: &ToolRuleConfig) -> Option<(&str, bool)> {
    match (&rule.command_pattern, &rule.tool.pattern.input) {
        (Some(pattern), _) => Some((pattern.as_str(), rule.match_mode == Some(CommandMatch::Prefix))),
        (None, ToolInputPattern::Command { glob, prefix }) => Some((glob, *prefix)),
        _ => None,
    }
}

/// Whether a pattern matches every command.
fn is_any(pattern: &str) -> bool {
    pattern.chars().all(|c| c == '*')
}

fn allows(rule: &ToolRuleConfig) -> bool {
    rule.action == ToolAction::Allow
}
