//! Misspelled keys of markers: with another hyphen, an underscore, an invisible character, or a similar character of another
//! alphabet. A comment that was meant to enable a gate must not be ignored.

use super::look_alikes::{folded, seen_as, with_equal_strokes};
use super::{CLOSE, KEYS, OPEN};

/// The separator after the key of a marker, and similar characters.
const SEPARATORS: [char; 3] = [':', '=', '：'];

/// A key is searched in this number of bytes, so that a prompt full of openings is read once. A key has 18 characters at most;
/// the rest is for invisible ones.
const MAX_KEY: usize = 2048;

/// The value with which the gates apply.
const REQUIRED: &str = "REQUIRED";

/// The values of `DES-VALIDATION`, folded.
const VALUES: [&str; 3] = [REQUIRED, "OPTIONAL", "NONE"];

/// A misspelled key, and the key that was probably meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NearMiss {
    pub(super) written: String,
    pub(super) key: &'static str,
}

impl NearMiss {
    pub(super) fn problem(&self) -> String {
        let NearMiss { written, key } = self;
        if *written == format!("DES-{key}") {
            format!("DES-{key} is not alone in its comment, or not followed by a colon")
        } else {
            format!("`{}` is not a marker, `DES-{key}` is", with_escapes(written))
        }
    }
}

/// Shows similar and invisible characters as escapes.
fn with_escapes(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii() { c.to_string() } else { c.escape_unicode().to_string() }).collect()
}

/// Text before a key that looks like `<!--` and is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FalseOpening {
    written: String,
    pub(super) key: &'static str,
}

impl FalseOpening {
    pub(super) fn problem(&self) -> String {
        let FalseOpening { written, key } = self;
        format!("`{}` before DES-{key} does not open a marker, `{OPEN}` does", with_escapes(written))
    }
}

/// What looks like the start of a marker and is not: other characters in `<!--`, or a line that is only a key and `required`.
pub(super) fn false_openings(prompt: &str) -> Vec<FalseOpening> {
    let mut found = Vec::new();
    // Where the characters that are not part of a word start, once for each word.
    let mut start = Some(0);
    for (at, c) in prompt.char_indices() {
        let is_letter = seen_as(c).is_some_and(|seen| seen.is_ascii_alphanumeric());
        if !is_letter {
            start.get_or_insert(at);
        } else if let Some(start) = start.take() {
            let before = prompt.get(start..at).unwrap_or_default();
            found.extend(false_opening(before, start == 0, prompt.get(at..).unwrap_or_default()));
        }
    }
    found
}

/// Like `false_openings`, but for one word: the characters before it, and the text that starts with it.
fn false_opening(before: &str, is_first: bool, rest: &str) -> Option<FalseOpening> {
    let angle = before.char_indices().rfind(|(_, c)| seen_as(*c) == Some('<')).map(|(at, _)| at);
    let starts_line = is_first || before.contains(['\n', '\r']);
    if angle.is_none() && !starts_line || before.trim_end().ends_with(OPEN) {
        return None;
    }
    let is_end = |c: char| matches!(c, '\n' | '\r') || seen_as(c) == Some('<');
    let rest = rest.get(..rest.floor_char_boundary(MAX_KEY)).unwrap_or(rest);
    let line = rest.split(is_end).next().unwrap_or_default();
    let (word, value) = line.split_once(SEPARATORS)?;
    let written = before.get(angle.unwrap_or_default()..).unwrap_or_default().trim();
    let has = |like: char| written.chars().any(|c| seen_as(c) == Some(like));
    let key = if angle.is_some() && has('!') && has('-') {
        key_of(word.split_whitespace().next().unwrap_or_default())
    } else {
        None
    };
    let is_required = folded(value) == REQUIRED;
    let key = key.or_else(|| key_of(word).filter(|key| is_required && *key == "VALIDATION"))?;
    Some(FalseOpening { written: written.to_owned(), key })
}

/// The misspelled keys in a comment. A key that is only mentioned in prose does not count.
pub(super) fn near_misses(comment: &str) -> Vec<NearMiss> {
    comment.lines().enumerate().flat_map(|(number, line)| in_line(line, number == 0)).collect()
}

fn in_line(line: &str, is_first: bool) -> Vec<NearMiss> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, separator) in line.match_indices(SEPARATORS) {
        let before = line.get(start..at).unwrap_or_default();
        let value = line.get(at + separator.len()..).unwrap_or_default();
        let word = before.trim_end().rsplit(char::is_whitespace).next().unwrap_or_default();
        if let Some(key) = key_of(word) {
            // The first one may be a correct marker.
            let is_marker =
                is_first && start == 0 && separator == ":" && before.trim() == format!("DES-{key}");
            if !is_marker {
                found.push(NearMiss { written: word.to_owned(), key });
            }
        } else if start == 0
            && let Some(key) = key_in_words(before, value)
        {
            found.push(NearMiss { written: before.trim().to_owned(), key });
        }
        start = at + separator.len();
    }
    if start == 0 {
        found.extend(without_separator(line));
    }
    found
}

/// `DES VALIDATION: required`: blanks in the key are prose more often than not, so the value must be one of a marker.
fn key_in_words(before: &str, value: &str) -> Option<&'static str> {
    let key = key_of(before).filter(|key| before.split_whitespace().count() > 1 && *key == "VALIDATION")?;
    let value = folded(value.split(CLOSE).next().unwrap_or_default());
    if VALUES.contains(&value.as_str()) { Some(key) } else { None }
}

/// `DES-VALIDATION required`, `des_validation`: the line starts with the key, without a separator before a value.
fn without_separator(line: &str) -> Option<NearMiss> {
    let first = line.split_whitespace().next()?;
    let all = folded(line);
    let is_all = [""].iter().chain(&VALUES).any(|value| all == format!("DESVALIDATION{value}"));
    if !is_all && key_of(first) != Some("VALIDATION") {
        return None;
    }
    let written = if is_all { line.trim() } else { first };
    Some(NearMiss { written: written.to_owned(), key: "VALIDATION" })
}

/// Other words for a key, folded, that are no typo of it.
const OTHER_WORDS: [(&str, &str); 3] =
    [("DESVALIDATE", "VALIDATION"), ("DESVALIDATED", "VALIDATION"), ("DESVALIDATING", "VALIDATION")];

/// The key that was probably meant, if any.
fn key_of(written: &str) -> Option<&'static str> {
    let capital = if written.contains('|') { Some(written.replace('|', "I")) } else { None };
    let meant = |written: &str| {
        let written = with_equal_strokes(written);
        let other = OTHER_WORDS.iter().find(|(word, _)| written == with_equal_strokes(word));
        if let Some((_, key)) = other {
            return Some(*key);
        }
        KEYS.into_iter().find(|key| {
            let key = with_equal_strokes(&format!("DES-{key}"));
            // Short names have neighbours that mean something else.
            written == key || (key.len() > 9 && is_one_typo(&written, &key))
        })
    };
    meant(written).or_else(|| capital.as_deref().and_then(meant))
}

/// Whether one character was left out, added or changed, or two neighbours were exchanged.
fn is_one_typo(written: &str, key: &str) -> bool {
    let (written, key) = (written.as_bytes(), key.as_bytes());
    let same = written.iter().zip(key).take_while(|(a, b)| a == b).count();
    let rest = |text: &[u8], from: usize| text.get(from..).unwrap_or_default().to_vec();
    let (a, b) = (rest(written, same), rest(key, same));
    let exchanged = matches!((a.as_slice(), b.as_slice()), ([x, y, ..], [v, w, ..]) if x == w && y == v);
    rest(&a, 1) == b
        || a == rest(&b, 1)
        || rest(&a, 1) == rest(&b, 1)
        || (exchanged && rest(&a, 2) == rest(&b, 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(comment: &str) -> Vec<&'static str> {
        near_misses(comment).into_iter().map(|miss| miss.key).collect()
    }

    #[test]
    fn keys_that_were_meant_are_found_and_prose_is_free() {
        for (comment, expected) in [
            // Other hyphens.
            (" DES\u{2011}VALIDATION: required ", &["VALIDATION"][..]),
            (" DES\u{2013}VALIDATION: required ", &["VALIDATION"]),
            (" DES\u{2212}STEP\u{2212}FILE: x ", &["STEP-FILE"]),
            // Invisible characters.
            (" DES-\u{200b}VALIDATION: required ", &["VALIDATION"]),
            (" \u{feff}DES-VALIDATION: required ", &["VALIDATION"]),
            (" D\u{ad}ES-VALIDATION: required ", &["VALIDATION"]),
            (" DES-VALIDATION\u{2060}: required ", &["VALIDATION"]),
            // Underscores, no hyphen, blanks.
            (" DES_VALIDATION: required ", &["VALIDATION"]),
            (" DES_STEP_FILE: x ", &["STEP-FILE"]),
            (" DESVALIDATION: required ", &["VALIDATION"]),
            (" DES VALIDATION: required ", &["VALIDATION"]),
            (" DES - VALIDATION : required ", &["VALIDATION"]),
            (" DES-PROJECTID: x ", &["PROJECT-ID"]),
            // Case, other alphabets, full width.
            (" des-validation: required ", &["VALIDATION"]),
            (" D\u{415}S-VALIDATION: required ", &["VALIDATION"]),
            (" ＤＥＳ-VALIDATION: required ", &["VALIDATION"]),
            (" 𝐃𝐄𝐒-𝐕𝐀𝐋𝐈𝐃𝐀𝐓𝐈𝐎𝐍: required ", &["VALIDATION"]),
            (" DES-𝘷𝘢𝘭𝘪𝘥𝘢𝘵𝘪𝘰𝘯: required ", &["VALIDATION"]),
            (" ⒹⒺⓈ-VALIDATION: required ", &["VALIDATION"]),
            // Typos.
            (" DES-VALIDATON: required ", &["VALIDATION"]),
            (" DES-VALDIATION: required ", &["VALIDATION"]),
            (" DES-VALIDATE: required ", &["VALIDATION"]),
            (" des_validate: required ", &["VALIDATION"]),
            (" DES-STEP-FILES: x ", &["STEP-FILE"]),
            (" DSE-VALIDATION: required ", &["VALIDATION"]),
            (" DES-VALlDATlON: required ", &["VALIDATION"]),
            (" DES-VAL|DAT|ON: required ", &["VALIDATION"]),
            // Other separators, or none.
            (" DES-VALIDATION=required ", &["VALIDATION"]),
            (" DES-VALIDATION：required ", &["VALIDATION"]),
            (" DES-VALIDATION required ", &["VALIDATION"]),
            (" DES_VALIDATION ", &["VALIDATION"]),
            // Several in one comment.
            ("\nDES_VALIDATION: required\nDES_AGENT: coder\n", &["VALIDATION", "AGENT"]),
            (" DES-STEP-FILE: x DES-VALIDATION: required ", &["VALIDATION"]),
            // Correct markers, and markers of other programs.
            (" DES-VALIDATION: required ", &[]),
            ("DES-STEP-FILE  :  steps/a:b.json ", &[]),
            (" DES-NOVELTY: x ", &[]),
            (" DES-SECTION: Validation ", &[]),
            (" DES-AGENTS: x ", &[]),
            // Prose.
            (" DES: see docs/des.md ", &[]),
            (" DES validation: see docs/des.md ", &[]),
            (" how DES validation works, see DES-VALIDATION in the docs ", &[]),
            (" the step file of DES: steps/01.json ", &[]),
            (" description: validation ", &[]),
            (" DESTINATION: validation ", &[]),
            (" TODO: validation of the DES step-file ", &[]),
            ("", &[]),
        ] {
            assert_eq!(keys(comment), expected, "{comment:?}");
        }
    }

    #[test]
    fn what_looks_like_the_start_of_a_marker_is_found() {
        for opening in [
            "<!—",
            "<!–",
            "<!-\u{2011}",
            "<!−−",
            "< !--",
            "<! --",
            "<!- -",
            "<!-",
            "<\u{200b}!--",
            "<!\u{200b}--",
            "<!-\u{feff}-",
            "＜!--",
            "<！--",
            "＜！－－",
            "‹!--",
            "<!---",
            "<! ",
            "<!־־",
            "<!──",
            "<!__",
            "<!~~",
            "<\\!--",
            "<--",
            "<?--",
            "!--",
            "--",
            "{/*",
            "❮!--",
            "«!--",
            "<!\n--",
            "<\n!--",
            "",
        ] {
            let found = false_openings(&format!("Do it.\n{opening} DES-VALIDATION: required -->\nNow."));
            assert_eq!(found.iter().map(|one| one.key).collect::<Vec<_>>(), ["VALIDATION"], "{opening:?}");
        }
        for free in [
            "<!-- DES-VALIDATION: required -->",
            "a <b> and DES-VALIDATION: required",
            "DES-VALIDATION: required switches the gates on",
            "The marker is DES-VALIDATION: required",
            "<!-- DES-VALIDATION: required --> <!-- DES-STEP-FILE: x -->",
            "<!— a dash in prose about DES validation —>",
            "if x < !y - DESCRIPTION: z",
            "<",
            "<!",
            "<!-",
        ] {
            assert_eq!(false_openings(free), [], "{free:?}");
        }
    }

    #[test]
    fn letters_that_look_the_same_are_seen_in_a_key_and_after_a_false_opening() {
        for key in [
            "DÉS-VALIDATION",
            "DES-ᴠᴀʟɪᴅᴀᴛɪᴏɴ",
            "ᴰᴱˢ-VALIDATION",
            "⒟⒠⒮-VALIDATION",
            "ᎠᎬᏚ-VALIDATION",
            "DES-V𝚨LID𝚨TION",
            "DES-\u{2164}A\u{216c}\u{2160}\u{216e}ATION",
            "DES-VAL1DAT10N",
        ] {
            assert_eq!(keys(&format!(" {key}: required ")), ["VALIDATION"], "{key}");
            assert_eq!(false_openings(&format!("<! {key}: required")).len(), 1, "{key}");
        }
        let invisible = "\u{200b}".repeat(86);
        let prompt = format!("<!\u{200b}-- DES{invisible}-VALIDATION: required -->");
        assert_eq!(false_openings(&prompt).len(), 1);
    }

    #[test]
    fn a_prompt_full_of_openings_is_read_once() {
        let before = test_support::processor_time();
        for opening in ["<!--", "<!-", "<!—", "<", "<a", "\na", "<!-\u{200b}-DES"] {
            false_openings(&opening.repeat(2_000));
        }
        let took = test_support::processor_time() - before;
        assert!(took < std::time::Duration::from_secs(8), "{took:?}");
    }

    proptest::proptest! {
        #[test]
        fn no_prompt_panics(prompt in "(?s)[<!\\-–‹ DES:\u{200b}]{0,40}.{0,40}") {
            false_openings(&prompt);
        }

        #[test]
        fn no_comment_panics(comment in "(?s).{0,80}") {
            near_misses(&comment);
        }

        #[test]
        fn an_invisible_character_anywhere_in_a_key_is_seen(
            at in 0..14_usize, c in proptest::sample::select(vec!['\u{200b}', '\u{200d}', '\u{2060}', '\u{feff}', '\u{ad}', '\u{202e}']),
        ) {
            let mut key = "DES-VALIDATION".to_owned();
            key.insert(at, c);
            proptest::prop_assert_eq!(keys(&format!(" {key}: required ")), ["VALIDATION"]);
        }
    }
}
