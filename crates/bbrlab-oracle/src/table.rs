//! Loads the CSV files of packet logs: decompresses them and checks the number of cells.

use std::borrow::Cow;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::csv::{CsvColumns, unpack};
use crate::error::LogError;

/// The cells of a CSV file as text. Every row has as many cells as the header.
#[derive(Debug)]
pub(crate) struct Table {
    columns: CsvColumns,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Reads the file at `path`, and decompresses it if its name ends in `.gz`. The table's header
    /// must begin with `columns`.
    pub(crate) fn load(path: &Path, columns: &str) -> Result<Self, LogError> {
        let bytes = fs::read(path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => LogError::Missing { path: path.to_owned() },
            _ => LogError::Unreadable { path: path.to_owned(), reason: error.to_string() },
        })?;
        let bytes = if path.extension().is_some_and(|extension| extension == "gz") {
            unpack(&bytes).map_err(|reason| LogError::BadGzip { path: path.to_owned(), reason })?
        } else {
            bytes
        };
        let bad_row = |row, reason: &str| LogError::BadRow {
            path: path.to_owned(),
            row,
            reason: reason.to_owned(),
        };
        let text = String::from_utf8(bytes).map_err(|_| bad_row(0, "not UTF-8"))?;
        let mut lines = text.split('\n');
        let header = lines.next().unwrap_or("");
        let begins = header == columns
            || header.strip_prefix(columns).is_some_and(|rest| rest.starts_with(','));
        if !begins {
            return Err(LogError::BadHeader {
                path: path.to_owned(),
                found: header.chars().take(200).collect(),
                expected: columns.to_owned(),
            });
        }
        let columns = CsvColumns::new(header);
        let mut rows = Vec::new();
        let mut ended = false;
        for (at, line) in lines.enumerate() {
            if ended {
                return Err(bad_row(at, "an empty line"));
            }
            if line.is_empty() {
                ended = true;
                continue;
            }
            let cells = columns.cells(line).map_err(|reason| bad_row(at + 1, &reason))?;
            rows.push(cells.into_iter().map(Cow::into_owned).collect());
        }
        if !ended {
            return Err(bad_row(rows.len(), "the file ends inside a line"));
        }
        Ok(Self { columns, rows })
    }

    /// Returns the rows, in the file's order.
    pub(crate) fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    /// Returns the position of the column `name`, from 0.
    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.columns.position(name)
    }
}
