//! Values of a line whose type another version may have changed: what is not as expected is absent, and hides nothing else.

use std::borrow::Cow;

use crate::json::{JsonError, JsonScanner, text};

/// A text, a number, a flag, or anything else.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Scalar<'a> {
    Text(Cow<'a, str>),
    Number(f64),
    Flag(bool),
    #[default]
    Other,
}

impl<'a> Scalar<'a> {
    pub(super) fn of(value: &'a str) -> Scalar<'a> {
        match value.as_bytes().first() {
            Some(b'"') => text(value).map_or(Scalar::Other, Scalar::Text),
            Some(b'-' | b'0'..=b'9') => value.parse().map_or(Scalar::Other, Scalar::Number),
            _ => value.parse().map_or(Scalar::Other, Scalar::Flag),
        }
    }
}

impl Scalar<'_> {
    pub fn text(&self) -> Option<&str> {
        match self {
            Scalar::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn is_true(&self) -> bool {
        *self == Scalar::Flag(true)
    }

    pub fn number(&self) -> Option<f64> {
        match self {
            Scalar::Number(number) => Some(*number),
            _ => None,
        }
    }
}

/// The content of a message: a text, or blocks.
#[derive(Debug, Default)]
pub enum MessageContent<'a> {
    Text(Cow<'a, str>),
    Blocks(Vec<MessageBlock<'a>>),
    #[default]
    Other,
}

impl<'a> MessageContent<'a> {
    pub(super) fn read(scan: &mut JsonScanner<'a>) -> Result<MessageContent<'a>, JsonError> {
        if scan.first() != Some(b'[') {
            return Ok(text(scan.value()?).map_or(MessageContent::Other, MessageContent::Text));
        }
        let mut blocks = Vec::new();
        scan.list(|scan| {
            blocks.push(MessageBlock::read(scan)?);
            Ok(())
        })?;
        Ok(MessageContent::Blocks(blocks))
    }
}

/// A block of a message: a text, a call of a tool, or its result.
#[derive(Debug, Default)]
pub struct MessageBlock<'a> {
    pub kind: Scalar<'a>,
    /// Most texts are answers, which nobody asks for.
    text: Option<&'a str>,
    pub id: Scalar<'a>,
    pub name: Scalar<'a>,
    pub input: Option<&'a str>,
    pub tool_use_id: Scalar<'a>,
    pub is_error: Scalar<'a>,
    /// What a tool answered: a text, or blocks with texts.
    pub content: Option<&'a str>,
}

impl<'a> MessageBlock<'a> {
    fn read(scan: &mut JsonScanner<'a>) -> Result<MessageBlock<'a>, JsonError> {
        let mut block = MessageBlock::default();
        scan.object(|name, scan| {
            let value = scan.value()?;
            match name {
                "type" => block.kind = Scalar::of(value),
                "text" => block.text = Some(value),
                "id" => block.id = Scalar::of(value),
                "name" => block.name = Scalar::of(value),
                "input" => block.input = (value != "null").then_some(value),
                "tool_use_id" => block.tool_use_id = Scalar::of(value),
                "is_error" => block.is_error = Scalar::of(value),
                "content" => block.content = (value != "null").then_some(value),
                _ => {}
            }
            Ok(())
        })?;
        Ok(block)
    }

    pub fn text(&self) -> Option<Cow<'a, str>> {
        self.text.and_then(text)
    }

    /// The start of what a tool answered, if it is a text.
    pub fn answer(&self, max: usize) -> Option<String> {
        let text = match MessageContent::read(&mut JsonScanner::of(self.content?)).ok()? {
            MessageContent::Text(text) => text,
            MessageContent::Blocks(blocks) => blocks.iter().find_map(MessageBlock::text)?,
            MessageContent::Other => return None,
        };
        Some(text.chars().take(max).collect())
    }

    /// Whether a hook is why the tool was not used. Claude Code writes so in the result that the model reads.
    pub fn is_denied_by_hook(&self) -> bool {
        const START: &str = "PreToolUse:";
        self.is_error.is_true()
            && self.content.is_some_and(|value| value.contains(START))
            && self.answer(400).is_some_and(|text| text.starts_with(START) && text.contains(" hook "))
    }
}
