//! Reads the records that a kernel, or ns-3, has written: tables of comma-separated values with a
//! header.

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
    /// Reads a table; a file that does not exist is an empty table. If the writing program did not
    /// reach the end of the run, the text after the last line break is left out, because it may be
    /// an incomplete row.
    ///
    /// # Errors
    /// Fails if the file cannot be read, or a row does not have one cell per column.
    pub(super) fn read(path: &Path, is_complete: bool) -> Result<Self, String> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => {
                return Err(format!("{}: {}", path.display(), crate::error::plain(&error)));
            }
        };
        let end = if is_complete { text.len() } else { text.rfind('\n').map_or(0, |at| at + 1) };
        Self::parse(&text[..end]).map_err(|error| format!("{}:{error}", path.display()))
    }

    /// Parses the text of a table. The error begins with the number of the line.
    fn parse(text: &str) -> Result<Self, String> {
        let mut lines = text.lines();
        let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
        let columns = header.iter().enumerate().map(|(at, name)| ((*name).to_owned(), at));
        let mut rows = Vec::new();
        for (number, line) in (2..).zip(lines) {
            let cells: Vec<String> = line.split(',').map(str::to_owned).collect();
            if cells.len() != header.len() {
                return Err(format!(
                    "{number}: expected {} cells as in the first line, found {} in `{line}`; the \
                     records are damaged",
                    header.len(),
                    cells.len()
                ));
            }
            rows.push(cells);
        }
        Ok(Self { columns: columns.collect(), rows })
    }

    /// Returns a table with the last row of each of the flows 0 to `flows - 1`; a flow without a
    /// row gets empty cells. In the new table, the column `name` has the values of the column
    /// `source`.
    pub(super) fn last_of_flows(&self, flows: usize, (name, source): (&str, &str)) -> Self {
        let mut rows = vec![vec![String::new(); self.columns.len()]; flows];
        for row in self.rows() {
            let flow = row.count("flow").and_then(|flow| rows.get_mut(usize::try_from(flow).ok()?));
            if let Some(last) = flow {
                last.clone_from_slice(row.cells);
            }
        }
        let mut columns = self.columns.clone();
        columns.remove(name);
        if let Some(&at) = self.columns.get(source) {
            columns.insert(name.to_owned(), at);
        }
        Self { columns, rows }
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

    /// Returns a cell as a whole number below 2^32; `None` if it is not such a number.
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
    use std::fs;

    use super::Table;
    use crate::scratch::Scratch;

    #[test]
    fn cells_are_found_by_their_columns() {
        let table = Table::parse("t,flow,cwnd\n0.010,0,10\n0.020,1,\n").unwrap();
        let rows: Vec<_> = table.rows().collect();
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].number("t"), rows[0].count("cwnd")), (Some(0.01), Some(10)));
        assert_eq!((rows[1].count("cwnd"), rows[1].count("missing")), (None, None));
    }

    #[test]
    fn a_torn_row_is_an_error_unless_the_run_was_interrupted_in_it() {
        let folder = Scratch::new("linux-tables");
        let path = folder.path().join("res.transfers.csv");
        let read = |text: &str, is_complete: bool| {
            fs::write(&path, text).unwrap();
            Table::read(&path, is_complete).map(|table| table.rows().count())
        };
        assert_eq!(read("flow,n\n0,0\n1,", false), Ok(1));
        assert_eq!(read("flo", false), Ok(0));
        assert_eq!(read("", true), Ok(0));
        for (text, is_complete) in
            [("flow,n\n0,0,1,\n1,2\n", true), ("flow,n\n0,0,1,\n", false), ("flow,n\n0,0\n1", true)]
        {
            let error = read(text, is_complete).unwrap_err();
            assert!(error.starts_with(&path.display().to_string()), "{error}");
            assert!(error.contains("expected 2 cells as in the first line, found "), "{error}");
        }
    }
}
