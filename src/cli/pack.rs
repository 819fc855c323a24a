//! `conclaude pack`: the ready-made configs of the program.

use anstyle::Style;
use anyhow::{Context as _, anyhow};
use serde_json::{Value, json};

use super::out::{Out, Paint};
use super::table;
use conclaude_core::config::{self, ConfigError, PACK, Patterns};
use conclaude_core::exit::Exit;
use conclaude_core::packs;
use conclaude_os::files;
use conclaude_store::load;

#[derive(clap::Subcommand)]
pub(super) enum PackSubcommand {
    /// List the packs and what each is for
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Add packs to `extends` of the project's config, whose comments stay
    Add {
        /// The names, such as secrets
        #[arg(required = true)]
        names: Vec<String>,
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
                writeln!(
                    out,
                    "\nUse one with `conclaude pack add {example}`, or `extends: [\"{PACK}{example}\"]` in a config."
                )?;
            }
            PackSubcommand::Add { names } => add(&mut out, &names)?,
            PackSubcommand::Show { name } => {
                let pack = packs::find(&name).map_err(|help| anyhow!("there is no pack `{name}`; {help}"))?;
                write!(out, "{}", pack.text)?;
            }
        }
        Ok(Exit::Success)
    }
}

/// Adds packs to the config of the project, all or none.
fn add(out: &mut Out<'_>, names: &[String]) -> anyhow::Result<()> {
    let root = super::root()?;
    let Some(path) = &root.config else {
        return Err(anyhow!("there is no config: run `conclaude init` first"));
    };
    let mut text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let mut lines = Vec::new();
    for name in names {
        let pack = packs::find(name).map_err(|help| anyhow!("there is no pack `{name}`; {help}"))?;
        let name = format!("{PACK}{}", pack.name);
        match config::with_extended(&text, path, &name)? {
            Some(changed) => {
                text = changed;
                lines.push(format!("added {name} to {}", path.display()));
            }
            None => lines.push(format!("{} has {name} already", path.display())),
        }
    }
    // A link stays one.
    files::write_atomically(&path.canonicalize()?, text.as_bytes())?;
    for line in lines {
        writeln!(out, "{line}")?;
    }
    if load::all(&root, Patterns::All).errors.iter().any(ConfigError::is_untrusted) {
        writeln!(out, "the config has changed: run `conclaude trust`, then `conclaude install`")?;
    } else {
        writeln!(out, "run `conclaude install`, so that Claude Code calls it for what the packs guard")?;
    }
    Ok(())
}
