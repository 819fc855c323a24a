//! Ready-made configs that are part of the program: `extends: ["pack:name"]`.

use crate::text::nearest;

/// By name, as ordinary config files.
const ALL: &[(&str, &str)] = &[];

/// The text of a pack.
///
/// # Errors
/// Says which packs there are.
pub(crate) fn find(name: &str) -> Result<&'static str, String> {
    find_in(ALL, name)
}

fn find_in<'a>(packs: &[(&str, &'a str)], name: &str) -> Result<&'a str, String> {
    if let Some((_, text)) = packs.iter().find(|(known, _)| *known == name) {
        return Ok(text);
    }
    let names: Vec<&str> = packs.iter().map(|(name, _)| *name).collect();
    Err(match nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean `pack:{near}`?"),
        None if names.is_empty() => "this version has no packs".into(),
        None => format!("there are: {}", names.join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pack_is_found_by_name_and_a_typo_gets_a_suggestion() {
        let packs = [("secrets", "maxBlocks: 2\n"), ("lockfiles", "")];
        assert_eq!(find_in(&packs, "secrets"), Ok("maxBlocks: 2\n"));
        assert_eq!(find_in(&packs, "secret").unwrap_err(), "did you mean `pack:secrets`?");
        assert_eq!(find_in(&packs, "zzz").unwrap_err(), "there are: secrets, lockfiles");
    }

    #[test]
    fn every_pack_is_a_valid_config() {
        for (name, text) in ALL {
            let parsed = crate::config::ConclaudeConfig::parse(text, std::path::Path::new(name));
            assert!(parsed.is_ok(), "{name}: {}", parsed.unwrap_err());
        }
    }
}
