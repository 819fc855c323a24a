//! How thorough a property test is.

/// How many cases it tries: few locally, many in CI.
pub(crate) fn cases(local: u32, ci: u32) -> u32 {
    if std::env::var_os("CI").is_some() { ci } else { local }
}
