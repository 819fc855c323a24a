//! One client each: how a result becomes exit code, stdout and stderr.

pub mod claude;
