//! Reads the guest's records, which are tables of comma-separated values with a header.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A table with named columns.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    columns: BTreeMap<String, usize>,
    rows: Vec<Vec<String>>,
}

/// A row of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'a> {
    table: &'a Table,
    cells: &'a [String],
}

impl Table {
    /// Reads a table. A file that does not exist counts as an empty table. A line with too few
    /// cells is left out; the last line of an interrupted run can be such a line.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        match fs::read_to_string(path) {
            Ok(text) => Ok(Self::parse(&text)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(format!("{}: {}", path.display(), crate::error::plain(&error))),
        }
    }

    /// Parses the text of a table.
    pub(super) fn parse(text: &str) -> Self {
        let mut lines = text.lines();
        let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
        let columns = header.iter().enumerate().map(|(at, name)| ((*name).to_owned(), at));
        let rows = lines
            .map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>())
            .filter(|cells| cells.len() == header.len());
        Self { columns: columns.collect(), rows: rows.collect() }
    }

    /// Returns the rows in the order of the file.
    pub(super) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|cells| Row { table: self, cells })
    }
}

impl<'a> Row<'a> {
    /// Returns the text of a cell; empty if the table lacks the column.
    pub(super) fn text(&self, column: &str) -> &'a str {
        self.table.columns.get(column).map_or("", |&at| &self.cells[at])
    }

    /// Returns a cell as a whole number; `None` if the cell is empty or not a whole number.
    pub(super) fn count(&self, column: &str) -> Option<u64> {
        self.text(column).parse().ok()
    }

    /// Returns a cell as a whole number of 32 bits; `None` if it is not such a number.
    pub(super) fn small(&self, column: &str) -> Option<u32> {
        self.text(column).parse().ok()
    }

    /// Returns a cell as a number; `None` if the cell is empty or not a finite number.
    pub(super) fn number(&self, column: &str) -> Option<f64> {
        self.text(column).parse().ok().filter(|value: &f64| value.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn cells_are_found_by_their_columns_and_torn_lines_are_left_out() {
        let table = Table::parse("t,flow,cwnd\n0.010,0,10\n0.020,1,\n0.03");
        let rows: Vec<_> = table.rows().collect();
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].number("t"), rows[0].count("cwnd")), (Some(0.01), Some(10)));
        assert_eq!((rows[1].count("cwnd"), rows[1].count("missing")), (None, None));
    }
}
