//! One HTTP request, made by `curl`: it is on every machine, knows the user's proxies and certificates, and a hook that
//! hardly ever asks anybody need not carry TLS around.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use crate::command::{self, CommandSpec, DEFAULT_SHELL, Keep, Status};
use crate::files;

/// An answer is never this large.
const MAX_BYTES: u64 = 1 << 20;

/// What was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// The status code.
    pub status: u16,
    /// The body.
    pub body: String,
}

/// Posts a body, and waits no longer than this for the answer.
///
/// # Errors
/// Says why there is none, in words for a person.
pub fn post(url: &str, headers: &[(&str, &str)], body: &str, timeout: Duration) -> Result<Answered, String> {
    let folder =
        tempfile::Builder::new().prefix("conclaude-").tempdir().map_err(|error| error.to_string())?;
    let (request, answer) = (folder.path().join("request"), folder.path().join("answer"));
    let text = configuration(url, headers, &answer, timeout)?;
    // In a file that only the user can read: a command line can be seen by everybody.
    write_privately(&request, &text).map_err(|error| error.to_string())?;
    let env = [("CONCLAUDE_REQUEST", Some(request.to_string_lossy().into_owned()))];
    let spec = CommandSpec {
        script: "exec curl -q --config \"$CONCLAUDE_REQUEST\"",
        shell: DEFAULT_SHELL,
        cwd: folder.path(),
        env: &env,
        stdin: body.as_bytes(),
        timeout: Some(timeout + Duration::from_secs(1)),
        stdout: Keep::Shown(100),
        stderr: Keep::Shown(1_000),
    };
    let finished = command::run(&spec, &mut |_| Err(io::Error::other("not kept")));
    let late = || format!("no answer within {} s", timeout.as_secs());
    let said = || finished.stderr.excerpt(Some(3)).unwrap_or_default().trim().to_owned();
    match finished.status {
        Status::Exited(0) => {}
        Status::Exited(28) | Status::TimedOut(_) => return Err(late()),
        Status::Exited(127) => return Err("`curl` is needed to ask, and is not on the PATH".into()),
        ref other => return Err(format!("cannot reach {url}: curl {}: {}", other.describe(), said())),
    }
    let status = finished.stdout.excerpt(None).and_then(|code| code.trim().parse().ok()).unwrap_or(0);
    let body = files::read_text(&answer, MAX_BYTES)
        .map_err(|error| format!("the answer cannot be read: {error}"))?;
    Ok(Answered { status, body })
}

/// The request in curl's own language.
fn configuration(
    url: &str,
    headers: &[(&str, &str)],
    answer: &Path,
    timeout: Duration,
) -> Result<String, String> {
    let mut lines = vec![
        quoted("url", url)?,
        quoted("proto", "=http,https")?,
        quoted("data-binary", "@-")?,
        quoted("output", &answer.to_string_lossy())?,
        quoted("write-out", "%{http_code}")?,
        format!("max-time = {}", timeout.as_secs_f32()),
        "silent".into(),
        "show-error".into(),
    ];
    for (name, value) in headers {
        lines.push(quoted("header", &format!("{name}: {value}"))?);
    }
    Ok(lines.join("\n") + "\n")
}

fn quoted(option: &str, value: &str) -> Result<String, String> {
    if value.contains(char::is_control) {
        return Err(format!("the {option} of the request contains control characters"));
    }
    Ok(format!("{option} = \"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"")))
}

fn write_privately(path: &Path, text: &str) -> io::Result<()> {
    let mut options = files::no_links();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)?.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_value_can_become_another_option() {
        assert_eq!(quoted("header", "x: a\"b\\c").unwrap(), r#"header = "x: a\"b\\c""#);
        assert!(quoted("url", "http://x\noutput = /etc/passwd").is_err());
        let text = configuration("http://x", &[("k", "v")], Path::new("/a"), Duration::from_secs(3)).unwrap();
        assert!(text.contains("header = \"k: v\"\n") && text.contains("max-time = 3\n"), "{text}");
    }
}
