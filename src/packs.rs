//! Ready-made configs that are part of the program: `extends: ["pack:name"]`.

use crate::config::PACK;
use crate::text::nearest;

/// A pack: an ordinary config file, whose first line says what it is for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Pack {
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
}

pub(crate) const ALL: [Pack; 4] = [
    Pack { name: "secrets", text: include_str!("packs/secrets.yaml") },
    Pack { name: "git-safety", text: include_str!("packs/git-safety.yaml") },
    Pack { name: "destructive-commands", text: include_str!("packs/destructive-commands.yaml") },
    Pack { name: "lockfiles", text: include_str!("packs/lockfiles.yaml") },
];

impl Pack {
    pub(crate) fn purpose(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches(['#', ' '])
    }
}

/// The pack of this name, with `pack:` or without.
///
/// # Errors
/// Says which packs there are.
pub(crate) fn find(name: &str) -> Result<&'static Pack, String> {
    let name = name.trim();
    let name = name.strip_prefix(PACK).unwrap_or(name);
    let names = ALL.iter().map(|pack| pack.name);
    ALL.iter().find(|pack| pack.name == name).ok_or_else(|| match nearest(name, names.clone()) {
        Some(near) => format!("did you mean `{PACK}{near}`?"),
        None => format!("the packs are {}", names.collect::<Vec<_>>().join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pack_is_found_by_name_and_a_typo_gets_a_suggestion() {
        assert_eq!(find("secrets").unwrap().name, "secrets");
        assert_eq!(find(" pack:lockfiles").unwrap().name, "lockfiles");
        assert_eq!(find("secret").unwrap_err(), "did you mean `pack:secrets`?");
        assert_eq!(
            find("zzz").unwrap_err(),
            "the packs are secrets, git-safety, destructive-commands, lockfiles"
        );
    }

    #[test]
    fn every_pack_is_a_valid_config_that_says_what_it_is_for() {
        for pack in &ALL {
            let parsed = crate::config::ConclaudeConfig::parse(pack.text, std::path::Path::new(pack.name));
            assert!(parsed.is_ok(), "{}: {}", pack.name, parsed.unwrap_err());
            assert!(pack.purpose().ends_with('.'), "{}", pack.purpose());
        }
    }
}
