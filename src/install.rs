//! What is registered with a client, and the files that a project starts with.

pub mod agents;
pub mod frontmatter;
pub mod registration;
pub mod settings;
pub mod starter;
