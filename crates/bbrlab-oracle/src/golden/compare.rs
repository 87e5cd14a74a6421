//! Compares the columns of a row with the results of our code, and counts rows that differ.

use super::csv::Table;
use super::report::{Mismatch, Tally};

/// Counts a trace's rows and the rows that differ. Stores the first difference.
pub(super) struct Counter<'t> {
    file: &'t str,
    table: &'t Table,
    tally: Tally,
    row: u64,
    is_wrong: bool,
}

impl<'t> Counter<'t> {
    /// Creates a counter for the rows of `file`. `compared` contains the positions of the columns
    /// that are compared.
    pub(super) fn new(file: &'t str, table: &'t Table, compared: &[usize]) -> Self {
        let mut compared = compared.to_vec();
        compared.sort_unstable();
        compared.dedup();
        let columns = compared.iter().map(|&at| table.columns()[at].name.clone()).collect();
        Self { file, table, tally: Tally { columns, ..Tally::default() }, row: 0, is_wrong: false }
    }

    /// Begins row number `row`.
    pub(super) fn begin(&mut self, row: u64) {
        self.row = row;
        self.tally.rows += 1;
        self.is_wrong = false;
    }

    /// Compares the trace's value in the column at position `at` with our value.
    #[inline]
    pub(super) fn check(&mut self, at: usize, expected: i64, got: i64) {
        if expected != got {
            let column = &self.table.columns()[at];
            self.wrong(&column.name, column.number(expected), column.number(got));
        }
    }

    /// Records a difference in `field`.
    #[cold]
    pub(super) fn wrong(&mut self, field: &str, expected: i128, got: i128) {
        if !self.is_wrong {
            self.is_wrong = true;
            self.tally.mismatches += 1;
        }
        if self.tally.first.is_none() {
            self.tally.first = Some(Mismatch {
                file: self.file.to_owned(),
                row: self.row,
                field: field.to_owned(),
                expected,
                got,
            });
        }
    }

    /// Returns the counts of the whole trace.
    pub(super) fn finish(self) -> Tally {
        self.tally
    }
}
