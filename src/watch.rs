//! A live view of the project's sessions: what their threads do, what was decided and why. `model` holds the data, `rows` and
//! `view` show it without side effects, `app` holds the selection and the filter. `source` reads files, `terminal` reads keys.

use std::io;
use std::panic::PanicHookInfo;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use conclaude_core::config::PriceTable;
use conclaude_core::text::{clean_line, count};
use conclaude_store::audit::Trail;

mod app;
mod details;
mod keys;
mod line;
mod model;
mod records;
mod rows;
mod screen;
mod source;
mod terminal;
mod thread;
mod transcript_entry;
mod usage;
mod view;
mod words;

use app::{App, LoopStep};
pub(crate) use model::Limits;
use model::Model;
use source::Source;
use terminal::{TerminalSession, WakeUp};
use words::Clock;

/// The pause between two looks at the files.
const PAUSE: Duration = Duration::from_millis(250);

/// A project and its trail.
pub(crate) struct WatchedProject {
    pub(crate) root: PathBuf,
    pub(crate) trail: Trail,
}

pub(crate) struct Watch<'a> {
    /// The first is that of this folder.
    pub(crate) projects: &'a [WatchedProject],
    /// Sessions of all folders are shown.
    pub(crate) all_projects: bool,
    pub(crate) prices: PriceTable,
    /// Where Claude Code keeps its transcripts.
    pub(crate) claude: Option<PathBuf>,
    pub(crate) limits: Limits,
    /// Shows only the session whose id starts with this.
    pub(crate) only: Option<String>,
    pub(crate) has_colours: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndReason {
    ByUser,
    /// The terminal is gone.
    Closed,
    BySignal(&'static str),
}

impl<'a> Watch<'a> {
    fn start(&self) -> (Model, Source<'a>) {
        (Model::new(self.limits, self.only.clone(), self.prices.clone()), Source::new(self))
    }

    /// The current rows as plain lines.
    pub(crate) fn once(&self) -> Vec<String> {
        let (mut model, mut source) = self.start();
        while source.poll(&mut model) {}
        // Details of sessions are read once all sessions are known.
        source.scan_again();
        source.poll(&mut model);
        let clock = clock();
        let mut lines: Vec<String> = model.rows(&clock, "").iter().map(rows::plain).collect();
        let totals = model.totals(&clock);
        if totals.sessions < totals.all_sessions {
            lines.push(format!("{}: `--all` shows the others", totals.sessions_in_words()));
        }
        lines.extend(self.notice(&model, &source));
        lines
    }

    /// Advice for an empty screen.
    pub(crate) fn nothing(&self) -> Vec<String> {
        let folder = self.projects.first().map(|project| project.trail.folder().display().to_string());
        let trail = clean_line(&folder.unwrap_or_default());
        let what = match &self.only {
            None if self.all_projects => {
                "Nothing to watch yet: Claude Code has no transcript of any project.".into()
            }
            Some(start) => format!(
                "No session of this project has an id that starts with \"{}\": `conclaude watch --once --all` lists them.",
                clean_line(start)
            ),
            None => format!(
                "Nothing to watch yet: there is no record in {trail}, and Claude Code has no transcript of this project."
            ),
        };
        vec![
            what,
            "Records are written at gates, guards and commands, transcripts by every session of Claude Code in this folder.".into(),
            "`conclaude doctor` checks whether Claude Code calls conclaude here, `conclaude init` registers it.".into(),
        ]
    }

    /// Further information for the user.
    fn notice(&self, model: &Model, source: &Source<'_>) -> Option<String> {
        if let Some(problem) = &source.problem {
            return Some(format!("✗ {}", clean_line(problem)));
        }
        if model.doubtful == 0 {
            return None;
        }
        let records = count(model.doubtful, "record");
        Some(format!("✗ {records} cannot be trusted: `conclaude audit verify` names the first"))
    }

    /// Shows the screen until the user quits.
    ///
    /// # Errors
    /// When the terminal cannot be read or written.
    pub(crate) fn live(&self, report: fn(&PanicHookInfo<'_>)) -> io::Result<EndReason> {
        let (mut model, mut source) = self.start();
        let mut app = App::new();
        let mut taken = TerminalSession::take(report)?;
        let (project, empty) = (self.project(), self.nothing());
        loop {
            let has_more = source.poll(&mut model);
            let clock = clock();
            let rows = model.rows(&clock, &app.filter);
            let notice = if has_more {
                Some(format!("reading: {} so far", count(model.records, "record")))
            } else {
                self.notice(&model, &source)
            };
            let screen = view::View {
                model: &model,
                rows: &rows,
                clock: &clock,
                project: &project,
                notice: notice.as_deref(),
                empty: &empty,
                has_colours: self.has_colours,
            };
            taken.screen.draw(|frame| {
                let area = frame.area();
                view::draw(&screen, &mut app, area, frame.buffer_mut());
            })?;
            match terminal::wait(if has_more { Duration::ZERO } else { PAUSE })? {
                WakeUp::Signal(signal) => return Ok(EndReason::BySignal(signal)),
                WakeUp::Closed => return Ok(EndReason::Closed),
                WakeUp::Keys(keys) => {
                    if keys.into_iter().any(|key| app.key(key, &rows) == LoopStep::Quit) {
                        return Ok(EndReason::ByUser);
                    }
                }
            }
        }
    }

    fn project(&self) -> String {
        if self.all_projects {
            return "all projects".into();
        }
        let root = self.projects.first().map(|project| project.root.as_path()).unwrap_or(Path::new(""));
        clean_line(&root.file_name().unwrap_or_default().to_string_lossy())
    }
}

fn clock() -> Clock {
    Clock { now: Timestamp::now(), zone: TimeZone::system() }
}
