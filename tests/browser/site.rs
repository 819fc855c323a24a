//! The documentation opens from disk, with its search, and loads nothing from elsewhere.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::chromium::Browser;

/// What the search shows, which is in a shadow tree.
const RESULTS: &str =
    "[...document.querySelectorAll('*')].map(element => element.shadowRoot?.textContent ?? '').join(' ')";

#[test]
fn the_site_is_searched_from_disk() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let site = Path::new(env!("CARGO_TARGET_TMPDIR")).join("site");
    let built = Command::new(root.join("scripts/docs")).arg(&site).output().unwrap();
    assert!(built.status.success(), "{built:?}");
    let mut browser =
        Browser::open_until(&site.join("index.html"), "document.querySelector('.md-search__button')");
    browser.size(1300, 900);
    // The button works as soon as the page's script has run.
    browser.evaluate("new Promise(done => setTimeout(done, 2000))");
    browser.click(".md-search__button");
    browser.types("maxBlocks");
    let over = Instant::now() + Duration::from_secs(60);
    loop {
        let text = browser.evaluate(RESULTS);
        let text = text.as_str().unwrap_or_default();
        if text.contains("results") && text.contains("Configuration") {
            break;
        }
        assert!(Instant::now() < over, "nothing is found: {text}");
        std::thread::sleep(Duration::from_millis(100));
    }
    browser.screenshot("site-search");
    let is_elsewhere =
        |event: &String| !["\"url\":\"file:", "\"url\":\"data:"].iter().any(|url| event.contains(url));
    let complaints: Vec<String> = browser.complaints().into_iter().filter(is_elsewhere).collect();
    assert_eq!(complaints, [""; 0]);
}
