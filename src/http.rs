//! One HTTP request, made by `curl`: it is on every machine and knows the user's proxies and certificates. TLS of our own
//! would be a third of the binary, for a request that few hooks make.

use std::io;
use std::path::Path;
use std::time::Duration;

use crate::files;
use crate::process::{self, CommandSpec, DEFAULT_SHELL, Keep, Status};

/// An answer is never this large.
const MAX_BYTES: u64 = 1 << 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answered {
    pub status: u16,
    pub body: String,
}

/// Posts a body, and waits no longer than this for the answer.
///
/// # Errors
/// Says why there is none, in words for the user.
pub(crate) fn post(
    url: &str,
    headers: &[(&str, &str)],
    body: &str,
    timeout: Duration,
) -> Result<Answered, String> {
    let folder = private_folder().map_err(|error| error.to_string())?;
    let (sent, answer) = (folder.path().join("body"), folder.path().join("answer"));
    std::fs::write(&sent, body).map_err(|error| error.to_string())?;
    // On stdin, where the key is neither seen on a command line nor left behind in a file.
    let text = configuration(url, headers, &sent, &answer, timeout)?;
    let spec = CommandSpec {
        // Limits the answer also where no length is announced.
        script: "ulimit -f 2048; exec curl -q --config -",
        shell: DEFAULT_SHELL,
        cwd: folder.path(),
        env: &[],
        stdin: text.as_bytes(),
        timeout: Some(timeout + Duration::from_secs(1)),
        stdout: Keep::Shown(100),
        stderr: Keep::Shown(1_000),
    };
    let finished = process::run(&spec, &mut |_| Err(io::Error::other("not kept")));
    let late = || format!("no answer within {} s", timeout.as_secs());
    let said = || finished.stderr.excerpt(Some(3)).unwrap_or_default().trim().to_owned();
    match finished.status {
        Status::Exited(0) => {}
        Status::Exited(28) | Status::TimedOut(_) => return Err(late()),
        // curl's code for a file that cannot be written, and SIGXFSZ.
        Status::Exited(23) | Status::Killed(25) => return Err("the answer is too long".into()),
        Status::Exited(127) => return Err("`curl` is needed to ask, and is not on the PATH".into()),
        ref other => return Err(format!("cannot reach {url}: curl {}: {}", other.describe(), said())),
    }
    let status = finished.stdout.excerpt(None).and_then(|code| code.trim().parse().ok()).unwrap_or(0);
    let body = files::read_text(&answer, MAX_BYTES)
        .map_err(|error| format!("the answer cannot be read: {error}"))?;
    Ok(Answered { status, body })
}

/// The request as a config file for curl.
fn configuration(
    url: &str,
    headers: &[(&str, &str)],
    sent: &Path,
    answer: &Path,
    timeout: Duration,
) -> Result<String, String> {
    let mut lines = vec![
        quoted("url", url)?,
        quoted("proto", "=http,https")?,
        quoted("data-binary", &format!("@{}", sent.to_string_lossy()))?,
        quoted("output", &answer.to_string_lossy())?,
        quoted("write-out", "%{http_code}")?,
        format!("max-time = {}", timeout.as_secs_f32()),
        "globoff".into(),
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

/// A folder that only the user can read.
fn private_folder() -> io::Result<tempfile::TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("conclaude-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o700));
    }
    builder.tempdir()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_value_can_become_another_option() {
        assert_eq!(quoted("header", "x: a\"b\\c").unwrap(), r#"header = "x: a\"b\\c""#);
        assert!(quoted("url", "http://x\noutput = /etc/passwd").is_err());
        let text = configuration(
            "http://x",
            &[("k", "v")],
            Path::new("/b"),
            Path::new("/a"),
            Duration::from_secs(3),
        )
        .unwrap();
        assert!(text.contains("header = \"k: v\"\n") && text.contains("max-time = 3\n"), "{text}");
    }
}
