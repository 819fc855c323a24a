//! `conclaude pack`: the ready-made configs of the program.

use std::io;

use anstyle::Style;
use anyhow::{Context as _, anyhow};
use serde_json::{Value, json};

use super::explain::layout::BOLD;
use super::out::{Out, Paint};
use super::table;
use conclaude_core::config::{self, ConfigError, PACK, PACKS, Patterns};
use conclaude_core::exit::Exit;
use conclaude_core::packs::{self, Pack, PackRule};
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
    /// List the rules of a pack: the name, what the rule does, and its message
    Show {
        /// The name, such as secrets
        name: String,
        /// Print the pack itself, which is an ordinary config file
        #[arg(long, conflicts_with = "json")]
        yaml: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
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
            PackSubcommand::Show { name, yaml, json } => {
                let pack = packs::find(&name).map_err(|help| anyhow!("there is no pack `{name}`; {help}"))?;
                if yaml {
                    write!(out, "{}", pack.text)?;
                } else if json {
                    out.json(&as_json(pack))?;
                } else {
                    show(&mut out, pack)?;
                }
            }
        }
        Ok(Exit::Success)
    }
}

fn show(out: &mut Out<'_>, pack: &Pack) -> io::Result<()> {
    writeln!(out, "{}\n", pack.purpose())?;
    let heading = ["RULE", "ACTION", "MESSAGE"].map(str::to_owned);
    let rows = pack.rules().map(|rule| [rule.name, rule.action.as_str(), rule.message].map(str::to_owned));
    let rows: Vec<[String; 3]> = std::iter::once(heading).chain(rows).collect();
    table(out, &rows, BOLD)?;
    let (name, example) = (pack.name, pack.rules().next().map_or("", |rule| rule.name));
    writeln!(
        out,
        "\nA config that extends it can change each: `{PACKS}: {{{name}: {{{example}: ask}}}}`; `allow` is off."
    )?;
    writeln!(out, "`conclaude pack show {name} --yaml` prints the pack itself.")
}

fn as_json(pack: &Pack) -> Value {
    let rule = |rule: PackRule| json!({"name": rule.name, "list": rule.list, "action": rule.action.as_str(), "message": rule.message});
    let rules: Vec<Value> = pack.rules().map(rule).collect();
    json!({"name": pack.name, "purpose": pack.purpose(), "rules": rules})
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
