//! Phases in their order: in the log, by their index, and by their times.

use jiff::Timestamp;
use jiff::civil::DateTime;

use crate::des::step::Phase;
use conclaude_core::finding::{Code, Finding};

/// A phase of the list, with its position there.
type RankedPhase<'a> = (usize, &'a Phase);

pub(super) fn check(log: &[Phase], phases: &[String], found: &mut Vec<Finding>) {
    let rank = |phase: &Phase| phases.iter().position(|known| *known == phase.name);
    let known: Vec<RankedPhase<'_>> = log.iter().filter_map(|phase| Some((rank(phase)?, phase))).collect();
    positions(&known, found);
    indices(&known, found);
    times(&known, found);
}

fn violation(phase: &Phase, what: String, fix: &str) -> Finding {
    Finding::new(Code::PhaseOrder, what, fix).in_phase(&phase.name)
}

fn positions(known: &[RankedPhase<'_>], found: &mut Vec<Finding>) {
    for pair in known.windows(2) {
        if let [(before, earlier), (after, later)] = pair
            && after < before
        {
            let what = format!("it comes after {}", earlier.name);
            found.push(violation(later, what, "keep the order of the list"));
        }
    }
}

fn indices(known: &[RankedPhase<'_>], found: &mut Vec<Finding>) {
    // Files count from 0 or from 1, but each of them in one way.
    let first = known.iter().find_map(|(rank, phase)| Some(phase.index? - i64::try_from(*rank).ok()?));
    let offset = first.filter(|offset| matches!(offset, 0 | 1)).unwrap_or(0);
    for (rank, phase) in known {
        let expected = i64::try_from(*rank).unwrap_or(i64::MAX).saturating_add(offset);
        if let Some(index) = phase.index.filter(|index| *index != expected) {
            let what = format!("its phase_index is {index}, expected {expected}");
            found.push(violation(phase, what, "do not change phase_index"));
        }
    }
}

fn times(known: &[RankedPhase<'_>], found: &mut Vec<Finding>) {
    // The latest end so far, of times with a zone and of those without.
    let mut latest: [Option<(PhaseTime, &str)>; 2] = [None, None];
    for (_, phase) in known {
        let read = |time: &Option<String>| time.as_deref().and_then(PhaseTime::read);
        let started = read(&phase.started_at);
        let is_early = |ended: &PhaseTime| started.as_ref().is_some_and(|time| time.is_before(ended));
        if let Some((_, earlier)) = latest.iter().flatten().find(|(ended, _)| is_early(ended)) {
            let what = format!("it started before {earlier} had ended");
            let fix = "do one phase after the other; `conclaude des` takes the times from the clock";
            found.push(violation(phase, what, fix));
        }
        if let Some(ended) = read(&phase.ended_at)
            && let [zoned, civil] = &mut latest
        {
            let slot = if matches!(ended, PhaseTime::Zoned(_)) { zoned } else { civil };
            if slot.as_ref().is_none_or(|(last, _)| last.is_before(&ended)) {
                *slot = Some((ended, &phase.name));
            }
        }
    }
}

/// A time with a zone or without one; the two cannot be compared.
enum PhaseTime {
    Zoned(Timestamp),
    Civil(DateTime),
}

impl PhaseTime {
    fn read(text: &str) -> Option<PhaseTime> {
        let text = text.trim();
        text.parse().map(PhaseTime::Zoned).or_else(|_| text.parse().map(PhaseTime::Civil)).ok()
    }

    fn is_before(&self, other: &PhaseTime) -> bool {
        match (self, other) {
            (PhaseTime::Zoned(a), PhaseTime::Zoned(b)) => a < b,
            (PhaseTime::Civil(a), PhaseTime::Civil(b)) => a < b,
            _ => false,
        }
    }
}
