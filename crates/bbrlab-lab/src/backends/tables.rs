//! Reads the records of programs: tables of comma-separated numbers with a header.

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
    /// Reads a table; a file that does not exist is an empty table. A line with too few cells, such
    /// as the last one of an interrupted run, is left out.
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

    /// The rows in order.
    pub(super) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|cells| Row { table: self, cells })
    }
}

impl<'a> Row<'a> {
    /// The text of a cell; empty if the table lacks the column.
    pub(super) fn text(&self, column: &str) -> &'a str {
        self.table.columns.get(column).map_or("", |&at| &self.cells[at])
    }

    /// A whole number; `None` if the cell is empty.
    pub(super) fn count(&self, column: &str) -> Option<u64> {
        self.text(column).parse().ok()
    }

    /// A whole number of 32 bits.
    pub(super) fn small(&self, column: &str) -> Option<u32> {
        self.text(column).parse().ok()
    }

    /// A number; `None` if the cell is empty.
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
