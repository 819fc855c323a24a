//! `conclaude events`: the possible configuration of each event, and the variables of its commands.

mod possible;

use std::io;

use anstyle::Style;
use serde_json::{Value, json};

use super::out::{Out, Paint};
use super::table;
use conclaude_core::dialect;
use conclaude_core::event::{ALL, EventKind};
use conclaude_core::exit::Exit;
use conclaude_core::plan::environment;
use conclaude_engine::install::registration;
use possible::PossibleEvents;

const BOLD: Paint = Paint(Style::new().bold());

#[derive(clap::Args)]
pub(super) struct EventsRequest {
    /// One event, with the variables of its commands
    event: Option<String>,
    /// What is possible in this client: claude, codex, copilot, qwen or gemini
    #[arg(long, value_name = "NAME")]
    client: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(request: &EventsRequest) -> anyhow::Result<Exit> {
    let mut out = Out::stdout();
    if let Some(name) = &request.client {
        let client = dialect::find(name)?;
        let possible = PossibleEvents::of(client, request.event.as_deref())?;
        if request.json {
            out.json(&possible.as_json())?;
        } else {
            possible.show(&mut out)?;
        }
        return Ok(Exit::Success);
    }
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
        "compares": event.row().compares(),
        "block": event.row().block_effect(),
        "context": event.takes_context(),
        "registered": registration::reasons(event),
        "variables": variables,
    })
}

fn list(out: &mut Out<'_>) -> io::Result<Exit> {
    let heading = ["EVENT", "SECTION", "PATTERNS COMPARE", "ONFAILURE: BLOCK"].map(str::to_owned);
    let rows = ALL.iter().map(|event| {
        let compared = event.row().compares().unwrap_or("-");
        [event.name(), event.row().section, compared, event.row().block_effect().unwrap_or("-")]
            .map(str::to_owned)
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
        ("patterns compare", event.row().compares().unwrap_or("nothing: use a plain list, or `*`")),
        ("onFailure: block", event.row().block_effect().unwrap_or("not possible")),
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
