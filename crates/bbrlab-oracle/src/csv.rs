//! Reads comma-separated text of recordings of Linux: a header with the columns' names, then lines
//! with one cell per column.
//!
//! The traces of `golden` have another reader (`golden/csv.rs`), because a cell there can be a
//! difference from the previous line, and a file can have hundreds of megabytes.

use std::borrow::Cow;
use std::io::Read as _;

use flate2::read::MultiGzDecoder;

/// The columns of a table, in order.
#[derive(Clone, Debug)]
pub struct CsvColumns {
    names: Vec<String>,
}

impl CsvColumns {
    /// Reads the columns from a header.
    #[must_use]
    pub fn new(header: &str) -> Self {
        Self { names: header.split(',').map(str::to_owned).collect() }
    }

    /// Returns the position of the column `name`, from 0.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|column| column == name)
    }

    /// Returns the cells of a line, one per column. A cell in double quotes may contain commas.
    ///
    /// # Errors
    /// Fails if the line is malformed or does not have one cell per column. The error text
    /// describes the problem.
    pub fn cells<'l>(&self, line: &'l str) -> Result<Vec<Cow<'l, str>>, String> {
        let cells = split(line)?;
        if cells.len() == self.names.len() {
            Ok(cells)
        } else {
            Err(format!("{} cells, expected {}", cells.len(), self.names.len()))
        }
    }
}

fn split(line: &str) -> Result<Vec<Cow<'_, str>>, &'static str> {
    if line.contains('\r') {
        return Err("a carriage return");
    }
    if !line.contains('"') {
        return Ok(line.split(',').map(Cow::Borrowed).collect());
    }
    let mut cells = Vec::new();
    let mut cell = String::new();
    let mut quoted = false;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                cell.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(Cow::Owned(std::mem::take(&mut cell))),
            _ => cell.push(c),
        }
    }
    if quoted {
        return Err("a quote that is not closed");
    }
    cells.push(Cow::Owned(cell));
    Ok(cells)
}

/// Decompresses a gzip file.
pub(crate) fn unpack(packed: &[u8]) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(packed.len().saturating_mul(8));
    let read = MultiGzDecoder::new(packed).read_to_end(&mut bytes);
    read.map(|_| bytes).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::CsvColumns;

    #[test]
    fn quoted_cells_may_hold_commas_and_quotes() {
        let columns = CsvColumns::new("a,b,c,d");
        assert_eq!(columns.cells("a,\"b, c\",,\"\"\"d\"\"\"").unwrap(), ["a", "b, c", "", "\"d\""]);
        assert_eq!(columns.cells("a,b,,d").unwrap(), ["a", "b", "", "d"]);
        assert_eq!(columns.position("c"), Some(2));
    }

    #[test]
    fn a_line_that_is_not_of_the_table_is_refused() {
        let columns = CsvColumns::new("a,b");
        assert_eq!(columns.cells("1,2,3").unwrap_err(), "3 cells, expected 2");
        assert_eq!(columns.cells("1,\"2").unwrap_err(), "a quote that is not closed");
        assert_eq!(columns.cells("1,2\r").unwrap_err(), "a carriage return");
    }
}
