//! The record of an event: the decision, and the rule, subject and effect of everything that led to it.

use serde_json::{Map, Value, json};

use super::context::Context;
use super::run::Run;
use super::{guards, permits, skipped_commands, state_changes};
use conclaude_checks::des::DesContext;
use conclaude_checks::guard::UNUSABLE_RULES;
use conclaude_core::blocks::BlockCount;
use conclaude_core::config::ConfigError;
use conclaude_core::decide::{Ruling, Word};
use conclaude_core::dialect::claude::HookReply;
use conclaude_core::dialect::claude::tools::{self, ToolUse};
use conclaude_core::event::EventKind;
use conclaude_core::finding::{Audience, Code, Finding};
use conclaude_core::messages;
use conclaude_core::outcome::{CommandRun, Evidence, Obstacle, Outcome, Verdict};
use conclaude_core::plan::environment::FILES;
use conclaude_core::plan::{Gate, INFINITE_RULE, Plan, SkipReason, Step};
use conclaude_core::rule::{self, Rule};
use conclaude_core::text::{Excerpt, count, head_and_tail};
use conclaude_os::{files, notify};
use conclaude_store::audit::words::INTERRUPTED;
use conclaude_store::audit::{self, AppliedRule, Blocks, CommandRecord, MAX_FILES, Record, Skip, ToolRecord};
use conclaude_store::store::permits::input_hash;

/// The recorded length of a tool's shell command.
const MAX_COMMAND: usize = 4_000;

/// Records a decision, and reports a problem that changes nothing. If a required record cannot be written, that is one more
/// outcome: an agent's call is denied, because an error alone would not stop Claude Code from making it.
pub(super) fn write(
    context: &Context<'_>,
    plan: &Plan,
    run: &mut Run<'_>,
    decided: &Ruling,
) -> Option<String> {
    let record = of_decision(context, plan, run, decided)?;
    let error = match context.audit(&record) {
        Ok(problem) => return problem,
        // A refusal stays, even if its record fails.
        Err(error) if !decided.result.is_allowed() => return Some(error.to_string()),
        Err(error) => error.to_string(),
    };
    run.outcomes.push(if matches!(plan.gate(), Some(Gate::Call { .. })) {
        state_changes::withdraw(context);
        let fix = "let the user make the audit trail writable, or set audit.required to false";
        Outcome::finding(Finding::new(Code::NotRecorded, error, fix), true)
    } else {
        Outcome::unrecorded(error)
    });
    None
}

/// The record of a decision, if there is anything to record.
fn of_decision(context: &Context<'_>, plan: &Plan, run: &Run<'_>, decided: &Ruling) -> Option<Record> {
    let Some(record) = of(context, plan, run, decided.word.as_str()) else {
        return of_open_question(context, plan, decided);
    };
    let outcomes = &run.outcomes;
    let blocks = decided.count.map(|count| Blocks {
        count: match count {
            BlockCount::Blocks(nth) => nth,
            BlockCount::Exhausted => plan.gates.max_blocks,
        },
        max: plan.gates.max_blocks,
        rule: context.config.rule(&["maxBlocks"], &context.root),
    });
    let notification = notification(context, plan, outcomes, decided.result.is_allowed());
    let reason = match record.reason {
        Some(reason) => Some(reason),
        None if decided.is_unasked => Some(nobody_to_ask(context)),
        None => obstructed_again(outcomes, decided),
    };
    Some(Record { blocks, notification, reason, ..record })
}

/// The record of a request that no permission rule answers. The user is asked, and `watch` shows for how long.
fn of_open_question(context: &Context<'_>, plan: &Plan, decided: &Ruling) -> Option<Record> {
    if !plan.has_permission_rules() || decided.word != Word::Allowed {
        return None;
    }
    Some(Record {
        tool: tool(context),
        decision: Word::Asked.as_str().into(),
        reason: Some("no rule answers it, so the client asks the user".into()),
        ..context.record()
    })
}

/// Why a call is denied that rules only ask about.
fn nobody_to_ask(context: &Context<'_>) -> String {
    let client = context.event.client;
    if client.never_asks() {
        return format!("in {} nobody can be asked, so what a rule asks about is denied", client.title);
    }
    let mode = context.payload().base().permission_mode.as_deref().unwrap_or_default();
    format!("in the permission mode `{mode}` nobody can be asked, so what a rule asks about is denied")
}

/// Why a stop is allowed although a blocking command timed out, or lacks a program.
fn obstructed_again(outcomes: &[Outcome], decided: &Ruling) -> Option<String> {
    let is_at_limit = outcomes.iter().any(|outcome| outcome.verdict == Verdict::Block);
    if decided.word != Word::AllowedDespiteFailure || is_at_limit {
        return None;
    }
    let causes = [(Obstacle::Timeout, "timed out again"), (Obstacle::MissingProgram, "could still not run")];
    let reasons = causes.into_iter().filter_map(|(obstacle, what)| {
        let outcomes = outcomes.iter().filter(|outcome| outcome.repeated_obstacle() == Some(obstacle));
        let runs = outcomes.filter_map(Outcome::run);
        let names: Vec<String> = runs.map(|run| format!("`{}`", messages::short(&run.command.run))).collect();
        if names.is_empty() {
            return None;
        }
        Some(format!("{} {what}, and {} block an agent only once", names.join(", "), obstacle.cause()))
    });
    let reasons: Vec<String> = reasons.collect();
    if reasons.is_empty() { None } else { Some(reasons.join("; ")) }
}

/// The result of the event, if the user is notified of it.
pub(super) fn notification(
    context: &Context<'_>,
    plan: &Plan,
    outcomes: &[Outcome],
    is_allowed: bool,
) -> Option<&'static str> {
    let has_failed = outcomes.iter().filter_map(Outcome::run).any(|run| !run.is_success);
    let is_good = !has_failed && is_allowed && !context.config.fails(plan.event);
    let (outcome, name) =
        if is_good { (notify::Outcome::Success, "success") } else { (notify::Outcome::Failure, "failure") };
    let config = context.config.settings.notifications.as_ref();
    if notify::is_wanted(config, plan.event, outcome) { Some(name) } else { None }
}

/// The record of an event without a decision, because conclaude received a signal.
pub(super) fn of_interruption(context: &Context<'_>, plan: &Plan, run: &Run<'_>) -> Option<Record> {
    of(context, plan, run, INTERRUPTED)
}

/// The markers of the gate that applies, and at a stop the times of its call.
fn markers(plan: &Plan, context: &Context<'_>) -> Option<Value> {
    let gate = context.gate.as_ref()?;
    let des = DesContext::of(&gate.markers);
    let is_stop = matches!(plan.gate(), Some(Gate::Stop { .. }));
    let des = if is_stop { des.with_times(&gate.paths, &gate.origin) } else { des };
    serde_json::to_value(des).ok()
}

fn of(context: &Context<'_>, plan: &Plan, run: &Run<'_>, decision: &str) -> Option<Record> {
    let outcomes = &run.outcomes;
    let findings = findings(context, plan, outcomes);
    let commands: Vec<CommandRecord> =
        outcomes.iter().filter_map(|outcome| of_command(context, outcome)).collect();
    let mut applied: Vec<AppliedRule> = outcomes.iter().filter_map(of_applied).collect();
    if decision == Word::Blocked.as_str() {
        applied.extend(go_on(outcomes, context));
    }
    let mut skipped = skipped(plan, run, context);
    let is_gated = !matches!(plan.gate(), None | Some(Gate::Helper { .. } | Gate::Write { .. }));
    let is_ordinary = [Word::Allowed.as_str(), Word::Warned.as_str(), INTERRUPTED].contains(&decision);
    let is_empty = commands.is_empty() && findings.is_empty() && applied.is_empty() && skipped.is_empty();
    if !is_gated && is_ordinary && is_empty {
        return None;
    }
    if is_asked_again(plan, decision, outcomes) && commands.is_empty() && skipped.is_empty() {
        return None;
    }
    skipped.extend(without_files(plan, context));
    let judge = outcomes.iter().find_map(|outcome| match &outcome.evidence {
        Evidence::Judge(value, _) => Some(value.clone()),
        _ => None,
    });
    let agent = state_changes::recorded_agent(plan, context);
    // At a call, the payload's id belongs to the caller.
    let is_call = matches!(plan.gate(), Some(Gate::Call { .. }));
    let agent_id = if agent.is_some() && !is_call { context.payload().agent_id() } else { None };
    Some(Record {
        agent_id: agent_id.map(str::to_owned),
        agent,
        tool: tool(context)
            .map(|tool| ToolRecord { input_sha256: permitted_input(context, run, decision), ..tool }),
        step: state_changes::recorded_step(plan, context),
        des: markers(plan, context),
        decision: decision.into(),
        findings,
        commands,
        applied,
        skipped,
        config_error: context.config.error.as_ref().map(config_error),
        judge,
        ..context.record()
    })
}

/// Whether guards ask at the permission request. They already did so before the tool's use, which is why Claude Code asks: one
/// question is one record. An unusable permission rule asks only here.
fn is_asked_again(plan: &Plan, decision: &str, outcomes: &[Outcome]) -> bool {
    let is_first = |outcome: &Outcome| {
        let rule = outcome.as_finding().and_then(|finding| finding.rule.as_deref());
        outcome.verdict == Verdict::Ask && rule.is_some_and(|rule| *rule == Rule::built_in(UNUSABLE_RULES))
    };
    plan.event == EventKind::PermissionRequest
        && decision == Word::Asked.as_str()
        && !outcomes.iter().any(is_first)
}

fn of_command(context: &Context<'_>, outcome: &Outcome) -> Option<CommandRecord> {
    let run: &CommandRun = outcome.run()?;
    let variable =
        run.command.env.iter().find(|(name, _)| name == FILES).and_then(|(_, value)| value.as_deref());
    let mut files: Vec<String> = variable.into_iter().flat_map(str::lines).map(str::to_owned).collect();
    let more = files.len().saturating_sub(MAX_FILES);
    files.truncate(MAX_FILES);
    Some(CommandRecord {
        pattern: run.command.rule.pattern.clone().unwrap_or_default(),
        run: run.command.run.clone(),
        status: recorded_status(run),
        message: match &run.reply {
            Some(reply) => {
                let said = reply.reason.as_ref().or(reply.problem.as_ref()).or(reply.remark.as_ref());
                said.map(|text| recorded_reason(text))
            }
            None if run.is_success => None,
            None => run.command.message.clone(),
        },
        exit_code: run.exit_code,
        started: audit::in_record(run.started),
        duration_ms: u64::try_from(run.duration.as_millis()).unwrap_or(u64::MAX),
        verdict: outcome.verdict.as_str().into(),
        timed_out: run.is_timeout,
        matched: Some(run.command.subject.clone()).filter(|subject| !subject.is_empty()),
        files,
        more_files: Some(more).filter(|more| *more > 0),
        rule: Some((*run.command.rule).clone()),
        output: run.output.clone(),
        updated_input: run.reply.as_ref().and_then(|reply| updated_input(context, reply)),
    })
}

/// The replaced input of the tool, as far as guards use it.
fn updated_input(context: &Context<'_>, reply: &HookReply) -> Option<ToolRecord> {
    let name = context.event.fields.get("tool_name").and_then(Value::as_str)?;
    Some(tool_input(name, reply.updated_input.as_ref()?))
}

/// The end of a command, in words after its name. A hook may refuse with its answer, whatever its exit code is.
fn recorded_status(run: &CommandRun) -> String {
    match run.reply.as_deref().map(|reply| reply.verdict) {
        Some(Verdict::Block) if run.is_success => "refused it".into(),
        Some(Verdict::Ask) if run.is_success => "asked about it".into(),
        _ => run.status.clone(),
    }
}

/// The recorded part of a hook's reason.
fn recorded_reason(text: &str) -> String {
    match head_and_tail(text, MAX_COMMAND) {
        Some(Excerpt { head, tail, left_out }) => format!("{head} … {left_out} characters … {tail}"),
        None => text.to_owned(),
    }
}

fn of_applied(outcome: &Outcome) -> Option<AppliedRule> {
    let (what, applied) = match &outcome.evidence {
        Evidence::Context(text, applied) => {
            (format!("Claude is given {}", count(text.chars().count() as u64, "character")), applied)
        }
        Evidence::Allowed(applied) => ("it is allowed".to_owned(), applied),
        Evidence::Permitted(overruled, what) => (what.clone(), overruled),
        _ => return None,
    };
    Some(AppliedRule { what, rule: applied.rule.clone(), matched: applied.matched.clone(), verdict: None })
}

/// The rule that makes Claude continue.
fn go_on(outcomes: &[Outcome], context: &Context<'_>) -> Option<AppliedRule> {
    let asked = outcomes.iter().find(|outcome| outcome.evidence == Evidence::Continue)?;
    Some(AppliedRule {
        what: "Claude is made to go on".into(),
        rule: INFINITE_RULE.rule(&context.config.origins, &context.root.folder),
        matched: String::new(),
        verdict: Some(asked.verdict.as_str()),
    })
}

/// The tool call of an event: its identity, and the fields that guards use.
fn tool(context: &Context<'_>) -> Option<ToolRecord> {
    let fields = &context.event.fields;
    let text = |name: &str| fields.get(name).and_then(Value::as_str).map(str::to_owned);
    let name = text("tool_name")?;
    let input = fields.get("tool_input").and_then(Value::as_object).cloned().unwrap_or_default();
    Some(ToolRecord {
        use_id: text("tool_use_id"),
        cwd: context.cwd_elsewhere().map(str::to_owned),
        input_sha256: None,
        ..tool_input(&name, &input)
    })
}

/// The input of a tool: the fields that guards use.
pub(super) fn tool_input(name: &str, input: &Map<String, Value>) -> ToolRecord {
    let (file, command) = match tools::what(name, input) {
        ToolUse::File { path, .. } => (Some(path.to_owned()), None),
        ToolUse::Patch(_) => (tools::first_file(input), None),
        ToolUse::Shell(command) | ToolUse::PowerShell(command) => (None, Some(command)),
        _ => (None, None),
    };
    let cut = command.and_then(|command| head_and_tail(command, MAX_COMMAND));
    ToolRecord {
        name: name.to_owned(),
        file,
        is_cut: cut.is_some(),
        command: match cut {
            Some(Excerpt { head, tail, left_out }) => {
                Some(format!("{head} … {left_out} characters … {tail}"))
            }
            None => command.map(str::to_owned),
        },
        ..ToolRecord::default()
    }
}

/// The hash with which the user can permit a call that guards or permission rules forbid.
fn permitted_input(context: &Context<'_>, run: &Run<'_>, decision: &str) -> Option<String> {
    let is_refused = [Word::Denied.as_str(), Word::Asked.as_str()].contains(&decision);
    if !is_refused || !run.outcomes.iter().any(permits::is_covered) {
        return None;
    }
    let tool = guards::tool_of(&context.event)?;
    Some(input_hash(&tool.tool_name, &tool.tool_input))
}

/// The file, and its problems with their lines.
fn config_error(error: &ConfigError) -> Value {
    json!({ "file": error.path(), "message": error.summary(), "problems": error.located() })
}

/// The findings among the outcomes. Findings of reports have separate records.
fn findings(context: &Context<'_>, plan: &Plan, outcomes: &[Outcome]) -> Vec<Value> {
    let is_reported =
        |outcome: &Outcome| outcome.as_finding().is_some_and(|one| one.code == Code::Unfinished);
    let others = outcomes.iter().filter(|outcome| !is_reported(outcome));
    others.filter_map(|outcome| finding(outcome, |found| rule_of(found, plan, context))).collect()
}

/// A finding. `written` gives the position of its rule, unless the finding has it.
pub(super) fn finding(outcome: &Outcome, written: impl FnOnce(&Finding) -> Rule) -> Option<Value> {
    let finding = outcome.as_finding()?;
    let rule = match finding.rule.as_deref() {
        // The compared value is known, but not its position.
        Some(rule) if matches!(finding.code.written(), rule::RuleSource::Step(field) if field == rule.key) => {
            Rule { pattern: rule.pattern.clone(), ..written(finding) }
        }
        Some(rule) => rule.clone(),
        None => written(finding),
    };
    let mut value = serde_json::to_value(Finding { rule: Some(Box::new(rule)), ..finding.clone() }).ok()?;
    let fields = value.as_object_mut()?;
    fields.insert("verdict".into(), outcome.verdict.as_str().into());
    let user_fix = finding.fix_for(Audience::User);
    if outcome.verdict == Verdict::Ask && user_fix != finding.fix {
        fields.insert("user_fix".into(), user_fix.into());
    }
    Some(value)
}

/// The rule of a gate's finding: in the config, in the prompt or in the step.
fn rule_of(finding: &Finding, plan: &Plan, context: &Context<'_>) -> Rule {
    let written = finding.code.written();
    let rule = written.rule(&context.config.origins, &context.root.folder);
    let rule::RuleSource::Step(field) = written else { return rule };
    let Some(step) = state_changes::recorded_step(plan, context) else { return rule };
    let text = files::read_text(&context.root.work.join(&step), 1 << 20).unwrap_or_default();
    let named = finding.phase.as_deref().unwrap_or(field);
    let line = text.lines().position(|line| line.contains(&format!("\"{named}\"")));
    rule.at(step, line.map(|index| index + 1))
}

/// Commands whose `files` cover nothing that changed. They alone do not cause a record, or each event would have one.
fn without_files(plan: &Plan, context: &Context<'_>) -> Vec<Skip> {
    let files = skipped_commands::of_section(plan, context, |why| why == SkipReason::Files);
    files
        .map(|one| Skip { what: format!("`{}`", one.script.trim()), why: one.why, rule: Some(one.rule) })
        .collect()
}

/// The untrusted steps, and those that the run skipped.
fn skipped(plan: &Plan, run: &Run<'_>, context: &Context<'_>) -> Vec<Skip> {
    let skip = |step: &Step, why: &str| {
        let rule = step.rule(&context.config.origins, &context.root.folder);
        Skip { what: step.action.to_string(), rule, why: why.to_owned() }
    };
    let mut skips: Vec<Skip> = Vec::new();
    if let Some(untrusted) = &plan.untrusted {
        let steps = untrusted.steps.iter().flat_map(Step::parts);
        skips.extend(steps.map(|step| skip(step, &untrusted.why)));
    }
    skips.extend(run.skipped.iter().map(|skipped| skip(skipped.step, &skipped.why)));
    skips
}
