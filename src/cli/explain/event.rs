//! The event that a user names: in any case, by its name or by its section.

use anyhow::{anyhow, bail};

use conclaude_core::event::{ALL, EventKind};
use conclaude_core::text::nearest;

pub(super) fn named(typed: &str) -> anyhow::Result<EventKind> {
    let folded = |text: &str| text.replace(['-', '_', ' '], "").to_lowercase();
    let wanted = folded(typed);
    if let Some(event) = ALL.iter().find(|event| folded(event.name()) == wanted) {
        return Ok(*event);
    }
    if let Some(near) = nearest(typed, ALL.iter().map(|event| event.name())) {
        bail!("unknown event `{typed}`; did you mean `{near}`?");
    }
    // A newer Claude Code may have it; its commands run.
    EventKind::named_or_future(typed)
        .or_else(|| EventKind::of_section_or_future(typed))
        .ok_or_else(|| anyhow!("unknown event `{typed}`; `conclaude events` lists them"))
}
