//! `audit show`: each record in a few lines, or as JSON.

use std::borrow::Cow;
use std::io;
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Unit};

use super::filter::{check_known, nothing_found};
use crate::cli::out::{Out, Paint};
use conclaude_core::json::Fields;
use conclaude_core::text::{count, indent, on_one_line, printable, printable_line};
use conclaude_store::audit::{Filter, Reader, Trail, reasons};

const GOOD: Paint = Paint(AnsiColor::Green.on_default());
const BAD: Paint = Paint(AnsiColor::Red.on_default());
const FAINT: Paint = Paint(Style::new().dimmed());

/// Between two looks for new records: nothing tells us of them.
const PAUSE: Duration = Duration::from_millis(200);

#[derive(clap::Args)]
pub(in crate::cli) struct ShowArgs {
    /// Print the records as lines of JSON
    #[arg(long)]
    json: bool,
    /// Only the last N records
    #[arg(short, long = "number", value_name = "N")]
    number: Option<usize>,
    /// Go on with new records as they are written
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
    let clock = TimeDisplay::of(Out::is_terminal());
    let found = reader.each_record(filter, |record, line, doubt| match before.checked_sub(1) {
        Some(left) => {
            before = left;
            Ok(())
        }
        None if view.json => out.json_text(line),
        None => print(out, record, doubt, &clock),
    })?;
    // An unknown word in the filter matches nothing, so nothing was printed.
    check_known(filter, &reader)?;
    if found == 0 && !view.json && !view.follow {
        writeln!(out, "{}", nothing_found(trail, &reader))?;
    }
    if reader.doubtful > 0 {
        let lines = count(reader.doubtful, "line");
        let what =
            format!("{lines} of the trail cannot be believed: `conclaude audit verify` names the first");
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
    loop {
        out.flush()?;
        wait_for_more()?;
        let clock = TimeDisplay::of(Out::is_terminal());
        reader.each_record(filter, |record, line, doubt| {
            if view.json { out.json_text(line) } else { print(out, record, doubt, &clock) }
        })?;
    }
}

fn print(out: &mut Out<'_>, record: &Fields<'_>, doubt: Option<&str>, clock: &TimeDisplay) -> io::Result<()> {
    heading(out, record, clock)?;
    if let Some(doubt) = doubt {
        writeln!(out, "        {BAD}✗ tampered with here: {}{BAD:#}", printable_line(doubt))?;
    }
    if let Some(reason) = record.text("reason") {
        writeln!(out, "        {}", on_one_line(reason))?;
    }
    for finding in record.objects("findings") {
        let (code, phase, what) = (text(&finding, "code"), text(&finding, "phase"), text(&finding, "what"));
        writeln!(out, "        {}", reasons::finding_by(&code, &phase, &what))?;
    }
    for command in record.objects("commands") {
        let duration: u64 = command.number("duration_ms").unwrap_or(0);
        let (run, status) = (text(&command, "run"), text(&command, "status"));
        let ended = reasons::command_by(&run, &status, &text(&command, "message"));
        writeln!(out, "        {ended} ({duration} ms)")?;
        print_output(out, &command)?;
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

/// What is recorded of a command's output.
fn print_output(out: &mut Out<'_>, command: &Fields<'_>) -> io::Result<()> {
    match command.text("output") {
        Some(output) => writeln!(out, "{FAINT}{}{FAINT:#}", indent(&printable(&output), "          ")),
        None => Ok(()),
    }
}

fn heading(out: &mut Out<'_>, record: &Fields<'_>, clock: &TimeDisplay) -> io::Result<()> {
    let seq: u64 = record.number("seq").unwrap_or(0);
    let decision = text(record, "decision");
    let style = match decision.as_ref() {
        "blocked" | "denied" | "unfinished" | "FAIL" | "FAILED" | "allowed_despite_failure" => BAD,
        _ => GOOD,
    };
    let time = clock.show(&text(record, "time"));
    write!(out, "{FAINT}{seq:>5} {time}{FAINT:#} {} {style}{decision}{style:#}", text(record, "event"))?;
    for name in ["agent", "agent_id", "step", "phase"] {
        if let Some(value) = record.text(name) {
            write!(out, " {FAINT}{name}={FAINT:#}{}", on_one_line(value))?;
        }
    }
    writeln!(out)
}

fn text<'a>(object: &Fields<'a>, name: &str) -> Cow<'a, str> {
    object.text(name).map(on_one_line).unwrap_or_default()
}

/// How times are shown: for people relative to now and in their own time zone, for programs as they are recorded.
enum TimeDisplay {
    Recorded,
    Local { now: Timestamp, zone: TimeZone },
}

impl TimeDisplay {
    fn of(is_terminal: bool) -> TimeDisplay {
        let zone = TimeZone::system();
        // Without a known zone a local time would be wrong.
        if is_terminal && !zone.is_unknown() {
            TimeDisplay::Local { now: Timestamp::now(), zone }
        } else {
            TimeDisplay::Recorded
        }
    }

    /// The time of a record. A text that is not a time stays as it is.
    fn show(&self, recorded: &str) -> String {
        let TimeDisplay::Local { now, zone } = self else { return recorded.to_owned() };
        let Ok(time) = recorded.parse::<Timestamp>() else { return recorded.to_owned() };
        // All of the same width, so that what follows is aligned.
        format!("{:>16}", relative(time, *now, zone))
    }
}

fn relative(time: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    let seconds = now.duration_since(time).as_secs();
    let (local, today) = (time.to_zoned(zone.clone()), now.to_zoned(zone.clone()).date());
    let days = local.date().until((Unit::Day, today)).map_or(i32::MAX, |span| span.get_days());
    match (seconds, days) {
        (0..60, _) => "just now".into(),
        (60..3_600, _) => format!("{} min ago", seconds / 60),
        (3_600.., 0) => local.strftime("today %H:%M").to_string(),
        (3_600.., 1) => local.strftime("yesterday %H:%M").to_string(),
        _ => local.strftime("%Y-%m-%d %H:%M").to_string(),
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
    fn times_are_relative_and_local_for_people() {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let clock = TimeDisplay::Local { now: "2026-03-10T12:00:00Z".parse().unwrap(), zone };
        let shown = |time: &str| clock.show(time).trim_start().to_owned();
        assert_eq!(shown("2026-03-10T11:59:30.123Z"), "just now");
        assert_eq!(shown("2026-03-10T11:01:00Z"), "59 min ago");
        assert_eq!(shown("2026-03-10T05:30:00Z"), "today 07:30");
        assert_eq!(shown("2026-03-09T21:30:00Z"), "yesterday 23:30");
        assert_eq!(shown("2026-03-09T22:30:00Z"), "today 00:30");
        assert_eq!(shown("2026-02-28T10:00:00Z"), "2026-02-28 12:00");
        assert_eq!(shown("2026-03-11T10:00:00Z"), "2026-03-11 12:00", "a clock that was wrong");
        assert_eq!(shown("whenever"), "whenever");
        assert_eq!(TimeDisplay::of(false).show("2026-03-10T11:59:30.123Z"), "2026-03-10T11:59:30.123Z");
    }
}
