//! Figures as a table, as JSON, and against those of an earlier run.

use std::path::Path;

use serde_json::{Value, json};

use crate::figures::Figures;

pub fn table(all: &[Figures]) {
    let empty = all.first().map_or(1.0, Figures::minimum_ms);
    println!("| case | minimum | median | × empty | memory |\n| --- | ---: | ---: | ---: | ---: |");
    for figures in all {
        println!(
            "| {} | {:.2} ms | {:.2} ms | {:.1} | {:.1} MB |",
            figures.name,
            figures.minimum_ms(),
            figures.median_ms(),
            figures.minimum_ms() / empty,
            figures.memory as f64 / 1e6
        );
    }
}

pub fn write_json(path: &Path, rounds: usize, size: u64, all: &[Figures]) -> Result<(), String> {
    let cases: Vec<Value> = all
        .iter()
        .map(|figures| {
            json!({
                "name": figures.name,
                "minimum_ms": figures.minimum_ms(),
                "median_ms": figures.median_ms(),
                "memory_bytes": figures.memory,
            })
        })
        .collect();
    let json = json!({"rounds": rounds, "binary_bytes": size, "cases": cases});
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    }
    std::fs::write(path, format!("{json:#}\n")).map_err(|error| format!("{}: {error}", path.display()))
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
        let now = figures.minimum_ms();
        println!("  {:<40} {before:.2} → {now:.2} ms  {:+.0} %", figures.name, (now / before - 1.0) * 100.0);
    }
    Ok(())
}
