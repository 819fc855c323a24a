//! The colours of explanations.

use anstyle::{AnsiColor, Style};

use crate::cli::out::Paint;

pub(in crate::cli) const BOLD: Paint = Paint(Style::new().bold());
pub(in crate::cli) const FAINT: Paint = Paint(Style::new().dimmed());
pub(in crate::cli) const GOOD: Paint = Paint(AnsiColor::Green.on_default());
pub(in crate::cli) const BAD: Paint = Paint(AnsiColor::Red.on_default());
pub(in crate::cli) const WARNING: Paint = Paint(AnsiColor::Yellow.on_default());
