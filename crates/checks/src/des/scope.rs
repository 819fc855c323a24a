//! Which files a step may touch.

use shell_effects::glob::{Glob, Kind};

/// No step needs more; each file is compared with all of it.
const MAX_PATTERN_BYTES: usize = 8 << 10;

/// The files that a step may touch: `*` stops at `/`, `**` crosses it, `dir/` covers its content; none means no limit.
#[derive(Clone, Debug)]
pub struct AllowedFiles {
    patterns: Vec<String>,
    globs: Vec<Glob>,
}

impl AllowedFiles {
    /// From the patterns of a step file.
    ///
    /// # Errors
    /// Says which pattern is broken.
    pub fn new(patterns: Vec<String>) -> Result<AllowedFiles, String> {
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
        Ok(AllowedFiles { patterns, globs })
    }

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

/// The scopes that a path must all be in: the step's own, and those of the agents that called. None means no limit.
#[derive(Clone, Debug, Default)]
pub struct Scope(Vec<AllowedFiles>);

impl Scope {
    /// From lists of patterns; an empty one is no limit.
    ///
    /// # Errors
    /// Says which pattern is broken.
    pub fn new(lists: &[Vec<String>]) -> Result<Scope, String> {
        let limits = lists.iter().filter(|patterns| !patterns.is_empty());
        limits.map(|patterns| AllowedFiles::new(patterns.clone())).collect::<Result<_, _>>().map(Scope)
    }

    /// One step's own.
    #[must_use]
    pub fn of(allowed: AllowedFiles) -> Scope {
        Scope(if allowed.is_limited() { vec![allowed] } else { Vec::new() })
    }

    #[must_use]
    pub fn is_limited(&self) -> bool {
        !self.0.is_empty()
    }

    /// Whether a path, relative to the root, may be touched.
    #[must_use]
    pub fn permits(&self, path: &str) -> bool {
        self.0.iter().all(|allowed| allowed.permits(path))
    }

    /// The patterns in words, the step's own first, each as `shown` has it.
    #[must_use]
    pub fn describe(&self, shown: impl Fn(&str) -> String) -> String {
        let lists = self.0.iter().rev().map(|allowed| {
            allowed.patterns().iter().map(|pattern| shown(pattern)).collect::<Vec<_>>().join(", ")
        });
        lists.collect::<Vec<_>>().join(", as far as it is in the caller's ")
    }
}

impl std::fmt::Display for Scope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.describe(str::to_owned))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(patterns: &[&str]) -> AllowedFiles {
        AllowedFiles::new(patterns.iter().map(|pattern| (*pattern).to_owned()).collect()).unwrap()
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
            assert!(AllowedFiles::new(vec!["src/**".into(), blank.into()]).unwrap_err().contains("blank"));
        }
        assert!(AllowedFiles::new(vec!["*a".repeat(500); 100]).unwrap_err().contains("at most 8192"));
        assert!(!allowed(&["**"]).permits(&"a".repeat(5_000)), "what cannot be compared is not permitted");
        assert!(allowed(&[]).permits("anything") && !allowed(&[]).is_limited());
        assert!(AllowedFiles::new(vec!["[a".into()]).unwrap_err().contains("`[a` is broken"));
    }

    #[test]
    fn a_path_must_be_in_every_scope() {
        let lists = |lists: &[&[&str]]| -> Vec<Vec<String>> {
            lists.iter().map(|list| list.iter().map(|one| (*one).to_owned()).collect()).collect()
        };
        let scope = Scope::new(&lists(&[&["src/**", "docs/**"], &["**/*.rs"], &[]])).unwrap();
        for (path, permitted) in
            [("src/a.rs", true), ("src/a.py", false), ("tests/a.rs", false), ("docs/a.rs", true)]
        {
            assert_eq!(scope.permits(path), permitted, "{path}");
        }
        assert_eq!(scope.to_string(), "**/*.rs, as far as it is in the caller's src/**, docs/**");
        let free = Scope::new(&lists(&[&[], &[]])).unwrap();
        assert!(!free.is_limited() && free.permits("../x"));
        assert!(Scope::new(&lists(&[&["src/**"], &["[a"]])).is_err());
    }
}
