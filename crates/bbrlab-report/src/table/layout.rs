//! The layout of tables: columns, their widths, and the line below their titles.

use std::fmt::Write as _;

use crate::number::{BEYOND, NONE};

/// The text that follows the name of a metric whose values are shares and shown in percent.
pub(super) const PERCENT: &str = " %";

/// The largest width of a table in characters, if the caller gives no other width.
pub const WIDTH: usize = 100;

/// The minimum width, in characters, of a column whose text is cut off.
const READABLE: usize = 14;

/// The alignment of a column's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// At the left, for text.
    Left,
    /// At the right, for numbers.
    Right,
}

pub(super) struct Column {
    pub(super) title: String,
    pub(super) unit: String,
    pub(super) align: Align,
    /// Title and unit that are clear without the columns to the left; `None` if `title` and `unit`
    /// are clear.
    pub(super) full: Option<(String, String)>,
}

impl Column {
    /// Returns a title and a unit that are clear without the columns to the left.
    pub(super) fn in_full(&self) -> (&str, &str) {
        let own = (self.title.as_str(), self.unit.as_str());
        self.full.as_ref().map_or(own, |(title, unit)| (title, unit))
    }
}

/// A table of text: a line of titles, a line of units, rows.
#[derive(Default)]
pub struct Table {
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Vec<String>>,
}

impl Table {
    /// Creates an empty table without columns.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a column; `unit` is shown below its title.
    #[must_use]
    pub fn column(mut self, title: &str, unit: &str, align: Align) -> Self {
        self.columns.push(Column {
            title: title.to_owned(),
            unit: unit.to_owned(),
            align,
            full: None,
        });
        self
    }

    /// Gives the last column a second title and unit, for formats such as CSV, in which each title
    /// must be clear without the columns to the left. For example, a terminal shows the title `p95`
    /// without a unit after the column `queue mean`; in CSV, the title is `queue p95` and the unit
    /// `packets`.
    ///
    /// # Panics
    /// Panics if there is no column.
    #[must_use]
    pub fn in_full(mut self, title: &str, unit: &str) -> Self {
        let last = self.columns.last_mut().expect("a column");
        last.full = Some((title.to_owned(), unit.to_owned()));
        self
    }

    /// Adds a row.
    ///
    /// # Panics
    /// Panics if the row does not have one cell per column.
    pub fn row(&mut self, cells: Vec<String>) {
        assert_eq!(cells.len(), self.columns.len(), "one cell per column");
        self.rows.push(cells);
    }

    /// Removes the columns in which no row has a value.
    #[must_use]
    pub fn without_empty_columns(mut self) -> Self {
        let has_figure = |at: usize| self.rows.iter().any(|row| row[at] != NONE);
        let kept: Vec<bool> = (0..self.columns.len()).map(has_figure).collect();
        let mut at = kept.iter().copied();
        self.columns.retain(|_| at.next().unwrap_or(true));
        for row in &mut self.rows {
            let mut at = kept.iter().copied();
            row.retain(|_| at.next().unwrap_or(true));
        }
        self
    }

    /// Whether an interval in the table goes beyond the possible values.
    pub(super) fn has_beyond(&self) -> bool {
        let is_it = |cell: &String| cell.contains(" ±") && cell.ends_with(BEYOND);
        self.rows.iter().flatten().any(is_it)
    }

    /// Whether the table has no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether the table is wider than [`WIDTH`], so that [`Self::render`] has to shorten or omit
    /// columns.
    pub(crate) fn is_too_wide(&self) -> bool {
        let widths: Vec<usize> = (0..self.columns.len()).map(|at| self.natural(at)).collect();
        total(&widths) > WIDTH
    }

    /// Writes the table as text with lines of at most [`WIDTH`] characters; see
    /// [`Self::render_in`].
    #[must_use]
    pub fn render(&self) -> String {
        self.render_in(Some(WIDTH))
    }

    /// Writes the table as text, with lines of at most `width` characters. Without `width`, every
    /// column has the width that it needs.
    ///
    /// If the last column is text, its cells continue on further lines. If the lines are too long,
    /// columns of text become narrower, and cells that are cut off end in `…`. If the table is
    /// still too wide, the last columns are omitted, and a line below the table names them.
    #[must_use]
    pub fn render_in(&self, width: Option<usize>) -> String {
        let mut widths: Vec<usize> = (0..self.columns.len()).map(|at| self.natural(at)).collect();
        let mut shown = self.columns.len();
        let width = width.unwrap_or(usize::MAX);
        self.narrow_last(&mut widths, width);
        while total(&widths[..shown]) > width {
            let widest = (0..shown)
                .filter(|&at| self.columns[at].align == Align::Left && widths[at] > READABLE)
                .max_by_key(|&at| (widths[at], shown - at));
            match widest {
                Some(at) => widths[at] -= 1,
                None if shown > 1 => shown -= 1,
                None => break,
            }
        }
        let mut text = String::new();
        self.line(&mut text, &widths[..shown], |at| &self.columns[at].title);
        if self.columns[..shown].iter().any(|column| !column.unit.is_empty()) {
            self.line(&mut text, &widths[..shown], |at| &self.columns[at].unit);
        }
        writeln!(text, "{}", "─".repeat(total(&widths[..shown])))
            .expect("writing to a string cannot fail");
        let empty = String::new();
        for row in &self.rows {
            let mut last = wrap(&row[shown - 1], widths[shown - 1]).into_iter();
            let first = last.next().unwrap_or_default();
            self.line(
                &mut text,
                &widths[..shown],
                |at| if at + 1 == shown { &first } else { &row[at] },
            );
            for more in last {
                self.line(&mut text, &widths[..shown], |at| {
                    if at + 1 == shown { &more } else { &empty }
                });
            }
        }
        self.name_left_out(&mut text, shown, width);
        text
    }

    /// Writes the names of the omitted columns, and how to show them.
    fn name_left_out(&self, text: &mut String, shown: usize, width: usize) {
        if shown == self.columns.len() {
            return;
        }
        let named = self.columns[shown..].iter().filter(|column| !column.title.is_empty());
        let names: Vec<String> = named
            .map(|column| {
                let same = self.columns.iter().filter(|other| other.title == column.title).count();
                let unit = if same > 1 { column.unit.as_str() } else { "" };
                format!("{} {unit}", column.title).trim_end().to_owned()
            })
            .collect();
        let note = format!("not shown: {} (--wide shows all columns)", names.join(", "));
        for line in wrap(&note, width) {
            writeln!(text, "{line}").expect("writing to a string cannot fail");
        }
    }

    /// If the last column is text, limits it to the width that the other columns leave, provided
    /// that this width is at least `SENTENCE` characters.
    fn narrow_last(&self, widths: &mut [usize], width: usize) {
        const SENTENCE: usize = 40;
        let Some(last) = self.columns.len().checked_sub(1) else { return };
        if self.columns[last].align == Align::Left {
            let room = width.saturating_sub(total(&widths[..last]) + 2);
            if room >= SENTENCE {
                widths[last] = widths[last].min(room);
            }
        }
    }

    fn natural(&self, at: usize) -> usize {
        let column = &self.columns[at];
        let head = length(&column.title).max(length(&column.unit));
        self.rows.iter().map(|row| length(&row[at])).fold(head, usize::max)
    }

    fn line<'a>(&self, text: &mut String, widths: &[usize], cell: impl Fn(usize) -> &'a String) {
        let mut line = String::new();
        for (at, &width) in widths.iter().enumerate() {
            if at > 0 {
                line.push_str("  ");
            }
            let cell = cut(cell(at), width);
            let gap = " ".repeat(width.saturating_sub(length(&cell)));
            match self.columns[at].align {
                Align::Left => line.extend([cell, gap]),
                Align::Right => line.extend([gap, cell]),
            }
        }
        writeln!(text, "{}", line.trim_end()).expect("writing to a string cannot fail");
    }
}

fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1)
}

/// Returns the number of characters. No character in these tables is wider than one terminal
/// column.
fn length(text: &str) -> usize {
    text.chars().count()
}

/// Breaks a text between words into lines of at most `width` characters. A word of more than
/// `width` characters has a line of its own, which is too long. A text that fits into one line is
/// unchanged.
fn wrap(text: &str, width: usize) -> Vec<String> {
    if length(text) <= width {
        return vec![text.to_owned()];
    }
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if length(line) + 1 + length(word) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Returns the text, cut off to at most `width` characters.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if length(text) <= width {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(width.saturating_sub(1)).collect();
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::{Align, Table, WIDTH};
    use crate::number::fixed;
    use expect_test::expect;

    #[test]
    fn words_keep_left_and_numbers_right() {
        let mut table =
            Table::new().column("flow", "", Align::Left).column("goodput", "Mbit/s", Align::Right);
        table.row(vec!["bbr1".to_owned(), "9.50".to_owned()]);
        table.row(vec!["cubic".to_owned(), "10.25".to_owned()]);
        expect![[r#"
            flow   goodput
                    Mbit/s
            ──────────────
            bbr1      9.50
            cubic    10.25
        "#]]
        .assert_eq(&table.render());
    }

    #[test]
    fn columns_in_which_no_row_has_a_figure_can_be_left_out() {
        let mut table = ["case", "speed", "misses"]
            .iter()
            .fold(Table::new(), |table, title| table.column(title, "", Align::Right));
        table.row(vec!["a".to_owned(), fixed(None, 2), fixed(None, 2)]);
        table.row(vec!["b".to_owned(), fixed(7.0, 2), fixed(None, 2)]);
        expect![[r#"
            case  speed
            ───────────
               a      –
               b   7.00
        "#]]
        .assert_eq(&table.without_empty_columns().render());
    }

    #[test]
    fn a_last_column_of_words_goes_on_below() {
        let mut table =
            Table::new().column("name", "", Align::Left).column("what it does", "", Align::Left);
        table.row(vec![
            "bbr1".to_owned(),
            "models the path by its bandwidth and its minimum RTT ".repeat(3),
        ]);
        expect![[r#"
            name  what it does
            ────────────────────────────────────────────────────────────────────────────────────────────────────
            bbr1  models the path by its bandwidth and its minimum RTT models the path by its bandwidth and its
                  minimum RTT models the path by its bandwidth and its minimum RTT
        "#]].assert_eq(&table.render());
    }

    #[test]
    fn a_table_never_exceeds_its_width() {
        let mut table = Table::new().column("name", "", Align::Left);
        for at in 0..14 {
            table = table.column(&format!("column{at}"), "Mbit/s", Align::Right);
        }
        let mut row = vec!["long ".repeat(40)];
        row.extend((0..14).map(|at| format!("{at}.00")));
        table.row(row);
        let text = table.render();
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert!(text.contains('…'), "{text}");
        assert!(text.contains("not shown: ") && text.contains("--wide"), "{text}");
        let wide = table.render_in(None);
        assert!(wide.contains("column13") && !wide.contains("not shown"), "{wide}");
    }
}
