//! `audit export`: the records for other programs, in a file, on stdout, or sent to a collector.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::filter::{FilterArgs, check_known};
use super::show::wait_for_more;
use crate::cli::out::Out;
use conclaude_core::config::Patterns;
use conclaude_core::exit::Exit;
use conclaude_core::text::count;
use conclaude_store::audit::{Filter, Reader, Trail, TrailEntry};
use conclaude_store::export::Csv;
use conclaude_store::load;
use conclaude_store::root::Root;
use otlp::OtlpExport;

mod otlp;

#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("format").args(["otlp", "csv", "jsonl"]).required(true))]
pub(in crate::cli) struct ExportRequest {
    #[command(flatten)]
    collector: otlp::Collector,
    /// As CSV (RFC 4180), for spreadsheets
    #[arg(long)]
    csv: bool,
    /// As lines of JSON
    #[arg(long)]
    jsonl: bool,
    /// Write to this file, which is replaced as a whole; else to stdout
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["otlp", "follow"])]
    output: Option<PathBuf>,
    /// Continue with new records as they are written
    #[arg(short, long)]
    follow: bool,
    #[command(flatten)]
    filter: FilterArgs,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ExportFormat {
    Csv,
    /// With or without the output of failed commands.
    Jsonl {
        has_output: bool,
    },
}

pub(super) fn run(request: ExportRequest, root: &Root, trail: &Trail) -> anyhow::Result<Exit> {
    let ExportRequest { collector, csv, output, follow: is_following, filter, .. } = request;
    if collector.is_wanted() {
        let (collector, filter) = (&collector, &filter);
        return otlp::run(&OtlpExport { collector, filter, is_following, root, trail });
    }
    let format =
        if csv { ExportFormat::Csv } else { ExportFormat::Jsonl { has_output: exports_output(root) } };
    let filter = filter.filter(trail)?;
    let doubtful = match output {
        Some(path) => to_file(&path, format, trail, &filter)?,
        None => to_stdout(format, trail, &filter, is_following)?,
    };
    if doubtful > 0 {
        let lines = count(doubtful, "line");
        let what =
            format!("{lines} of the trail cannot be trusted: `conclaude audit verify` names the first");
        writeln!(Out::stderr(), "conclaude: warning: {what}")?;
    }
    Ok(Exit::Success)
}

/// Whether the user trusts the export of the output of failed commands. A cloned repository cannot enable it.
fn exports_output(root: &Root) -> bool {
    let mut origins = load::all(root, Patterns::All).origins;
    if !otlp::runs_unasked(root) {
        origins.check_trust(load::why_untrusted);
    }
    origins.telemetry().is_some_and(|telemetry| telemetry.exports_output())
}

/// The file appears as a whole or stays unchanged.
fn to_file(path: &Path, format: ExportFormat, trail: &Trail, filter: &Filter) -> anyhow::Result<u64> {
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(named)?;
    let mut reader = Reader::new(trail);
    let mut writer = io::BufWriter::new(file.as_file_mut());
    if format == ExportFormat::Csv {
        writer.write_all(Csv::heading().as_bytes()).map_err(named)?;
    }
    // In a file, lines without output stay as they are recorded: so their hashes can be checked.
    let written = reader.each(filter, |entry| match format {
        ExportFormat::Csv => writer.write_all(Csv::line(entry).as_bytes()),
        ExportFormat::Jsonl { has_output } => writeln!(writer, "{}", entry.exported_line(has_output)),
    })?;
    check_known(filter, &reader)?;
    writer.flush().map_err(named)?;
    drop(writer);
    file.persist(path).map_err(|error| named(error.error))?;
    let mut out = Out::stdout();
    writeln!(out, "{} written to {}", count(written, "record"), path.display())?;
    out.flush()?;
    Ok(reader.doubtful)
}

fn to_stdout(
    format: ExportFormat,
    trail: &Trail,
    filter: &Filter,
    is_following: bool,
) -> anyhow::Result<u64> {
    let mut out = Out::buffered_stdout();
    let mut reader = Reader::new(trail);
    let mut heading = if format == ExportFormat::Csv { Some(for_stream(Csv::heading())) } else { None };
    reader.each(filter, |entry| {
        out.document(&heading.take().unwrap_or_default())?;
        print(&mut out, format, entry)
    })?;
    // An unknown word in the filter matches nothing, so nothing was printed.
    check_known(filter, &reader)?;
    out.document(&heading.unwrap_or_default())?;
    loop {
        out.flush()?;
        if !is_following {
            return Ok(reader.doubtful);
        }
        wait_for_more()?;
        reader.each(filter, |entry| print(&mut out, format, entry))?;
    }
}

/// Its cells were cleaned one by one. A terminal needs no carriage return.
fn for_stream(line: String) -> String {
    if Out::is_terminal() { line.replace("\r\n", "\n") } else { line }
}

fn print(out: &mut Out<'_>, format: ExportFormat, entry: &TrailEntry) -> io::Result<()> {
    match format {
        ExportFormat::Csv => out.document(&for_stream(Csv::line(entry))),
        ExportFormat::Jsonl { has_output } => out.json_text(&entry.exported_line(has_output)),
    }
}
