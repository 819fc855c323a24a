//! Commands that print a number, a hash or a name: which one is not known, but it has no `/` and is no `..`, so that what is
//! named after it stays in its directory.

pub(crate) const NUMBER: &str = "[0-9]*";
pub(crate) const NAME: &str = "[A-Za-z0-9]*";
const HASH: &str = "[0-9A-Fa-f]*";

/// A pattern of the shell for what a command prints, from its text.
pub(crate) fn pattern(command: &str) -> Option<String> {
    let words: Vec<&str> = command.split_whitespace().take(8).collect();
    let is_number = |word: &&str| word.bytes().all(|byte| byte.is_ascii_digit());
    let pattern = match words.as_slice() {
        ["date", format] | ["date", "-u" | "--utc", format] => return date(format),
        ["nproc"] | ["id", "-u" | "-g"] | ["wc", "-l" | "-c" | "-w", "<", _] => NUMBER,
        ["seq", numbers @ ..] if numbers.iter().all(is_number) => NUMBER,
        ["arch" | "hostname" | "whoami"] | ["hostname", "-s"] => NAME,
        ["id", "-un" | "-gn"] | ["uname"] | ["uname", "-m" | "-n" | "-r" | "-s"] => NAME,
        ["uuidgen"] | ["openssl", "rand", "-hex", _] => HASH,
        ["git", "rev-parse", "HEAD"] => HASH,
        ["git", "rev-parse", short, "HEAD"] if short.starts_with("--short") => HASH,
        _ => return None,
    };
    Some(pattern.to_owned())
}

/// `date +FORMAT`, where nothing that is printed has a blank or is not known to be harmless.
fn date(format: &str) -> Option<String> {
    let format = format.trim_matches(['"', '\'']).strip_prefix('+')?;
    let mut pattern = String::new();
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        match c {
            '%' => pattern.push_str(match chars.next()? {
                '-' | '0' => match chars.next()? {
                    'd' | 'm' | 'H' | 'M' | 'S' | 'j' | 'y' => NUMBER,
                    _ => return None,
                },
                'C' | 'F' | 'G' | 'H' | 'I' | 'M' | 'N' | 'R' | 'S' | 'T' | 'U' | 'V' | 'W' | 'Y' | 'd'
                | 'g' | 'j' | 'm' | 's' | 'u' | 'w' | 'y' => NUMBER,
                'A' | 'B' | 'Z' | 'a' | 'b' | 'h' => NAME,
                _ => return None,
            }),
            c if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | '+' | '=' | ',' | '@') => {
                pattern.push(c);
            }
            _ => return None,
        }
    }
    Some(pattern)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_leave_its_directory_has_a_pattern() {
        for (command, expected) in [
            ("date +%s", Some("[0-9]*")),
            ("date -u '+%Y%m%d-%H'", Some("[0-9]*[0-9]*[0-9]*-[0-9]*")),
            ("date +.env", Some(".env")),
            ("date +%b-%-d", Some("[A-Za-z0-9]*-[0-9]*")),
            ("date", None),
            ("date +%D", None),
            ("date +../%s", None),
            ("date +%", None),
            ("date +%n", None),
            ("date +$X", None),
            ("seq 1 5", Some("[0-9]*")),
            ("seq -f ../%g 1 5", None),
            ("git rev-parse --short=8 HEAD", Some("[0-9A-Fa-f]*")),
            ("git rev-parse --show-toplevel", None),
            ("whoami", Some("[A-Za-z0-9]*")),
            ("hostname -f", None),
            ("cat x", None),
            ("", None),
        ] {
            assert_eq!(pattern(command).as_deref(), expected, "{command}");
        }
    }
}
