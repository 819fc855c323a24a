//! Turns the arguments, or a real payload, into the event that is explained.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use serde_json::{Map, Value, json};

use conclaude_core::dialect::claude::sample::{AGENT, Sample};
use conclaude_core::dialect::claude::{self, fields, tools};
use conclaude_core::dialect::{self, Dialect, HookCall};
use conclaude_core::event::{ALL, Changes, EventKind};
use conclaude_core::text::nearest;
use conclaude_core::types::Event;
use conclaude_os::files;

/// A payload is never this large.
const MAX_BYTES: u64 = 64 << 20;

/// The session of a simulated event.
const SESSION: &str = "explain";

#[derive(clap::Args)]
pub(in crate::cli) struct ExplainRequest {
    /// The event, such as PreToolUse or stop; --payload names it too
    event: Option<String>,
    /// The subagent that causes it [default: the main thread; general-purpose at SubagentStart and SubagentStop]
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// The tool [default: Bash with --command, Write with --file]
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// The tool's file; at a stop a file that was changed (may be repeated)
    #[arg(long, value_name = "PATH", conflicts_with_all = ["command", "input"])]
    file: Vec<String>,
    /// The shell command of Bash
    #[arg(long, value_name = "CMD", conflicts_with = "input", allow_hyphen_values = true)]
    command: Option<String>,
    /// The tool's input as JSON; at events without a tool, fields of the payload
    #[arg(long, value_name = "JSON")]
    input: Option<String>,
    /// A payload of Claude Code, as from stdin; `-` reads stdin
    #[arg(long, value_name = "FILE", conflicts_with_all = ["agent", "tool", "file", "command", "input"])]
    payload: Option<PathBuf>,
    /// The client of the event: claude, codex, copilot, qwen or gemini [default: claude; with --payload, the client that sends
    /// such payloads]
    #[arg(long, value_name = "NAME")]
    client: Option<String>,
    /// The permission mode: in `dontAsk` and `bypassPermissions` nobody can be asked [default: default]
    #[arg(long, value_name = "MODE", conflicts_with = "payload")]
    permission_mode: Option<String>,
    /// The folder of the event, such as a worktree or a part of the project [default: this one]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Print everything: the config files, every rule that was compared, commands with their environment, every answer
    #[arg(long)]
    pub(super) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Clone, Debug)]
pub(in crate::cli) struct ExplainEvent {
    pub(in crate::cli) client: &'static Dialect,
    pub(in crate::cli) event: EventKind,
    pub(in crate::cli) payload: Map<String, Value>,
    /// The files that an agent changed until its stop, if they are given.
    pub(in crate::cli) changed: Option<Vec<String>>,
    /// Whether the event is a sample, and did not happen.
    pub(in crate::cli) is_sample: bool,
    /// Assumptions about the event.
    pub(in crate::cli) notes: Vec<String>,
}

impl ExplainEvent {
    pub(super) fn of(request: &ExplainRequest) -> anyhow::Result<ExplainEvent> {
        let client = match &request.client {
            Some(name) => Some(dialect::find(name)?),
            None => None,
        };
        match &request.payload {
            Some(path) => of_payload(path, request, client),
            None => of_arguments(request, client.unwrap_or(&claude::DIALECT)),
        }
    }

    /// The event as its client would send it.
    pub(in crate::cli) fn parsed(&self) -> anyhow::Result<Event> {
        let parsed = if self.is_sample {
            Event::sample(self.client, self.event, self.payload.clone())
        } else {
            let payload = Value::Object(self.payload.clone()).to_string();
            let call = HookCall { client: Some(self.client), ..HookCall::of(self.event) };
            call.parse(payload.as_bytes())
        };
        parsed.map_err(|error| anyhow!("{error}"))
    }

    /// An event with these fields, as it would come in this folder.
    pub(in crate::cli) fn sample(sample: &Sample<'_>) -> ExplainEvent {
        ExplainEvent {
            client: &claude::DIALECT,
            event: sample.event,
            payload: sample.payload(),
            changed: None,
            is_sample: true,
            notes: Vec::new(),
        }
    }

    pub(in crate::cli) fn text(&self, field: &str) -> Option<&str> {
        self.payload.get(field).and_then(Value::as_str)
    }

    pub(in crate::cli) fn cwd(&self) -> &str {
        self.text("cwd").unwrap_or_default()
    }
}

fn of_payload(
    path: &Path,
    request: &ExplainRequest,
    client: Option<&'static Dialect>,
) -> anyhow::Result<ExplainEvent> {
    let text = if path == Path::new("-") {
        let mut text = String::new();
        io::stdin().take(MAX_BYTES).read_to_string(&mut text)?;
        text
    } else {
        files::read_text(path, MAX_BYTES).map_err(|why| anyhow!("{}: {why}", path.display()))?
    };
    let mut payload = object(&text, &format!("the payload {}", path.display()))?;
    let client = client.unwrap_or_else(|| dialect::of(&payload));
    let own = payload.get("hook_event_name").and_then(Value::as_str).map(str::to_owned);
    let event = match (&request.event, &own) {
        (Some(typed), own) => not_another(event_of(client, typed)?, own.as_deref())?,
        (None, Some(own)) => event_of(client, own)?,
        (None, None) => {
            bail!("the payload has no `hook_event_name` that is a text: name the event");
        }
    };
    payload.insert("hook_event_name".into(), event.name().into());
    let mut notes = Vec::new();
    let cwd = payload.get("cwd").and_then(Value::as_str).unwrap_or_default().to_owned();
    if request.cwd.is_some() {
        payload.insert("cwd".into(), folder(request)?.into());
    } else if !Path::new(&cwd).is_dir() {
        let here = folder(request)?;
        notes.push(format!("its folder {cwd:?} is not here: {here} is taken instead"));
        payload.insert("cwd".into(), here.into());
    }
    Ok(ExplainEvent { client, event, payload, changed: None, is_sample: false, notes })
}

/// The named event, unless the payload has another one.
fn not_another(event: EventKind, own: Option<&str>) -> anyhow::Result<EventKind> {
    match own.filter(|own| *own != event.name()) {
        None => Ok(event),
        Some(own) => Err(anyhow!(
            "{event} was named, but the `hook_event_name` of the payload is {own}: leave the event out, or take a payload of {event}"
        )),
    }
}

fn folder(request: &ExplainRequest) -> anyhow::Result<String> {
    let folder = match &request.cwd {
        None => std::env::current_dir()?,
        Some(named) => {
            let real = named.canonicalize().map_err(|why| anyhow!("--cwd {}: {why}", named.display()))?;
            if !real.is_dir() {
                bail!("--cwd {} is not a folder", named.display());
            }
            real
        }
    };
    Ok(folder.to_string_lossy().into_owned())
}

fn of_arguments(request: &ExplainRequest, client: &'static Dialect) -> anyhow::Result<ExplainEvent> {
    let typed = request.event.as_deref();
    let event = event_of(
        client,
        typed.ok_or_else(|| anyhow!("name an event, such as `conclaude explain PreToolUse --file .env`"))?,
    )?;
    let event = client.event(event.name()).map_or(event, |known| known.kind);
    let mut notes = Vec::new();
    if client.is_translated()
        && let Some(missing) = client.missing_events().find(|missing| missing.event == event)
    {
        bail!("{event} never comes from {}: {}", client.title, missing.why);
    }
    let of_agent = event.is_of_agent();
    if request.agent.is_some() && !event.row().in_agents {
        let hint = if event == EventKind::Stop { "; SubagentStop is the stop of an agent" } else { "" };
        bail!("{event} comes from the main thread: --agent has no meaning there{hint}");
    }
    if of_agent && request.agent.is_none() {
        notes.push(format!("the agent is taken to be {AGENT}: --agent names another"));
    }
    let (tool, tool_input, mut given) = if fields::has_tool(event) {
        let (tool, input) = tool(event, request)?;
        (Some(tool), input, Map::new())
    } else {
        (None, Map::new(), other_fields(event, request)?)
    };
    let cwd = folder(request)?;
    given.extend(request.permission_mode.clone().map(|mode| ("permission_mode".to_owned(), mode.into())));
    if let Changes::Tools(list) = event.row().changes {
        let (tool, input) = self::tool(event, request)?;
        given.insert(list.into(), json!([{"tool_name": tool, "tool_input": input}]));
    }
    let sample = Sample {
        event,
        session: SESSION,
        cwd: &cwd,
        agent: request.agent.as_deref(),
        tool: tool.as_deref(),
        tool_input,
        fields: given,
    };
    let changed = if is_stop(event) { Some(request.file.clone()) } else { None };
    Ok(ExplainEvent { client, changed, notes, ..ExplainEvent::sample(&sample) })
}

/// Whether the event compares the files that changed before it.
fn is_stop(event: EventKind) -> bool {
    matches!(event.row().changes, Changes::Agent | Changes::SincePrompt)
}

fn tool(event: EventKind, request: &ExplainRequest) -> anyhow::Result<(String, Map<String, Value>)> {
    let named = request.tool.clone();
    let differs =
        |tool: &&str| named.as_ref().is_some_and(|named| tool.eq_ignore_ascii_case(named) && tool != named);
    if let Some(near) = tools::KNOWN.iter().copied().find(differs) {
        let typed = named.unwrap_or_default();
        bail!("Claude Code has no tool `{typed}`; did you mean `{near}`?");
    }
    if let Some(command) = &request.command {
        let tool = named.unwrap_or_else(|| tools::SHELL.into());
        if !tools::WITH_COMMAND.contains(&tool.as_str()) {
            bail!(
                "--command is the command of Bash, Monitor or PowerShell, and the tool is {tool}: use --input"
            );
        }
        return Ok((tool, one("command", command)));
    }
    if let Some(text) = &request.input {
        let input = object(text, "--input")?;
        let tool = named.or_else(|| tools::guess(&input).map(str::to_owned));
        return tool.map(|tool| (tool, input)).ok_or_else(|| anyhow!("--input needs --tool NAME"));
    }
    match (request.file.as_slice(), named) {
        ([file], named) => {
            let tool = named.unwrap_or_else(|| "Write".into());
            let field = tools::file_field(&tool)
                .ok_or_else(|| anyhow!("{tool} has no file: use --command, or --input"))?;
            Ok((tool, one(field, file)))
        }
        ([], Some(tool)) => Ok((tool, Map::new())),
        ([], None) => Err(anyhow!("{event} needs a tool: add --command CMD, --file PATH or --tool NAME")),
        _ => Err(anyhow!("a tool has one file: --file is given several times")),
    }
}

fn one(field: &str, value: &str) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert(field.to_owned(), value.into());
    fields
}

/// The fields of an event without a tool.
fn other_fields(event: EventKind, request: &ExplainRequest) -> anyhow::Result<Map<String, Value>> {
    let is_batch = matches!(event.row().changes, Changes::Tools(_));
    if !is_batch && (request.tool.is_some() || request.command.is_some()) {
        let hint = "; PreToolUse and PostToolUse have one";
        bail!("{event} has no tool: --tool and --command have no meaning there{hint}");
    }
    if let Some(text) = &request.input
        && !is_batch
    {
        return object(text, "--input");
    }
    match request.file.as_slice() {
        _ if is_batch || is_stop(event) => Ok(Map::new()),
        [] => Ok(Map::new()),
        [file] if fields::own(event).any(|field| field == fields::FILE_PATH) => {
            Ok(one(fields::FILE_PATH, file))
        }
        _ => Err(anyhow!("{event} is not about a file: --file has no meaning there")),
    }
}

/// The fields of a JSON object.
fn object(text: &str, what: &str) -> anyhow::Result<Map<String, Value>> {
    match serde_json::from_str(text) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(anyhow!("{what} is JSON, but not an object: {{…}} is expected")),
        Err(error) => Err(anyhow!("{what} is not JSON: {error}")),
    }
}

/// The event with this name, either the client's or ours.
fn event_of(client: &'static Dialect, typed: &str) -> anyhow::Result<EventKind> {
    match client.event(typed) {
        Some(known) if !known.kind.is_known() => Ok(known.kind),
        Some(known) => EventKind::named_or_future(known.name)
            .ok_or_else(|| anyhow!("unknown event `{typed}`; `conclaude events` lists them")),
        None => named_event(typed),
    }
}

pub(super) fn named_event(typed: &str) -> anyhow::Result<EventKind> {
    let folded = |text: &str| text.replace(['-', '_', ' '], "").to_lowercase();
    let wanted = folded(typed);
    if let Some(event) = ALL.iter().find(|event| folded(event.name()) == wanted) {
        return Ok(*event);
    }
    if let Some(near) = nearest(typed, ALL.iter().map(|event| event.name())) {
        bail!("unknown event `{typed}`; did you mean `{near}`?");
    }
    // A newer Claude Code may have it; its commands run.
    EventKind::named_or_future(typed)
        .or_else(|| EventKind::of_section_or_future(typed))
        .ok_or_else(|| anyhow!("unknown event `{typed}`; `conclaude events` lists them"))
}
