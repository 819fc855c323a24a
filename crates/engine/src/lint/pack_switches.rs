//! `packs`: entries that do not do what they say.

use conclaude_core::config::{IdleSwitch, Layer, PACKS, Remark};
use conclaude_store::load::LoadedConfig;

pub(super) fn check(loaded: &LoadedConfig, found: &mut Vec<Remark>) {
    let origins = &loaded.origins;
    for (switch, why) in origins.idle_switches() {
        let (pack, rule, action) = (&switch.pack, &switch.rule, switch.action.as_str());
        let remark =
            Remark::at(switch.span, format!("{PACKS}: `{rule}: {action}` of `{pack}` has no effect"));
        found.push(match why {
            // The user's own config is for all projects.
            IdleSwitch::NotExtended if switch.layer == Layer::User => continue,
            IdleSwitch::NotExtended => remark
                .because(format!("no file extends pack:{pack}"))
                .help(format!("write `extends: [\"pack:{pack}\"]`, or remove it")),
            IdleSwitch::Stricter(other) => {
                let place = origins.at(other.span).map(|origin| origin.to_string()).unwrap_or_default();
                let why = format!("{place} says `{}`, and the strictest layer counts", other.action.as_str());
                remark.because(why).help("remove one of them")
            }
            IdleSwitch::OfOuterLayer(layer) => {
                let (file, owner) = file_of(loaded, layer);
                let why = format!("{owner} extends pack:{pack}, and an inner layer cannot relax its rules");
                remark.because(why).help(format!("write it in {file}"))
            }
        });
    }
}

/// The file of a layer, and what the layer is called.
fn file_of(loaded: &LoadedConfig, layer: Layer) -> (String, String) {
    let mut files =
        loaded.origins.sources().iter().filter(|source| source.layer == layer && !source.is_pack());
    let file = files.next_back().map(|source| source.path.display().to_string()).unwrap_or_default();
    (file, format!("the {} config", layer.name()))
}
