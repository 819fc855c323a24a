//! Decisions of the user at a terminal.

use std::io::{self, IsTerminal};

use anyhow::bail;

use super::out::Out;
use conclaude_core::dialect;
use conclaude_core::dialect::claude::variables;
use conclaude_os::environment;
use conclaude_os::process::ancestors;

/// Only a user at a terminal decides: otherwise an agent could permit its own calls.
pub(super) fn refuse_agents(what: &str) -> anyhow::Result<()> {
    if let Some(name) = variables::OF_AGENTS.iter().find(|name| environment::is_set(name)) {
        bail!("an agent cannot {what} ({name} is set): run this in your own terminal");
    }
    if let Some(process) = ancestors::started_with(&variables::OF_AGENTS) {
        bail!("an agent cannot {what} (process {process} is an agent's): run this in your own terminal");
    }
    let above = match ancestors::chain() {
        Ok(above) => above,
        Err(error) => bail!("an agent cannot {what} ({error}): run this in your own terminal"),
    };
    let mut clients = above.iter().filter_map(|process| dialect::of_process(&process.arguments));
    if let Some(client) = clients.next() {
        bail!("an agent cannot {what} (started by {}): run this in your own terminal", client.title);
    }
    if !io::stdin().is_terminal() || !Out::is_terminal() {
        bail!("only a user at a terminal can decide this: run it in your own terminal");
    }
    Ok(())
}

/// Asks, and reads the answer.
pub(super) fn agrees(out: &mut Out<'_>, question: &str) -> io::Result<bool> {
    write!(out, "{question} [y/N] ")?;
    out.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
