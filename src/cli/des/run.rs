//! `des run`: runs a command, and records the phase from its exit code.

use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{anyhow, bail};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::DesProject;
use crate::cli::out::Out;
use conclaude_checks::des::evidence::{self, EvidenceRun};
use conclaude_checks::des::record::{self, PhaseChange};
use conclaude_checks::des::stop::{WORKTREE, worktree_of};
use conclaude_checks::des::{phases, step};
use conclaude_core::exit::Exit;
use conclaude_core::text::clean_line;
use conclaude_os::{environment, files};
use conclaude_store::audit::{OUTPUT_LIMITS, Trail};
use shell_effects::quoted_if_needed;

#[derive(clap::Args)]
pub(crate) struct RunArgs {
    /// The step file, or the start of its name
    pub(super) step: PathBuf,
    /// The phase
    phase: String,
    /// The expected result of the command
    #[arg(long, value_parser = ["pass", "fail"])]
    expect: Option<String>,
    /// How many turns it took
    #[arg(long)]
    turns: Option<i64>,
    /// The command, after `--`; leave it out for a phase whose command is in the config (des.evidence)
    #[arg(last = true)]
    command: Vec<OsString>,
}

/// The phase in the step file before the command runs.
struct RecordedPhase {
    is_started: bool,
    /// It was recorded without proof, and is now proved. Its times stay those of the work.
    is_unproved: bool,
    /// It was proved, and that record cannot be found or does not count.
    is_proof_lost: bool,
}

struct Proof {
    command: Command,
    /// In the form of a record.
    line: String,
    /// The programs that it starts, as they are written.
    programs: Vec<String>,
    /// It is the config's command, not one that was typed.
    is_configured: bool,
    expect_failure: bool,
}

/// Runs the command and records the phase. No lock is held while the command runs.
pub(super) fn run(project: &DesProject, args: &RunArgs) -> anyhow::Result<Exit> {
    let RunArgs { step, phase, turns, .. } = args;
    if let Some(problem) = project.config_problem() {
        return Err(not_known(project, args, problem)?);
    }
    let des = project.config.des.clone().unwrap_or_default();
    let owned = des.evidence_command(phase);
    let before = before(project, step, phase, owned)?;
    let Proof { command, line, programs, is_configured, expect_failure } = match owned {
        Some(owned) => configured(project, args, owned)?,
        // Otherwise a permission for `conclaude des` would allow any command, for a phase without an entry.
        None if !des.evidence_commands().is_empty() => return Err(not_in_map(project, args)?),
        None if project.config.enforcers().sandbox => return Err(not_sandboxed(project, args)?),
        None => typed(project, args)?,
    };
    if !before.is_started && !before.is_unproved && !before.is_proof_lost {
        project.record_phase(step, phase, &PhaseChange::Start)?;
    }
    let started = Timestamp::now();
    let running = project.note_running(step, phase, &line, started)?;
    let ran = evidence::run(command);
    drop(running);
    if let Some(problem) = &ran.problem {
        writeln!(Out::stderr(), "conclaude: {problem}")?;
    }
    let times = (started, Timestamp::now());
    let pass = ran.passes(expect_failure);
    let details = format!("`{line}` exited with {}", ran.code);
    let mut evidence = evidence_of(&line, &ran, expect_failure, times);
    if let Some(fields) = evidence.as_object_mut() {
        if is_configured {
            fields.insert("configured".to_owned(), true.into());
        }
        add_place(fields, project);
        add_path(fields, &programs, project, step)?;
    }
    let change = if before.is_unproved || before.is_proof_lost {
        PhaseChange::Prove { pass, details, evidence, again: before.is_proof_lost }
    } else {
        PhaseChange::Finish { pass, details: Some(details), turns: *turns, evidence: Some(evidence) }
    };
    let is_recorded = ran.code != 0 && project.records_output();
    let output = if is_recorded { ran.output.excerpt(OUTPUT_LIMITS) } else { None };
    project.record_run(step, phase, &change, output)?;
    let outcome = if pass { "PASS" } else { "FAIL" };
    writeln!(Out::stderr(), "conclaude: {phase} is EXECUTED: {outcome} (exit code {})", ran.code)?;
    Ok(Exit::Of(u8::try_from(ran.code).unwrap_or(1)))
}

/// The config's command, ignoring the one from the command line: an agent cannot prove a test with `true`.
fn configured(project: &DesProject, args: &RunArgs, owned: &str) -> anyhow::Result<Proof> {
    let RunArgs { phase, command, .. } = args;
    project.require_trust()?;
    let (run, shown) = (run_line(project, &args.step, phase)?, clean_line(owned));
    let typed: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    if !typed.is_empty() && typed.join(" ") != owned {
        bail!(
            "{phase} counts only with the config's command `{shown}` (des.evidence): use `{run}`, which runs it"
        );
    }
    let expect_failure = phases::expects_failure(phase);
    let must = if expect_failure { "fail" } else { "pass" };
    if args.expect.as_deref().is_some_and(|expected| expected != must) {
        bail!(
            "the command of {phase}, `{shown}` (des.evidence), must {must}: use `{run}`; only RED and RED_* expect a failure"
        );
    }
    let command = evidence::script(owned, &project.root.work);
    let commands = shell_effects::read(owned, None).commands.into_iter().filter(|command| command.is_known);
    let programs = commands.filter_map(|command| command.words.into_iter().next()).collect();
    Ok(Proof { command, line: owned.to_owned(), programs, is_configured: true, expect_failure })
}

fn typed(project: &DesProject, args: &RunArgs) -> anyhow::Result<Proof> {
    let RunArgs { phase, command: words, .. } = args;
    let Some((program, arguments)) = words.split_first() else {
        let run = run_line(project, &args.step, phase)?;
        bail!("the config has no command for {phase} (des.evidence): use `{run} -- COMMAND`");
    };
    let mut command = Command::new(program);
    command.args(arguments);
    let said = args.expect.as_deref().map(|word| word == "fail");
    let expect_failure = said.unwrap_or_else(|| phases::expects_failure(phase));
    let needs_proof = project.config.des.as_ref().is_some_and(|des| des.evidence().contains(&phase.as_str()));
    if needs_proof && expect_failure && !phases::expects_failure(phase) {
        bail!(
            "{phase} counts only with proof (des.evidence), and a command that is expected to fail proves nothing outside of RED phases: leave `--expect fail` out"
        );
    }
    let line = command_line(words);
    let commands = shell_effects::read(&line, None).commands.into_iter();
    let programs = commands.filter_map(|command| command.words.into_iter().next()).collect();
    Ok(Proof { command, line, programs, is_configured: false, expect_failure })
}

/// With a map in the config, `des run` runs only its commands.
fn not_in_map(project: &DesProject, args: &RunArgs) -> anyhow::Result<anyhow::Error> {
    let (phase, without) = (&args.phase, without_run(project, args)?);
    Ok(anyhow!(
        "the config has no command for {phase} (des.evidence), and with commands there it runs no others: add `{phase}: COMMAND` to that map, or {without}"
    ))
}

/// If the sandbox enforces rules, `des run` runs outside of it.
fn not_sandboxed(project: &DesProject, args: &RunArgs) -> anyhow::Result<anyhow::Error> {
    let (phase, without) = (&args.phase, without_run(project, args)?);
    Ok(anyhow!(
        "`des run` runs outside of the sandbox that the config asks for (enforce), so it runs only commands of the config: add `{phase}: COMMAND` to the map `des.evidence`, or {without}"
    ))
}

/// An unreadable config may have such a map: an error in it must not allow every command.
fn not_known(project: &DesProject, args: &RunArgs, problem: &str) -> anyhow::Result<anyhow::Error> {
    let without = without_run(project, args)?;
    Ok(anyhow!(
        "{problem}; `des run` runs nothing while the config does not say which commands count (des.evidence): fix the file, with the help of `conclaude validate`, or {without}"
    ))
}

fn without_run(project: &DesProject, args: &RunArgs) -> anyhow::Result<String> {
    let (phase, (_, name)) = (&args.phase, project.step(&args.step)?);
    let step = quoted_if_needed(&name);
    Ok(format!(
        "record the phase without a run: `conclaude des start {step} {phase}`, then `conclaude des finish {step} {phase} --pass`"
    ))
}

fn run_line(project: &DesProject, step: &Path, phase: &str) -> anyhow::Result<String> {
    let (_, name) = project.step(step)?;
    Ok(format!("conclaude des run {} {phase}", quoted_if_needed(&name)))
}

fn before(
    project: &DesProject,
    path: &Path,
    phase: &str,
    owned: Option<&str>,
) -> anyhow::Result<RecordedPhase> {
    let (real, name) = project.step(path)?;
    let step = step::read(&real, &path.to_string_lossy()).ok().map(|(step, _)| step);
    if let Some(step) = &step {
        record::rank(&project.phases(step), phase).map_err(anyhow::Error::msg)?;
    }
    let phases = step.and_then(|step| step.phases()).unwrap_or_default();
    let entry = phases.iter().find(|entry| entry.name == phase);
    Ok(RecordedPhase {
        is_started: entry.is_some_and(|entry| entry.status() == Some(step::PhaseStatus::InProgress)),
        is_unproved: entry.is_some_and(|entry| record::can_be_proved(entry, owned)),
        is_proof_lost: entry.is_some_and(|entry| is_proof_lost(project, &name, entry)),
    })
}

/// Whether the step says that the phase was run, but there is no record of that, or only one that proves nothing.
fn is_proof_lost(project: &DesProject, step: &str, phase: &step::Phase) -> bool {
    let needs_proof = project.config.des.as_ref().is_some_and(|des| des.evidence().contains(&&*phase.name));
    if !needs_proof || phase.status() != Some(step::PhaseStatus::Executed) {
        return false;
    }
    let trail = Trail::of(&project.root.folder, None);
    if trail.write_pending().is_err() {
        return false;
    }
    let Ok(Some(run)) = trail.last_run(step, &phase.name) else { return true };
    let expected_to_fail = run.get("evidence").is_some_and(step::is_expected_to_fail);
    expected_to_fail && !phases::expects_failure(&phase.name)
}

fn command_line(command: &[OsString]) -> String {
    let words: Vec<String> = command.iter().map(|word| quoted_if_needed(&word.to_string_lossy())).collect();
    words.join(" ")
}

/// The worktree that the command ran in.
fn add_place(fields: &mut Map<String, Value>, project: &DesProject) {
    if let Some(worktree) = worktree_of(&project.root.work, &project.root.folder) {
        fields.insert(WORKTREE.to_owned(), worktree.to_string_lossy().into());
    }
}

/// Adds the `PATH` if it is not the hook's, and the first program that the hook's `PATH` does not lead to: an agent may have
/// put it there.
fn add_path(
    fields: &mut Map<String, Value>,
    programs: &[String],
    project: &DesProject,
    step: &Path,
) -> anyhow::Result<()> {
    let (_, name) = project.step(step)?;
    let Some(hook_path) = project.hook_path(&name) else { return Ok(()) };
    let path = environment::os_value("PATH").unwrap_or_default();
    if path == OsStr::new(&hook_path) {
        return Ok(());
    }
    let shown =
        |path: Option<PathBuf>| path.map_or("no program".to_owned(), |path| path.display().to_string());
    let interpreters = programs.iter().filter_map(|program| interpreter(OsStr::new(&hook_path), program));
    let by_name = programs.iter().filter(|program| !program.contains('/')).cloned();
    // A launcher finds `test` on the `PATH`, although a shell has its own.
    for program in by_name.chain(interpreters) {
        let program = program.as_str();
        let (here, in_hook) =
            (files::program_on(&path, program), files::program_on(OsStr::new(&hook_path), program));
        if here == in_hook {
            continue;
        }
        let (here, in_hook) = (shown(here), shown(in_hook));
        writeln!(
            Out::stderr(),
            "conclaude: warning: `{}` is {} here, and {} for the hook: that is recorded",
            clean_line(program),
            clean_line(&here),
            clean_line(&in_hook)
        )?;
        fields.insert("program".to_owned(), here.into());
        fields.insert("hook_program".to_owned(), in_hook.into());
        break;
    }
    fields.insert("path".to_owned(), path.to_string_lossy().into());
    fields.insert("hook_path".to_owned(), hook_path.into());
    Ok(())
}

/// The program that a script of this name asks `env` for: `npm` starts with `#!/usr/bin/env node`.
fn interpreter(path: &OsStr, program: &str) -> Option<String> {
    const MAX_LINE: u64 = 256;
    let mut start = Vec::new();
    let script = std::fs::File::open(files::program_on(path, program)?).ok()?;
    script.take(MAX_LINE).read_to_end(&mut start).ok()?;
    let line = String::from_utf8_lossy(&start);
    let mut words = line.lines().next()?.strip_prefix("#!")?.split_whitespace();
    let is_env = words.next()?.ends_with("/env");
    words.find(|word| is_env && !word.starts_with('-') && !word.contains('=')).map(str::to_owned)
}

fn evidence_of(
    line: &str,
    ran: &EvidenceRun,
    expect_failure: bool,
    (started, ended): (Timestamp, Timestamp),
) -> Value {
    let in_ms = |time: Timestamp| time.round(jiff::Unit::Millisecond).unwrap_or(time).to_string();
    json!({
        "command": line,
        "exit_code": ran.code,
        "expected": if expect_failure { "fail" } else { "pass" },
        "started_at": in_ms(started),
        "ended_at": in_ms(ended),
        "duration_ms": u64::try_from(ended.duration_since(started).as_millis()).unwrap_or(0),
        "output_sha256": ran.output_sha256,
        "output_bytes": ran.output_bytes,
    })
}
