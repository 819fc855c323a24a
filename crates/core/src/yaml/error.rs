//! Why a text cannot be read, or its values do not make a struct.

use std::fmt;

use super::tree::Span;

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {}: {reason}", .span.line)]
pub struct SyntaxError {
    pub reason: String,
    pub span: Span,
}

/// Why values do not make a struct. Positions are found later, together with all other problems.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ValueError(pub(super) String);

impl serde::de::Error for ValueError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        ValueError(message.to_string())
    }
}
