//! Changing a step as JSON, so that unknown fields and their order stay.

use std::io;

use serde_json::{Map, Value};

use super::Step;
use super::phase::name_of;

impl Step {
    /// The entry of a phase, inserted at its position if it is not there.
    pub(in crate::des) fn phase_mut(
        &mut self,
        name: &str,
        phases: &[String],
    ) -> Option<&mut Map<String, Value>> {
        let path = self.log_path();
        let root = self.json.as_object_mut()?;
        let mut here = root;
        for part in path {
            here = here.entry(part).or_insert_with(|| Value::Object(Map::new())).as_object_mut()?;
        }
        let log =
            here.entry("phase_execution_log").or_insert_with(|| Value::Array(Vec::new())).as_array_mut()?;
        let position = log.iter().position(|entry| name_of(entry).as_deref() == Some(name));
        let position = position.unwrap_or_else(|| {
            let rank = |entry: &Value| phases.iter().position(|known| Some(known) == name_of(entry).as_ref());
            let own = phases.iter().position(|known| known == name);
            let at = log.iter().position(|entry| rank(entry) > own).unwrap_or(log.len());
            log.insert(
                at,
                serde_json::json!({ "phase_name": name, "phase_index": own, "status": "NOT_EXECUTED" }),
            );
            at
        });
        log.get_mut(position)?.as_object_mut()
    }

    /// Where the log is: in the root's `tdd_cycle` unless the file keeps it elsewhere.
    fn log_path(&self) -> Vec<String> {
        let paths: [&[&str]; 4] =
            [&["tdd_cycle"], &["task_specification", "tdd_cycle"], &[], &["task_specification"]];
        let found = paths.iter().find(|path| {
            let pointer: String = path.iter().map(|part| format!("/{part}")).collect();
            self.json.pointer(&format!("{pointer}/phase_execution_log")).is_some_and(Value::is_array)
        });
        found.unwrap_or(&paths[0]).iter().map(|part| (*part).to_owned()).collect()
    }

    pub(in crate::des) fn set_state(&mut self, name: &str, value: Value) {
        let in_specification =
            self.json.get("state").is_none() && self.json.pointer("/task_specification/state").is_some();
        let Some(mut root) = self.json.as_object_mut() else { return };
        if in_specification {
            match root.get_mut("task_specification").and_then(Value::as_object_mut) {
                Some(inner) => root = inner,
                None => return,
            }
        }
        let state = root.entry("state").or_insert_with(|| Value::Object(Map::new()));
        if !state.is_object() {
            *state = Value::Object(Map::new());
        }
        if let Some(state) = state.as_object_mut() {
            state.insert(name.to_owned(), value);
        }
    }

    pub(super) fn render(&self, indent: &str) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        let formatter = serde_json::ser::PrettyFormatter::with_indent(indent.as_bytes());
        let mut serializer = serde_json::Serializer::with_formatter(&mut out, formatter);
        serde::Serialize::serialize(&self.json, &mut serializer)?;
        Ok(out)
    }
}
