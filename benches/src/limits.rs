//! The limits of docs/explanation/performance.md, as ratios within one run: the machine's speed cancels out.

use crate::cases::INSTALLED;
use crate::figures::Figures;

pub fn check(all: &[Figures], size: u64) -> Result<(), String> {
    let limits = [
        no_work(all),
        commands(all),
        patterns(all),
        shell(all),
        prompts(all),
        budgets(all),
        gates(all),
        transcripts(all),
        installed(all),
    ];
    let binary = Limit { what: "the binary, MB".into(), value: Some(size as f64 / 1e6), max: 12.0 };
    let mut missed = 0;
    println!();
    for Limit { what, value, max } in limits.into_iter().flatten().chain([binary]) {
        let is_kept = value.is_some_and(|value| value <= max);
        let value = value.map_or("not measured".to_owned(), |value| format!("{value:.2}"));
        println!("{} {what}: {value} (at most {max})", if is_kept { '✓' } else { '✗' });
        missed += usize::from(!is_kept);
    }
    if missed == 0 { Ok(()) } else { Err(format!("{missed} limits missed")) }
}

struct Limit {
    what: String,
    /// None if a case that it needs was not measured.
    value: Option<f64>,
    max: f64,
}

fn of<'a>(all: &'a [Figures], name: &str) -> Option<&'a Figures> {
    all.iter().find(|figures| figures.name == name)
}

fn minimum(all: &[Figures], name: &str) -> Option<f64> {
    of(all, name).map(Figures::minimum_ms)
}

/// The time of one case as a multiple of that of another.
fn ratio(all: &[Figures], name: &str, base: &str, max: f64) -> Limit {
    let value = minimum(all, name).zip(minimum(all, base)).map(|(time, base)| time / base);
    Limit { what: format!("{name}, × {base}"), value, max }
}

fn no_work(all: &[Figures]) -> Vec<Limit> {
    let names = ["PreToolUse, outside a gate", "SubagentStart", "SubagentStop, no match"];
    names.map(|name| ratio(all, name, "an empty static program", 6.0)).into()
}

fn commands(all: &[Figures]) -> Vec<Limit> {
    // The first one also writes a record. The nine that follow it show what a command costs.
    let first = difference(all, "SubagentStop, one command", "SubagentStop, no match");
    let further =
        difference(all, "SubagentStop, ten commands", "SubagentStop, one command").map(|added| added / 9.0);
    let shell = minimum(all, "sh -c true");
    let limit = |what: &str, added: Option<f64>, max: f64| Limit {
        what: what.into(),
        value: added.zip(shell).map(|(added, shell)| added / shell),
        max,
    };
    vec![
        limit("what the first command and its record add, × sh -c true", first, 3.0),
        limit("what a further command adds, × sh -c true", further, 1.5),
    ]
}

fn difference(all: &[Figures], more: &str, less: &str) -> Option<f64> {
    Some(minimum(all, more)? - minimum(all, less)?)
}

fn shell(all: &[Figures]) -> Vec<Limit> {
    let (short, long) = ("PreToolUse, a shell command", "PreToolUse, 64 KiB of shell");
    let packs = "PreToolUse, a shell command, four packs";
    let added = minimum(all, long).zip(minimum(all, short)).map(|(long, short)| long - short);
    vec![
        ratio(all, short, "an empty static program", 8.0),
        ratio(all, "a shell command of Gemini CLI", "an empty static program", 8.0),
        ratio(all, "a patch of Codex", "an empty static program", 8.0),
        ratio(all, packs, "an empty static program", 12.0),
        Limit { what: "what 64 KiB of shell add, ms".into(), value: added, max: 40.0 },
    ]
}

fn patterns(all: &[Figures]) -> Vec<Limit> {
    let growth = || {
        let none = minimum(all, "SubagentStop, no patterns")?;
        let hundred = minimum(all, "SubagentStop, 100 patterns")?;
        Some((minimum(all, "SubagentStop, 200 patterns")? - none) / (hundred - none))
    };
    vec![Limit { what: "what 200 patterns add, × what 100 do".into(), value: growth(), max: 2.6 }]
}

fn prompts(all: &[Figures]) -> Vec<Limit> {
    let (none, twenty) = ("UserPromptSubmit, no expressions", "UserPromptSubmit, 20 expressions");
    let added = minimum(all, twenty).zip(minimum(all, none)).map(|(twenty, none)| twenty - none);
    vec![Limit { what: "what 20 regular expressions add, ms".into(), value: added, max: 0.5 }]
}

fn budgets(all: &[Figures]) -> Vec<Limit> {
    let added = difference(all, "PreToolUse, a budget", "PreToolUse, no budget");
    vec![Limit { what: "what a budget adds, ms".into(), value: added, max: 0.2 }]
}

/// What `cargo install` gives, against what is shipped: each after subtracting an empty program that is linked in the same way.
fn installed(all: &[Figures]) -> Vec<Limit> {
    let limit = |(shipped, installed): (&str, &str)| {
        let ratio = || {
            let of_installed = minimum(all, installed)? - minimum(all, "an empty dynamic program")?;
            Some(of_installed / (minimum(all, shipped)? - minimum(all, "an empty static program")?))
        };
        Limit { what: format!("{installed}, × the static binary"), value: ratio(), max: 1.5 }
    };
    INSTALLED.map(limit).into()
}

fn gates(all: &[Figures]) -> Vec<Limit> {
    vec![
        ratio(all, "Gate 1, 500 files", "git status, 500 files", 4.0),
        ratio(all, "Gate 3, 500 files", "git status, 500 files", 4.0),
        ratio(all, "Gate 3, 500 files, one command", "git status, 500 files", 6.0),
        ratio(all, "PostToolUse, enforced, 500 files", "git status, 500 files", 4.0),
        ratio(all, "PostToolUse, enforced, a command that reads", "an empty static program", 8.0),
        ratio(all, "Gate 3, 100,000 files", "git status, 100,000 files", 4.0),
        ratio(all, "Gate 3, evidence, 100,000 records", "Gate 3, evidence, 100 records", 1.2),
    ]
}

fn transcripts(all: &[Figures]) -> Vec<Limit> {
    let mut limits = Vec::new();
    for kind in ["no markers", "markers"] {
        let name = |size: &str| format!("Gate 3, {size} transcript, {kind}");
        limits.push(ratio(all, &name("50 MB"), &name("40 KB"), 1.5));
        let memory = of(all, &name("50 MB")).map(|figures| figures.memory as f64 / 1e6);
        limits.push(Limit { what: format!("memory for 50 MB, {kind}, MB"), value: memory, max: 8.0 });
    }
    limits
}
