//! One client each: how its payload becomes an event, what it can do at one, and how a result becomes an answer.

pub mod claude;
pub mod other_clients;
