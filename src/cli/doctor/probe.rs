//! Calls this program as Claude Code would: through `/bin/sh -c`, with a payload on stdin. Settings may come with a clone, so their
//! command lines are not run: if they name this program, it is called by its own path. Also shows when events last arrived: only
//! that proves that Claude Code calls us.

use std::path::Path;
use std::time::{Duration, SystemTime};
use std::{fmt, io};

use serde::Serialize;
use serde_json::{Map, Value};

use super::{Check, Installation};
use conclaude_core::config::DEFAULT_SHELL;
use conclaude_core::dialect::Dialect;
use conclaude_core::dialect::claude::sample::{Sample, TRIAL_SESSION};
use conclaude_core::dialect::claude::{self, variables};
use conclaude_core::event::EventKind;
use conclaude_core::text::{clean_line, count};
use conclaude_engine::install::registration;
use conclaude_engine::install::scope::{Scope, SettingsTarget};
use conclaude_engine::install::settings::{Caller, CommandLine, IF_TRUSTED, RegisteredLine, SWITCH, short};
use conclaude_os::budget::Budget;
use conclaude_os::process::{self, CommandSpec, FinishedCommand, Retention, Status};
use conclaude_store::store;
use shell_effects::quoted_if_needed;

/// The name of an agent that does not exist.
const AGENT: &str = TRIAL_SESSION;

#[derive(Serialize)]
pub(super) struct ProbeAnswer {
    event: &'static str,
    command: String,
    /// In a scratch project, so that nothing of this one runs.
    scratch: bool,
    exit: Option<i32>,
    milliseconds: u128,
    stdout: String,
    stderr: String,
}

impl fmt::Display for ProbeAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let location = if self.scratch { " in a scratch project" } else { "" };
        let exit = self.exit.map_or_else(|| "no exit code".into(), |code| format!("exit {code}"));
        let said = if self.stdout.is_empty() { "nothing to say".into() } else { clean_line(&self.stdout) };
        write!(f, "{}{location}: {exit} in {} ms, {said}", self.event, self.milliseconds)
    }
}

/// Simulates a stop in a scratch project and the start of a session here, if this program is registered for them.
pub(super) fn all(installation: &Installation) -> (Vec<ProbeAnswer>, Vec<Check>) {
    let line = |event: EventKind| own_line(installation, event);
    // After registering again, this program is called.
    let fix = installation.install_again();
    let (mut answers, mut checks) = (Vec::new(), Vec::new());
    if let Some(command) = line(EventKind::SubagentStop) {
        match in_scratch(&command, &fix) {
            Ok((answer, check)) => {
                answers.push(answer);
                checks.push(check);
            }
            Err(error) => {
                let text = format!("no scratch project can be made to try the registration in: {error}");
                checks.push(Check::warning("call", text, "set TMPDIR to a folder that can be written"));
            }
        }
    }
    // We must not run commands of the project.
    let config = installation.effective_config();
    let runs_commands =
        config.section(EventKind::SessionStart).is_some_and(|section| section.commands().next().is_some());
    if !runs_commands && let Some(command) = line(EventKind::SessionStart) {
        let (answer, check) = here(&command, &fix, installation);
        answers.push(answer);
        checks.extend(check);
    }
    (answers, checks)
}

/// The command line that is registered for an event, with this program's own path. `None` if it starts another program.
fn own_line(installation: &Installation, event: EventKind) -> Option<String> {
    let locations = installation.locations();
    let registered = locations.iter().flat_map(|file| file.registered()).find(|one| one.event == event)?;
    let (own, _) = installation.program(&registered.command).filter(|(_, is_own)| *is_own)?;
    let if_trusted = CommandLine::parse(&registered.command)?.if_trusted;
    let caller = if if_trusted { Caller::User } else { Caller::Project };
    let program = &*quoted_if_needed(&own.to_string_lossy());
    let (client, event) = (&claude::DIALECT, event.name());
    Some(RegisteredLine { client, program: program.into(), event, caller }.text())
}

fn call(command: &str, event: EventKind, payload: &Value, project: &Path) -> ProbeAnswer {
    // Whether we are switched off here is checked separately.
    let env = [
        (variables::PROJECT_DIR.to_owned(), Some(project.to_string_lossy().into_owned())),
        (SWITCH.to_owned(), None),
    ];
    let input = format!("{payload}\n");
    let spec = CommandSpec {
        script: command,
        shell: DEFAULT_SHELL,
        cwd: project,
        env: &env,
        stdin: input.as_bytes(),
        timeout: Some(Budget::unlimited().at_least(Duration::from_secs(30))),
        stdout: Retention::Shown(20_000),
        stderr: Retention::Shown(4_000),
    };
    let FinishedCommand { status, stdout, stderr, duration, .. } = process::run(&spec, None);
    let text = |stream: process::CapturedOutput| stream.excerpt(None).unwrap_or_default().trim().to_owned();
    let stderr = match &status {
        Status::Exited(_) => text(stderr),
        other => other.describe(),
    };
    ProbeAnswer {
        event: event.name(),
        command: command.to_owned(),
        scratch: false,
        exit: status.code(),
        milliseconds: duration.as_millis(),
        stdout: text(stdout),
        stderr,
    }
}

fn payload(event: EventKind, project: &Path) -> Value {
    let agent = if event.is_of_agent() { Some(AGENT) } else { None };
    let sample = Sample {
        event,
        session: TRIAL_SESSION,
        cwd: &project.to_string_lossy(),
        agent,
        tool: None,
        tool_input: Map::new(),
        fields: agent.map(|id| ("agent_id".to_owned(), id.into())).into_iter().collect(),
    };
    Value::Object(sample.payload())
}

/// A subagent stops in a scratch project with one command. The correct answer is known.
fn in_scratch(command: &str, fix: &str) -> io::Result<(ProbeAnswer, Check)> {
    const SAYS: &str = "conclaude was called";
    let folder = tempfile::Builder::new().prefix("conclaude-doctor-").tempdir()?;
    let project = folder.path().canonicalize()?;
    let config =
        format!("subagentStop: {{commands: {{{AGENT}: [{{run: echo {SAYS}, showStdout: true}}]}}}}\n");
    std::fs::write(project.join(".conclaude.yaml"), config)?;
    let payload = payload(EventKind::SubagentStop, &project);
    let answer = ProbeAnswer { scratch: true, ..call(command, EventKind::SubagentStop, &payload, &project) };
    conclaude_store::audit::Trail::of(&project, None).forget();
    let said: Value = serde_json::from_str(&answer.stdout).unwrap_or_default();
    let message = said.get("systemMessage").and_then(Value::as_str).unwrap_or_default();
    // If it is registered for all projects, it must not run commands of an untrusted config.
    let expected = if command.ends_with(IF_TRUSTED) { "did not run" } else { SAYS };
    let command = short(command);
    let check = if answer.exit == Some(0) && message.contains(expected) {
        Check::good("call", format!("`{command}` answers as it should, in {} ms", answer.milliseconds))
    } else {
        let why = match (answer.exit, answer.stderr.lines().next()) {
            (Some(code), Some(line)) => format!("exit {code}: {}", clean_line(line)),
            (Some(0), None) => "exit 0, but without the expected message".into(),
            (Some(code), None) => format!("exit {code}"),
            (None, line) => clean_line(line.unwrap_or("no answer")),
        };
        Check::problem("call", format!("`{command}` does not answer as it should: {why}"), fix)
    };
    Ok((answer, check))
}

/// Simulates the start of a session in this project. It runs no commands, and answers what the user would see.
fn here(command: &str, fix: &str, installation: &Installation) -> (ProbeAnswer, Option<Check>) {
    let project = &installation.project;
    let last =
        installation.root.folder.join(store::FOLDER).join("state/last").join(EventKind::SessionStart.name());
    let before = last.metadata().and_then(|metadata| metadata.modified());
    let payload = payload(EventKind::SessionStart, project);
    let answer = call(command, EventKind::SessionStart, &payload, project);
    // This call must not count as an arrival.
    match before {
        Ok(time) => {
            let opened = std::fs::File::options().append(true).open(&last);
            let _ = opened.and_then(|file| file.set_modified(time));
        }
        Err(_) => {
            let _ = std::fs::remove_file(&last);
        }
    }
    let said: Value = serde_json::from_str(&answer.stdout).unwrap_or_default();
    let shown = said.get("systemMessage").and_then(Value::as_str).map(str::to_owned);
    // Problems of settings, config and trust have already been reported, with fixes.
    if answer.exit == Some(0) || (answer.exit == Some(1) && shown.is_some()) {
        return (answer, None);
    }
    let text = format!("`{}` fails: {}", short(command), clean_line(&answer.stderr));
    (answer, Some(Check::problem("call", text, fix)))
}

#[derive(Serialize)]
pub(super) struct Arrival {
    /// The client, unless it is Claude Code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) client: Option<&'static str>,
    pub(super) event: String,
    pub(super) last: Option<String>,
    #[serde(skip)]
    pub(super) words: String,
}

/// When each needed event last arrived. Before conclaude is registered none can: that is one problem, not many.
pub(super) fn arrivals(installation: &Installation) -> Vec<Arrival> {
    if installation.locations().is_empty() {
        return Vec::new();
    }
    let needed = registration::needed(
        &installation.effective_config(),
        "conclaude",
        SettingsTarget::claude(Scope::Project),
    );
    needed.iter().map(|need| Arrival::of(&installation.root.folder, &claude::DIALECT, &need.name)).collect()
}

impl Arrival {
    pub(super) fn of(root: &Path, client: &Dialect, event: &str) -> Arrival {
        let time = store::last_arrival(root, client, event);
        let stamp = time.and_then(|time| jiff::Timestamp::try_from(time).ok());
        Arrival {
            client: if client.is_translated() { Some(client.name) } else { None },
            event: event.to_owned(),
            last: stamp.map(|stamp| stamp.strftime("%FT%TZ").to_string()),
            words: time.map_or_else(|| "never".into(), ago),
        }
    }
}

fn ago(time: SystemTime) -> String {
    let seconds = time.elapsed().map_or(0, |age| age.as_secs());
    match seconds {
        0..60 => format!("{} ago", count(seconds, "second")),
        60..3_600 => format!("{} ago", count(seconds / 60, "minute")),
        3_600..86_400 => format!("{} ago", count(seconds / 3_600, "hour")),
        _ => format!("{} ago", count(seconds / 86_400, "day")),
    }
}

pub(super) fn check_arrivals(installation: &Installation, arrivals: &[Arrival]) -> Option<Check> {
    if arrivals.is_empty() || arrivals.iter().any(|arrival| arrival.last.is_some()) {
        return None;
    }
    store::expect_arrivals(&installation.root.folder);
    Some(Check::warning(
        "arrivals",
        "no event has arrived from Claude Code yet, so nothing proves that it calls conclaude here",
        "start a session of Claude Code in this project, then look again",
    ))
}
