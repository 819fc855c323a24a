//! Long reports, and those over several projects: a page of 1,000 sessions or 100,000 records.

use serde_json::json;

use super::page;
use crate::chromium::Browser;
use crate::common::trail::long_trail;
use crate::common::transcripts::Transcripts;
use crate::common::{Test, conclaude_in};

/// Sessions of several projects, models and days; made up, in the forms of several versions of Claude Code.
const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/transcripts");

#[test]
fn usage_is_shown_by_day_model_project_and_branch_at_any_width() {
    let test = Test::stop();
    let path = test.root().join("report.html");
    let mut command = conclaude_in(&test.root());
    command.env("CLAUDE_CONFIG_DIR", FIXTURES).args(["report", "--all-projects", "-o"]).arg(&path);
    assert!(command.output().unwrap().status.success());
    let mut browser = Browser::open(&path);
    for (width, theme) in [(1400, "light"), (1400, "dark"), (420, "dark"), (420, "light")] {
        browser.size(width, 900);
        browser.evaluate(&format!("document.documentElement.dataset.theme = '{theme}'; recolour()"));
        browser.whole_page(&format!("usage-{width}-{theme}"));
        let overflows = "document.documentElement.scrollWidth > innerWidth";
        assert_eq!(browser.evaluate(overflows), false, "{width}: nothing to scroll to the side");
        let tops = "['theme', 'keys'].map(id => document.getElementById(id).offsetTop)";
        let tops = browser.evaluate(tops);
        assert_eq!(tops[0], tops[1], "{width}: `?` is beside its neighbour");
    }
    // On a narrow screen the rows of a table are cards with all their figures.
    let cut = "[...document.querySelectorAll('#agents-section td')].filter(cell => cell.textContent && cell.getBoundingClientRect().right > innerWidth).length";
    assert_eq!(browser.evaluate(cut), 0);
    let label = "getComputedStyle(document.querySelector('#agents-section td.n'), '::before').content";
    assert_eq!(browser.evaluate(label), "\"time\"");
    browser.size(1400, 900);
    assert_eq!(browser.count(".bar"), 6, "a bar for each day");
    assert_eq!(browser.text("#usage-section h2"), "Cost by day");
    browser.evaluate("[...document.querySelectorAll('#usage-section button')].find(one => one.textContent === 'tokens').click()");
    browser.settle();
    assert!(browser.text("#usage-section .scale").contains("tokens"));
    assert_eq!(browser.count("#models-section tbody tr"), 7);
    assert!(browser.text("#models-section").contains("claude-next-9"));
    assert!(browser.text("#usage-section .note").contains("claude-next-9"), "a model without a price");
    for place in ["[data-card=cost]", "#sessions-section", "#agents-section"] {
        assert_eq!(browser.text(place).matches("+ ?").count(), 1, "{place} has a cost that lacks this model");
    }
    // A session is called by what was asked for; a click shows it alone.
    let sessions = browser.text("#sessions-section");
    assert!(sessions.contains("Add a discount to the cart."), "{sessions}");
    assert_eq!(browser.count("#sessions-section tr.group"), 5, "grouped by day");
    browser.click("#sessions-section tbody tr:nth-child(2)");
    assert_eq!((browser.count("#sessions-section tr[tabindex]"), browser.count(".bar")), (1, 1));
    browser.click("#clear");
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn a_page_of_1_000_sessions_is_small_and_loads_at_once() {
    let test = Test::stop();
    let mut start = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(24 * 90);
    for number in 0..1_000 {
        start += jiff::SignedDuration::from_mins(130);
        let mut all = Transcripts::of(&test.root(), &format!("{number:08}-aaaa-4aaa-8aaa-000000000001"));
        all.at(start);
        all.prompt(None, &format!("Change number {number}: make the list of orders faster for large shops"));
        for call in 0..12 {
            let id = format!("t{call}");
            let file = test.root().join(format!("src/module_{call}/file_{number}.ts"));
            all.calls(None, &id, "Edit", json!({"file_path": file, "old_string": "a", "new_string": "b"}));
            all.result(None, &id, "ok", false);
        }
        if number % 2 == 0 {
            all.meta("a1", "coder", "Write the tests of the change").prompt(Some("a1"), "Write the tests.");
            all.calls(
                Some("a1"),
                "b1",
                "Bash",
                json!({"command": "npm test -- --grep 'orders of large shops'"}),
            );
            all.result(Some("a1"), "b1", "ok", false).says(Some("a1"), "Done.");
        }
        all.says(None, "Done.");
    }
    let path = page(&test);
    let bytes = path.metadata().unwrap().len();
    assert!(bytes < 5_000_000, "{bytes} bytes");
    let mut browser = Browser::open(&path);
    let load = "performance.getEntriesByType('navigation')[0].domComplete";
    let load = browser.evaluate(load).as_f64().unwrap();
    println!("figure: {load:.0} ms to load a page of 1,000 sessions with {bytes} bytes");
    // It is to be under two seconds, on a machine that has nothing else to do.
    assert!(load < 30_000.0, "{load} ms");
    assert_eq!(browser.text("[data-card=sessions] b"), "1,000");
    browser.screenshot("sessions");
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn a_page_of_100_000_records_stays_smooth() {
    let test = Test::stop();
    long_trail(&test.root(), 100_000);
    let mut browser = Browser::open(&page(&test));
    assert_eq!(browser.text("#records-count"), "100,000");
    assert!(browser.count("#records .row") < 60, "only what is in view exists");
    browser.screenshot("many");
    browser.evaluate("document.getElementById('records').scrollTop = 1e9");
    browser.settle();
    assert!(browser.text("#records").contains("phase 100000 is missing"));
    // What the user waits for: each ends when it is painted.
    let load = "performance.getEntriesByType('navigation')[0].domComplete";
    let load = browser.evaluate(load).as_f64().unwrap();
    let waits = [
        ("to load", load),
        ("to filter", took(&mut browser, "document.querySelector('[data-decision=denied]').click()")),
        ("to clear", took(&mut browser, "document.getElementById('clear').click()")),
        (
            "to choose a session",
            took(
                &mut browser,
                "const list = document.getElementById('session'); list.selectedIndex = 2; list.dispatchEvent(new Event('change'))",
            ),
        ),
        ("to clear again", took(&mut browser, "document.getElementById('clear').click()")),
        (
            "to scroll 30 times",
            took(
                &mut browser,
                "for (let i = 0; i < 30; i++) { document.getElementById('records').scrollTop = i * 60000; await new Promise(requestAnimationFrame); }",
            ),
        ),
        (
            "to zoom 30 times",
            took(
                &mut browser,
                "for (let i = 0; i < 30; i++) { document.getElementById(i < 15 ? 'zoom-in' : 'zoom-out').click(); await new Promise(requestAnimationFrame); }",
            ),
        ),
    ];
    for (what, ms) in waits {
        println!("figure: {ms:.0} ms {what}");
        // A loaded machine is slow, and a page that draws all rows takes minutes.
        assert!(ms < 10_000.0, "{ms} ms {what}");
    }
    println!(
        "figure: {} ms the longest task",
        browser.evaluate("Math.round(Math.max(0, ...window.longTasks))")
    );
    browser.key("/");
    browser.types("denied phase_3");
    let found = browser.text("#records-count");
    assert_eq!(
        found,
        format!("{} of 100,000", thousands((1..=100_000).filter(|seq| seq % 7 == 4 && seq % 5 == 3).count()))
    );
    browser.screenshot("many-searched");
    assert_eq!(browser.complaints(), [""; 0]);
}

/// How long it takes until what the script does is painted.
fn took(browser: &mut Browser, script: &str) -> f64 {
    let timed = format!(
        "(async () => {{ const start = performance.now(); {script}; await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))); return performance.now() - start; }})()"
    );
    let ms = browser.evaluate(&timed).as_f64().unwrap();
    browser.settle();
    ms
}

fn thousands(number: usize) -> String {
    if number < 1_000 { number.to_string() } else { format!("{},{:03}", number / 1_000, number % 1_000) }
}
