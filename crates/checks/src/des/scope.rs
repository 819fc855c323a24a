//! Which files a step may touch.

use shell_effects::glob::{Glob, GlobKind};
use thiserror::Error;

/// No step needs longer patterns. Each file is compared with all of them.
const MAX_PATTERN_BYTES: usize = 8 << 10;

/// Why `allowed_file_patterns` cannot be used.
#[derive(Debug, Error)]
pub enum ScopePatternError {
    #[error("the patterns have {0} bytes together, at most {MAX_PATTERN_BYTES} are read")]
    TooLong(usize),
    #[error("a pattern is blank")]
    Blank,
    #[error("the pattern `{pattern}` is broken: {reason}")]
    Broken { pattern: String, reason: String },
}

/// The files that a step may change: `*` stops at `/`, `**` crosses it, `dir/` covers its content. Without patterns there is no
/// limit.
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
    pub fn new(patterns: Vec<String>) -> Result<AllowedFiles, ScopePatternError> {
        let total: usize = patterns.iter().map(String::len).sum();
        if total > MAX_PATTERN_BYTES {
            return Err(ScopePatternError::TooLong(total));
        }
        let mut globs = Vec::new();
        for pattern in &patterns {
            let plain = pattern.trim().trim_start_matches("./").trim_start_matches('/');
            let whole = match plain {
                // Probably an unset variable: it must not mean everything.
                _ if pattern.trim().is_empty() => return Err(ScopePatternError::Blank),
                "" | "." => "**".to_owned(),
                folder if folder.ends_with('/') => format!("{folder}**"),
                other => other.to_owned(),
            };
            match Glob::new(&whole, GlobKind::Path) {
                Ok(glob) => globs.push(glob),
                Err(error) => {
                    let (pattern, reason) = (pattern.clone(), error.to_string());
                    return Err(ScopePatternError::Broken { pattern, reason });
                }
            }
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

    /// Whether a path, relative to the root, may be changed.
    #[must_use]
    pub fn permits(&self, path: &str) -> bool {
        !self.is_limited()
            || (!path.starts_with("../") && self.globs.iter().any(|glob| glob.matches(path) == Some(true)))
    }
}

/// The scopes of the step and of the calling agents. A path must match all of them. Without any there is no limit.
#[derive(Clone, Debug, Default)]
pub struct Scope(Vec<AllowedFiles>);

impl Scope {
    /// From lists of patterns. An empty list sets no limit.
    ///
    /// # Errors
    /// Says which pattern is broken.
    pub fn new(lists: &[Vec<String>]) -> Result<Scope, ScopePatternError> {
        let limits = lists.iter().filter(|patterns| !patterns.is_empty());
        limits.map(|patterns| AllowedFiles::new(patterns.clone())).collect::<Result<_, _>>().map(Scope)
    }

    /// The scope of one step.
    #[must_use]
    pub fn of(allowed: AllowedFiles) -> Scope {
        Scope(if allowed.is_limited() { vec![allowed] } else { Vec::new() })
    }

    #[must_use]
    pub fn is_limited(&self) -> bool {
        !self.0.is_empty()
    }

    /// Whether a path, relative to the root, may be changed.
    #[must_use]
    pub fn permits(&self, path: &str) -> bool {
        self.0.iter().all(|allowed| allowed.permits(path))
    }

    /// The patterns as text, the step's own first. `shown` formats each.
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
            assert!(
                AllowedFiles::new(vec!["src/**".into(), blank.into()])
                    .unwrap_err()
                    .to_string()
                    .contains("blank")
            );
        }
        assert!(
            AllowedFiles::new(vec!["*a".repeat(500); 100]).unwrap_err().to_string().contains("at most 8192")
        );
        assert!(!allowed(&["**"]).permits(&"a".repeat(5_000)), "what cannot be compared is not permitted");
        assert!(allowed(&[]).permits("anything") && !allowed(&[]).is_limited());
        assert!(AllowedFiles::new(vec!["[a".into()]).unwrap_err().to_string().contains("`[a` is broken"));
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
