//! `audit show`: each record in a few lines, or as JSON.

use std::borrow::Cow;
use std::io;
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::filter::{check_known, nothing_found};
use crate::cli::out::{Out, Paint};
use conclaude_core::json::ObjectFields;
use conclaude_core::messages;
use conclaude_core::text::{count, indent, on_one_line, printable, printable_line};
use conclaude_store::audit::reasons::{self, CommandEnding};
use conclaude_store::audit::words::Meaning;
use conclaude_store::audit::{Filter, Reader, Trail};

const GOOD: Paint = Paint(AnsiColor::Green.on_default());
const BAD: Paint = Paint(AnsiColor::Red.on_default());
const FAINT: Paint = Paint(Style::new().dimmed());

/// The pause between two looks for new records: nothing notifies us of them.
const PAUSE: Duration = Duration::from_millis(200);

#[derive(clap::Args)]
pub(in crate::cli) struct ShowArgs {
    /// Print the records as lines of JSON
    #[arg(long)]
    json: bool,
    /// Only the last N records
    #[arg(short, long = "number", value_name = "N")]
    number: Option<usize>,
    /// Continue with new records as they are written
    #[arg(short, long)]
    follow: bool,
}

pub(super) fn run(out: &mut Out<'_>, trail: &Trail, filter: &Filter, view: &ShowArgs) -> anyhow::Result<()> {
    // Records are counted first, so that none has to be kept in memory.
    let mut before = match view.number {
        Some(number) => {
            Reader::new(trail).each_record(filter, |_, _, _| Ok(()))?.saturating_sub(number as u64)
        }
        None => 0,
    };
    let mut reader = Reader::new(trail);
    let zone = TimeZone::system();
    let found = reader.each_record(filter, |record, line, doubt| match before.checked_sub(1) {
        Some(left) => {
            before = left;
            Ok(())
        }
        None if view.json => out.json_text(line),
        None => print(out, record, doubt, &zone),
    })?;
    // An unknown word in the filter matches nothing, so nothing was printed.
    check_known(filter, &reader)?;
    if found == 0 && !view.json && !view.follow {
        writeln!(out, "{}", nothing_found(trail, &reader))?;
    }
    if reader.doubtful > 0 {
        let lines = count(reader.doubtful, "line");
        let what =
            format!("{lines} of the trail cannot be trusted: `conclaude audit verify` names the first");
        // Lines of JSON stay lines of JSON.
        if view.json {
            writeln!(Out::stderr(), "conclaude: warning: {what}")?;
        } else {
            writeln!(out, "{BAD}✗ {what}{BAD:#}")?;
        }
    }
    if view.follow {
        follow_on(out, &mut reader, filter, view)?;
    }
    Ok(())
}

/// Until the user stops it, or the reader closes the pipe.
fn follow_on(out: &mut Out<'_>, reader: &mut Reader<'_>, filter: &Filter, view: &ShowArgs) -> io::Result<()> {
    let zone = TimeZone::system();
    loop {
        out.flush()?;
        wait_for_more()?;
        reader.each_record(filter, |record, line, doubt| {
            if view.json { out.json_text(line) } else { print(out, record, doubt, &zone) }
        })?;
    }
}

fn print_command(out: &mut Out<'_>, command: &ObjectFields<'_>) -> io::Result<()> {
    let duration: u64 = command.number("duration_ms").unwrap_or(0);
    let part = |name: &str| text(command, name);
    let (status, message, verdict) = (part("status"), part("message"), part("verdict"));
    let end = CommandEnding { status: &status, message: &message, verdict: &verdict };
    writeln!(out, "        {} ({duration} ms)", end.in_words(&part("run")))?;
    if let Some(changed) = command.object("updated_input") {
        let what = reasons::changed_input_by(&text(&changed, "command"), &text(&changed, "file"));
        writeln!(out, "          {what}")?;
    }
    print_output(out, command)
}

fn print(
    out: &mut Out<'_>,
    record: &ObjectFields<'_>,
    doubt: Option<&str>,
    zone: &TimeZone,
) -> io::Result<()> {
    heading(out, record, zone)?;
    if let Some(doubt) = doubt {
        writeln!(out, "        {BAD}✗ tampered with here: {}{BAD:#}", printable_line(doubt))?;
    }
    if let Some(reason) = record.text("reason") {
        writeln!(out, "        {}", on_one_line(reason))?;
    }
    let mut findings = record.objects("findings");
    // The most important findings come first: a denial before a question.
    findings.sort_by_key(|finding| reasons::rank_by(&text(finding, "verdict")));
    for finding in findings {
        let (code, phase, what) = (text(&finding, "code"), text(&finding, "phase"), text(&finding, "what"));
        let found = reasons::finding_by(&code, &phase, &what);
        match place(&finding).filter(|place| !found.contains(place.as_str())) {
            Some(place) => writeln!(out, "        {found} {FAINT}({place}){FAINT:#}")?,
            None => writeln!(out, "        {found}")?,
        }
    }
    for command in record.objects("commands") {
        print_command(out, &command)?;
    }
    for applied in record.objects("applied") {
        let part = |name: &str| applied.object("rule").map(|rule| text(&rule, name)).unwrap_or_default();
        let said = reasons::applied_by(&text(&applied, "what"), &part("key"), &part("pattern"));
        writeln!(out, "        {said}")?;
    }
    for skip in record.objects("skipped") {
        writeln!(out, "        {} did not run: {}", text(&skip, "what"), text(&skip, "why"))?;
    }
    if let Some(evidence) = record.object("evidence") {
        let code: i64 = evidence.number("exit_code").unwrap_or(-1);
        writeln!(out, "        `{}` exited with code {code}", text(&evidence, "command"))?;
        print_output(out, &evidence)?;
    }
    Ok(())
}

/// The recorded output of a command.
fn print_output(out: &mut Out<'_>, command: &ObjectFields<'_>) -> io::Result<()> {
    let message = command.text("message").unwrap_or_default();
    match command.text("output") {
        Some(output) if reasons::is_said(&output, &message) => Ok(()),
        Some(output) => writeln!(out, "{FAINT}{}{FAINT:#}", indent(&printable(&output), "          ")),
        None => Ok(()),
    }
}

/// The position of a finding's rule.
fn place(finding: &ObjectFields<'_>) -> Option<String> {
    let rule = finding.object("rule")?;
    let file = rule.text("file").map(on_one_line)?;
    let name = rule.text("name").map(on_one_line);
    Some(reasons::position_by(&file, rule.number("line"), name.as_deref()))
}

fn heading(out: &mut Out<'_>, record: &ObjectFields<'_>, zone: &TimeZone) -> io::Result<()> {
    let seq: u64 = record.number("seq").unwrap_or(0);
    let decision = text(record, "decision");
    let style = if Meaning::of(&decision) == Meaning::Bad { BAD } else { GOOD };
    let time = local_time(&text(record, "time"), zone);
    write!(out, "{FAINT}{seq:>5} {time}{FAINT:#} {}", text(record, "event"))?;
    if let Some(tool) = record.object("tool") {
        write!(out, " {}", tool_use(&tool))?;
    }
    write!(out, " {style}{}{style:#}", reasons::decision_in_words(&decision))?;
    for name in ["client", "agent", "agent_id", "step", "phase"] {
        if let Some(value) = record.text(name) {
            write!(out, " {FAINT}{name}={FAINT:#}{}", on_one_line(value))?;
        }
    }
    writeln!(out)
}

fn text<'a>(object: &ObjectFields<'a>, name: &str) -> Cow<'a, str> {
    object.text(name).map(on_one_line).unwrap_or_default()
}

/// The tool, and the file or the start of the command.
fn tool_use(tool: &ObjectFields<'_>) -> String {
    let name = text(tool, "name");
    match (tool.text("file"), tool.text("command")) {
        (Some(file), _) => format!("{name} {}", on_one_line(file)),
        (None, Some(command)) => format!("{name} `{}`", messages::short(&command)),
        (None, None) => name.into_owned(),
    }
}

/// The time of a record as the user's clock shows it. A text that is not a time stays as it is.
fn local_time(recorded: &str, zone: &TimeZone) -> String {
    match recorded.parse::<Timestamp>() {
        Ok(time) => time.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S").to_string(),
        Err(_) => recorded.to_owned(),
    }
}

/// Pauses. Returns an error once the reader has closed the pipe, so that `audit show --follow | head -1` ends.
#[cfg(unix)]
pub(in crate::cli::audit) fn wait_for_more() -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let stdout = rustix::stdio::stdout();
    let mut reader = [PollFd::new(&stdout, PollFlags::empty())];
    let pause = Timespec { tv_sec: 0, tv_nsec: i64::from(PAUSE.subsec_nanos()) };
    match poll(&mut reader, Some(&pause)) {
        Ok(0) | Err(rustix::io::Errno::INTR) => Ok(()),
        Ok(_) => Err(io::ErrorKind::BrokenPipe.into()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(unix))]
pub(in crate::cli::audit) fn wait_for_more() -> io::Result<()> {
    std::thread::sleep(PAUSE);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_local_and_have_one_form() {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        assert_eq!(local_time("2026-03-10T11:59:30.123Z", &zone), "2026-03-10 13:59:30");
        assert_eq!(local_time("2026-03-09T22:30:00Z", &zone), "2026-03-10 00:30:00");
        assert_eq!(local_time("whenever", &zone), "whenever");
    }
}
