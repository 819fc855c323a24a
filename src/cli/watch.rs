//! `watch`: a live view of the project's sessions.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal};
use std::panic::PanicHookInfo;
use std::path::Path;

use anyhow::bail;

use super::out::Out;
use crate::watch::{EndReason, Limits, Watch, WatchedProject};
use conclaude_core::config::Patterns;
use conclaude_core::exit::Exit;
use conclaude_os::environment;
use conclaude_store::audit::Trail;
use conclaude_store::load;
use conclaude_store::root::{Root, claude_folder};
use conclaude_store::transcript::sessions::{self, SessionFiles};

#[derive(clap::Args)]
pub(super) struct WatchRequest {
    /// Only this session; the start of its id is enough
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// All sessions, with fewer lines of each, instead of the last ten
    #[arg(long, conflicts_with = "session")]
    all: bool,
    /// Sessions of all projects of Claude Code, each with the name of its project
    #[arg(long)]
    all_projects: bool,
    /// Print the current rows as plain text, and exit
    #[arg(long)]
    once: bool,
}

pub(super) fn run(request: WatchRequest) -> anyhow::Result<Exit> {
    let root = super::root()?;
    let claude = claude_folder();
    let projects = projects(&root, if request.all_projects { claude.as_deref() } else { None });
    let loaded = load::all(&root, Patterns::All);
    let limits = match (&request.session, request.all) {
        (Some(_), _) => Limits::ONE,
        (None, true) => Limits::ALL,
        (None, false) => Limits::RECENT,
    };
    let watch = Watch {
        projects: &projects,
        all_projects: request.all_projects,
        prices: loaded.config.report.and_then(|report| report.prices).unwrap_or_default(),
        claude,
        limits,
        only: request.session,
        has_colours: Out::shows_colours(),
    };
    if request.once {
        return Ok(once(&watch)?);
    }
    require_terminal()?;
    Ok(match watch.live(report_panic)? {
        EndReason::ByUser | EndReason::Closed => Exit::Success,
        // The exit code that a shell reports for this signal.
        EndReason::BySignal("SIGHUP") => Exit::Of(129),
        EndReason::BySignal("SIGINT") => Exit::Of(130),
        EndReason::BySignal(_) => Exit::Of(143),
    })
}

/// This project, and those where Claude Code was started, if all are shown.
fn projects(root: &Root, claude: Option<&Path>) -> Vec<WatchedProject> {
    let mut roots = vec![root.folder.clone()];
    let folders = claude.map(|claude| std::fs::read_dir(claude.join("projects"))).into_iter().flatten();
    for folder in folders.flatten().flatten() {
        let sessions = sessions::in_folder(&folder.path()).0;
        let changed = |session: &&SessionFiles| {
            session
                .main
                .as_ref()
                .and_then(|path| path.metadata().and_then(|metadata| metadata.modified()).ok())
        };
        // The sessions of a folder were started in one project.
        let newest = sessions.iter().max_by_key(changed);
        let started_in = newest.and_then(|session| session.start().cwd).filter(|cwd| cwd.is_dir());
        roots.extend(started_in.map(|cwd| Root::find(Some(&cwd), &cwd).folder));
    }
    let mut known = BTreeSet::new();
    roots.retain(|root| known.insert(root.canonicalize().unwrap_or_else(|_| root.clone())));
    roots.into_iter().map(|root| WatchedProject { trail: Trail::of(&root, None), root }).collect()
}

fn once(watch: &Watch<'_>) -> io::Result<Exit> {
    let mut out = Out::stdout();
    let lines = watch.once();
    let is_empty = lines.is_empty();
    for line in if is_empty { watch.nothing() } else { lines } {
        writeln!(out, "{line}")?;
    }
    out.flush()?;
    // A request for one session fails without it.
    Ok(if is_empty && watch.only.is_some() { Exit::Failure } else { Exit::Success })
}

fn require_terminal() -> anyhow::Result<()> {
    let problem = if !Out::is_terminal() {
        "its output is not a terminal"
    } else if !io::stdin().is_terminal() {
        "its input is not a terminal, so it could not be quit"
    } else if environment::os_value("TERM").is_some_and(|term| term == "dumb") {
        "this terminal (TERM=dumb) has no screen to draw on"
    } else {
        return Ok(());
    };
    bail!(
        "`conclaude watch` draws on a terminal, and {problem}: `conclaude watch --once` prints what there is to see"
    )
}

/// The terminal is restored: the message can be read there.
fn report_panic(info: &PanicHookInfo<'_>) {
    let location = info.location().map(ToString::to_string).unwrap_or_default();
    let what = info.payload_as_str().unwrap_or("no message");
    let version = env!("CARGO_PKG_VERSION");
    let _ = writeln!(
        Out::stderr(),
        "conclaude: internal error at {location}: {what}. This is a bug in conclaude {version}; please report it with this message"
    );
    #[expect(clippy::exit, reason = "after a panic there is nothing to return to")]
    std::process::exit(Exit::Failure.code().into());
}
