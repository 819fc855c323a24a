//! The subcommands for users. Events come here only if something is wrong with their arguments.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::{CommandFactory, FromArgMatches, Parser};

use conclaude_core::config::{schema_text, test_schema_text};
use conclaude_core::event::EventKind;
use conclaude_core::exit::Exit;
use conclaude_engine::hooks::Environment;
use conclaude_engine::install::settings::ORIGINAL;
use conclaude_store::root::Root;
use hook_commands::{HEADING, LITERAL};
use out::{Out, table};
use refuse::refuse;

mod allow;
mod audit;
mod budget;
mod clients;
mod config;
mod consent;
mod demo;
mod des;
mod diff;
mod doctor;
mod events;
mod explain;
mod hook_commands;
mod init;
mod install;
mod out;
mod pack;
mod refuse;
mod replay;
mod report;
mod rule_enforcement;
mod run;
mod test;
mod trust;
mod validate;
mod watch;
mod why;

/// Hooks for Claude Code that make subagents trustworthy.
#[derive(Parser)]
#[command(name = "conclaude", version, max_term_width = 100, styles = styles())]
#[command(
    subcommand_value_name = "COMMAND",
    subcommand_help_heading = "Commands",
    disable_help_subcommand = false
)]
struct Cli {
    #[command(subcommand)]
    subcommand: Subcommand,
}

#[derive(clap::Subcommand)]
enum Subcommand {
    /// Run a subagent's start and stop in a scratch project, and show what is matched, run and answered
    Demo {
        /// Keep the scratch project, and print its path
        #[arg(long)]
        keep: bool,
    },
    /// Start: write a .conclaude.yaml based on this project, and register conclaude with Claude Code or other clients
    ///
    /// On a terminal it asks which of the detected checks should run; --yes takes the recommended answers. Elsewhere, and with
    /// --import, they are commented out. Existing settings are never lost: --import imports them, --force keeps a copy.
    Init {
        #[command(flatten)]
        request: init::InitRequest,
    },
    /// Register conclaude in the settings of Claude Code, or of other clients
    ///
    /// Everything else in the file stays byte for byte, and a copy of the old settings is kept in your state folder. Installing
    /// twice changes nothing.
    Install {
        #[command(flatten)]
        request: install::InstallRequest,
    },
    /// Remove conclaude from the settings of Claude Code, or of other clients, and report what stays
    Uninstall {
        #[command(flatten)]
        request: install::UninstallRequest,
    },
    /// Trust the commands of this project's config, where --user or the plugin registers conclaude
    ///
    /// Shows every command first. A changed config must be trusted again.
    Trust {
        #[command(flatten)]
        request: trust::TrustRequest,
    },
    /// Check the installation, and show how to fix problems; exits with 0 or 1
    ///
    /// Checks program, settings, config, patterns, trust, audit trail, state and Claude Code. Calls itself as it is registered,
    /// but no other program. Shows when each event last really arrived.
    Doctor {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Make git ignore what the sandbox shows in place of missing files, without asking
        #[arg(long)]
        yes: bool,
    },
    /// Check a config and print every problem with its line and column
    ///
    /// Exits with 0 if the config is valid, and with 1 if it is not or if there is none.
    Validate {
        #[command(flatten)]
        request: validate::ValidateRequest,
    },
    /// Run the commands of the config now, without a session, on the files that have changed in git
    ///
    /// The same commands as at a hook, with the same environment; a payload on stdin has the known fields. Prints one line for
    /// each, and the output of a failing one. Exits with 1 if a command fails that would block, with --strict if any fails.
    Run {
        #[command(flatten)]
        request: run::RunRequest,
    },
    /// Show the merged config of all files
    Config {
        #[command(subcommand)]
        subcommand: config::ConfigSubcommand,
    },
    /// List, print and add the ready-made configs for `extends`
    Pack {
        #[command(subcommand)]
        subcommand: pack::PackSubcommand,
    },
    /// Record the phases of a step, and create, check and list step files
    Des {
        #[command(subcommand)]
        subcommand: des::DesSubcommand,
    },
    /// Show, verify, summarise and export the audit trail
    Audit {
        #[command(subcommand)]
        subcommand: audit::AuditSubcommand,
    },
    /// Watch this project's sessions in the terminal: threads, steps, commands, blocks and denials, as they happen
    ///
    /// Shows the last sessions from the audit trail and Claude Code's transcripts, and continues with new events; `?` lists the
    /// keys. Changes nothing.
    Watch {
        #[command(flatten)]
        request: watch::WatchRequest,
    },
    /// Explain what would be decided at an event, and by which rules; nothing is run
    #[command(after_help = explain::EXAMPLES)]
    Explain {
        #[command(flatten)]
        request: explain::ExplainRequest,
    },
    /// Explain a decision of the audit trail, and whether today's config would decide so again
    #[command(after_help = why::EXAMPLES)]
    Why {
        #[command(flatten)]
        request: why::WhyRequest,
    },
    /// Permit a call that was denied or asked about: the same call is allowed once, or for its session
    #[command(after_help = allow::EXAMPLES)]
    Allow {
        #[command(flatten)]
        request: allow::AllowRequest,
    },
    /// Show how much of this project's budgets is used, or raise one
    #[command(after_help = budget::EXAMPLES, args_conflicts_with_subcommands = true)]
    Budget {
        #[command(flatten)]
        request: budget::BudgetRequest,
    },
    /// Test the config with the cases of .conclaude.test.yaml: what is denied, asked, blocked and run; nothing is executed
    #[command(after_help = test::EXAMPLE)]
    Test {
        #[command(flatten)]
        request: test::TestRequest,
    },
    /// List the events: what their patterns compare, what can be blocked, and the variables of their commands
    Events {
        #[command(flatten)]
        request: events::EventsRequest,
    },
    /// Show what happened in this project's sessions: a page with a timeline, Markdown for a pull request, or JSON
    ///
    /// From the audit trail and Claude Code's transcripts: agents with their time, tokens and files, blocks and denials, steps,
    /// findings, slow commands, hooks that failed silently, agents that never stopped. The page is one file and needs no network.
    Report {
        #[command(flatten)]
        request: report::ReportRequest,
    },
    /// Show what the config would have decided in past sessions, from Claude Code's transcripts; nothing is run
    ///
    /// Every tool call, prompt and stop is compared with the rules as in a hook. Use it to try a strict rule on last month's work
    /// before you enable it. Exits with 0; with --exit-code with 1 if anything would be denied or blocked, or a transcript cannot
    /// be read.
    #[command(after_help = replay::EXAMPLES)]
    Replay {
        #[command(flatten)]
        request: replay::ReplayRequest,
    },
    /// Print the JSON Schema of the config, for editors
    Schema {
        /// The schema of .conclaude.test.yaml instead
        #[arg(long)]
        test: bool,
    },
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the manual pages into a folder: one for the program, one for each subcommand
    #[command(hide = true)]
    Man {
        /// The folder; it is created if it does not exist
        folder: PathBuf,
    },
}

fn styles() -> clap::builder::Styles {
    clap::builder::Styles::styled().header(HEADING).usage(HEADING).literal(LITERAL)
}

fn command() -> clap::Command {
    hook_commands::add(Cli::command())
}

/// Runs the subcommand on the command line.
#[must_use]
pub fn run() -> Exit {
    let matches = match command().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => return refuse(&error, command),
    };
    // `conclaude -- SubagentStop` is still that event.
    if let Some((name, arguments)) = matches.subcommand()
        && let Some(event) = EventKind::named(name)
    {
        return hook_commands::call(event, arguments);
    }
    if let Some((ORIGINAL, arguments)) = matches.subcommand() {
        return hook_commands::call_as_original(arguments);
    }
    match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli.subcommand.run(),
        Err(error) => refuse(&error, command),
    }
}

impl Subcommand {
    fn run(self) -> Exit {
        let done = match self {
            Subcommand::Demo { keep } => demo::run(keep),
            Subcommand::Init { request } => init::run(&request),
            Subcommand::Trust { request } => trust::run(&request),
            Subcommand::Doctor { json, yes } => doctor::run(json, yes),
            Subcommand::Install { request } => install::install(&request),
            Subcommand::Uninstall { request } => install::uninstall(&request),
            Subcommand::Validate { request } => validate::run(&request),
            Subcommand::Run { request } => run::run(&request),
            Subcommand::Config { subcommand } => subcommand.run(),
            Subcommand::Pack { subcommand } => subcommand.run(),
            Subcommand::Des { subcommand } => subcommand.run(),
            Subcommand::Audit { subcommand } => subcommand.run(),
            Subcommand::Watch { request } => watch::run(request),
            Subcommand::Explain { request } => explain::run(&request),
            Subcommand::Why { request } => why::run(&request),
            Subcommand::Allow { request } => allow::run(&request),
            Subcommand::Budget { request } => budget::run(&request),
            Subcommand::Events { request } => events::run(&request),
            Subcommand::Test { request } => test::run(&request),
            Subcommand::Schema { test: true } => print(&test_schema_text()),
            Subcommand::Schema { test: false } => print(&schema_text()),
            Subcommand::Report { request } => report::run(&request),
            Subcommand::Replay { request } => replay::run(&request),
            Subcommand::Completions { shell } => {
                let mut script = Vec::new();
                clap_complete::generate(shell, &mut command(), "conclaude", &mut script);
                print(&String::from_utf8_lossy(&script))
            }
            Subcommand::Man { folder } => manual(&folder),
        };
        match done {
            Ok(exit) => exit,
            Err(error) if is_broken_pipe(&error) => Exit::Success,
            Err(error) => fail(&error.to_string()),
        }
    }
}

/// Whether the reader of our output, such as `head`, has closed the pipe.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Prints a text without foreign parts.
fn print(text: &str) -> anyhow::Result<Exit> {
    let mut out = Out::stdout();
    out.document(text)?;
    out.flush()?;
    Ok(Exit::Success)
}

fn manual(folder: &Path) -> anyhow::Result<Exit> {
    let written = std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(command(), folder));
    written.map_err(|error| anyhow!("{} cannot be written: {error}", folder.display()))?;
    Ok(Exit::Success)
}

fn fail(what: &str) -> Exit {
    let _ = writeln!(Out::stderr(), "conclaude: {what}");
    Exit::Failure
}

fn root() -> io::Result<Root> {
    Ok(Root::find(project_dir().as_deref(), &std::env::current_dir()?))
}

/// The project's folder, if Claude Code names it to what it starts.
fn project_dir() -> Option<PathBuf> {
    Environment::of_process().project_dir
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory};
    use conclaude_checks::guard::own_commands::{CHANGING, READ_ONLY_OPTIONS};

    use super::Cli;

    /// Subcommands that do not change registration, trust and records, or only add to them as the user's workflow does.
    const HARMLESS: &[&[&str]] = &[
        &["demo"],
        &["doctor"],
        &["validate"],
        &["run"],
        &["config", "show"],
        &["pack", "list"],
        &["pack", "show"],
        &["des", "start"],
        &["des", "finish"],
        &["des", "skip"],
        &["des", "run"],
        &["des", "fail"],
        &["des", "done"],
        &["des", "new"],
        &["des", "prompt"],
        &["des", "check"],
        &["des", "status"],
        &["audit", "show"],
        &["audit", "verify"],
        &["audit", "export"],
        &["audit", "stats"],
        &["watch"],
        &["explain"],
        &["why"],
        &["test"],
        &["events"],
        &["report"],
        &["replay"],
        &["schema"],
        &["completions"],
        &["man"],
    ];

    /// Every subcommand without subcommands of its own, as it is typed.
    fn leaves<'a>(command: &'a Command, path: &[&'a str], found: &mut Vec<Vec<&'a str>>) {
        for subcommand in command.get_subcommands() {
            let path = [path, &[subcommand.get_name()]].concat();
            if subcommand.has_subcommands() {
                leaves(subcommand, &path, found);
            } else {
                found.push(path);
            }
        }
    }

    #[test]
    fn guards_know_of_every_subcommand_whether_it_changes_us() {
        let command = Cli::command();
        let mut all = Vec::new();
        leaves(&command, &[], &mut all);
        let is_in = |list: &[&[&str]], path: &Vec<&str>| list.contains(&path.as_slice());
        let undecided: Vec<_> =
            all.iter().filter(|path| is_in(&CHANGING, path) == is_in(HARMLESS, path)).collect();
        assert!(undecided.is_empty(), "add to one of the two lists: {undecided:?}");
        for known in CHANGING.iter().chain(HARMLESS) {
            assert!(all.iter().any(|path| path == *known), "there is no {known:?}");
        }
    }

    /// Without clap's feature `wrap_help` its `max_term_width` does nothing.
    #[test]
    fn help_fits_in_a_hundred_characters() {
        let mut command = Cli::command();
        command.build();
        let mut pending = vec![command];
        let mut too_long = Vec::new();
        while let Some(mut command) = pending.pop() {
            pending.extend(command.get_subcommands().cloned());
            let (short, long) = (command.render_help().to_string(), command.render_long_help().to_string());
            let lines = short.lines().chain(long.lines()).filter(|line| line.chars().count() > 100);
            too_long.extend(lines.map(|line| format!("{}: {line}", command.get_name())));
        }
        assert_eq!(too_long, Vec::<String>::new());
    }

    #[test]
    fn an_option_with_which_nothing_is_changed_is_one_of_ours() {
        let mut command = Cli::command();
        command.build();
        let mut pending = vec![&command];
        let mut options = Vec::new();
        while let Some(command) = pending.pop() {
            pending.extend(command.get_subcommands());
            for option in command.get_arguments() {
                options.extend(option.get_long().map(|long| format!("--{long}")));
                options.extend(option.get_short().map(|short| format!("-{short}")));
            }
        }
        for option in READ_ONLY_OPTIONS {
            assert!(options.iter().any(|known| known == option), "{option}");
        }
    }
}
