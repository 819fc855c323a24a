//! `conclaude trust`: the user agrees to what a config runs, as it is now.

use std::io::{self, IsTerminal};

use clap::Args;

use super::root;
use crate::cli::out::Out;
use crate::config::{ConclaudeConfig, ConfigError, DesConfig};
use crate::exit::Exit;
use crate::store;
use crate::store::trust::{self, TrustStatus};
use crate::text::{indent, visible};

#[derive(Args)]
pub(super) struct Request {
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

pub(super) fn run(request: &Request) -> io::Result<Exit> {
    let mut out = Out::stdout();
    if request.list {
        return list(&mut out);
    }
    let root = root()?;
    let found = root.config.as_deref().or(root.untrusted.as_ref().map(ConfigError::path));
    let Some(path) = found else {
        return Err(io::Error::other("there is no .conclaude.yaml here or above: nothing to trust"));
    };
    if request.revoke {
        let word = if trust::revoke(path)? { "is trusted no longer" } else { "was not trusted" };
        writeln!(out, "{} {word}", path.display())?;
        return Ok(Exit::Success);
    }
    // What is shown is what is agreed to: the file is read once.
    let text = crate::root::read_any(path).map_err(|error| io::Error::other(error.to_string()))?;
    let config = ConclaudeConfig::parse(&text, path).map_err(|error| io::Error::other(error.to_string()))?;
    match trust::status(path, &text) {
        TrustStatus::Trusted => {
            writeln!(out, "{} is trusted already", path.display())?;
            return Ok(Exit::Success);
        }
        TrustStatus::Changed => {
            writeln!(out, "{} has changed since you trusted it. It runs:", path.display())?
        }
        TrustStatus::Unknown => writeln!(out, "{} runs:", path.display())?,
    }
    for line in contents(&config) {
        writeln!(out, "{line}")?;
    }
    if !request.yes && !agrees(&mut out)? {
        writeln!(out, "not trusted: nothing of it runs where conclaude is registered with --user")?;
        return Ok(Exit::Failure);
    }
    trust::grant(path, &text)?;
    // A project that is trusted is used.
    store::expect_arrivals(&root.folder);
    writeln!(out, "trusted, until the file changes; scripts that it calls are not watched")?;
    Ok(Exit::Success)
}

fn list(out: &mut Out<'_>) -> io::Result<Exit> {
    let all = trust::all();
    if all.is_empty() {
        writeln!(out, "no config is trusted")?;
    }
    for agreement in all {
        let now =
            crate::root::read_any(&agreement.config).map(|text| trust::status(&agreement.config, &text));
        let word = match now {
            Ok(TrustStatus::Trusted) => "trusted",
            Ok(_) => "changed since",
            Err(_) => "gone",
        };
        writeln!(out, "{word:<13}  {}  {}", agreement.time, agreement.config.display())?;
    }
    Ok(Exit::Success)
}

/// Every script in full, with nothing hidden: this is what one agrees to.
fn contents(config: &ConclaudeConfig) -> Vec<String> {
    let mut lines = Vec::new();
    for (event, section) in &config.sections {
        for (pattern, commands) in section.entries() {
            for command in commands {
                let shell = command.shell.as_ref().map(|shell| format!(", by {}", visible(shell.as_str())));
                let cwd = command
                    .cwd
                    .as_ref()
                    .map(|cwd| format!(", in {}", visible(&cwd.as_path().to_string_lossy())));
                let (name, pattern) = (event.row().section, visible(pattern.as_str()));
                let how = format!("{}{}", shell.unwrap_or_default(), cwd.unwrap_or_default());
                lines.push(format!("  {name} of \"{pattern}\"{how}:"));
                lines.push(indent(&visible(command.run.as_str()), "    "));
            }
        }
    }
    for (phase, command) in config.des.iter().flat_map(DesConfig::evidence_commands) {
        lines.push(format!("  `conclaude des run STEP {}`:", visible(phase)));
        lines.push(indent(&visible(command), "    "));
    }
    if config.judge().is_some() {
        lines.push("  a judge: its prompt, agents' prompts, step files, summaries of changes and the end of transcripts go to the API, with your key".into());
    }
    if lines.is_empty() {
        lines.push("  nothing: no commands, no judge".into());
    }
    lines
}

fn agrees(out: &mut Out<'_>) -> io::Result<bool> {
    if !io::stdin().is_terminal() {
        return Err(io::Error::other(
            "this is for a user at a terminal to decide; `conclaude trust --yes` does not ask",
        ));
    }
    write!(out, "Trust it as it is now? [y/N] ")?;
    out.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
