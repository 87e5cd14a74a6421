//! Reads comma-separated tables. Columns are found by name, so additional columns are ignored.
//!
//! Error messages name the file, the line and the column.

use std::borrow::Cow;
use std::path::Path;

use bbrlab_oracle::CsvColumns;

use super::LinuxError;

/// The position of each column in the table.
pub(super) struct Columns {
    csv: CsvColumns,
}

impl Columns {
    /// Finds the columns in a header. Returns an error if a column of `needed` is missing.
    pub(super) fn new(path: &Path, header: &str, needed: &[&str]) -> Result<Self, LinuxError> {
        let csv = CsvColumns::new(header);
        for needed in needed {
            if csv.position(needed).is_none() {
                return Err(LinuxError::at(path, 1, &format!("found no column `{needed}`")));
            }
        }
        Ok(Self { csv })
    }

    /// Splits a line into cells. Splitting fails if the line does not have one cell per column.
    pub(super) fn row<'a>(
        &'a self,
        path: &'a Path,
        line: usize,
        text: &'a str,
    ) -> Result<Row<'a>, LinuxError> {
        let cells = self
            .csv
            .cells(text)
            .map_err(|reason| LinuxError::at(path, line, &format!("found {reason}")))?;
        Ok(Row { path, line, columns: self, cells })
    }
}

/// A row of the table, with the file's path and the row's line number for messages.
pub(super) struct Row<'a> {
    path: &'a Path,
    line: usize,
    columns: &'a Columns,
    cells: Vec<Cow<'a, str>>,
}

impl Row<'_> {
    /// Returns the error for a cell whose value is not of the expected kind.
    pub(super) fn wrong(&self, column: &str, expected: &str) -> LinuxError {
        let found = self.optional_text(column).unwrap_or("nothing");
        LinuxError::at(
            self.path,
            self.line,
            &format!("`{column}`: found {found:?}, expected {expected}"),
        )
    }

    /// Returns the text of a cell; `None` if the cell is empty or the column is missing.
    pub(super) fn optional_text(&self, column: &str) -> Option<&str> {
        let place = self.columns.csv.position(column)?;
        Some(&*self.cells[place]).filter(|cell| !cell.is_empty())
    }

    /// Returns the text of a cell that must not be empty.
    pub(super) fn text(&self, column: &str) -> Result<&str, LinuxError> {
        self.optional_text(column).ok_or_else(|| self.wrong(column, "a value"))
    }

    /// Reads the number in a cell; `None` if the cell is empty or the column is missing.
    pub(super) fn optional(&self, column: &str) -> Result<Option<f64>, LinuxError> {
        let Some(cell) = self.optional_text(column) else { return Ok(None) };
        match cell.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Some(value)),
            _ => Err(self.wrong(column, "a number")),
        }
    }

    /// Reads the number in a cell, which must not be empty.
    pub(super) fn number(&self, column: &str) -> Result<f64, LinuxError> {
        self.optional(column)?.ok_or_else(|| self.wrong(column, "a number"))
    }

    /// Reads the whole number in a cell; `None` if the cell is empty or the column is missing.
    pub(super) fn optional_count(&self, column: &str) -> Result<Option<u64>, LinuxError> {
        let Some(cell) = self.optional_text(column) else { return Ok(None) };
        cell.parse().map(Some).map_err(|_| self.wrong(column, "a whole number"))
    }

    /// Reads the whole number in a cell, which must not be empty.
    pub(super) fn count(&self, column: &str) -> Result<u64, LinuxError> {
        self.optional_count(column)?.ok_or_else(|| self.wrong(column, "a value"))
    }

    /// Reads the whole number below 2^32 in a cell; `None` if the cell is empty or the column is
    /// missing.
    pub(super) fn optional_small(&self, column: &str) -> Result<Option<u32>, LinuxError> {
        let Some(value) = self.optional_count(column)? else { return Ok(None) };
        u32::try_from(value).map(Some).map_err(|_| self.wrong(column, "less than 2^32"))
    }

    /// Reads the whole number below 2^32 in a cell, which must not be empty.
    pub(super) fn small(&self, column: &str) -> Result<u32, LinuxError> {
        self.optional_small(column)?.ok_or_else(|| self.wrong(column, "a value"))
    }
}
