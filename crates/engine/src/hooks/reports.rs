//! Reports to the user about a session: problems of the installation, and agents that never stopped.

use jiff::{SignedDuration, Timestamp};

use super::context::Context;
use super::record;
use crate::install::registration::{self, Problem, ScopeSettings};
use crate::install::schema_file;
use crate::install::scope::Scope;
use conclaude_checks::des::call::GatedCall;
use conclaude_checks::des::started_agents::{self, UnfinishedAgent};
use conclaude_core::config::Layer;
use conclaude_core::dialect::agents::AgentsAtStop;
use conclaude_core::finding::{Code, Finding};
use conclaude_core::messages;
use conclaude_core::outcome::{Evidence, Outcome, Verdict};
use conclaude_core::text::clean_line;
use conclaude_core::types::HookPayload;
use conclaude_os::files::expand_home;
use conclaude_os::log;
use conclaude_store::audit::{Record, Trail, words};
use conclaude_store::export::{self, Target};

pub(super) fn installation(context: &Context<'_>) -> Vec<Outcome> {
    if let Some(problem) = schema_file::refreshed(context.root.config.as_deref()) {
        log::warn(|| problem);
    }
    let settings = &context.config.settings;
    let origins = &context.config.origins;
    let commands = origins.untrusted_commands(settings);
    let rules = origins.untrusted_rules();
    let why = commands.first().copied().or(rules.first().map(|(_, why)| *why));
    let rules: Vec<&str> = rules.iter().map(|(what, _)| *what).collect();
    let untrusted = why.map(|why| messages::untrusted_session(why, commands.len(), &rules));
    // Records that a collector did not get while it was down.
    context.export();
    let found = registration::current(&context.project);
    let problems = registration::out_of_sync(&found, settings, |scope| match scope {
        Scope::User => origins.of_layer(Layer::User),
        Scope::Project => origins.of_layer(Layer::Project),
        Scope::Local => settings.clone(),
    });
    // If it is registered in the project, its commands run without `conclaude trust`: that comes first.
    let first = match untrusted {
        None if !problems.is_empty() => Some(out_of_sync(&problems)),
        untrusted => untrusted,
    };
    let redirections = found.iter().flat_map(ScopeSettings::redirections);
    let redirections = redirections.map(|line| format!("⚠ {}", clean_line(&line)));
    redirections.chain(first).chain(not_sent(context)).map(Outcome::note).collect()
}

/// A longer time without success is reported.
const MAX_SILENCE: SignedDuration = SignedDuration::from_hours(24);

/// Problems of the background export, which nobody sees.
fn not_sent(context: &Context<'_>) -> Option<String> {
    let settings = &context.config.settings;
    let (telemetry, endpoint) = (settings.telemetry.as_ref()?, settings.endpoint()?);
    // The process that would send has our environment.
    if let Err(why) = Target::of_config(telemetry, context.variables())
        && context.is_audited()
    {
        let to = "Nothing is lost: set it where Claude Code is started";
        return Some(format!("⚠ decisions are not sent: {}\n{to}", clean_line(&why.to_string())));
    }
    let state = export::states(&Trail::of(&context.root.folder, None))
        .into_iter()
        .find(|state| state.endpoint == endpoint.as_str())?;
    let failure = state.failure().filter(|failure| !failure.by_config)?;
    let is_old = failure
        .since
        .parse::<Timestamp>()
        .is_ok_and(|since| context.started.duration_since(since) > MAX_SILENCE);
    if !failure.is_permanent && !is_old {
        return None;
    }
    let (what, since) = (clean_line(&failure.what), clean_line(&failure.since));
    Some(format!(
        "⚠ decisions are not sent since {since}: {what}\nNothing is lost. To see more: `conclaude audit export --otlp`"
    ))
}

fn out_of_sync(problems: &[Problem]) -> String {
    let lines: Vec<String> =
        problems.iter().map(|problem| format!("⚠ {}", clean_line(&problem.what))).collect();
    format!(
        "the registration with Claude Code is out of sync with the config:\n{}\nTo fix it: {}",
        lines.join("\n"),
        registration::fixes(problems).join("; ")
    )
}

/// Gated agents that started and never stopped: recorded, and reported once.
pub(super) fn unfinished(context: &Context<'_>) -> Vec<Outcome> {
    let running = match context.payload() {
        // An older client does not say what still runs. Then the end of the session shows it.
        HookPayload::Stop(stop) => match (stop.running(), context.event.client.agents.at_stop) {
            (Some(running), _) => running,
            (None, AgentsAtStop::Dropped) => Vec::new(),
            (None, AgentsAtStop::Listed | AgentsAtStop::Unknown) => return Vec::new(),
        },
        _ if context.event.client.agents.at_stop == AgentsAtStop::Unknown => return Vec::new(),
        _ => Vec::new(),
    };
    let main = expand_home(context.payload().transcript_path());
    let unfinished = started_agents::unfinished(&context.session, &main, &running);
    unfinished.into_iter().flat_map(|agent| report_unfinished(agent, context)).collect()
}

/// It is shown even if it cannot be recorded. Then it is reported again, until it can be.
fn report_unfinished(agent: UnfinishedAgent, context: &Context<'_>) -> Vec<Outcome> {
    let call = agent.call;
    let what = format!(
        "{} ({}) was called for {} and never stopped",
        call.subagent_type, agent.agent_id, call.step_file
    );
    let fix = "look at what it left; call it again if the step is not done";
    let finding = Finding::new(Code::Unfinished, what, fix).warning();
    let message = format!("{} {finding}", Verdict::Warn.mark());
    let found = Outcome { verdict: Verdict::Warn, message, evidence: Evidence::Finding(finding) };
    let (origins, root) = (&context.config.origins, &context.root.folder);
    let record = Record {
        agent_id: Some(agent.agent_id),
        agent: Some(call.subagent_type.clone()),
        step: Some(call.step_file.clone()),
        decision: words::UNFINISHED.into(),
        findings: record::finding(&found, |finding| finding.code.written().rule(origins, root))
            .into_iter()
            .collect(),
        ..context.record()
    };
    if let Err(error) = context.audit(&record) {
        return vec![found, Outcome::unrecorded(error.to_string())];
    }
    let reported = GatedCall { reported: true, ..call };
    if let Err(error) = reported.remember(&context.session) {
        log::warn(|| format!("cannot note that an unfinished agent was reported: {error}"));
    }
    vec![found]
}
