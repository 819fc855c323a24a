//! What markers are made of: `<!-- DES-KEY: value -->`.

pub(super) const OPEN: &str = "<!--";
pub(super) const CLOSE: &str = "-->";
pub(super) const KEYS: [&str; 5] = ["VALIDATION", "STEP-FILE", "AGENT", "COMMAND", "PROJECT-ID"];
