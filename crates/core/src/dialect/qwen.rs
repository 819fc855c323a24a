//! Qwen Code.

use super::{Dialect, Fields};
use crate::event::EventKind;

pub const DIALECT: Dialect = Dialect { name: "qwen", title: "Qwen Code", sends, ignores, tools: &[] };

fn ignores(_: EventKind, _: &Fields) -> Option<&'static str> {
    None
}

fn sends(fields: &Fields) -> bool {
    fields.contains_key("timestamp") && fields.contains_key("permission_mode")
}
