//! The guards of `preToolUse`: compares the effects of a tool call with the rules of the config.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::config::Config;
use super::context::Context;
use super::sandbox_questions::{self, GuardedCall, SettledQuestions};
use conclaude_checks::des::protected::ProtectedPaths;
use conclaude_checks::guard::{
    self, Action, ComparisonLog, Effects, EntryCount, Ground, GuardRules, OwnFiles, Sources, ToolCall, Touch,
    Uncertainty, check,
};
use conclaude_checks::paths::Links;
use conclaude_core::agent::{Agent, actor};
use conclaude_core::config::{Layer, PreToolUseConfig, UnusableRules};
use conclaude_core::dialect::Dialect;
use conclaude_core::dialect::claude::layout;
use conclaude_core::dialect::claude::mcp;
use conclaude_core::dialect::claude::tools::{self, ToolUse};
use conclaude_core::event::EventKind;
use conclaude_core::finding::{Code, Finding, GuardWords};
use conclaude_core::outcome::{Evidence, Outcome, Verdict};
use conclaude_core::plan::{Gate, Plan};
use conclaude_core::text::printable_untagged;
use conclaude_core::types::{Event, HookPayload, PreToolUsePayload};
use conclaude_os::budget::Budget;
use conclaude_os::files;
use conclaude_os::git;
use conclaude_store::root::{Root, session_worktree_of};
use shell_effects::Access;
use shell_effects::glob::GlobError;

pub(super) fn run(config: &PreToolUseConfig, plan: &Plan, context: &Context<'_>) -> Vec<Outcome> {
    let allowed = RefCell::default();
    match inspect(config, plan, context, ComparisonLog::Allowed(&allowed)) {
        Some(Ok(GuardInspection { found: SettledQuestions { findings, settled, .. }, .. })) => {
            let allowed =
                allowed.into_inner().into_iter().map(|(rule, matched)| Outcome::allowed(rule, matched));
            let rule = || context.config.rule(&["enforce"], &context.root);
            let settled = settled.into_iter().map(|finding| Outcome::allowed(rule(), finding.matched));
            findings.into_iter().map(outcome).chain(allowed).chain(settled).collect()
        }
        Some(Err(error)) => vec![broken(&error)],
        None => Vec::new(),
    }
}

/// The config was checked when it was read, so this does not happen.
pub(super) fn broken(error: &GlobError) -> Outcome {
    Outcome::note(format!("a guard cannot be evaluated: {error}"))
}

/// The rule that forbids the main thread to read a file, if there is one. Inserting a file into a prompt reads it as well.
pub(super) fn why_unreadable(path: &Path, context: &Context<'_>) -> Option<String> {
    let config = &context.config;
    let home = files::home();
    let rules = GuardRules::of(&config.settings.guards, &Sources(&sources(context)), home.as_deref());
    let rules = match rules {
        Ok(rules) => rules,
        Err(error) => return Some(format!("a guard cannot be evaluated: {error}")),
    };
    let mut tool_input = Map::new();
    tool_input.insert("file_path".into(), path.to_string_lossy().into());
    let tool = PreToolUsePayload {
        base: context.payload().base().clone(),
        agent_id: None,
        tool_name: tools::READ.to_owned(),
        tool_input,
        tool_use_id: None,
    };
    let Root { folder: root, work, .. } = &context.root;
    let site = GuardSite {
        client: context.event.client,
        tool: &tool,
        other_names: &[],
        agent: None,
        root,
        work,
        links: &Links::default(),
        protected: &OnceCell::new(),
        extended: &config.extended,
        unusable: &config.unusable,
        budget: &context.budget,
    };
    let (_, found) =
        compare(&rules, &Scene { site: &site, own: None, is_request: false }, ComparisonLog::Nothing);
    found.first().map(|finding| finding.origin.to_string())
}

/// The guards' inspection of a call.
pub(super) struct GuardInspection {
    pub(super) rules: GuardRules,
    pub(super) effects: Effects,
    pub(super) found: SettledQuestions,
}

/// The findings of the guards. `None` if there is no tool.
pub(super) fn inspect(
    config: &PreToolUseConfig,
    plan: &Plan,
    context: &Context<'_>,
    watch: ComparisonLog<'_>,
) -> Option<Result<GuardInspection, GlobError>> {
    let tool = &tool_of(&context.event)?;
    let home = files::home();
    let rules = match GuardRules::of(config, &Sources(&sources(context)), home.as_deref()) {
        Ok(rules) => rules,
        Err(error) => return Some(Err(error)),
    };
    let Root { folder: root, work, .. } = &context.root;
    let Config { extended, unusable, .. } = &context.config;
    let site = GuardSite {
        client: context.event.client,
        tool,
        other_names: &context.event.tool.others,
        agent: context.subagent(),
        root,
        work,
        links: &Links::default(),
        protected: &OnceCell::new(),
        extended,
        unusable,
        budget: &context.budget,
    };
    let (effects, findings) = site.compare(&rules, plan, watch);
    let call = GuardedCall { tool, rules: &rules, effects: &effects };
    let found = sandbox_questions::settle(&call, findings, context);
    Some(Ok(GuardInspection { rules, effects, found }))
}

/// A call and its place, live or in the past.
pub(super) struct GuardSite<'a> {
    pub(super) client: &'a Dialect,
    pub(super) tool: &'a PreToolUsePayload,
    /// Other names of the tool that rules may use.
    pub(super) other_names: &'a [String],
    /// The subagent that calls.
    pub(super) agent: Option<&'a Agent>,
    pub(super) root: &'a Path,
    pub(super) work: &'a Path,
    pub(super) links: &'a Links,
    /// Our own files, looked up once.
    pub(super) protected: &'a OnceCell<ProtectedPaths>,
    /// The paths that the files of the config extend.
    pub(super) extended: &'a [PathBuf],
    /// Unusable rules of the config.
    pub(super) unusable: &'a [UnusableRules],
    /// The time limit for comparing.
    pub(super) budget: &'a Budget,
}

impl GuardSite<'_> {
    /// Compares the call with the rules.
    pub(super) fn compare(
        &self,
        rules: &GuardRules,
        plan: &Plan,
        watch: ComparisonLog<'_>,
    ) -> (Effects, Vec<guard::Finding>) {
        let GuardSite { root, work, links, .. } = *self;
        let find = || ProtectedPaths::new(root, work, links).with(self.extended, root, work);
        // Gate 2 protects our own files from an agent with a step.
        let own = match plan.gate() {
            Some(Gate::Write { .. }) => None,
            _ => Some(OwnFiles { found: self.protected, find: &find }),
        };
        let is_request = plan.event == EventKind::PermissionRequest;
        compare(rules, &Scene { site: self, own, is_request }, watch)
    }
}

/// A call and its place, with the facts from its plan.
struct Scene<'a> {
    site: &'a GuardSite<'a>,
    /// Our own files. `None` if a gate protects them.
    own: Option<OwnFiles<'a>>,
    /// Whether the user is already asked for permission.
    is_request: bool,
}

fn compare(
    rules: &GuardRules,
    scene: &Scene<'_>,
    watch: ComparisonLog<'_>,
) -> (Effects, Vec<guard::Finding>) {
    let GuardSite { tool, other_names, root, work, links, unusable, budget, .. } = *scene.site;
    let agent = actor(scene.site.agent);
    let home = files::home();
    let cwd = Path::new(&tool.base.cwd);
    let fenced = fenced_worktree(tool, root);
    let other = if work == root && fenced.is_none() { git::root_in_worktree(root, cwd) } else { None };
    let ground = Ground { root, cwd, links, home: home.as_deref(), worktree: other.as_deref(), budget };
    let tool_use = tools::what(&tool.tool_name, &tool.tool_input);
    // Most calls read, and most projects do not forbid that.
    if matches!(tool_use, ToolUse::File { access: Access::Read, .. })
        && !watch.shows_all()
        && !rules.concern_reading(agent)
        && unusable.is_empty()
    {
        return (Effects::default(), Vec::new());
    }
    let command = match tool_use {
        ToolUse::Shell(command) | ToolUse::PowerShell(command) => Some(command),
        _ => None,
    };
    let effects = effects_of(tool, tool_use, &ground, scene.site.client.types_unseen);
    let call = ToolCall {
        ground,
        tool: &tool.tool_name,
        other_names,
        command,
        input: &tool.tool_input,
        agent,
        is_subagent: tool.agent_id.is_some(),
        worktree: fenced,
        own: scene.own,
        is_ignored: &|path| git::ignores(other.as_deref().unwrap_or(work), path, budget),
        log: watch,
        visited: &EntryCount::default(),
    };
    let mut findings = check(rules, &call, &effects);
    if !unusable.is_empty() {
        findings.extend(unread(scene, &effects));
    }
    (effects, findings)
}

/// The effects of a tool call on files.
fn effects_of(
    tool: &PreToolUsePayload,
    tool_use: ToolUse<'_>,
    ground: &Ground<'_>,
    types_unseen: bool,
) -> Effects {
    let mut effects = match tool_use {
        ToolUse::File { access, path } => {
            let touch = ground.touch(access, path);
            let exists = touch.exists || tools::replaces_text(&tool.tool_input);
            Effects::of(Touch { exists, ..touch })
        }
        ToolUse::Patch(patch) => ground.of_patch(patch),
        ToolUse::Shell(command) => {
            let mut script = guard::read_shell(command, ground.home, ground.cwd, ground.budget);
            if types_unseen {
                let waiting = script.waiting();
                script.doubts.extend(waiting);
            }
            ground.of_script(script)
        }
        ToolUse::PowerShell(command) => ground.of_script(shell_effects::read_powershell(command)),
        ToolUse::Other => of_other(tool, ground),
    };
    let searched = tools::searched(&tool.tool_name, &tool.tool_input);
    effects.touches.extend(searched.iter().map(|file| ground.touch(Access::Read, file)));
    match tools::sent(&tool.tool_name, &tool.tool_input) {
        Some(sent) => effects.touches.extend(sent.iter().map(|file| ground.touch(Access::Read, file))),
        None => effects.unclear.push(too_many_files(Some(Access::Read))),
    }
    let malformed = tools::malformed(&tool.tool_name, &tool.tool_input);
    effects.unclear.extend(malformed.map(|(field, access)| Uncertainty::Input { field, access }));
    effects
}

/// The worktree that a call must stay in: for a subagent any folder of `.claude/worktrees`, whatever git knows of it.
fn fenced_worktree<'a>(tool: &'a PreToolUsePayload, root: &Path) -> Option<&'a Path> {
    let worktree = session_worktree_of(Path::new(&tool.base.cwd))?;
    let is_fenced = tool.agent_id.is_some() || layout::is_of_agent(worktree);
    let is_inside = worktree != root && worktree.starts_with(root);
    if is_fenced && is_inside { Some(worktree) } else { None }
}

/// The input of a tool names more files than can be compared.
fn too_many_files(access: Option<Access>) -> Uncertainty {
    Uncertainty::Input { field: "tool_input", access }
}

/// What the tool of an MCP server, or one that this version does not know, may do to the files that its input names. Other
/// texts count if a file of that name exists.
fn of_other(tool: &PreToolUsePayload, ground: &Ground<'_>) -> Effects {
    if !mcp::names_files(&tool.tool_name) {
        return Effects::default();
    }
    let Some(access) = mcp::access(&tool.tool_name) else { return Effects::default() };
    let Some(files) = mcp::named_files(&tool.tool_input) else {
        return Effects { unclear: vec![too_many_files(None)], ..Effects::default() };
    };
    let is_file = |text: &&str| !ground.budget.is_over() && ground.touch(access, text).exists;
    let others = mcp::other_texts(&tool.tool_input).into_iter().filter(is_file).map(Cow::from);
    let named =
        files.into_iter().chain(others).map(|path| Uncertainty::Named { access, path: path.into_owned() });
    Effects { unclear: named.collect(), ..Effects::default() }
}

/// The question of unusable rules. An agent may always read our own files, so that it can report their errors.
fn unread(scene: &Scene<'_>, effects: &Effects) -> Option<guard::Finding> {
    let Scene { site, own, is_request } = *scene;
    let GuardSite { tool, other_names, root, unusable, .. } = *site;
    let is_own =
        |touch: &Touch| own.is_some_and(|own| own.files().covers(Path::new(touch.named()), &touch.path));
    let used = tools::what(&tool.tool_name, &tool.tool_input);
    let is_read = matches!(used, ToolUse::File { access: Access::Read, .. });
    if is_read && effects.touches.iter().all(is_own) {
        return None;
    }
    guard::unusable_rules(
        unusable,
        &guard::UncheckedCall { tool: &tool.tool_name, other_names, used, effects, is_request },
        root,
    )
}

/// The tool of an event: about to be used, or waiting for permission.
pub(super) fn tool_of(event: &Event) -> Option<Cow<'_, PreToolUsePayload>> {
    if let HookPayload::PreToolUse(tool) = &event.payload {
        return Some(Cow::Borrowed(tool));
    }
    let fields = &event.fields;
    let text = |name: &str| fields.get(name).and_then(Value::as_str).map(str::to_owned);
    Some(Cow::Owned(PreToolUsePayload {
        base: event.payload.base().clone(),
        agent_id: text("agent_id"),
        tool_name: text("tool_name")?,
        tool_input: fields.get("tool_input").and_then(Value::as_object).cloned().unwrap_or_default(),
        tool_use_id: text("tool_use_id"),
    }))
}

/// The names of the config's files, and their layers.
pub(super) fn sources(context: &Context<'_>) -> Vec<(Arc<str>, Layer)> {
    guard::rule_sources(&context.config.origins, &context.root.folder)
}

fn verdict(found: &guard::Finding) -> (Verdict, Code) {
    match found.action {
        Action::Block => (Verdict::Block, Code::GuardDenied),
        Action::Ask | Action::Allow => (Verdict::Ask, Code::GuardAsks),
    }
}

/// Like `verdict`, without a message, for a replay, which counts findings and does not show them.
pub(super) fn wordless(found: guard::Finding) -> Outcome {
    let (verdict, code) = verdict(&found);
    let finding = Finding::new(code, String::new(), String::new()).by(Some(found.origin), found.matched);
    Outcome { verdict, message: String::new(), evidence: Evidence::Finding(finding) }
}

pub(super) fn outcome(found: guard::Finding) -> Outcome {
    let (verdict, code) = verdict(&found);
    let guard::Finding { reason, advice, about, origin, matched, .. } = found;
    let finding = Finding::new(code, printable_untagged(&reason), printable_untagged(&advice.claude))
        .by(Some(origin), matched);
    let words = GuardWords { user_fix: advice.user.map(|fix| printable_untagged(&fix)), about };
    Outcome::of_guard(verdict, finding.with_words(words))
}
