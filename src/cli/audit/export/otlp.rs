//! `audit export --otlp`: records are sent to a collector, once or as they are written.

use std::io;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};

use super::super::filter::FilterArgs;
use crate::cli::out::{LiteralText, Out};
use crate::cli::project_dir;
use conclaude_core::config::{ConclaudeConfig, Endpoint, Patterns, PriceTable, Signal};
use conclaude_core::exit::Exit;
use conclaude_core::text::{clean_line, count};
use conclaude_engine::install::registration;
use conclaude_engine::install::scope::session_folder;
use conclaude_os::budget::Budget;
use conclaude_os::environment::Variables;
use conclaude_os::process;
use conclaude_store::audit::Trail;
use conclaude_store::export::{self, SendCounts, Target, Transfer, TransferReport, background, sleep};
use conclaude_store::load::{self, LoadedConfig};
use conclaude_store::root::Root;

/// The pause between two looks for new records.
const PAUSE: Duration = Duration::from_secs(1);

/// The pause after a failure, with `--follow`.
const LONG_PAUSE: Duration = Duration::from_secs(15);

#[derive(clap::Args)]
pub(in crate::cli) struct Collector {
    /// Send them to an OpenTelemetry collector, each once. Without a URL, the collector of the config (telemetry.endpoint) or of
    /// OTEL_EXPORTER_OTLP_ENDPOINT
    #[arg(long, value_name = "URL", num_args = 0..=1, default_missing_value = "")]
    otlp: Option<String>,
    /// How many seconds to retry if the collector does not answer
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u16), requires = "otlp")]
    retry_for: u16,
    /// The mode in which a hook starts it: bounded in time, silent, and only if no other process does it
    #[arg(long, hide = true, requires = "otlp", conflicts_with = "follow")]
    background: bool,
    /// The mode in which a hook of a registration for all projects starts it: untrusted files do not choose the endpoint
    #[arg(long, hide = true, requires = "background")]
    only_trusted: bool,
}

/// Whether untrusted files may choose the endpoint.
#[derive(Clone, Copy)]
enum TrustCheck {
    /// The hook that started this process did not require trust.
    Skipped,
    Needed,
    /// As for hooks: if they send without asking, Claude Code has asked about the folder.
    AsForHooks,
}

impl Collector {
    pub(super) fn is_wanted(&self) -> bool {
        self.otlp.is_some()
    }

    fn trust_check(&self) -> TrustCheck {
        match (self.background, self.only_trusted) {
            (true, false) => TrustCheck::Skipped,
            (true, true) => TrustCheck::Needed,
            (false, _) => TrustCheck::AsForHooks,
        }
    }
}

/// The records to send, and how to send them.
pub(super) struct OtlpExport<'a> {
    pub(super) collector: &'a Collector,
    pub(super) filter: &'a FilterArgs,
    pub(super) is_following: bool,
    pub(super) root: &'a Root,
    pub(super) trail: &'a Trail,
}

pub(super) fn run(export: &OtlpExport<'_>) -> anyhow::Result<Exit> {
    let OtlpExport { collector, filter, is_following, root, trail } = *export;
    if filter.has_more_than_since() {
        bail!("--otlp sends every record once, so it cannot leave out some of them: only --since is allowed");
    }
    let url = collector.otlp.as_deref().filter(|url| !url.is_empty());
    let (target, prices) = match target(url, root, collector.trust_check()) {
        Ok(found) => found,
        Err(why) => {
            if collector.background {
                note_failure(root, trail, &why.to_string())?;
            }
            return Err(why);
        }
    };
    if collector.background {
        return Ok(in_background(&target, trail, &prices)?);
    }
    let retry_for = Duration::from_secs(collector.retry_for.into());
    let busy = || anyhow!("another process is sending to {}: try again later", target.base);
    let transfer = Transfer::start(trail, &target, filter.since, retry_for)?.ok_or_else(busy)?;
    let mut transfer = transfer.retry_for(retry_for).prices(prices);
    let exit = if is_following { follow(&mut transfer, &target)? } else { once(&mut transfer, &target)? };
    Ok(exit)
}

/// The endpoint with its headers, and what tokens cost.
fn target(url: Option<&str>, root: &Root, check: TrustCheck) -> anyhow::Result<(Target, PriceTable)> {
    let LoadedConfig { config, mut origins, errors, .. } = load::all(root, Patterns::All);
    let prices = config.report.as_ref().and_then(|report| report.prices.clone()).unwrap_or_default();
    let named = url.map(Endpoint::new).transpose().map_err(anyhow::Error::msg)?;
    // A cloned repository must not decide where records go, nor which variables go with them.
    let is_checked = match check {
        TrustCheck::Skipped => false,
        TrustCheck::Needed => true,
        TrustCheck::AsForHooks => !runs_unasked(root),
    };
    if is_checked {
        origins.check_trust(load::why_untrusted);
    }
    let telemetry = origins.telemetry().unwrap_or_default();
    let variables = Variables::of_process();
    if telemetry.endpoint.is_some()
        && named.as_ref().is_none_or(|named| telemetry.endpoint.as_ref() == Some(named))
    {
        return Ok((Target::of_config(&telemetry, &variables)?, prices));
    }
    if let Some(why) = origins.untrusted_telemetry() {
        match &named {
            None => bail!(
                "{why}, and names the endpoint {}: `conclaude trust` shows what you agree to",
                endpoint_of(&config)
            ),
            // The user typed it, and so has chosen it.
            Some(named) if config.endpoint() == Some(named) => warn_of_headers(why, &config),
            Some(_) => {}
        }
    }
    let target =
        Target::of_variables(url, &variables).and_then(|target| target.with_resource(&telemetry, &variables));
    match (target, errors.first()) {
        (Ok(target), _) => Ok((target, prices)),
        (Err(why), Some(error)) if url.is_none() => bail!("{}; {why}", error.summary()),
        (Err(why), _) => Err(why.into()),
    }
}

fn warn_of_headers(why: &str, config: &ConclaudeConfig) {
    if config.telemetry.as_ref().is_some_and(|telemetry| telemetry.headers.is_some()) {
        let what = format!("{why}: none of its `telemetry.headers` are sent");
        // Records are sent even if stderr is closed.
        let _ = writeln!(Out::stderr(), "conclaude: warning: {what}");
    }
}

pub(super) fn runs_unasked(root: &Root) -> bool {
    let project = session_folder(project_dir(), &root.folder);
    project.is_ok_and(|project| registration::runs_unasked(&registration::current(&project)))
}

fn endpoint_of(config: &ConclaudeConfig) -> &str {
    config.endpoint().map(Endpoint::as_str).unwrap_or_default()
}

/// The endpoint cannot be used as it is configured: a variable of its headers is not set.
fn note_failure(root: &Root, trail: &Trail, why: &str) -> io::Result<()> {
    let config = load::all(root, Patterns::All).config;
    let target = config.telemetry.as_ref().and_then(Target::without_headers);
    target.map_or(Ok(()), |target| export::note_failure(trail, &target, why))
}

/// Its output is not shown. A failure is noted; `doctor` and the start of a session report it.
fn in_background(target: &Target, trail: &Trail, prices: &PriceTable) -> io::Result<Exit> {
    let until = Instant::now() + Budget::unlimited().at_least(background::LIMIT);
    loop {
        let Some(transfer) = Transfer::start(trail, target, None, Duration::ZERO)? else {
            return Ok(Exit::Success);
        };
        // Events come in bursts.
        sleep(background::GATHER);
        let before = trail.last_number();
        let report = transfer.until(until).prices(prices.clone()).run(&mut |_, _| {})?;
        if !report.refused.is_empty() {
            return Ok(Exit::Failure);
        }
        // A hook that recorded something meanwhile saw that we are running, and left it to us.
        if trail.last_number() == before || Instant::now() >= until {
            return Ok(Exit::Success);
        }
    }
}

fn once(transfer: &mut Transfer<'_>, target: &Target) -> io::Result<Exit> {
    let mut line = ExportProgress::new();
    let report = transfer.run(&mut |signal, sent| line.show(&target.base, signal, sent))?;
    line.clear()?;
    let is_complete = print(&report, target)?;
    Ok(if is_complete { Exit::Success } else { Exit::Failure })
}

/// Runs until the user stops it. If the collector is down, it waits, and prints one line about that.
fn follow(transfer: &mut Transfer<'_>, target: &Target) -> io::Result<Exit> {
    let mut line = ExportProgress::new();
    let mut total = [SendCounts::default(); Signal::ALL.len()];
    let mut is_down = false;
    loop {
        let report = transfer.run(&mut |_, _| {})?;
        for (signal, total) in Signal::ALL.iter().zip(&mut total) {
            let sent = report.sent.get(signal).copied().unwrap_or_default();
            *total = SendCounts {
                records: total.records + sent.records,
                rejected: total.rejected + sent.rejected,
            };
            line.show(&target.base, *signal, *total);
        }
        if process::stop_signal().is_some() {
            line.clear()?;
            return Ok(Exit::Success);
        }
        let mut err = Out::stderr();
        for note in &report.notes {
            line.clear()?;
            writeln!(err, "conclaude: warning: {}", clean_line(note))?;
        }
        if !is_down {
            for (signal, refused) in &report.refused {
                line.clear()?;
                writeln!(err, "conclaude: {}: {}", signal.name(), refused.what)?;
            }
        }
        if report.refused.iter().any(|(_, refused)| !refused.is_transient) {
            return Ok(Exit::Failure);
        }
        if is_down && report.refused.is_empty() {
            writeln!(err, "conclaude: {} accepts records again", target.base)?;
        }
        is_down = !report.refused.is_empty();
        sleep(if is_down { LONG_PAUSE } else { PAUSE });
    }
}

/// Whether the collector has everything now.
fn print(report: &TransferReport, target: &Target) -> io::Result<bool> {
    let (mut out, mut err) = (Out::stdout(), Out::stderr());
    for note in &report.notes {
        writeln!(err, "conclaude: warning: {}", clean_line(note))?;
    }
    for (signal, refused) in &report.refused {
        writeln!(err, "conclaude: {}: {}", signal.name(), refused.what)?;
    }
    let parts: Vec<String> = target
        .signals
        .iter()
        .map(|signal| {
            let sent = report.sent.get(signal).copied().unwrap_or_default();
            let rejected =
                if sent.rejected > 0 { format!(", {} rejected", sent.rejected) } else { String::new() };
            format!("{} as {}{rejected}", count(sent.records, "record"), signal.name())
        })
        .collect();
    if let Some(signal) = process::stop_signal() {
        writeln!(err, "conclaude: stopped by {signal}: what was sent is not sent again")?;
    }
    if report.refused.is_empty() || !report.sent.is_empty() {
        writeln!(out, "sent to {}: {}", target.base, parts.join("; "))?;
        out.flush()?;
    }
    let is_rejected = report.sent.values().any(|sent| sent.rejected > 0);
    Ok(report.refused.is_empty() && !is_rejected && process::stop_signal().is_none())
}

/// One line on a terminal that is overwritten.
struct ExportProgress {
    is_shown: bool,
    is_terminal: bool,
}

impl ExportProgress {
    fn new() -> ExportProgress {
        ExportProgress { is_shown: false, is_terminal: Out::stderr_is_terminal() }
    }

    /// An error of the terminal does not stop the export.
    fn show(&mut self, base: &str, signal: Signal, sent: SendCounts) {
        if self.is_terminal {
            self.is_shown = true;
            let what = format!("{}: {} sent as {}", base, count(sent.records, "record"), signal.name());
            let _ = write!(Out::stderr(), "{}{}", LiteralText("\r\u{1b}[K"), clean_line(&what));
        }
    }

    fn clear(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.is_shown) {
            write!(Out::stderr(), "{}", LiteralText("\r\u{1b}[K"))?;
        }
        Ok(())
    }
}
