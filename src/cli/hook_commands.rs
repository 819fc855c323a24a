//! The events on the command line: hidden from the list of commands, known to help, completions and suggestions.

use std::ffi::OsString;

use anstyle::{AnsiColor, Style};

use super::{events, fail};
use conclaude_core::event::{self, EventKind};
use conclaude_core::exit::Exit;
use conclaude_core::variables;
use conclaude_engine::hooks::call as hook;
use conclaude_engine::install::settings::{AGENT, ORIGINAL};

pub(super) const HEADING: Style = AnsiColor::Green.on_default().bold();
pub(super) const LITERAL: Style = AnsiColor::Cyan.on_default().bold();

pub(super) fn add(command: clap::Command) -> clap::Command {
    let mut command = command.after_help(about_events());
    for name in event::names() {
        let event = clap::Command::new(name)
            .about(format!("Handle the hook event {name}: Claude Code calls it with the payload on stdin"))
            .hide(true)
            .arg(if_trusted())
            .arg(of_plugin())
            .after_help("Exit codes: 0 allowed, 1 error, 2 blocked on purpose. CONCLAUDE_LOG=debug logs more on stderr.");
        command = command.subcommand(event);
    }
    command.subcommand(original())
}

pub(super) fn call(event: EventKind, arguments: &clap::ArgMatches) -> Exit {
    let call = hook::of(None, event);
    match arguments {
        _ if arguments.get_flag("if-trusted") => hook::call_if_trusted(&call),
        _ if arguments.get_flag("plugin") => hook::call_of_plugin(&call),
        _ => hook::call(&call),
    }
}

/// The registration of conclaude 0.2, with any arguments: after an update the program must work with existing settings.
fn original() -> clap::Command {
    let arguments = clap::Arg::new("arguments")
        .num_args(0..)
        .trailing_var_arg(true)
        .allow_hyphen_values(true)
        .value_parser(clap::value_parser!(OsString))
        .help("Those of conclaude 0.2, such as `--agent NAME`: the agent of the payload counts");
    clap::Command::new(ORIGINAL)
        .about("Handle a hook event as conclaude 0.2 was registered; `conclaude install` replaces such a registration")
        .hide(true)
        .arg(clap::Arg::new("event").value_name("EVENT").help("The event"))
        .arg(arguments.value_name("ARGUMENTS"))
}

pub(super) fn call_as_original(matches: &clap::ArgMatches) -> Exit {
    let Some(name) = matches.get_one::<String>("event") else {
        return fail(&format!(
            "`conclaude {ORIGINAL}` names no event: it is called as `conclaude {ORIGINAL} Stop`, as conclaude 0.2 was; \
             `conclaude install` registers the events as `conclaude Stop`"
        ));
    };
    let Some(event) = EventKind::named_or_future(name) else { return fail(&events::unknown(name)) };
    let mut arguments = matches.get_many::<OsString>("arguments").into_iter().flatten();
    let names_agent = arguments.any(|word| word.to_string_lossy().starts_with(AGENT));
    hook::call_as_original(event, names_agent)
}

fn if_trusted() -> clap::Arg {
    clap::Arg::new("if-trusted")
        .long("if-trusted")
        .action(clap::ArgAction::SetTrue)
        .help("Run commands and judge only if the user trusts the config (`conclaude trust`); for registrations with --user")
}

fn of_plugin() -> clap::Arg {
    clap::Arg::new("plugin")
        .long("plugin")
        .action(clap::ArgAction::SetTrue)
        .conflicts_with("if-trusted")
        .help("The same for Claude Code's plugin: do nothing where settings register the event as well")
}

fn about_events() -> String {
    let rows = |rows: Vec<(String, &str)>| {
        let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
        let lines = rows.iter().map(|(name, meaning)| format!("\n  {name:width$}  {meaning}"));
        lines.collect::<String>()
    };
    let codes = Exit::MEANINGS.map(|(exit, meaning)| (exit.code().to_string(), meaning));
    let variables = variables::OWN.map(|(name, meaning)| (name.to_owned(), meaning));
    format!(
        "{HEADING}Events:{HEADING:#}\n  {LITERAL}conclaude <Event>{LITERAL:#} is what Claude Code calls, with the payload on stdin. Each runs the commands\n  \
         of its section; {LITERAL}conclaude events{LITERAL:#} lists them.\n\n\
         {HEADING}Exit codes:{HEADING:#}{}\n\n\
         {HEADING}Environment:{HEADING:#}{}",
        rows(codes.into()),
        rows(variables.into()),
    )
}
