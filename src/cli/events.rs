//! `conclaude events`: what can be configured at each event, and what its commands get.

use std::io;

use anstyle::Style;
use serde_json::{Value, json};

use super::out::{Out, Paint};
use super::table;
use conclaude_core::event::{ALL, BlockCounter, Blocking, EventKind, Subject};
use conclaude_core::exit::Exit;
use conclaude_core::plan::environment;
use conclaude_engine::install::registration;

const BOLD: Paint = Paint(Style::new().bold());

#[derive(clap::Args)]
pub(super) struct EventsRequest {
    /// One event, with the variables of its commands
    event: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(request: &EventsRequest) -> anyhow::Result<Exit> {
    let mut out = Out::stdout();
    let Some(name) = &request.event else {
        let exit = if request.json { json_of_all(&mut out)? } else { list(&mut out)? };
        return Ok(exit);
    };
    let Some(event) = EventKind::named(name).or_else(|| EventKind::of_section(name)) else {
        return Err(anyhow::Error::msg(unknown(name)));
    };
    if request.json {
        out.json(&as_json(event))?;
    } else {
        show(&mut out, event)?;
    }
    Ok(Exit::Success)
}

pub(super) fn unknown(name: &str) -> String {
    let hint = match conclaude_core::text::nearest(name, ALL.iter().map(|event| event.name())) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`conclaude events` lists them; a newer Claude Code may have others, whose commands run too"
            .into(),
    };
    format!("unknown event `{name}`; {hint}")
}

fn json_of_all(out: &mut Out<'_>) -> io::Result<Exit> {
    let events: Vec<Value> = ALL.iter().map(|event| as_json(*event)).collect();
    out.json(&json!({ "events": events }))?;
    Ok(Exit::Success)
}

fn as_json(event: EventKind) -> Value {
    let variables: Vec<String> =
        environment::of_all().into_iter().chain(environment::of_event(event)).collect();
    json!({
        "event": event.name(),
        "section": event.row().section,
        "compares": compares(event),
        "block": block(event),
        "context": event.takes_context(),
        "registered": registration::reasons(event),
        "variables": variables,
    })
}

fn list(out: &mut Out<'_>) -> io::Result<Exit> {
    let heading = ["EVENT", "SECTION", "PATTERNS COMPARE", "ONFAILURE: BLOCK"].map(str::to_owned);
    let rows = ALL.iter().map(|event| {
        let compared = compares(*event).unwrap_or("-");
        [event.name(), event.row().section, compared, block(*event).unwrap_or("-")].map(str::to_owned)
    });
    let rows: Vec<[String; 4]> = std::iter::once(heading).chain(rows).collect();
    table(out, &rows, BOLD)?;
    writeln!(out, "\n`conclaude events EVENT` lists the variables of its commands")?;
    Ok(Exit::Success)
}

fn show(out: &mut Out<'_>, event: EventKind) -> io::Result<()> {
    let context = if event.takes_context() { "yes" } else { "no" };
    let registered = registration::reasons(event);
    let about = [
        ("section", event.row().section),
        ("patterns compare", compares(event).unwrap_or("nothing: use a plain list, or `*`")),
        ("onFailure: block", block(event).unwrap_or("not possible")),
        ("context: true", context),
        ("registered", registered.as_str()),
    ];
    writeln!(out, "{event}")?;
    for (what, is) in about {
        writeln!(out, "  {what:<17} {is}")?;
    }
    writeln!(out, "  variables")?;
    for name in environment::of_event(event).into_iter().chain(environment::of_all()) {
        writeln!(out, "    {name}")?;
    }
    writeln!(out, "    {} (with `files`)", environment::FILES)
}

/// What the patterns of the event's section are compared with.
fn compares(event: EventKind) -> Option<&'static str> {
    match event.row().subject {
        Subject::Agent => Some("the agent's name"),
        Subject::Field(field) => Some(field),
        Subject::File(field) => Some(match field {
            "file_path" => "file_path, by gitignore's rules",
            other => other,
        }),
        Subject::Nothing => None,
    }
}

/// What a failure that blocks does.
fn block(event: EventKind) -> Option<&'static str> {
    Some(match event.blocking() {
        Blocking::Never => return None,
        Blocking::Stop(BlockCounter::Task(_)) => "the task stays open, up to maxBlocks",
        Blocking::Stop(_) => "the agent goes on, up to maxBlocks",
        Blocking::Tool => "the tool is denied",
        Blocking::Permission => "the permission is denied",
        Blocking::Action { effect, .. } => effect,
        Blocking::Feedback | Blocking::Context => "Claude reads why",
        Blocking::Worktree => "the worktree is not created",
    })
}
