//! `permissionRequest`: rules without an effect, because another rule comes first or an outer layer does not permit them.

use super::coverage::{covers, covers_command};
use conclaude_core::config::{Layer, NameGlob, PermissionDefault, Remark};
use conclaude_core::dialect::claude::notation::{ToolInputPattern, ToolPattern};
use conclaude_store::load::LoadedConfig;

const SECTION: &str = "permissionRequest";

/// A rule of `allow` or `deny`, in the form in which rules are compared with each other.
struct PermissionRule<'a> {
    list: &'static str,
    index: usize,
    pattern: &'a ToolPattern,
    written: &'a str,
    agent: Option<&'a str>,
    overridable: bool,
    layer: Layer,
    line: usize,
    source: usize,
}

pub(super) fn check(loaded: &LoadedConfig, found: &mut Vec<Remark>) {
    let rules = rules(loaded);
    for rule in &rules {
        let remark = denied_by_default(rule, loaded)
            .or_else(|| allowed_by_default(rule, loaded))
            .or_else(|| denied(rule, &rules))
            .or_else(|| repeated(rule, &rules, loaded));
        found.extend(remark);
    }
}

fn rules(loaded: &LoadedConfig) -> Vec<PermissionRule<'_>> {
    let permissions = &loaded.config.permissions;
    let layer =
        |source: usize| loaded.origins.sources().get(source).map_or(Layer::default(), |one| one.layer);
    let allow = permissions.allow.iter().flatten().enumerate().map(|(index, rule)| PermissionRule {
        list: "allow",
        index,
        pattern: &rule.value.0.pattern.pattern,
        written: rule.value.0.pattern.written.trim(),
        agent: rule.value.0.agent.as_ref().map(NameGlob::as_str),
        overridable: false,
        layer: layer(rule.source),
        line: rule.line,
        source: rule.source,
    });
    let deny = permissions.deny.iter().flatten().enumerate().map(|(index, rule)| PermissionRule {
        list: "deny",
        index,
        pattern: &rule.value.0.pattern.pattern,
        written: rule.value.0.pattern.written.trim(),
        agent: rule.value.0.agent.as_ref().map(NameGlob::as_str),
        overridable: rule.value.0.overridable == Some(true),
        layer: layer(rule.source),
        line: rule.line,
        source: rule.source,
    });
    allow.chain(deny).collect()
}

impl PermissionRule<'_> {
    fn remark(&self, title: String) -> Remark {
        Remark::new([SECTION, self.list, &self.index.to_string()], title)
    }

    /// Whether it covers everything that another rule covers.
    fn covers(&self, other: &PermissionRule<'_>) -> bool {
        let whom = self.agent.is_none_or(|agent| other.agent.is_some_and(|other| covers(agent, other)));
        whom && covers_tools(self.pattern, other.pattern)
            && covers_input(&self.pattern.input, &other.pattern.input)
    }
}

/// If an outer layer denies by default and is not overridable, inner layers cannot allow anything.
fn denied_by_default(rule: &PermissionRule<'_>, loaded: &LoadedConfig) -> Option<Remark> {
    let default = loaded.config.permissions.default.as_ref()?;
    let source = loaded.origins.sources().get(default.source)?;
    let is_held =
        default.value.0.answer == PermissionDefault::Deny && default.value.0.overridable != Some(true);
    if rule.list != "allow" || !is_held || rule.layer <= source.layer {
        return None;
    }
    let what = format!("{SECTION}: `{}` can never allow anything", rule.written);
    let why = format!("`default` is `deny` in {}:{}, an outer file", source.path.display(), default.line);
    let help = "remove it, or write `default: {answer: deny, overridable: true}` there";
    Some(rule.remark(what).because(why).help(help))
}

/// With `default: allow`, an `allow` rule of the same file has no effect.
fn allowed_by_default(rule: &PermissionRule<'_>, loaded: &LoadedConfig) -> Option<Remark> {
    let default = loaded.config.permissions.default.as_ref()?;
    let is_allowing = default.value.0.answer == PermissionDefault::Allow && default.source == rule.source;
    if rule.list != "allow" || !is_allowing {
        return None;
    }
    let what = format!("{SECTION}: `{}` is redundant", rule.written);
    let why = format!("`default: allow` in line {} allows it anyway", default.line);
    Some(rule.remark(what).because(why).help("remove it"))
}

/// `deny` comes before `allow`, wherever they are written.
fn denied(rule: &PermissionRule<'_>, rules: &[PermissionRule<'_>]) -> Option<Remark> {
    let yields = |deny: &PermissionRule<'_>| deny.overridable && rule.layer > deny.layer;
    let mut denying = rules.iter().filter(|one| one.list == "deny" && rule.list == "allow");
    let deny = denying.find(|deny| deny.covers(rule) && !yields(deny))?;
    let what = format!("{SECTION}: `{}` can never allow anything", rule.written);
    let why = format!("`deny` has `{}`, which comes before `allow`", deny.written);
    Some(rule.remark(what).because(why).help("remove one of them"))
}

/// Another rule of the same list covers this one.
fn repeated(
    rule: &PermissionRule<'_>,
    rules: &[PermissionRule<'_>],
    loaded: &LoadedConfig,
) -> Option<Remark> {
    let is_other = |one: &&PermissionRule<'_>| one.list == rule.list && one.index != rule.index;
    // If two rules are equal, the later one is redundant. Rules that differ in `agent` or `overridable` are not equal.
    let says_it = |one: &&PermissionRule<'_>| {
        one.covers(rule)
            && one.overridable == rule.overridable
            && one.layer <= rule.layer
            && (one.index < rule.index || !rule.covers(one))
    };
    let other = rules.iter().filter(is_other).find(says_it)?;
    let position = match loaded.origins.sources().get(other.source) {
        Some(source) if other.source != rule.source => format!("{}:{}", source.path.display(), other.line),
        _ => format!("line {}", other.line),
    };
    let what = format!("{SECTION}: `{}` is redundant", rule.written);
    let why = format!("`{}` in {position} covers everything that it covers", other.written);
    Some(rule.remark(what).because(why).help("remove it"))
}

pub(super) fn covers_tools(outer: &ToolPattern, inner: &ToolPattern) -> bool {
    match inner.tools() {
        Some(tools) => tools.into_iter().all(|tool| outer.names(tool)),
        None => covers(outer.tool.as_str(), inner.tool.as_str()),
    }
}

fn covers_input(outer: &ToolInputPattern, inner: &ToolInputPattern) -> bool {
    match (outer, inner) {
        (ToolInputPattern::Any, _) => true,
        (
            ToolInputPattern::Command { glob, prefix },
            ToolInputPattern::Command { glob: other, prefix: other_prefix },
        ) => covers_command(glob, *prefix, other, *other_prefix),
        (ToolInputPattern::Domain(glob), ToolInputPattern::Domain(other)) => covers(glob, other),
        (
            ToolInputPattern::Field { name, glob },
            ToolInputPattern::Field { name: other_name, glob: other },
        ) => name == other_name && covers(glob, other),
        (outer, inner) => outer == inner,
    }
}
