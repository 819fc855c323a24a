//! The user's hooks: their commands, and the text without some of them.

use jsonc_parser::ast::Value as Node;
use jsonc_parser::parse_to_ast;
use serde_json::Value;

use super::document::{Container, Document, options};
use super::edit::{edit, hooks_member, list_of};
use super::read::{BOM, Refusal, calls_us, hooks_of, is_ours};

/// One hook that is not ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserHook {
    pub event: String,
    pub matcher: Option<String>,
    pub hook: Value,
}

impl UserHook {
    /// Its command, if it has one.
    pub fn command(&self) -> Option<&str> {
        let kind = self.hook.get("type").and_then(Value::as_str).unwrap_or("command");
        if kind == "command" { self.hook.get("command").and_then(Value::as_str) } else { None }
    }
}

/// The user's hooks, in the order of the file. Empty if it cannot be read.
pub fn user_hooks(text: &str) -> Vec<UserHook> {
    let text = text.strip_prefix(BOM).unwrap_or(text);
    let parsed = parse_to_ast(text, &Default::default(), &options(true));
    let json = parsed.ok().and_then(|parsed| parsed.value).map(Value::from).unwrap_or_default();
    let mut found = Vec::new();
    for (event, groups) in json.get("hooks").and_then(Value::as_object).into_iter().flatten() {
        for group in groups.as_array().into_iter().flatten() {
            let command =
                |hook: &Value| hook.get("command").and_then(Value::as_str).unwrap_or_default().to_owned();
            let theirs =
                hooks_of(group).filter(|hook| !is_ours(hook, event) && !calls_us(&command(hook), event));
            let matcher = group.get("matcher").and_then(Value::as_str);
            found.extend(theirs.map(|hook| UserHook {
                event: event.clone(),
                matcher: matcher.map(str::to_owned),
                hook: hook.clone(),
            }));
        }
    }
    found
}

/// The text without these hooks. Objects and lists that become empty are removed too.
pub fn without(text: &str, hooks: &[UserHook]) -> Result<String, Refusal> {
    edit(text, |mut text| {
        for hook in hooks {
            text = without_one(&text, hook)?;
        }
        Ok(text)
    })
}

fn without_one(text: &str, gone: &UserHook) -> Result<String, Refusal> {
    let document = Document::parse(text)?;
    let Some((hooks_index, hooks)) = hooks_member(&document)? else { return Ok(text.to_owned()) };
    let mut events = hooks.properties.iter().enumerate();
    let Some((event_index, property)) = events.find(|(_, one)| one.name.as_str() == gone.event) else {
        return Ok(text.to_owned());
    };
    let list = list_of(&property.value, &gone.event)?;
    for (group_index, group) in list.elements.iter().enumerate() {
        let Node::Object(object) = group else { continue };
        let value = Value::from(group.clone());
        let Some(Node::Array(inner)) =
            object.properties.iter().find(|one| one.name.as_str() == "hooks").map(|one| &one.value)
        else {
            continue;
        };
        if value.get("matcher").and_then(Value::as_str) != gone.matcher.as_deref() {
            continue;
        }
        let at = inner.elements.iter().position(|hook| Value::from(hook.clone()) == gone.hook);
        let Some(at) = at else { continue };
        let levels = [
            (Container::object(&document.root), hooks_index),
            (Container::object(hooks), event_index),
            (Container::list(list), group_index),
            (Container::list(inner), at),
        ];
        return Ok(outermost(&document, &levels));
    }
    Ok(text.to_owned())
}

/// Removes the innermost member, and each container that has nothing else. Comments stay, because they are not ours.
fn outermost(document: &Document<'_>, levels: &[(Container, usize)]) -> String {
    let mut gone: Option<(_, bool)> = None;
    for (container, index) in levels.iter().rev() {
        let Some(range) = container.member(*index) else { break };
        if let Some((inner, is_only)) = gone
            && (!is_only || document.has_comments_around(range, inner))
        {
            break;
        }
        gone = Some((range, container.only_member().is_some()));
    }
    let level = levels.iter().find(|(container, index)| {
        container.member(*index).zip(gone).is_some_and(|(range, (gone, _))| range == gone)
    });
    level.map_or_else(String::new, |(container, index)| document.remove(container, *index))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{
  "model": "opus",
  "hooks": {
    "SubagentStop": [
      {
        "matcher": "coder",
        "hooks": [
          {"type": "command", "command": "npm run lint"},
          {"type": "command", "command": "npm test"}
        ]
      },
      {"hooks": [{"type": "command", "command": "conclaude SubagentStop"}]}
    ],
    "Stop": [{"hooks": [{"type": "command", "command": "make"}]}]
  }
}
"#;

    #[test]
    fn hooks_of_the_user_are_not_taken_for_ours() {
        let found: Vec<(String, Option<String>)> = user_hooks(TEXT)
            .iter()
            .map(|one| (one.command().unwrap().to_owned(), one.matcher.clone()))
            .collect();
        let coder = Some("coder".to_owned());
        assert_eq!(
            found,
            [("npm run lint".into(), coder.clone()), ("npm test".into(), coder), ("make".into(), None)]
        );
        assert_eq!(user_hooks("[]"), []);
        assert_eq!(user_hooks("{"), []);
    }

    #[test]
    fn what_is_taken_over_is_removed_and_the_rest_stays_as_it_is() {
        let all = user_hooks(TEXT);
        insta::assert_snapshot!(without(TEXT, &all[..1]).unwrap(), @r#"
        {
          "model": "opus",
          "hooks": {
            "SubagentStop": [
              {
                "matcher": "coder",
                "hooks": [
                  {"type": "command", "command": "npm test"}
                ]
              },
              {"hooks": [{"type": "command", "command": "conclaude SubagentStop"}]}
            ],
            "Stop": [{"hooks": [{"type": "command", "command": "make"}]}]
          }
        }
        "#);
        insta::assert_snapshot!(without(TEXT, &all).unwrap(), @r#"
        {
          "model": "opus",
          "hooks": {
            "SubagentStop": [
              {"hooks": [{"type": "command", "command": "conclaude SubagentStop"}]}
            ]
          }
        }
        "#);
        let only = r#"{"hooks": {"Stop": [{"hooks": [{"command": "make"}]}]}, "model": "opus"}"#;
        assert_eq!(without(only, &user_hooks(only)).unwrap(), r#"{"model": "opus"}"#);
    }
}
