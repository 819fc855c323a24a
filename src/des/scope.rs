//! Which files a step may touch.

use crate::glob::{Glob, Kind};

/// No step needs more; each file is compared with all of it.
const MAX_PATTERN_BYTES: usize = 8 << 10;

/// The files that a step may touch: `*` stops at `/`, `**` crosses it, `dir/` covers its content; none means no limit.
#[derive(Clone, Debug)]
pub struct Allowed {
    patterns: Vec<String>,
    globs: Vec<Glob>,
}

impl Allowed {
    /// From the patterns of a step file.
    ///
    /// # Errors
    /// Says which pattern is broken.
    pub fn new(patterns: Vec<String>) -> Result<Allowed, String> {
        let total: usize = patterns.iter().map(String::len).sum();
        if total > MAX_PATTERN_BYTES {
            return Err(format!(
                "the patterns have {total} bytes together, at most {MAX_PATTERN_BYTES} are read"
            ));
        }
        let mut globs = Vec::new();
        for pattern in &patterns {
            let plain = pattern.trim().trim_start_matches("./").trim_start_matches('/');
            let whole = match plain {
                // Most likely a variable that was not set: it must not mean everything.
                _ if pattern.trim().is_empty() => return Err("a pattern is blank".into()),
                "" | "." => "**".to_owned(),
                folder if folder.ends_with('/') => format!("{folder}**"),
                other => other.to_owned(),
            };
            let glob = Glob::new(&whole, Kind::Path);
            globs.push(glob.map_err(|error| format!("the pattern `{pattern}` is broken: {error}"))?);
        }
        Ok(Allowed { patterns, globs })
    }

    /// Whether there is any limit.
    #[must_use]
    pub fn is_limited(&self) -> bool {
        !self.patterns.is_empty()
    }

    /// The patterns as written.
    #[must_use]
    pub fn patterns(&self) -> &[String] {
        &self.patterns
    }

    /// Whether a path, relative to the root, may be touched.
    #[must_use]
    pub fn permits(&self, path: &str) -> bool {
        !self.is_limited()
            || (!path.starts_with("../") && self.globs.iter().any(|glob| glob.matches(path) == Some(true)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(patterns: &[&str]) -> Allowed {
        Allowed::new(patterns.iter().map(|pattern| (*pattern).to_owned()).collect()).unwrap()
    }

    #[test]
    fn patterns_are_those_of_paths() {
        let some = allowed(&["src/*.rs", "tests/**", "docs/", "./README.md"]);
        for yes in ["src/a.rs", "tests/a", "tests/a/b.rs", "docs/x", "docs/a/b", "README.md"] {
            assert!(some.permits(yes), "{yes}");
        }
        for no in
            ["src/a/b.rs", "src/a.py", "docs", "README", "x/README.md", "../src/a.rs", "src/../Cargo.toml"]
        {
            assert!(!some.permits(no), "{no}");
        }
        assert!(
            allowed(&["/"]).permits("a/b") && allowed(&["."]).permits("a") && allowed(&["./"]).permits("a")
        );
        for blank in ["", "  "] {
            assert!(Allowed::new(vec!["src/**".into(), blank.into()]).unwrap_err().contains("blank"));
        }
        assert!(Allowed::new(vec!["*a".repeat(500); 100]).unwrap_err().contains("at most 8192"));
        assert!(!allowed(&["**"]).permits(&"a".repeat(5_000)), "what cannot be compared is not permitted");
        assert!(allowed(&[]).permits("anything") && !allowed(&[]).is_limited());
        assert!(Allowed::new(vec!["[a".into()]).unwrap_err().contains("`[a` is broken"));
    }
}
