//! `--client` of the subcommands that change settings.

use anyhow::anyhow;
use clap::Args;

use conclaude_core::dialect::{self, Dialect};

/// Means every client.
const ALL: &str = "all";

#[derive(Args, Clone, Default)]
pub(super) struct ClientArgs {
    /// The clients: claude, codex, copilot, qwen, gemini, or all; may be repeated, or be a list with commas. Default: `clients`
    /// of the config, else claude
    #[arg(long = "client", value_name = "NAME", value_delimiter = ',')]
    clients: Vec<String>,
}

impl ClientArgs {
    /// The named clients, each once. `None` if none is named.
    pub(super) fn named(&self) -> anyhow::Result<Option<Vec<&'static Dialect>>> {
        let mut named: Vec<&'static Dialect> = Vec::new();
        for name in &self.clients {
            let meant = if name.trim() == ALL {
                dialect::ALL.to_vec()
            } else {
                vec![dialect::find(name.trim()).map_err(|unknown| anyhow!("--client: {unknown}"))?]
            };
            for client in meant {
                if !named.contains(&client) {
                    named.push(client);
                }
            }
        }
        Ok(if named.is_empty() { None } else { Some(named) })
    }
}
