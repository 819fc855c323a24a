//! `conclaude report`: what happened in this project's sessions, as a page, as Markdown or as JSON.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use jiff::Timestamp;

use super::audit::since;
use super::out::Out;
use crate::report::{self, Report, Scope};
use conclaude_core::config::Patterns;
use conclaude_core::exit::Exit;
use conclaude_core::text::count;
use conclaude_os::files;
use conclaude_store::{load, root, store};

#[derive(clap::Args)]
pub(super) struct ReportRequest {
    /// Only this session; the start of its id is enough
    #[arg(long, conflicts_with = "since")]
    session: Option<String>,
    /// Only events since this date or time (2026-01-31, 2026-01-31T12:00:00Z, yesterday) or in the last 30m, 12h or 7d
    #[arg(long, value_parser = since)]
    since: Option<Timestamp>,
    /// The file to write. Without it the report goes to stdout; a page, on a terminal, to .conclaude/report.html
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The sessions of all projects, not only of this one; the records are those of this project
    #[arg(long)]
    all_projects: bool,
    /// The format; without it, what the name of the file says (.html, .md, .json)
    #[arg(long, value_enum)]
    format: Option<ReportFormat>,
    /// All the data as JSON: the same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ReportFormat {
    /// One page that needs no network
    Html,
    /// Markdown, for a pull request
    Md,
    /// All the data
    Json,
}

impl ReportRequest {
    /// The requested format, or the one for the name of the file.
    fn format(&self) -> anyhow::Result<ReportFormat> {
        if self.json {
            return Ok(ReportFormat::Json);
        }
        if let Some(format) = self.format {
            return Ok(format);
        }
        let Some(path) = &self.output else { return Ok(ReportFormat::Html) };
        let extension = path.extension().and_then(|name| name.to_str()).map(str::to_ascii_lowercase);
        match extension.as_deref() {
            Some("html" | "htm") => Ok(ReportFormat::Html),
            Some("md" | "markdown") => Ok(ReportFormat::Md),
            Some("json") => Ok(ReportFormat::Json),
            _ => Err(anyhow!(
                "{} does not say what to write: name it .html, .md or .json, or add --format html, md or json{}",
                path.display(),
                if extension.as_deref() == Some("pdf") { " (a browser prints the page as PDF)" } else { "" }
            )),
        }
    }
}

pub(super) fn run(request: &ReportRequest) -> anyhow::Result<Exit> {
    let format = request.format()?;
    let root = super::root()?;
    let loaded = load::all(&root, Patterns::All);
    for error in &loaded.errors {
        writeln!(Out::stderr(), "conclaude: warning: {}", error.brief())?;
    }
    let prices = loaded.config.report.and_then(|report| report.prices).unwrap_or_default();
    let claude = root::claude_folder();
    let scope = Scope {
        root: &root.folder,
        claude: claude.as_deref(),
        session: request.session.as_deref(),
        since: request.since,
        all_projects: request.all_projects,
        prices: &prices,
    };
    let report = report::gather(&scope)?;
    if report.is_empty() {
        return Ok(super::fail(&nothing(&scope)));
    }
    write(request, format, &root.folder, &report)
}

fn render(report: &Report, format: ReportFormat, to: &mut dyn Write) -> io::Result<()> {
    match format {
        ReportFormat::Html => report::write_page(report, to),
        ReportFormat::Md => to.write_all(report::markdown(report).as_bytes()),
        ReportFormat::Json => report::write_json(report, to),
    }
}

fn nothing(scope: &Scope<'_>) -> String {
    let of = match (scope.session, scope.since) {
        (Some(session), _) => format!(" of session {session}"),
        (None, Some(since)) => format!(" since {since}"),
        (None, None) => String::new(),
    };
    let looked_in = match scope.claude {
        Some(claude) => format!("{}", claude.join("projects").display()),
        None => "a home folder (HOME is not set)".into(),
    };
    let transcripts = match (scope.session, scope.since) {
        (None, Some(_)) => "no transcript of it has a line of that time",
        _ => "there is no transcript of it",
    };
    format!(
        "nothing to report: the audit trail of {} has no record{of}, and {transcripts} in {looked_in}{}; `conclaude doctor` checks whether events arrive",
        scope.root.display(),
        elsewhere(scope)
    )
}

/// A hint about the data of other projects, if this one has none.
fn elsewhere(scope: &Scope<'_>) -> String {
    let (Some(claude), false) = (scope.claude, scope.all_projects) else { return String::new() };
    let (sessions, example) = report::elsewhere(claude, scope.root);
    if sessions == 0 {
        return String::new();
    }
    let example = example.map_or_else(String::new, |cwd| format!(" (such as {})", cwd.display()));
    let (counted, belong) = (count(sessions, "session"), if sessions == 1 { "belongs" } else { "belong" });
    format!("; {counted} there {belong} to other folders{example}: --all-projects shows them")
}

fn write(
    request: &ReportRequest,
    format: ReportFormat,
    root: &Path,
    report: &Report,
) -> anyhow::Result<Exit> {
    let mut out = Out::stdout();
    let path = match &request.output {
        Some(path) => path.clone(),
        // A page is not readable on a terminal.
        None if format == ReportFormat::Html && Out::is_terminal() => {
            store::make_folder(root, &root.join(store::FOLDER))?;
            root.join(store::FOLDER).join("report.html")
        }
        None => {
            out.document_of(|to| render(report, format, to))?;
            out.flush()?;
            return Ok(Exit::Success);
        }
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        let problem = format!("cannot write {}: there is no folder {}", path.display(), folder.display());
        return Err(anyhow::Error::msg(problem));
    }
    let name = path.file_name().ok_or_else(|| anyhow!("{} names no file", path.display()))?;
    files::write_atomically_with(&folder.join(name), |file| render(report, format, file))
        .map_err(|error| anyhow!("cannot write {}: {error}", path.display()))?;
    let records = count(report.record_count(), "record");
    let transcripts = count(report.transcripts.files, "transcript");
    writeln!(out, "wrote {}: {records}, {transcripts}", path.display())?;
    Ok(Exit::Success)
}
