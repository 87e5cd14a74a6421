//! Reads the CSV of traces. All cells are integers. An empty cell has the value of the previous
//! row. In a column whose name ends in `+`, cells are differences from the previous row.

use bbrlab_cc::fields::Kind;
use bbrlab_cc::{AckSample, Conn, Control, LostSkb, RateSample};

/// A column of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Column {
    /// The column's name, without the `+` that ends the header cell of a column of differences.
    pub(super) name: String,
    /// Whether the cells are differences from the previous row.
    is_difference: bool,
    /// Whether the column's 64-bit values are unsigned.
    is_unsigned: bool,
}

impl Column {
    /// Creates the column that a cell of the header describes.
    fn new(cell: &str) -> Self {
        let name = cell.strip_suffix('+').unwrap_or(cell);
        Self {
            name: name.to_owned(),
            is_difference: name != cell,
            is_unsigned: is_u64(name.strip_prefix("o_").unwrap_or(name)),
        }
    }

    /// Converts the 64 bits of a cell to a number, signed or unsigned as the column requires.
    pub(super) fn number(&self, bits: i64) -> i128 {
        if self.is_unsigned { i128::from(bits.cast_unsigned()) } else { i128::from(bits) }
    }
}

/// Whether the column's field is a `u64` in the kernel.
fn is_u64(column: &str) -> bool {
    let records =
        [Conn::rows(), Control::rows(), RateSample::rows(), LostSkb::rows(), AckSample::rows()];
    let mut fields = records.iter().flat_map(|record| &record.fields);
    fields.any(|field| field.column == Some(column) && field.kind == Kind::U64)
}

/// A trace: its parsed header, and its rows as text.
#[derive(Debug)]
pub(super) struct Table {
    columns: Vec<Column>,
    body: Vec<u8>,
}

impl Table {
    /// Parses the header of an unpacked trace, and stores the rows as text.
    pub(super) fn new(text: Vec<u8>) -> Result<Self, String> {
        let end = text.iter().position(|&byte| byte == b'\n').ok_or("no header line")?;
        let header = std::str::from_utf8(&text[..end]).map_err(|_| "the header is not UTF-8")?;
        let columns = header.split(',').map(Column::new).collect();
        let mut body = text;
        body.drain(..=end);
        Ok(Self { columns, body })
    }

    /// Returns the columns, in the file's order.
    pub(super) fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Returns the position of the column `name`, from 0.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// Creates a reader positioned before the first row.
    pub(super) fn rows(&self) -> Rows<'_> {
        Rows {
            columns: &self.columns,
            rest: &self.body,
            values: vec![0; self.columns.len()],
            changed: Vec::with_capacity(self.columns.len()),
            row: 0,
        }
    }
}

/// Reads the rows of a trace one by one.
///
/// Each value is stored as 64 bits. Whether a value is signed depends on the value's column; see
/// [`Column::number`].
pub(super) struct Rows<'t> {
    columns: &'t [Column],
    rest: &'t [u8],
    values: Vec<i64>,
    changed: Vec<usize>,
    row: u64,
}

impl Rows<'_> {
    /// Returns the number of the row that was read last, from 1.
    pub(super) fn row(&self) -> u64 {
        self.row
    }

    /// Returns the values of the current row, in the order of the columns.
    pub(super) fn values(&self) -> &[i64] {
        &self.values
    }

    /// Returns the positions of the columns whose cells are not empty in the current row.
    pub(super) fn changed(&self) -> &[usize] {
        &self.changed
    }

    /// Reads the next row. Returns `false` if there is no further row.
    pub(super) fn advance(&mut self) -> Result<bool, String> {
        if self.rest.is_empty() {
            return Ok(false);
        }
        let is_first = self.row == 0;
        self.row += 1;
        self.changed.clear();
        let mut at = 0;
        for (index, column) in self.columns.iter().enumerate() {
            let start = at;
            while self.rest.get(at).is_some_and(|&byte| byte != b',' && byte != b'\n') {
                at += 1;
            }
            let cell = &self.rest[start..at];
            let is_last = index + 1 == self.columns.len();
            match self.rest.get(at) {
                Some(b',') if !is_last => {}
                Some(b'\n') | None if is_last => {}
                Some(b',') => return Err(format!("more than {} cells", self.columns.len())),
                _ => return Err(format!("{} cells, expected {}", index + 1, self.columns.len())),
            }
            at = (at + 1).min(self.rest.len());
            if cell.is_empty() {
                if is_first {
                    return Err(format!("column `{}` is empty in the first row", column.name));
                }
                continue;
            }
            let Some(number) = parse_integer(cell) else {
                let cell = String::from_utf8_lossy(cell);
                return Err(format!("column `{}`: `{cell}` is not a 64-bit integer", column.name));
            };
            self.values[index] = if column.is_difference && !is_first {
                self.values[index].wrapping_add(number)
            } else {
                number
            };
            self.changed.push(index);
        }
        self.rest = &self.rest[at..];
        Ok(true)
    }
}

/// Parses a decimal integer that fits 64 bits, signed or unsigned, and returns its bits.
fn parse_integer(cell: &[u8]) -> Option<i64> {
    let (is_negative, digits) = match cell {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.is_empty() {
        return None;
    }
    let mut magnitude: u64 = 0;
    for &digit in digits {
        let digit = digit.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        magnitude = magnitude.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some(if is_negative { magnitude.cast_signed().wrapping_neg() } else { magnitude.cast_signed() })
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::Table;
    use expect_test::{Expect, expect};

    fn check(text: &str, expected: &Expect) {
        let table = Table::new(text.as_bytes().to_vec()).unwrap();
        let mut rows = table.rows();
        let mut lines = String::new();
        loop {
            match rows.advance() {
                Ok(true) => writeln!(lines, "{}: {:?}", rows.row(), rows.values()).unwrap(),
                Ok(false) => break,
                Err(reason) => {
                    writeln!(lines, "{}: {reason}", rows.row()).unwrap();
                    break;
                }
            }
        }
        expected.assert_eq(&lines);
    }

    #[test]
    fn empty_cells_repeat_and_plus_columns_add_up() {
        check(
            "event,jiffies+,rate\n1,4294967290,18446744073709551615\n,10,\n2,-4294967295,7\n",
            &expect![[r#"
                1: [1, 4294967290, -1]
                2: [1, 4294967300, -1]
                3: [2, 5, 7]
            "#]],
        );
    }

    #[test]
    fn a_row_with_one_cell_too_few_is_refused() {
        check(
            "a,b\n1,2\n3\n",
            &expect![[r#"
            1: [1, 2]
            2: 1 cells, expected 2
        "#]],
        );
    }

    #[test]
    fn a_row_with_one_cell_too_many_is_refused() {
        check("a,b\n1,2,3\n", &expect!["1: more than 2 cells\n"]);
    }

    #[test]
    fn what_is_not_an_integer_is_refused() {
        check("a,b\n1,2.5\n", &expect!["1: column `b`: `2.5` is not a 64-bit integer\n"]);
    }

    #[test]
    fn the_first_row_must_be_full() {
        check("a,b\n1,\n", &expect!["1: column `b` is empty in the first row\n"]);
    }
}
