//! Figures for people, for machines, and against what was promised.

use std::path::Path;

use serde_json::{Value, json};

use crate::measure::Figures;

fn ms(figures: &Figures) -> (f64, f64) {
    (figures.minimum.as_secs_f64() * 1e3, figures.median.as_secs_f64() * 1e3)
}

pub fn table(all: &[Figures]) {
    let base = all.first().map_or((1.0, 1.0), ms);
    println!("| case | minimum | median | × empty | memory |\n| --- | ---: | ---: | ---: | ---: |");
    for figures in all {
        let (minimum, median) = ms(figures);
        println!(
            "| {} | {minimum:.2} ms | {median:.2} ms | {:.1} | {:.1} MB |",
            figures.name,
            minimum / base.0,
            figures.memory as f64 / 1e6
        );
    }
}

pub fn as_json(figures: &Figures) -> Value {
    let (minimum, median) = ms(figures);
    json!({"name": figures.name, "minimum_ms": minimum, "median_ms": median, "memory_bytes": figures.memory})
}

/// What changed against an earlier run.
pub fn compare(path: &Path, all: &[Figures]) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let old: Value = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    println!("\nagainst {}:", path.display());
    for figures in all {
        let before = old["cases"].as_array().into_iter().flatten().find(|case| case["name"] == figures.name);
        let Some(before) = before.and_then(|case| case["minimum_ms"].as_f64()) else {
            println!("  {:<40} new", figures.name);
            continue;
        };
        let now = ms(figures).0;
        println!("  {:<40} {before:.2} → {now:.2} ms  {:+.0} %", figures.name, (now / before - 1.0) * 100.0);
    }
    Ok(())
}

/// Holds the figures against what is promised, as ratios within one run: the machine's speed cancels out.
pub fn limits(all: &[Figures], size: u64) -> Result<(), String> {
    let minimum = |name: &str| all.iter().find(|figures| figures.name == name).map(|figures| ms(figures).0);
    let mut missed = Vec::new();
    let mut hold = |what: String, has: Option<f64>, most: f64| match has {
        Some(has) if has <= most => println!("✓ {what}: {has:.2} (at most {most})"),
        Some(has) => missed.push(format!("✗ {what}: {has:.2} (at most {most})")),
        None => missed.push(format!("✗ {what}: not measured")),
    };
    let ratio = |a: &str, b: &str| Some(minimum(a)? / minimum(b)?);
    let empty = "an empty static program";
    println!();
    for name in ["PreToolUse, outside a gate", "SubagentStart", "SubagentStop, no match"] {
        hold(format!("{name}, × an empty program"), ratio(name, empty), 4.0);
    }
    let command = minimum("SubagentStop, one command").zip(minimum("SubagentStop, no match"));
    let added = command.zip(minimum("sh -c true")).map(|((one, none), sh)| (one - none) / sh);
    hold("what one command adds, × sh -c true".into(), added, 1.5);
    for kind in ["no markers", "markers"] {
        let name = |size: &str| format!("Gate 3, {size} transcript, {kind}");
        hold(format!("50 MB transcript, {kind}, × 40 KB"), ratio(&name("50 MB"), &name("40 KB")), 1.5);
        let memory = all.iter().find(|figures| figures.name == name("50 MB")).map(|f| f.memory as f64 / 1e6);
        hold(format!("memory for 50 MB, {kind}, MB"), memory, 8.0);
    }
    hold("1,000 patterns, × 20".into(), ratio("SubagentStop, 1,000 patterns", "SubagentStop, no match"), 3.0);
    hold("the binary, MB".into(), Some(size as f64 / 1e6), 5.0);
    if missed.is_empty() { Ok(()) } else { Err(missed.join("\n")) }
}
