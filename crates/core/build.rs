//! The schemas become part of the program without their indentation, which is a third of them.

#![expect(clippy::disallowed_methods, reason = "it runs at build time; the crate itself is pure")]

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = env::var_os("OUT_DIR").unwrap_or_default();
    for name in ["conclaude.schema.json", "conclaude.test.schema.json"] {
        println!("cargo::rerun-if-changed={name}");
        let lines = fs::read_to_string(name)?;
        fs::write(Path::new(&folder).join(name), lines.lines().map(str::trim_start).collect::<String>())?;
    }
    Ok(())
}
