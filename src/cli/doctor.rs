//! `conclaude doctor`: is everything in place, and does Claude Code really call us? Every problem comes with its fix.

use crate::cli::out::Out;
use check::Status;
use conclaude_core::exit::Exit;
use installation::Installation;
use report::DoctorReport;

mod arrivals;
mod check;
mod health;
mod installation;
mod probe;
mod report;
mod rules;
mod settings;

pub(super) fn run(json: bool) -> anyhow::Result<Exit> {
    let installation = Installation::here()?;
    // Before anything is called by ourselves.
    let arrivals = arrivals::arrivals(&installation);
    let mut checks = settings::registrations(&installation);
    checks.extend(settings::programs(&installation));
    checks.extend(health::switched_off());
    checks.extend(rules::config(&installation));
    checks.extend(rules::patterns(&installation));
    checks.extend(settings::duplicates(&installation));
    checks.extend(settings::agents(&installation));
    checks.extend(rules::trusted(&installation));
    checks.extend(rules::judge(&installation));
    checks.extend(rules::telemetry(&installation));
    checks.extend(health::state(&installation));
    checks.extend(health::audit(&installation));
    checks.push(health::client(&installation));
    let (answers, probed) = probe::all(&installation);
    checks.extend(probed);
    checks.extend(arrivals::check(&installation, &arrivals));
    let healthy = !checks.iter().any(|check| check.status == Status::Problem);
    let version = env!("CARGO_PKG_VERSION");
    let report =
        DoctorReport { healthy, version, project: installation.root.folder, checks, answers, arrivals };
    let mut out = Out::stdout();
    if json {
        out.json(&report)?;
    } else {
        report::show(&mut out, &report)?;
    }
    Ok(if healthy { Exit::Success } else { Exit::Failure })
}
