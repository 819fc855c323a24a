//! One HTTP request, made by `curl`: it is on every machine and knows the user's proxies and certificates. TLS of our own
//! would be a third of the binary, for a request that few hooks make.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::files;
use crate::process::{self, CommandSpec, DEFAULT_SHELL, Retention, Status};

/// An answer is never this large.
const MAX_BYTES: u64 = 1 << 20;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answered {
    pub status: u16,
    /// Headers that say what to do next, where there are any.
    pub retry_after: Option<String>,
    pub location: Option<String>,
    pub body: String,
}

/// Why there is no answer, in words for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub what: String,
    pub is_transient: bool,
}

impl Failure {
    fn transient(what: String) -> Failure {
        Failure { what, is_transient: true }
    }

    fn permanent(what: impl ToString) -> Failure {
        Failure { what: what.to_string(), is_transient: false }
    }
}

/// Posts a body, and waits no longer than this for the answer. Redirects are not followed: headers may hold secrets.
///
/// # Errors
/// When there is none.
pub fn post(url: &str, headers: &[(&str, &str)], body: &str, timeout: Duration) -> Result<Answered, Failure> {
    let folder = private_folder().map_err(Failure::permanent)?;
    let files = Files::in_folder(folder.path());
    std::fs::write(&files.sent, body).map_err(Failure::permanent)?;
    // On stdin, where the key is neither seen on a command line nor left behind in a file.
    let text = configuration(url, headers, &files, timeout).map_err(Failure::permanent)?;
    let spec = CommandSpec {
        // Limits the answer also where no length is announced.
        script: "ulimit -f 2048; exec curl -q --config -",
        shell: DEFAULT_SHELL,
        cwd: folder.path(),
        env: &[],
        stdin: text.as_bytes(),
        timeout: Some(timeout + Duration::from_secs(1)),
        stdout: Retention::Shown(100),
        stderr: Retention::Shown(1_000),
    };
    let finished = process::run(&spec, &mut |_| Err(io::Error::other("not kept")));
    let late = || format!("no answer within {} s", timeout.as_secs());
    // What follows its first line is advice about options that nobody can give it here.
    let said =
        || finished.stderr.excerpt(None).unwrap_or_default().lines().next().unwrap_or_default().to_owned();
    match finished.status {
        Status::Exited(0) => {}
        Status::Exited(28) | Status::TimedOut(_) => return Err(Failure::transient(late())),
        // curl's code for a file that cannot be written, and SIGXFSZ.
        Status::Exited(23) | Status::Killed(25) => return Err(Failure::permanent("the answer is too long")),
        Status::Exited(127) => {
            return Err(Failure::permanent("`curl` is needed to ask, and is not on the PATH"));
        }
        ref other => {
            let what = format!("cannot reach {url}: curl {}: {}{}", other.describe(), said(), hint(other));
            // A name that is not found, a refused or lost connection: of a machine without a network too.
            let is_transient = matches!(other, Status::Exited(5 | 6 | 7 | 16 | 18 | 52 | 55 | 56 | 92));
            return Err(Failure { what, is_transient });
        }
    }
    let status = finished.stdout.excerpt(None).and_then(|code| code.trim().parse().ok()).unwrap_or(0);
    let unreadable = |error| Failure::permanent(format!("the answer cannot be read: {error}"));
    let body = if files.answer.exists() {
        files::read_text(&files.answer, MAX_BYTES).map_err(unreadable)?
    } else {
        String::new()
    };
    let head = files::read_text(&files.head, MAX_BYTES).unwrap_or_default();
    Ok(Answered {
        status,
        retry_after: header(&head, "retry-after"),
        location: header(&head, "location"),
        body,
    })
}

/// What helps against an error of curl, where that is known.
fn hint(status: &Status) -> &'static str {
    match status {
        Status::Exited(1) => "; this curl does not support the protocol of the URL",
        Status::Exited(35) => "; is there a server with TLS? Without it the URL starts with http://",
        Status::Exited(60 | 77) => {
            "; where the certificate is of an authority of your own, CURL_CA_BUNDLE=FILE names that"
        }
        _ => "",
    }
}

/// The value of a header of the answer itself, behind those of proxies and of `100 Continue`.
fn header(head: &str, name: &str) -> Option<String> {
    let last = head.rfind("HTTP/").and_then(|at| head.get(at..))?;
    let mut pairs = last.lines().filter_map(|line| line.split_once(':'));
    let (_, value) = pairs.find(|(found, _)| found.trim().eq_ignore_ascii_case(name))?;
    Some(value.trim().to_owned()).filter(|value| !value.is_empty())
}

/// What curl reads and writes.
struct Files {
    sent: PathBuf,
    head: PathBuf,
    answer: PathBuf,
}

impl Files {
    fn in_folder(folder: &Path) -> Files {
        Files { sent: folder.join("body"), head: folder.join("head"), answer: folder.join("answer") }
    }
}

/// The request as a config file for curl.
fn configuration(
    url: &str,
    headers: &[(&str, &str)],
    files: &Files,
    timeout: Duration,
) -> Result<String, String> {
    let mut lines = vec![
        quoted("url", url)?,
        quoted("proto", "=http,https")?,
        quoted("data-binary", &format!("@{}", files.sent.to_string_lossy()))?,
        quoted("dump-header", &files.head.to_string_lossy())?,
        quoted("output", &files.answer.to_string_lossy())?,
        // Or a body of more than a megabyte waits a second for a server that does not know `100 Continue`.
        quoted("header", "Expect:")?,
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
        let files = Files::in_folder(Path::new("/f"));
        let text = configuration("http://x", &[("k", "v")], &files, Duration::from_secs(3)).unwrap();
        assert!(text.contains("header = \"k: v\"\n") && text.contains("max-time = 3\n"), "{text}");
    }

    #[test]
    fn headers_of_a_proxy_are_not_those_of_the_answer() {
        let head = "HTTP/1.1 200 Connected\r\nRetry-After: 1\r\n\r\nHTTP/1.1 503 Busy\r\nretry-after:  7 \r\nX: y\r\n\r\n";
        assert_eq!(header(head, "Retry-After").as_deref(), Some("7"));
        assert_eq!(header(head, "location"), None);
    }
}
