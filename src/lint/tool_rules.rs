//! `toolUsageValidation`: rules that cannot match, and rules that an earlier one comes before.

use super::cover::{alternatives, covers, covers_command, is_literal};
use super::{World, names};
use crate::config::{CommandMatch, FileGlob, Layer, NameGlob, Remark, ToolAction, ToolRuleConfig};
use crate::dialect::claude::tools;
use crate::glob::{Glob, Kind};
use crate::load::Loaded;
use crate::yaml::Located;

const KEY: &str = "toolUsageValidation";

pub(super) fn check(loaded: &Loaded, world: &World, found: &mut Vec<Remark>) {
    let rules: Vec<&Located<ToolRuleConfig>> =
        loaded.config.guards.tool_usage_validation.iter().flatten().collect();
    let layer = |rule: &Located<ToolRuleConfig>| {
        loaded.origins.sources().get(rule.source).map_or(Layer::default(), |source| source.layer)
    };
    for (index, rule) in rules.iter().enumerate() {
        let at = index.to_string();
        let dead = Dead { index: &at };
        if let Some(remark) = dead.names(&rule.value, world).or_else(|| dead.commands(&rule.value)) {
            found.push(remark);
            continue;
        }
        let earlier = rules.iter().take(index).filter(|earlier| layer(earlier) == layer(rule));
        let cover = earlier.into_iter().find(|earlier| comes_before(&earlier.value, &rule.value));
        if let Some(cover) = cover {
            let what = format!("{KEY}: this rule for `{}` can never decide", rule.value.tool.as_str());
            let why = format!("the rule in line {} matches all that it matches, and comes first", cover.line);
            let help =
                if cover.value.action == rule.value.action { "remove it" } else { "move it before that one" };
            found.push(dead.remark("tool", what).because(why).help(help));
        }
    }
}

struct Dead<'a> {
    index: &'a str,
}

impl Dead<'_> {
    fn remark(&self, key: &str, title: String) -> Remark {
        Remark::new(["preToolUse", KEY, self.index, key], title)
    }

    fn names(&self, rule: &ToolRuleConfig, world: &World) -> Option<Remark> {
        let keys = |key| ["preToolUse", KEY, self.index, key];
        let tool = names::tool(rule.tool.as_str()).map(|wrong| wrong.remark(&keys("tool"), KEY));
        tool.or_else(|| {
            let wrong = names::agent(rule.agent.as_ref()?.as_str(), world, true)?;
            Some(wrong.remark(&keys("agent"), KEY))
        })
    }

    /// What a tool without a command, or without a file, is never asked.
    fn commands(&self, rule: &ToolRuleConfig) -> Option<Remark> {
        let tool = rule.tool.as_str();
        if rule.command_pattern.is_some() && !matches(tool, tools::SHELL) {
            let remark =
                self.remark("commandPattern", format!("{KEY}: this rule for `{tool}` never matches"));
            return Some(remark.because("only `Bash` has a command to compare").help("write `tool: Bash`"));
        }
        let touches = alternatives(tool).iter().all(|one| is_literal(one) && !tools::may_touch_files(one));
        if rule.pattern.is_some() && touches {
            let remark = self.remark("pattern", format!("{KEY}: this rule for `{tool}` never matches"));
            let why = format!("`{tool}` names no file to compare");
            return Some(remark.because(why).help("remove `pattern`"));
        }
        if rule.match_mode.is_some() && rule.command_pattern.is_none() {
            let remark = self.remark("matchMode", format!("{KEY}: `matchMode` has no effect"));
            return Some(remark.because("there is no `commandPattern`").help("remove `matchMode`"));
        }
        None
    }
}

fn matches(glob: &str, name: &str) -> bool {
    Glob::new(glob, Kind::Name).is_ok_and(|glob| glob.matches(name).unwrap_or(true))
}

/// Whether the first rule matches whatever the second matches, as far as that is certain.
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
        (Some(one), Some(other)) => one == other && allows(first) == allows(second),
        (Some(_), None) => false,
    };
    let is_prefix = |rule: &ToolRuleConfig| rule.match_mode == Some(CommandMatch::Prefix);
    let commands = match (text(&first.command_pattern), text(&second.command_pattern)) {
        (None, _) => true,
        // A rule that allows does not look at the whole text, one that blocks does.
        (Some(one), Some(other)) => {
            (!allows(first) || allows(second))
                && covers_command(&one, is_prefix(first), &other, is_prefix(second))
        }
        (Some(_), None) => false,
    };
    covers(first.tool.as_str(), second.tool.as_str()) && agents && files && commands
}

fn allows(rule: &ToolRuleConfig) -> bool {
    rule.action == ToolAction::Allow
}
