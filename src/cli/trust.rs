//! `conclaude trust`: the user trusts everything that a config runs, in its current form.

use std::io::{self, IsTerminal};

use anyhow::bail;
use clap::Args;

use super::root;
use crate::cli::consent::agrees;
use crate::cli::out::Out;
use conclaude_core::config::{
    ConclaudeConfig, DesConfig, Headers, Layer, PermissionDefault, Source, TelemetryConfig,
};
use conclaude_core::exit::Exit;
use conclaude_core::text::{indent, visible};
use conclaude_store::store::trust::{self, TrustStatus};
use conclaude_store::{load, store};

#[derive(Args)]
pub(super) struct TrustRequest {
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    /// Take the trust back
    #[arg(long, conflicts_with_all = ["yes", "list"])]
    revoke: bool,
    /// List the configs that are trusted
    #[arg(long, conflicts_with = "yes")]
    list: bool,
}

pub(super) fn run(request: &TrustRequest) -> anyhow::Result<Exit> {
    let mut out = Out::stdout();
    if request.list {
        return Ok(list(&mut out)?);
    }
    let root = root()?;
    let loaded = load::untrusted(&root);
    if let Some(error) = loaded.errors.first()
        && !request.revoke
    {
        bail!("{error}");
    }
    let files: Vec<&Source> = loaded.origins.sources().iter().filter(|source| needs_trust(source)).collect();
    if files.is_empty() {
        bail!("there is no .conclaude.yaml here or above: nothing to trust");
    }
    if request.revoke {
        for source in files {
            let word = if trust::revoke(&source.path)? { "is no longer trusted" } else { "was not trusted" };
            writeln!(out, "{} {word}", source.path.display())?;
        }
        return Ok(Exit::Success);
    }
    // The user trusts exactly what is shown: each file is read once.
    let (trusted, others): (Vec<&Source>, Vec<&Source>) =
        files.into_iter().partition(|source| status(source) == TrustStatus::Trusted);
    for source in trusted {
        writeln!(out, "{} is trusted already", source.path.display())?;
    }
    if others.is_empty() {
        return Ok(Exit::Success);
    }
    for source in &others {
        show(&mut out, source)?;
    }
    if !request.yes && !is_agreed(&mut out)? {
        writeln!(out, "not trusted: none of it runs where --user or the plugin registers conclaude")?;
        return Ok(Exit::Failure);
    }
    for source in &others {
        trust::grant(&source.path, &source.text)?;
    }
    // A trusted project is used.
    store::expect_arrivals(&root.folder);
    let what = if others.len() == 1 { "the file changes" } else { "one of the files changes" };
    writeln!(out, "trusted, until {what}; scripts that it calls are not watched")?;
    Ok(Exit::Success)
}

/// Whether a file is not the user's own config, nor part of the program.
fn needs_trust(source: &Source) -> bool {
    !source.is_pack()
        && (source.layer != Layer::User || conclaude_store::root::other_owner(&source.path).is_some())
}

fn status(source: &Source) -> TrustStatus {
    trust::status(&source.path, &source.text)
}

/// Every script of a file.
fn show(out: &mut Out<'_>, source: &Source) -> io::Result<()> {
    let path = source.path.display();
    match status(source) {
        TrustStatus::Changed => writeln!(out, "{path} has changed since you trusted it. It runs:")?,
        _ => writeln!(out, "{path} runs:")?,
    }
    let config = ConclaudeConfig::parse(&source.text, &source.path).unwrap_or_default();
    for line in contents(&config) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

fn list(out: &mut Out<'_>) -> io::Result<Exit> {
    let all = trust::all();
    if all.is_empty() {
        writeln!(out, "no config is trusted")?;
    }
    for agreement in all {
        let now = conclaude_store::root::read_any(&agreement.config)
            .map(|text| trust::status(&agreement.config, &text));
        let word = match now {
            Ok(TrustStatus::Trusted) => "trusted",
            Ok(_) => "changed since",
            Err(_) => "gone",
        };
        writeln!(out, "{word:<13}  {}  {}", agreement.time, agreement.config.display())?;
    }
    Ok(Exit::Success)
}

/// The commands of all events, with their scripts in full.
fn commands(config: &ConclaudeConfig) -> Vec<String> {
    let mut lines = Vec::new();
    let sections = config.sections.iter().map(|(event, section)| (event.row().section, section));
    let slash = config.prompts.slash_commands.iter().map(|section| ("the slash command", section));
    for (name, section) in sections.chain(slash) {
        for (pattern, commands) in section.entries() {
            for command in commands {
                let shell = command.shell.as_ref().map(|shell| format!(", by {}", visible(shell.as_str())));
                let cwd = command
                    .cwd
                    .as_ref()
                    .map(|cwd| format!(", in {}", visible(&cwd.as_path().to_string_lossy())));
                let pattern = visible(pattern.as_str());
                let how = format!("{}{}", shell.unwrap_or_default(), cwd.unwrap_or_default());
                lines.push(format!("  {name} of \"{pattern}\"{how}:"));
                lines.push(indent(&visible(command.run.as_str()), "    "));
                if let Some(message) = &command.message {
                    lines.push(format!("    and shows if it fails: {}", visible(message)));
                }
            }
        }
    }
    lines
}

/// Everything that the user decides about, with nothing hidden.
fn contents(config: &ConclaudeConfig) -> Vec<String> {
    let mut lines = commands(config);
    if let Some(message) = config.stop.infinite() {
        lines.push("  Claude goes on after every stop, up to maxBlocks times, with:".into());
        lines.push(indent(&visible(message), "    "));
    }
    for (phase, command) in config.des.iter().flat_map(DesConfig::evidence_commands) {
        lines.push(format!("  `conclaude des run STEP {}`:", visible(phase)));
        lines.push(indent(&visible(command), "    "));
    }
    for rule in config.permissions.allow.iter().flatten() {
        let whom = rule.value.0.agent.as_ref().map(|agent| format!(" to {}", visible(agent.as_str())));
        let (pattern, whom) = (visible(&rule.value.0.pattern.written), whom.unwrap_or_default());
        lines.push(format!("  allows without asking{whom}: {pattern}"));
    }
    if config.permissions.fallback() == PermissionDefault::Allow {
        lines.push("  allows without asking everything that it does not deny".into());
    }
    for (_, rule) in config.prompts.rules() {
        lines.push(format!("  context for prompts with \"{}\":", visible(rule.value.pattern.as_str())));
        lines.push(indent(&visible(rule.value.prompt.as_str()), "    "));
    }
    if let Some(judge) = config.judge() {
        lines.push("  a judge: its prompt, agents' prompts, step files, summaries of changes and the end of transcripts go to the API, with your key".into());
        lines.push(indent(&visible(judge.prompt.as_str()), "    "));
    }
    if let Some(telemetry) = config.telemetry.as_ref().filter(|telemetry| telemetry.endpoint.is_some()) {
        lines.extend(sent(telemetry));
    }
    if lines.is_empty() {
        lines.push("  nothing: no commands, no judge, no telemetry".into());
    }
    lines
}

/// The data that leaves the machine. Values of headers may be secret.
fn sent(telemetry: &TelemetryConfig) -> Vec<String> {
    let endpoint = telemetry.endpoint.as_ref().map(|endpoint| visible(endpoint.as_str())).unwrap_or_default();
    let mut lines = vec![format!(
        "  telemetry: every record of the audit trail, with command lines and file names, goes to {endpoint}"
    )];
    if telemetry.exports_output() {
        lines.push("    with the output of failed commands".to_owned());
    }
    for (name, value) in telemetry.headers.iter().flat_map(Headers::iter) {
        let names: Vec<String> =
            value.split("${").skip(1).filter_map(|rest| rest.split('}').next()).map(visible).collect();
        let with = if names.is_empty() { String::new() } else { format!(", with your {}", names.join(", ")) };
        lines.push(format!("    in the header {}{with}", visible(name)));
    }
    for (name, value) in telemetry.resource.iter().flat_map(Headers::iter) {
        lines.push(format!("    with the attribute {}: {}", visible(name), visible(value)));
    }
    lines
}

fn is_agreed(out: &mut Out<'_>) -> anyhow::Result<bool> {
    if !io::stdin().is_terminal() {
        bail!("only a user at a terminal can decide this; `conclaude trust --yes` does not ask");
    }
    Ok(agrees(out, "Trust it as it is now?")?)
}
