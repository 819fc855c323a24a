//! Aligned columns.

use super::out::{Out, Paint};

/// Prints aligned columns; the first row is the heading.
pub(super) fn table<const N: usize>(
    out: &mut Out<'_>,
    rows: &[[String; N]],
    heading: Paint,
) -> std::io::Result<()> {
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..N).map(width).collect();
    for (number, row) in rows.iter().enumerate() {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        let line = cells.join("  ");
        match number {
            0 => writeln!(out, "{heading}{}{heading:#}", line.trim_end())?,
            _ => writeln!(out, "{}", line.trim_end())?,
        }
    }
    Ok(())
}
