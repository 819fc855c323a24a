//! What one process tells another about transcripts, in lines of JSON: lists, of which the first value says what they are. Written by
//! hand: derived for all of these types it was 40 KB of the binary.

use std::path::Path;

use serde_json::{Value, json};

use super::seen::{At, Happened, Hit, Seen, Tally};
use super::state::Thread;
use conclaude_core::agent::Agent;
use conclaude_core::event::EventKind;
use conclaude_core::rule::Rule;
use conclaude_engine::hooks::replay::{Because, Planned, Would};
use conclaude_store::transcript::counts::UnreadLines;

/// A transcript that is to be read. None for one whose path is no text.
pub(super) fn of_thread(thread: &Thread) -> Option<Value> {
    let agent = thread
        .agent
        .as_ref()
        .map(|agent| json!([agent.name, agent.kind, agent.id, agent.description, agent.transcript]));
    let path = |path: &Path| path.to_str().map(Value::from);
    let root = match &thread.root {
        Some(root) => path(root)?,
        None => Value::Null,
    };
    let (main, own) = (path(&thread.main)?, path(&thread.path)?);
    Some(json!([thread.number, thread.session, main, own, thread.size, agent, root, thread.mode]))
}

pub(super) fn thread(line: &[u8]) -> Option<Thread> {
    let mut values = Values::of(serde_json::from_slice(line).ok()?)?;
    Some(Thread {
        number: values.index()?,
        session: values.text()?,
        main: values.text()?.into(),
        path: values.text()?.into(),
        size: values.number()?,
        agent: match values.0.next()? {
            Value::Null => None,
            agent => Some(self::agent(agent)?),
        },
        root: values.text_or_none()?.map(Into::into),
        mode: values.text_or_none()?,
    })
}

fn agent(value: Value) -> Option<Agent> {
    let mut values = Values::of(value)?;
    Some(Agent {
        name: values.text()?,
        kind: values.text_or_none()?,
        id: values.text_or_none()?,
        description: values.text_or_none()?,
        transcript: values.text_or_none()?,
    })
}

/// So many more bytes were read.
pub(super) fn of_progress(bytes: u64) -> Value {
    json!(["read", bytes])
}

/// The last line: without it the lines before it count for nothing.
pub(super) fn end() -> Value {
    json!(["end"])
}

/// Everything that was seen.
pub(super) fn of_seen(mut seen: Seen) -> impl Iterator<Item = Value> {
    let numbers: Vec<u64> = seen.numbers().map(|number| *number).into();
    let hits = seen.hits.into_iter().map(|((file, at), hit)| of_hit(file, at, &hit));
    let would = seen.would.into_iter().map(|(would, n)| json!(["would", would as usize, n]));
    let rules = seen
        .rules
        .into_iter()
        .map(|(rule, mut tally)| json!(["rule", of_rule(&rule), tally.numbers().map(|number| *number)]));
    let commands = seen
        .commands
        .into_iter()
        .map(|(command, n)| json!(["command", of_rule(&command.rule), command.run, command.can_block, n]));
    let unread = seen.counts.unread.into_iter();
    let unread = unread
        .map(|(what, UnreadLines { lines, first: (file, line) })| json!(["unread", what, lines, file, line]));
    let versions = seen.counts.versions.into_iter().map(|(version, n)| json!(["version", version, n]));
    let problems = seen.problems.into_iter().map(|problem| json!(["problem", problem]));
    let counted = would.chain(rules).chain(commands).chain(unread).chain(versions);
    let sessions = seen.sessions.into_iter().map(|session| json!(["session", session]));
    hits.chain(counted).chain(problems).chain(sessions).chain([json!(["numbers", numbers])])
}

fn of_hit(file: usize, number: u64, hit: &Hit) -> Value {
    let At { time, event, tool, what } = &hit.at;
    let reason = |one: &Because| json!([of_rule(&one.rule), one.matched, one.would as usize]);
    let because: Vec<Value> = hit.because.iter().map(reason).collect();
    json!([
        "hit",
        file,
        number,
        hit.session,
        hit.agent,
        time,
        event.name(),
        tool,
        what,
        hit.would as usize,
        hit.happened as usize,
        hit.differs,
        because
    ])
}

fn of_rule(rule: &Rule) -> Value {
    json!([rule.key, rule.pattern, rule.file, rule.line])
}

/// What a line says.
pub(super) enum Line {
    Read(u64),
    Seen(Box<Seen>),
    End,
}

/// None for what is no line of ours.
pub(super) fn line(text: &[u8]) -> Option<Line> {
    let mut values = Values::of(serde_json::from_slice(text).ok()?)?;
    let mut seen = Seen::default();
    match values.text()?.as_str() {
        "read" => return Some(Line::Read(values.number()?)),
        "end" => return Some(Line::End),
        "hit" => {
            let key = (values.index()?, values.number()?);
            seen.hits.insert(key, hit(&mut values)?);
        }
        "would" => drop(seen.would.insert(values.one_of(&Would::ALL)?, values.number()?)),
        "rule" => {
            let rule = rule(values.0.next()?)?;
            let mut tally = Tally::default();
            Values::of(values.0.next()?)?.fill(tally.numbers())?;
            seen.rules.insert(rule, tally);
        }
        "command" => {
            let rule = rule(values.0.next()?)?;
            let command = Planned { rule, run: values.text()?, can_block: values.0.next()?.as_bool()? };
            seen.commands.insert(command, values.number()?);
        }
        "unread" => {
            let (what, lines) = (values.text()?, values.number()?);
            let first = (values.text()?, values.0.next()?.as_u64());
            seen.counts.unread.insert(what, UnreadLines { lines, first });
        }
        "version" => drop(seen.counts.versions.insert(values.text()?, values.number()?)),
        "session" => drop(seen.sessions.insert(values.text()?)),
        "problem" => seen.problems.push(values.text()?),
        "numbers" => Values::of(values.0.next()?)?.fill(seen.numbers())?,
        _ => return None,
    }
    Some(Line::Seen(Box::new(seen)))
}

fn hit(values: &mut Values) -> Option<Hit> {
    Some(Hit {
        session: values.text()?,
        agent: values.text()?,
        at: At {
            time: values.text_or_none()?,
            event: EventKind::named(&values.text()?)?,
            tool: values.text_or_none()?,
            what: values.text()?,
        },
        would: values.one_of(&Would::ALL)?,
        happened: values.one_of(&Happened::ALL)?,
        differs: values.0.next()?.as_bool()?,
        because: Values::of(values.0.next()?)?.0.map(because).collect::<Option<_>>()?,
    })
}

fn because(value: Value) -> Option<Because> {
    let mut values = Values::of(value)?;
    let rule = rule(values.0.next()?)?;
    Some(Because { rule, matched: values.text()?, would: values.one_of(&Would::ALL)? })
}

fn rule(value: Value) -> Option<Rule> {
    let mut values = Values::of(value)?;
    Some(Rule {
        key: values.text()?,
        pattern: values.text_or_none()?,
        file: values.text_or_none()?,
        line: values.0.next()?.as_u64().and_then(|line| usize::try_from(line).ok()),
    })
}

/// The values of a list, in their order.
struct Values(std::vec::IntoIter<Value>);

impl Values {
    fn of(value: Value) -> Option<Values> {
        match value {
            Value::Array(values) => Some(Values(values.into_iter())),
            _ => None,
        }
    }

    fn text_or_none(&mut self) -> Option<Option<String>> {
        match self.0.next()? {
            Value::String(text) => Some(Some(text)),
            Value::Null => Some(None),
            _ => None,
        }
    }

    fn text(&mut self) -> Option<String> {
        self.text_or_none()?
    }

    fn number(&mut self) -> Option<u64> {
        self.0.next()?.as_u64()
    }

    fn index(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> Option<T> {
        all.get(self.index()?).copied()
    }

    fn fill<const N: usize>(&mut self, numbers: [&mut u64; N]) -> Option<()> {
        numbers.into_iter().try_for_each(|number| self.number().map(|n| *number = n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_are_sent_by_their_number() {
        assert!(Would::ALL.into_iter().enumerate().all(|(n, would)| would as usize == n));
        assert!(Happened::ALL.into_iter().enumerate().all(|(n, happened)| happened as usize == n));
    }

    #[test]
    fn what_is_no_line_of_ours_is_refused() {
        let end = end().to_string();
        assert!(matches!(line(end.as_bytes()), Some(Line::End)));
        for text in
            ["", "{}", "[]", "[1]", r#"["other"]"#, r#"["hit",1]"#, r#"["numbers",[1]]"#, r#"["would",99,1]"#]
        {
            assert!(line(text.as_bytes()).is_none(), "{text}");
            assert!(thread(text.as_bytes()).is_none(), "{text}");
        }
    }
}
