//! `conclaude demo`: a subagent's start and stop in a scratch project, handled by the same code as real events.

use std::io;
use std::path::Path;

use anstyle::{AnsiColor, Style};
use serde_json::{Map, Value};

use crate::cli::out::{Out, Paint};
use conclaude_core::dialect::claude;
use conclaude_core::dialect::claude::sample::Sample;
use conclaude_core::event::EventKind;
use conclaude_core::exit::Exit;
use conclaude_core::outcome::{CommandRun, Outcome};
use conclaude_core::text::indent;
use conclaude_engine::hooks::{self, Environment, Trace};
use conclaude_os::log;
use conclaude_store::audit::Trail;

const TITLE: Paint = Paint(AnsiColor::Cyan.on_default().bold());
const FAINT: Paint = Paint(Style::new().dimmed());
const GOOD: Paint = Paint(AnsiColor::Green.on_default());
const BAD: Paint = Paint(AnsiColor::Red.on_default());

const CONFIG: &str = r#"subagentStart:
  commands:
    "*":
      - run: echo "$CONCLAUDE_SUBAGENT_NAME starts"
        showStdout: true

subagentStop:
  commands:
    coder:
      - run: test -s CHANGES.md
        message: "CHANGES.md is empty: say what you changed"
        onFailure: block
    "*":
      - run: echo "checked the work of $CONCLAUDE_SUBAGENT_NAME"
        showStdout: true
    "test*":
      - run: echo "never for a coder"
"#;

pub(super) fn run(keep: bool) -> anyhow::Result<Exit> {
    let project = tempfile::Builder::new().prefix("conclaude-demo-").tempdir()?;
    let folder = project.path().canonicalize()?;
    std::fs::write(folder.join(".conclaude.yaml"), CONFIG)?;
    std::fs::write(folder.join("CHANGES.md"), "")?;
    let mut out = Out::stdout();

    writeln!(out, "{TITLE}A scratch project with this .conclaude.yaml{TITLE:#}\n")?;
    writeln!(out, "{FAINT}{}{FAINT:#}\n", indent(CONFIG.trim_end(), "  "))?;

    writeln!(out, "{TITLE}1. Claude Code starts the subagent `coder`: conclaude SubagentStart{TITLE:#}")?;
    play(&mut out, EventKind::SubagentStart, &folder, false)?;

    writeln!(
        out,
        "{TITLE}2. `coder` says \"done\", but CHANGES.md is empty: conclaude SubagentStop{TITLE:#}"
    )?;
    play(&mut out, EventKind::SubagentStop, &folder, false)?;

    writeln!(
        out,
        "{TITLE}3. `coder` reads the reason, writes CHANGES.md and stops again: conclaude SubagentStop{TITLE:#}"
    )?;
    std::fs::write(folder.join("CHANGES.md"), "- a greeting\n")?;
    play(&mut out, EventKind::SubagentStop, &folder, true)?;

    if keep {
        let kept = project.keep();
        writeln!(out, "The project is kept in {}", kept.display())?;
    } else {
        Trail::of(&folder, None).forget();
    }
    writeln!(
        out,
        "Next: `conclaude init` in your project sets it up, and `conclaude doctor` checks the installation."
    )?;
    out.flush()?;
    Ok(Exit::Success)
}

fn play(out: &mut Out<'_>, event: EventKind, folder: &Path, again: bool) -> io::Result<()> {
    let sample = Sample {
        event,
        session: "demo",
        cwd: &folder.to_string_lossy(),
        agent: Some("coder"),
        tool: None,
        tool_input: Map::new(),
        fields: Map::from_iter([
            ("agent_id".to_owned(), "a1b2c3d4e5f60718".into()),
            ("stop_hook_active".to_owned(), again.into()),
        ]),
    };
    let payload = Value::Object(sample.payload());
    // Only the scratch project is shown, without the user's own config.
    let environment =
        Environment { project_dir: Some(folder.to_owned()), only_project: true, ..Environment::of_process() };
    let traced = hooks::trace(event, payload.to_string().as_bytes(), &environment);
    // The log goes to the hook's stderr, which is shown below as Claude Code would see it.
    let log_lines = log::take();
    let result = match traced {
        Ok(Trace { plan, outcomes, result }) => {
            let patterns: Vec<&str> =
                plan.commands().filter_map(|command| command.rule.pattern.as_deref()).collect();
            writeln!(
                out,
                "  matched   {}",
                if patterns.is_empty() { "nothing".into() } else { patterns.join(", ") }
            )?;
            for run in outcomes.iter().filter_map(Outcome::run) {
                show_run(out, run)?;
            }
            Ok(result)
        }
        Err(error) => Err(error),
    };
    let answer = claude::render(event, &result, &log_lines);
    let style = if answer.exit == Exit::Success { GOOD } else { BAD };
    let meaning = match answer.exit {
        Exit::Success => "it may go on",
        Exit::Failure | Exit::Of(_) => "an error",
        Exit::Blocked => "it is blocked",
    };
    writeln!(out, "  answered  {style}exit {} ({meaning}){style:#}", answer.exit.code())?;
    let stdout = if answer.stdout.is_empty() { "(empty)" } else { &answer.stdout };
    writeln!(out, "  stdout    {stdout}\n")
}

fn show_run(out: &mut Out<'_>, run: &CommandRun) -> io::Result<()> {
    let (style, mark) = if run.is_success { (GOOD, "✓") } else { (BAD, "✗") };
    let (script, status) = (&run.command.run, &run.status);
    writeln!(out, "  ran       {style}{mark}{style:#} {script}  {FAINT}({status}){FAINT:#}")?;
    match &run.stdout {
        Some(shown) => writeln!(out, "  shown     {shown}"),
        None => Ok(()),
    }
}
