//! Shows all values of a row of a trace, to help find the cause of a difference.

use std::fmt::Write as _;

use super::{GoldenError, GoldenTrace, file};

/// Returns the columns of row `row` (from 1) with their values, one per line. If a value differs
/// from the previous row's value, its line shows both values.
///
/// # Errors
/// Fails if the trace cannot be read.
pub fn explain_row(trace: &GoldenTrace, row: u64) -> Result<String, GoldenError> {
    let table = file::load(trace)?;
    let mut rows = table.rows();
    let mut before = vec![0; table.columns().len()];
    loop {
        let more = rows.advance().map_err(|reason| GoldenError::BadRow {
            file: trace.file.clone(),
            row: rows.row(),
            reason,
        })?;
        if !more || rows.row() == row {
            break;
        }
        before.copy_from_slice(rows.values());
    }
    let mut text = String::new();
    for ((column, &now), &before) in table.columns().iter().zip(rows.values()).zip(&before) {
        let (now, before) = (column.number(now), column.number(before));
        let was = if now == before { String::new() } else { format!("   (was {before})") };
        writeln!(text, "{:>26} {now}{was}", column.name).expect("writing to a string cannot fail");
    }
    Ok(text)
}
