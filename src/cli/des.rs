//! `conclaude des …`: records phases honestly, and helps orchestrators.

use std::path::PathBuf;

use crate::cli::out::Out;
use conclaude_core::exit::Exit;

mod check;
mod project;
mod run;
mod status;
mod step;

use project::DesProject;

#[derive(clap::Subcommand)]
pub(super) enum DesSubcommand {
    /// Start a phase
    Start(step::StartArgs),
    /// Finish a phase that was started, without a command to prove it
    Finish(step::FinishArgs),
    /// Skip a phase, with a valid reason
    Skip(step::SkipArgs),
    /// Run a command and record the phase from its exit code, as proof
    ///
    /// Exits with the command's own exit code. Phases named RED or RED_* expect a command that fails; a command that cannot be
    /// started or is killed never passes. If des.evidence names the phase's command, only that one is run. While the config
    /// cannot be read, none is.
    Run(run::RunArgs),
    /// Admit that the step failed: an honest failure may stop
    Fail(step::FailArgs),
    /// Set a step without phases (workflow_type configuration_setup) to DONE
    Done(step::DoneArgs),
    /// Create a step file
    New(step::NewArgs),
    /// Print the start of a prompt for a step: all markers, and instructions
    Prompt(step::PromptArgs),
    /// Check a step file and list what is missing; exits with 0 if nothing is, with 1 otherwise
    ///
    /// With --transcript it reports what Gate 3 would find about that agent, without a session: also the markers of its prompt,
    /// its evidence, and files outside the scope that its tools wrote. The judge is not asked.
    ///
    /// With --transcript and --step-file it answers like a hook: if the agent must not stop, it exits with 2, with the findings
    /// on stderr (at most maxBlocks times for each agent). It exits with 0 if the agent may stop, and with 1 for input that
    /// cannot be used.
    Check(check::CheckArgs),
    /// List all steps with their state
    Status(status::StatusArgs),
}

impl DesSubcommand {
    pub(super) fn run(mut self) -> anyhow::Result<Exit> {
        let project = DesProject::find()?;
        if let Some(step) = self.step() {
            *step = status::resolve(&project, step)?;
        }
        match self {
            DesSubcommand::New(_) | DesSubcommand::Prompt(_) => project.require_valid_config()?,
            DesSubcommand::Run(_) => {}
            _ => project.warn_about_config(),
        }
        if self.step().is_some() && !matches!(self, DesSubcommand::Prompt(_) | DesSubcommand::Check(_)) {
            project.require_config_of_session()?;
            project.require_writable_state()?;
        }
        let mut out = Out::stdout();
        let done = match self {
            DesSubcommand::Start(args) => step::start(&project, &args, &mut out),
            DesSubcommand::Finish(args) => step::finish(&project, args, &mut out),
            DesSubcommand::Skip(args) => step::skip(&project, args, &mut out),
            DesSubcommand::Fail(args) => step::fail(&project, &args, &mut out),
            DesSubcommand::Done(args) => step::done(&project, &args, &mut out),
            DesSubcommand::New(args) => step::new(&project, &args, &mut out),
            DesSubcommand::Prompt(args) => step::print_prompt(&project, &args, &mut out),
            DesSubcommand::Status(args) => status::list(&project, &args, &mut out),
            // These two have their own exit codes.
            DesSubcommand::Run(args) => return run::run(&project, &args),
            DesSubcommand::Check(args) => return check::check(&project, &args, &mut out),
        };
        done.map(|()| Exit::Success)
    }

    /// The existing step that it uses.
    fn step(&mut self) -> Option<&mut PathBuf> {
        Some(match self {
            DesSubcommand::Start(args) => &mut args.step,
            DesSubcommand::Finish(args) => &mut args.step,
            DesSubcommand::Skip(args) => &mut args.step,
            DesSubcommand::Run(args) => &mut args.step,
            DesSubcommand::Fail(args) => &mut args.step,
            DesSubcommand::Done(args) => &mut args.step,
            DesSubcommand::Prompt(args) => &mut args.step,
            DesSubcommand::Check(args) => return args.step.as_mut(),
            DesSubcommand::New(_) | DesSubcommand::Status(_) => return None,
        })
    }
}
