//! The guards of `preToolUse`: what a tool call would touch, against the rules of the config.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::path::Path;

use serde_json::Value;

use super::context::Context;
use crate::config::{Layer, PreToolUseConfig, file_name};
use crate::des::paths::Links;
use crate::des::protected::Protected;
use crate::dialect::claude::tools::{self, Use};
use crate::files;
use crate::finding::{Code, Finding};
use crate::git;
use crate::glob::GlobError;
use crate::guard::{self, Action, Call, Effects, Ground, Rules, Sources, Watch, check};
use crate::outcome::{Evidence, Outcome, Verdict};
use crate::plan::{Gate, Plan};
use crate::shell::{self, Access};
use crate::types::{HookPayload, PreToolUsePayload};

/// The name of the main thread, in rules.
const MAIN: &str = "main";

pub(super) fn run(config: &PreToolUseConfig, plan: &Plan, context: &Context<'_>) -> Vec<Outcome> {
    match inspect(config, plan, context, Watch::default()) {
        Some(Ok(inspected)) => inspected.findings.into_iter().map(outcome).collect(),
        Some(Err(error)) => vec![broken(&error)],
        None => Vec::new(),
    }
}

/// The config was checked when it was read, so this is not met.
pub(super) fn broken(error: &GlobError) -> Outcome {
    Outcome::note(format!("a guard cannot be evaluated: {error}"))
}

/// A call as the guards see it.
pub(super) struct Inspected {
    pub(super) rules: Rules,
    pub(super) effects: Effects,
    pub(super) findings: Vec<guard::Finding>,
}

/// What the guards find. None where there is no tool.
pub(super) fn inspect(
    config: &PreToolUseConfig,
    plan: &Plan,
    context: &Context<'_>,
    watch: Watch<'_>,
) -> Option<Result<Inspected, GlobError>> {
    let tool = &tool_of(context)?;
    let home = files::home();
    let sources = sources(context);
    let rules = match Rules::of(config, &Sources(&sources), home.as_deref()) {
        Ok(rules) => rules,
        Err(error) => return Some(Err(error)),
    };
    let cwd = Path::new(&tool.base.cwd);
    let links = Links::default();
    let ground = Ground { root: &context.root.folder, cwd, links: &links, home: home.as_deref() };
    let agent = agent_of(tool, context);
    let (effects, command) = match tools::what(&tool.tool_name, &tool.tool_input) {
        // Most calls read, and most projects have nothing against that.
        Use::File { access: Access::Read, .. } if !watch.is_watched() && !rules.concern_reading(&agent) => {
            return Some(Ok(Inspected { rules, effects: Effects::default(), findings: Vec::new() }));
        }
        Use::File { access, path } => (Effects::of(ground.touch(access, path)), None),
        Use::Shell(command) => (ground.of_script(&shell::read(command, home.as_deref())), Some(command)),
        Use::Other => (Effects::default(), None),
    };
    let work = &context.root.work;
    let is_gated = matches!(plan.gate(), Some(Gate::Write { .. }));
    let protected = LazyCell::new(|| {
        Protected::new(&context.root.folder, work, &links).with(
            &context.config.extended,
            &context.root.folder,
            work,
        )
    });
    let call = Call {
        ground,
        tool: &tool.tool_name,
        command,
        agent: &agent,
        is_subagent: tool.agent_id.is_some(),
        worktree: (*work != context.root.folder).then_some(work.as_path()),
        // Gate 2 protects them from an agent with a step.
        is_own: &|named, real| !is_gated && protected.covers(named, real),
        is_ignored: &|path| git::ignores(work, path),
        watch,
    };
    let findings = check(&rules, &call, &effects);
    Some(Ok(Inspected { rules, effects, findings }))
}

/// The use of a tool that is about to happen, or that the user is asked about.
pub(super) fn tool_of<'a>(context: &'a Context<'_>) -> Option<Cow<'a, PreToolUsePayload>> {
    if let HookPayload::PreToolUse(tool) = context.payload() {
        return Some(Cow::Borrowed(tool));
    }
    let fields = &context.event.fields;
    let text = |name: &str| fields.get(name).and_then(Value::as_str).map(str::to_owned);
    Some(Cow::Owned(PreToolUsePayload {
        base: context.payload().base().clone(),
        agent_id: text("agent_id"),
        tool_name: text("tool_name")?,
        tool_input: fields.get("tool_input").and_then(Value::as_object).cloned().unwrap_or_default(),
        tool_use_id: text("tool_use_id"),
    }))
}

/// What the files of the config are called, and whose they are.
pub(super) fn sources(context: &Context<'_>) -> Vec<(String, Layer)> {
    let name_of = |path: &Path| file_name(path, Some(&context.root.folder));
    let used = context.config.origins.sources();
    used.iter().map(|source| (name_of(&source.path), source.layer)).collect()
}

/// The subagent's name; on the main thread of `claude --agent X` there is a type without an id.
pub(super) fn agent_of(tool: &PreToolUsePayload, context: &Context<'_>) -> String {
    let Some(id) = &tool.agent_id else { return MAIN.to_owned() };
    let named = context.event.fields.get("agent_type").and_then(Value::as_str);
    named.filter(|name| !name.is_empty()).unwrap_or(id).to_owned()
}

pub(super) fn outcome(found: guard::Finding) -> Outcome {
    let (verdict, code) = match found.action {
        Action::Block => (Verdict::Block, Code::GuardDenied),
        Action::Ask | Action::Allow => (Verdict::Ask, Code::GuardAsks),
    };
    let what = crate::text::clean(&format!("{}: {}", found.what, found.rule));
    let finding =
        Finding::new(code, what, crate::text::clean(&found.advice)).by(Some(found.origin), found.matched);
    Outcome {
        verdict,
        message: format!("{} {finding}", verdict.mark()),
        evidence: Evidence::Finding(finding),
    }
}
