//! Refusals by the sandbox or a permission rule. They give no reason, so this shows Claude the rule.

use serde_json::{Map, Value};

use super::context::Context;
use super::{enforcement, guards, record};
use crate::sandbox;
use conclaude_checks::denials::{self, Denial, FinishedShell};
use conclaude_checks::enforce::CompiledRules;
use conclaude_checks::guard::{Ground, GuardRules, Sources};
use conclaude_checks::paths::Links;
use conclaude_core::decide::Word;
use conclaude_core::dialect::claude::sandbox::refusal::{is_refused_call, refusal_in};
use conclaude_core::dialect::claude::tools::{self, SHELL, ToolUse};
use conclaude_core::event::EventKind;
use conclaude_core::finding::{Code, Finding, GuardWords};
use conclaude_core::outcome::{Evidence, Outcome, Verdict};
use conclaude_core::text::capitalized;
use conclaude_os::files;
use conclaude_store::audit::{Record, ToolRecord};

/// Who refused.
const SANDBOX: &str = "sandbox";
const PERMISSIONS: &str = "permissions";

/// A call whose result contains a refusal.
struct RefusedCall<'a> {
    name: &'a str,
    input: &'a Map<String, Value>,
    id: Option<&'a str>,
    result: String,
    by: &'static str,
}

/// Shows Claude the rules of refusals, and records them. A result without a refusal costs nothing more.
pub(super) fn run(context: &Context<'_>) -> Vec<Outcome> {
    let calls = if context.event.client.is_enforced() { refused_calls(context) } else { Vec::new() };
    if calls.is_empty() {
        return Vec::new();
    }
    let home = files::home();
    let guards = &context.config.settings.guards;
    let Ok(rules) = GuardRules::of(guards, &Sources(&guards::sources(context)), home.as_deref()) else {
        return Vec::new();
    };
    let Ok(compiled) = enforcement::config(context).compile(&context.budget) else { return Vec::new() };
    let is_enabled = || sandbox::effective(&context.project).is_ok_and(|found| found.is_enabled());
    let mut outcomes = Vec::new();
    for call in calls {
        if call.by == SANDBOX && !is_enabled() {
            continue;
        }
        let denials = call.denials(&compiled, context);
        outcomes.extend(call.report(&denials, &rules, context));
    }
    outcomes
}

/// A shell command is reported when it has ended. Everything else, and a command that did not run, is reported with its batch.
fn refused_calls<'a>(context: &'a Context<'_>) -> Vec<RefusedCall<'a>> {
    let fields = &context.event.fields;
    match context.kind() {
        EventKind::PostToolBatch => {
            let calls = fields.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
            let refused = |call: &'a Value| {
                let call = RefusedCall::of(call.as_object()?, "tool_response", PERMISSIONS)?;
                if is_refused_call(&call.result) { Some(call) } else { None }
            };
            calls.filter_map(refused).collect()
        }
        kind => {
            let result = if kind == EventKind::PostToolUse { "tool_response" } else { "error" };
            let call = RefusedCall::of(fields, result, SANDBOX);
            let is_refused =
                |call: &RefusedCall<'_>| call.name == SHELL && refusal_in(&call.result).is_some();
            call.filter(is_refused).into_iter().collect()
        }
    }
}

impl<'a> RefusedCall<'a> {
    fn of(fields: &'a Map<String, Value>, result: &str, by: &'static str) -> Option<RefusedCall<'a>> {
        Some(RefusedCall {
            name: fields.get("tool_name")?.as_str()?,
            input: fields.get("tool_input")?.as_object()?,
            id: fields.get("tool_use_id").and_then(Value::as_str),
            result: text_of(fields.get(result)?),
            by,
        })
    }

    fn denials<'c>(&self, compiled: &'c CompiledRules, context: &Context<'_>) -> Vec<Denial<'c>> {
        let home = files::home();
        let ground = Ground {
            root: &context.root.folder,
            cwd: context.payload().cwd().as_ref(),
            links: &Links::default(),
            home: home.as_deref(),
            worktree: None,
            budget: &context.budget,
        };
        match tools::what(self.name, self.input) {
            ToolUse::Shell(command) if self.by == SANDBOX => {
                FinishedShell { ground, command, output: &self.result }.denials(compiled)
            }
            ToolUse::File { access, path } => {
                denials::of_file(&ground.touch(access, path), compiled).into_iter().collect()
            }
            // `cat .env` and `Read(**/.env*)`: Claude Code knows the files of some commands.
            ToolUse::Shell(command) => denials::of_unrun(&ground, command, compiled),
            ToolUse::Patch(_) | ToolUse::PowerShell(_) | ToolUse::Other => Vec::new(),
        }
    }

    fn report(&self, denials: &[Denial<'_>], rules: &GuardRules, context: &Context<'_>) -> Vec<Outcome> {
        // The client may report a failure twice.
        if denials.is_empty() || self.id.is_some_and(|id| !context.session.is_first_of(id)) {
            return Vec::new();
        }
        let findings: Vec<Outcome> = denials.iter().map(|denial| self.finding(denial, rules)).collect();
        let agent = context.subagent();
        let record = Record {
            agent: agent.map(|agent| agent.name.clone()),
            agent_id: agent.and_then(|agent| agent.id.clone()),
            tool: Some(ToolRecord {
                use_id: self.id.map(str::to_owned),
                cwd: context.cwd_elsewhere().map(str::to_owned),
                ..record::tool_input(self.name, self.input)
            }),
            decision: Word::Denied.as_str().into(),
            by: Some(self.by),
            findings: findings
                .iter()
                .filter_map(|found| {
                    record::finding(found, |finding| {
                        finding.code.written().rule(&context.config.origins, &context.root.folder)
                    })
                })
                .collect(),
            ..context.record()
        };
        let text: Vec<String> =
            findings.iter().filter_map(Outcome::as_finding).map(Finding::to_string).collect();
        let told = Outcome {
            verdict: Verdict::Pass,
            message: String::new(),
            evidence: Evidence::Explanation(format!("conclaude: {}", text.join("\n"))),
        };
        match context.audit(&record) {
            Ok(_) => vec![told],
            Err(error) => vec![told, Outcome::unrecorded(error.to_string())],
        }
    }

    /// The rule with the text of its message, if it has one.
    fn finding(&self, denial: &Denial<'_>, rules: &GuardRules) -> Outcome {
        let Denial { rule, file, writes } = denial;
        let refuser = if self.by == SANDBOX { "the sandbox" } else { "a permission rule" };
        let doing = if *writes { "changing" } else { "reading" };
        let message = rules.message_of(&rule.rule);
        let pattern = rule.rule.pattern.as_deref().unwrap_or_default();
        let key = rule.rule.key.rsplit('.').next().unwrap_or_default();
        let (why, fix) = match message {
            Some(message) => (message.to_owned(), String::new()),
            None if rule.rule.built_in_name().is_some() => {
                (format!("It is one of {pattern}."), "Leave it as it is, or ask the user.".to_owned())
            }
            None => (
                format!("`{key}` has `{pattern}`."),
                "Do it without that file, or ask the user; trying another way to it fails too.".to_owned(),
            ),
        };
        let what = capitalized(&format!("{refuser} refused {doing} {file}. {why}"));
        let finding = Finding::new(Code::GuardDenied, what, fix)
            .by(Some(rule.rule.clone()), file.clone())
            .with_words(GuardWords::default());
        Outcome::of_guard(Verdict::Block, finding)
    }
}

/// All texts of a result, whatever its form.
fn text_of(result: &Value) -> String {
    match result {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(text_of).collect::<Vec<_>>().join("\n"),
        Value::Object(fields) => fields.values().map(text_of).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}
