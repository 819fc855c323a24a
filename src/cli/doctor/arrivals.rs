//! When events last really arrived: only that proves that Claude Code calls us.

use std::time::SystemTime;

use serde::Serialize;

use super::check::Check;
use super::installation::Installation;
use conclaude_core::event::EventKind;
use conclaude_core::text::count;
use conclaude_engine::install::registration;
use conclaude_engine::install::scope::Scope;
use conclaude_store::store;

#[derive(Serialize)]
pub(super) struct Arrival {
    pub(super) event: &'static str,
    pub(super) last: Option<String>,
    #[serde(skip)]
    pub(super) words: String,
}

/// When each event that is needed last arrived. Before conclaude is registered none can: that is one problem, not many.
pub(super) fn arrivals(installation: &Installation) -> Vec<Arrival> {
    if installation.locations().is_empty() {
        return Vec::new();
    }
    let needed = registration::needed(&installation.effective_config(), "conclaude", Scope::Project);
    let folder = installation.root.folder.join(store::FOLDER).join("state/last");
    let one = |event: EventKind| {
        let time = folder.join(event.name()).metadata().and_then(|metadata| metadata.modified()).ok();
        let stamp = time.and_then(|time| jiff::Timestamp::try_from(time).ok());
        let last = stamp.map(|stamp| stamp.strftime("%FT%TZ").to_string());
        Arrival { event: event.name(), last, words: time.map_or_else(|| "never".into(), ago) }
    };
    needed.iter().map(|need| one(need.event)).collect()
}

fn ago(time: SystemTime) -> String {
    let seconds = time.elapsed().map_or(0, |age| age.as_secs());
    match seconds {
        0..60 => format!("{} ago", count(seconds, "second")),
        60..3_600 => format!("{} ago", count(seconds / 60, "minute")),
        3_600..86_400 => format!("{} ago", count(seconds / 3_600, "hour")),
        _ => format!("{} ago", count(seconds / 86_400, "day")),
    }
}

pub(super) fn check(installation: &Installation, arrivals: &[Arrival]) -> Option<Check> {
    if arrivals.is_empty() || arrivals.iter().any(|arrival| arrival.last.is_some()) {
        return None;
    }
    store::expect_arrivals(&installation.root.folder);
    Some(Check::warning(
        "arrivals",
        "no event has arrived from Claude Code yet, so nothing proves that it calls conclaude here",
        "start a session of Claude Code in this project, then look again",
    ))
}
