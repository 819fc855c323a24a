//! The trace of the client that a decision belongs to, as W3C Trace Context writes it.

use serde::{Deserialize, Serialize};

/// What Claude Code gives its hooks and shell commands when its tracing is on.
const VARIABLE: &str = "TRACEPARENT";

/// A valid `00-<trace>-<span>-<flags>`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TraceParent {
    text: String,
}

impl TraceParent {
    /// The span that this process works for.
    #[must_use]
    pub fn of_process() -> Option<TraceParent> {
        std::env::var(VARIABLE).ok()?.try_into().ok()
    }

    /// 32 hexadecimal digits.
    #[must_use]
    pub fn trace_id(&self) -> &str {
        self.part(1)
    }

    /// 16 hexadecimal digits.
    #[must_use]
    pub fn span_id(&self) -> &str {
        self.part(2)
    }

    #[must_use]
    pub fn flags(&self) -> u8 {
        u8::from_str_radix(self.part(3), 16).unwrap_or(0)
    }

    fn part(&self, index: usize) -> &str {
        self.text.split('-').nth(index).unwrap_or_default()
    }
}

impl TryFrom<String> for TraceParent {
    type Error = &'static str;

    /// A later version may add parts; what is before them stays as it is.
    fn try_from(text: String) -> Result<TraceParent, &'static str> {
        let is_hex = |part: &str| part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let parts: Vec<&str> = text.trim().split('-').collect();
        let [version, trace, span, flags, rest @ ..] = parts.as_slice() else {
            return Err("a traceparent has four parts");
        };
        let lengths = [version.len(), trace.len(), span.len(), flags.len()];
        let is_valid = lengths == [2, 32, 16, 2]
            && [version, trace, span, flags].into_iter().all(|part| is_hex(part))
            && *version != "ff"
            && (*version != "00" || rest.is_empty())
            && trace.bytes().any(|byte| byte != b'0')
            && span.bytes().any(|byte| byte != b'0');
        if !is_valid {
            return Err("not a traceparent of W3C Trace Context");
        }
        Ok(TraceParent { text: format!("00-{trace}-{span}-{flags}") })
    }
}

impl From<TraceParent> for String {
    fn from(parent: TraceParent) -> String {
        parent.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<String> {
        TraceParent::try_from(text.to_owned()).ok().map(String::from)
    }

    #[test]
    fn what_is_valid_is_kept_and_all_else_is_none() {
        let valid = "00-4a9aea12848f2328348bd68ac55dcd08-c1d20566b50b02e1-01";
        let parent = TraceParent::try_from(valid.to_owned()).unwrap();
        assert_eq!(parent.trace_id(), "4a9aea12848f2328348bd68ac55dcd08");
        assert_eq!((parent.span_id(), parent.flags()), ("c1d20566b50b02e1", 1));
        assert_eq!(read(&format!("cc{}-what-comes-later", &valid[2..])).unwrap(), valid);
        for broken in [
            "",
            "00",
            &valid.to_uppercase(),
            &valid.replace("00-4a", "ff-4a"),
            &format!("{valid}-more"),
            &valid.replace('9', "é"),
            "00-00000000000000000000000000000000-c1d20566b50b02e1-01",
            "00-4a9aea12848f2328348bd68ac55dcd08-0000000000000000-01",
        ] {
            assert_eq!(read(broken), None, "{broken}");
        }
    }
}
