//! Why a text is not read, or its values do not make a struct.

use std::fmt;

use serde::de::Error;

use super::tree::Span;

#[derive(Debug, PartialEq, Eq)]
pub struct SyntaxError {
    pub reason: String,
    pub span: Span,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.span.line, self.reason)
    }
}

/// Why values do not make a struct. Positions are found later, together with all other problems.
#[derive(Debug)]
pub struct ValueError(pub(super) String);

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ValueError {}

impl Error for ValueError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        ValueError(message.to_string())
    }
}
