//! `conclaude des …`: recording phases honestly, and what orchestrators need.

use std::io;

use crate::exit::Exit;

mod phase;
mod project;
mod prompt;
mod run;
mod status;
mod step;

use project::Project;

#[derive(clap::Subcommand)]
pub(super) enum Subcommand {
    /// Start a phase
    Start(phase::StartArgs),
    /// Finish a phase that was started, without a command to prove it
    Finish(phase::FinishArgs),
    /// Skip a phase, with a reason that counts
    Skip(phase::SkipArgs),
    /// Run a command and record the phase from its exit code, as proof
    ///
    /// Exits with the command's own exit code. Phases named RED_* expect a command that fails; a command that cannot be
    /// started or is killed never passes.
    Run(run::RunArgs),
    /// Admit that the step failed: an honest failure may stop
    Fail(step::FailArgs),
    /// Set a step without phases (workflow_type configuration_setup) to DONE
    Done(step::DoneArgs),
    /// Create a step file
    New(step::NewArgs),
    /// Print the start of a prompt for a step: all markers, and instructions
    Prompt(prompt::PromptArgs),
    /// Check a step file and list what is missing; exits with 0 if nothing is, with 1 otherwise
    Check(step::CheckArgs),
    /// List all steps with their state
    Status(status::StatusArgs),
}

impl Subcommand {
    pub(super) fn run(self) -> io::Result<Exit> {
        let project = Project::find()?;
        match self {
            Subcommand::New(_) | Subcommand::Prompt(_) => project.require_valid_config()?,
            _ => project.warn_about_config(),
        }
        let mut out = anstream::stdout();
        let done = match self {
            Subcommand::Start(args) => phase::start(&project, &args, &mut out),
            Subcommand::Finish(args) => phase::finish(&project, args, &mut out),
            Subcommand::Skip(args) => phase::skip(&project, args, &mut out),
            Subcommand::Fail(args) => step::fail(&project, &args, &mut out),
            Subcommand::Done(args) => step::done(&project, &args, &mut out),
            Subcommand::New(args) => step::new(&project, &args, &mut out),
            Subcommand::Prompt(args) => prompt::print(&project, &args, &mut out),
            Subcommand::Status(args) => status::list(&project, &args, &mut out),
            // These two have exit codes of their own.
            Subcommand::Run(args) => return run::run(&project, &args),
            Subcommand::Check(args) => return step::check(&project, &args, &mut out),
        };
        done.map(|()| Exit::Success)
    }
}
