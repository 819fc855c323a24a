//! `conclaude pack`: the ready-made configs of the program.

use anstyle::Style;
use anyhow::anyhow;
use serde_json::{Value, json};

use super::out::{Out, Paint};
use super::table;
use conclaude_core::config::PACK;
use conclaude_core::exit::Exit;
use conclaude_core::packs;

#[derive(clap::Subcommand)]
pub(super) enum PackSubcommand {
    /// List the packs and what each is for
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print a pack, which is an ordinary config file
    Show {
        /// The name, such as secrets
        name: String,
    },
}

impl PackSubcommand {
    pub(super) fn run(self) -> anyhow::Result<Exit> {
        let mut out = Out::stdout();
        match self {
            PackSubcommand::List { json: true } => {
                let packs: Vec<Value> = packs::ALL
                    .iter()
                    .map(|pack| json!({"name": pack.name, "purpose": pack.purpose()}))
                    .collect();
                out.json(&json!({ "packs": packs }))?;
            }
            PackSubcommand::List { json: false } => {
                let rows = packs::ALL.map(|pack| [pack.name.to_owned(), pack.purpose().to_owned()]);
                table(&mut out, &rows, Paint(Style::new()))?;
                let example = packs::ALL.first().map_or("", |pack| pack.name);
                writeln!(out, "\nUse one with `extends: [\"{PACK}{example}\"]` in a config.")?;
            }
            PackSubcommand::Show { name } => {
                let pack = packs::find(&name).map_err(|help| anyhow!("there is no pack `{name}`; {help}"))?;
                write!(out, "{}", pack.text)?;
            }
        }
        Ok(Exit::Success)
    }
}
