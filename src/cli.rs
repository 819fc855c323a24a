//! The verbs for people. Events never come here, unless something is wrong with their arguments.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use anstyle::{AnsiColor, Style};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::event::{self, Event};
use crate::exit::Exit;
use crate::hooks::Environment;
use crate::root::Root;
use crate::{config, hooks};

mod agents;
mod audit;
mod demo;
mod des;
mod diff;
mod doctor;
mod init;
mod install;
mod trust;
mod validate;

const HEADING: Style = AnsiColor::Green.on_default().bold();
const LITERAL: Style = AnsiColor::Cyan.on_default().bold();

/// Hooks for Claude Code that make subagents trustworthy.
#[derive(Parser)]
#[command(name = "conclaude", version, max_term_width = 100, styles = styles())]
#[command(subcommand_value_name = "VERB", subcommand_help_heading = "Verbs", disable_help_subcommand = false)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Play a subagent's life in a scratch project and show what is matched, run, shown and answered
    Demo {
        /// Keep the scratch project, and say where it is
        #[arg(long)]
        keep: bool,
    },
    /// Begin: write a .conclaude.yaml fitted to this project, and register conclaude with Claude Code
    ///
    /// Everything in the file is commented out: nothing runs until you say so.
    Init {
        #[command(flatten)]
        request: init::Request,
    },
    /// Register conclaude in Claude Code's settings
    ///
    /// Everything else in the file stays byte for byte as it was, and the settings as they were are kept as a copy. Installing
    /// twice changes nothing.
    Install {
        #[command(flatten)]
        request: install::Request,
    },
    /// Take conclaude out of Claude Code's settings again
    Uninstall {
        #[command(flatten)]
        request: install::Request,
    },
    /// Agree to what this project's config runs, where conclaude is registered with --user
    ///
    /// Shows every command first. The agreement ends when the config changes.
    Trust {
        #[command(flatten)]
        request: trust::Request,
    },
    /// Look over the whole installation, and say how to mend what is wrong; exits with 0 or 1
    ///
    /// Checks program, settings, config, patterns, trust, audit trail, state and client; calls the registered command line
    /// as the client would; and says when each event last really arrived.
    Doctor {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Check a config and print every problem with its place
    ///
    /// Exits with 0 if the config is valid, and with 1 if it is not or if there is none.
    Validate {
        /// The config file, or a folder to search from upward [default: CLAUDE_PROJECT_DIR, else the current folder]
        path: Option<PathBuf>,
    },
    /// Record the phases of a step honestly, and make, check and list step files
    Des {
        #[command(subcommand)]
        verb: des::Verb,
    },
    /// Look into the audit trail: who did what, and is it whole
    Audit {
        #[command(subcommand)]
        verb: audit::Verb,
    },
    /// Print the JSON Schema of the config, for editors
    Schema,
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

fn styles() -> clap::builder::Styles {
    clap::builder::Styles::styled().header(HEADING).usage(HEADING).literal(LITERAL)
}

/// The command line with its events: hidden from the list of verbs, known to help, completions and suggestions.
fn command() -> clap::Command {
    let mut command = Cli::command().after_help(about_events());
    for name in event::names() {
        let event = clap::Command::new(name)
            .about(format!("Handle the hook event {name}: Claude Code calls it with the payload on stdin"))
            .hide(true)
            .arg(if_trusted())
            .after_help("Exit codes: 0 allowed, 1 error, 2 blocked on purpose. CONCLAUDE_LOG=debug says more on stderr.");
        command = command.subcommand(event);
    }
    command
}

fn if_trusted() -> clap::Arg {
    clap::Arg::new("if-trusted")
        .long("if-trusted")
        .action(clap::ArgAction::SetTrue)
        .help("Run commands and judge only if `conclaude trust` was given; for registrations with --user")
}

fn about_events() -> String {
    format!(
        "{HEADING}Events:{HEADING:#}\n  {LITERAL}conclaude <Event>{LITERAL:#} is what Claude Code calls, with the payload on stdin. With behaviour:\n  \
         PreToolUse, PostToolUse, UserPromptSubmit, SubagentStart, SubagentStop, Stop, SessionStart, SessionEnd;\n  all others are accepted.\n\n\
         {HEADING}Exit codes:{HEADING:#}\n  0  fine\n  1  something is wrong with the arguments, the payload or the config\n  2  blocked on purpose\n\n\
         {HEADING}Environment:{HEADING:#}\n  CONCLAUDE_LOG             error, warn, info (default), debug or off: log lines on stderr\n  \
         CONCLAUDE_NOTIFY_WAIT_MS  how long a desktop notification may take (default 100)\n  \
         CLAUDE_PROJECT_DIR        where the config is searched from, upward; set by Claude Code"
    )
}

/// Runs the verb that was asked for.
#[must_use]
pub fn run() -> Exit {
    let matches = match command().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => return refuse(&error),
    };
    // `conclaude -- SubagentStop` is still that event.
    if let Some((name, arguments)) = matches.subcommand()
        && let Some(event) = Event::named(name)
    {
        let asks = arguments.get_flag("if-trusted");
        return if asks { hooks::call_if_trusted(event) } else { hooks::call(event) };
    }
    match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli.verb.run(),
        Err(error) => refuse(&error),
    }
}

impl Verb {
    fn run(self) -> Exit {
        let done = match self {
            Verb::Demo { keep } => demo::run(keep),
            Verb::Init { request } => init::run(&request),
            Verb::Trust { request } => trust::run(&request),
            Verb::Doctor { json } => doctor::run(json),
            Verb::Install { request } => install::install(&request),
            Verb::Uninstall { request } => install::uninstall(&request),
            Verb::Validate { path } => validate::run(path.as_deref()),
            Verb::Des { verb } => verb.run(),
            Verb::Audit { verb } => verb.run(),
            Verb::Schema => print(&config::schema_text()),
            Verb::Completions { shell } => {
                let mut script = Vec::new();
                clap_complete::generate(shell, &mut command(), "conclaude", &mut script);
                print(&String::from_utf8_lossy(&script))
            }
        };
        match done {
            Ok(exit) => exit,
            // Whoever read our output has seen enough.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Exit::Success,
            Err(error) => fail(&error.to_string()),
        }
    }
}

/// The project that a verb is about.
fn root() -> std::io::Result<Root> {
    Ok(Root::find(Environment::of_process().project_dir.as_deref(), &std::env::current_dir()?))
}

fn print(text: &str) -> std::io::Result<Exit> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()?;
    Ok(Exit::Success)
}

fn fail(what: &str) -> Exit {
    let _ = writeln!(std::io::stderr(), "conclaude: {what}");
    Exit::Failure
}

/// Wrong arguments are exit 1: clap's own 2 would block.
fn refuse(error: &clap::Error) -> Exit {
    match (error.kind(), error.get(ContextKind::InvalidSubcommand)) {
        (ErrorKind::DisplayHelp | ErrorKind::DisplayVersion, _) => {
            let _ = error.print();
            return Exit::Success;
        }
        (ErrorKind::InvalidSubcommand, Some(ContextValue::String(typed))) => {
            let verbs = command();
            let names = verbs.get_subcommands().map(clap::Command::get_name);
            let hint = match crate::text::nearest(typed, names) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`conclaude --help` lists the verbs and events".into(),
            };
            return fail(&format!("unknown event or verb `{typed}`; {hint}"));
        }
        _ => {}
    }
    let _ = error.print();
    Exit::Failure
}

/// Rows with a heading, each column as wide as it must be.
fn table<const N: usize>(out: &mut impl Write, rows: &[[String; N]], heading: Style) -> std::io::Result<()> {
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..N).map(width).collect();
    for (number, row) in rows.iter().enumerate() {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        let line = cells.join("  ");
        match number {
            0 => writeln!(out, "{heading}{}{heading:#}", line.trim_end())?,
            _ => writeln!(out, "{}", line.trim_end())?,
        }
    }
    Ok(())
}

/// Whether colours suit the place that stdout leads to.
fn is_colourful() -> bool {
    std::io::stdout().is_terminal()
        && anstream::AutoStream::choice(&std::io::stdout()) != anstream::ColorChoice::Never
}
