//! Functions that turn one text into another.

use crate::percent::percent_decoded;

/// What a decoding function makes of a text; `more` are its other arguments. `None` for other functions.
pub(super) fn decoded(function: &str, text: &str, more: &[&str]) -> Option<String> {
    let encoding = more.first().copied().unwrap_or_default();
    match function {
        "b64decode" | "atob" | "base64_decode" | "decode_base64" | "urlsafe_b64decode" | "decode64"
        | "standard_b64decode" | "b64_decode" | "decodebytes" | "strict_decode64" | "urlsafe_decode64" => {
            from_base64(text)
        }
        "fromhex" | "unhexlify" | "a2b_hex" | "b16decode" | "hex2bin" => from_hex(text),
        "decodeURIComponent" | "decodeURI" | "unquote" | "unescape" | "rawurldecode" | "urldecode" => {
            Some(percent_decoded(text).into_owned())
        }
        "reverse" | "reversed" | "strrev" | "reversed_text" => Some(text.chars().rev().collect()),
        "str_rot13" | "rot13" => Some(rot13(text)),
        "from" | "decode" | "pack" | "unpack" | "unpack1" => by_encoding(encoding, text),
        "lower" | "toLowerCase" | "casefold" | "downcase" | "lc" | "strtolower" | "tolower" => {
            Some(text.to_lowercase())
        }
        "strip" | "trim" | "lstrip" | "rstrip" | "trimEnd" | "trimStart" | "chomp" => {
            Some(text.trim().to_owned())
        }
        "str" | "String" | "bytes" | "toString" | "encode" | "to_s" | "to_str" | "fspath" => {
            Some(text.to_owned())
        }
        "replace" | "replaceAll" | "sub" | "gsub" => match more {
            [from, to] => Some(text.replace(from, to)),
            _ => None,
        },
        "delete" | "removeprefix" | "removesuffix" => match more {
            [part] => Some(text.replace(part, "")),
            _ => None,
        },
        "concat" => Some(format!("{text}{}", more.concat())),
        _ => None,
    }
}

fn by_encoding(encoding: &str, text: &str) -> Option<String> {
    match encoding {
        "base64" | "base64url" | "m" | "m0" | "u" => from_base64(text),
        "hex" | "H*" => from_hex(text),
        "rot13" | "rot_13" => Some(rot13(text)),
        "" | "utf8" | "utf-8" | "latin1" | "ascii" | "A*" | "a*" => Some(text.to_owned()),
        _ => None,
    }
}

fn rot13(text: &str) -> String {
    let turned = |c: char, first: u8| {
        let index = (u32::from(c) - u32::from(first) + 13) % 26;
        char::from_u32(u32::from(first) + index).unwrap_or(c)
    };
    let one = |c: char| match c {
        'a'..='z' => turned(c, b'a'),
        'A'..='Z' => turned(c, b'A'),
        c => c,
    };
    text.chars().map(one).collect()
}

fn from_hex(text: &str) -> Option<String> {
    let digits: Vec<u8> = text.chars().filter(|c| !c.is_whitespace()).map(digit).collect::<Option<_>>()?;
    let bytes = digits.chunks(2).map(|pair| match pair {
        [high, low] => Some(high * 16 + low),
        _ => None,
    });
    String::from_utf8(bytes.collect::<Option<_>>()?).ok()
}

fn digit(c: char) -> Option<u8> {
    u8::try_from(c.to_digit(16)?).ok()
}

fn from_base64(text: &str) -> Option<String> {
    let (mut bits, mut count) = (0_u32, 0_u32);
    let mut bytes = Vec::new();
    for c in text.trim().trim_end_matches('=').bytes() {
        let value = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'\n' | b' ' => continue,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(value)) & 0xff_ffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).ok()?);
        }
    }
    String::from_utf8(bytes).ok()
}
