//! Tables that compare the values that a paper prints with the values that bbrlab measures, in the
//! units of the paper.

use super::layout::{Align, Table};
use crate::number::{NONE, decimals_of, fixed, signed};

/// A metric's value as the paper prints it and as bbrlab measures it.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedCell {
    /// The metric's name in the paper file.
    pub metric: String,
    /// The metric's unit.
    pub unit: String,
    /// The printed value; `None` if the paper prints no value for this row and metric.
    pub published: Option<f64>,
    /// The qualification that the paper's text gives the value, such as "about".
    pub printed_as: PrintedAs,
    /// The measured median over the seeds.
    pub measured: Option<f64>,
    /// The 95 % confidence interval of the median (see [`Median`](crate::Median)).
    pub interval: Option<[f64; 2]>,
    /// The number of decimals of the printed values.
    pub decimals: usize,
}

/// The kind of a printed value. In the text of a paper, a value may be approximate or a bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PrintedAs {
    /// The exact value.
    #[default]
    Value,
    /// An approximate value: the paper writes "about" or "nearly".
    About,
    /// The largest value that occurred: the paper writes "up to".
    UpTo,
    /// An upper bound: the paper writes "below" or "just under".
    Below,
    /// A lower bound: the paper writes "over".
    Over,
    /// A value that the paper does not print, computed from values that it prints.
    Derived,
}

impl PrintedAs {
    /// Returns the kind of a printed value, from the words that a paper's data file adds to the
    /// row: [`Self::UpTo`] for words that begin with `up to`, for example. Other words give
    /// [`Self::Value`].
    #[must_use]
    pub fn from_words(words: &str) -> Self {
        let starts = [
            ("about", Self::About),
            ("nearly", Self::About),
            ("up to", Self::UpTo),
            ("below", Self::Below),
            ("just under", Self::Below),
            ("over", Self::Over),
        ];
        let found = starts.into_iter().find(|(start, _)| words.starts_with(start));
        found.map_or(Self::Value, |(_, printed_as)| printed_as)
    }

    /// Returns the sign that a table shows before the value.
    fn sign(self) -> &'static str {
        match self {
            Self::Value => "",
            Self::About => "~",
            Self::UpTo => "≤",
            Self::Below => "<",
            Self::Over => ">",
            Self::Derived => "=",
        }
    }

    /// Whether the difference between the measured and the printed value is meaningful: false if
    /// the printed value is a bound.
    fn is_comparable(self) -> bool {
        matches!(self, Self::Value | Self::About | Self::Derived)
    }
}

impl PublishedCell {
    /// Returns the printed value, with a sign if it is approximate, a bound or computed from other
    /// values.
    #[must_use]
    pub fn published_text(&self) -> String {
        let sign = if self.published.is_some() { self.printed_as.sign() } else { "" };
        format!("{sign}{}", fixed(self.published, self.decimals))
    }

    /// Returns the deviation of the measured value from the printed one, in percent. The result is
    /// a dash if one of the two values is missing, or if the printed value is a bound or zero.
    fn difference(&self) -> String {
        match (self.published, self.measured) {
            (Some(published), Some(measured))
                if published != 0.0 && self.printed_as.is_comparable() =>
            {
                signed((measured - published) / published * 100.0, 1)
            }
            _ => NONE.to_owned(),
        }
    }

    /// Returns the measured median as text, without its interval; a dash if there is none.
    #[must_use]
    pub fn measured_text(&self) -> String {
        fixed(self.measured, self.measured_decimals())
    }

    /// Returns the number of decimals of the measured value: as many as the paper prints. If the
    /// paper prints whole numbers, but the measured value or its interval has a fraction, the
    /// number of decimals is as in [`figure`](crate::figure). A measured value rounded to a whole
    /// number could contradict the difference in percent next to it.
    #[must_use]
    pub fn measured_decimals(&self) -> usize {
        let ends = self.interval.into_iter().flatten();
        let mut figures = self.measured.into_iter().chain(ends);
        if self.decimals > 0 || figures.clone().all(|value| value.fract() == 0.0) {
            return self.decimals;
        }
        figures.find(|&value| value != 0.0).map_or(0, decimals_of)
    }
}

/// A row of a paper's table.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedRow {
    /// The parameters that identify the row: algorithm, bandwidth, delay ...
    pub keys: Vec<(String, String)>,
    /// The cells, in the order of the paper.
    pub cells: Vec<PublishedCell>,
}

/// A table that is too wide gets a line per metric if it has at most this number of rows. With more
/// rows, the table is split into several tables.
const FEW_ROWS: usize = 4;

/// Returns the table of an experiment, with one line per row. If this table would be too wide, a
/// table of at most four rows gets one line per metric instead. A table of more rows is split into
/// several tables, each with as many metrics as fit. Every row must have the same keys and metrics
/// as the first row.
#[must_use]
pub fn published_table(rows: &[PublishedRow]) -> String {
    let Some(first) = rows.first() else { return String::new() };
    let all = wide(rows, first);
    if !all.is_too_wide() {
        return all.render();
    }
    if rows.len() <= FEW_ROWS {
        return long(rows, first).render();
    }
    let mut tables: Vec<String> = Vec::new();
    let mut from = 0;
    while from < first.cells.len() {
        let cut = |to: usize| -> Table {
            let row = |row: &PublishedRow| PublishedRow {
                keys: row.keys.clone(),
                cells: row.cells[from..to].to_vec(),
            };
            let rows: Vec<PublishedRow> = rows.iter().map(row).collect();
            wide(&rows, &rows[0])
        };
        let fits = (from + 1..=first.cells.len()).rev().find(|&to| !cut(to).is_too_wide());
        let to = fits.unwrap_or(from + 1);
        tables.push(cut(to).render());
        from = to;
    }
    tables.join("\n")
}

/// Returns the tables of an experiment. Rows with the same metrics share a table. If rows with a
/// single metric have the keys `flow` and `buffer_bdp`, their table has two columns for each
/// buffer: the printed and the measured value.
#[must_use]
pub fn published_tables(rows: &[PublishedRow]) -> String {
    let tables: Vec<String> = blocks(rows)
        .iter()
        .map(|block| grid(block).unwrap_or_else(|| published_table(block)))
        .collect();
    tables.join("\n")
}

/// Returns blocks of rows: the rows of a block have the same metrics. The blocks are in the order
/// of their first rows.
fn blocks(rows: &[PublishedRow]) -> Vec<Vec<PublishedRow>> {
    let metrics = |row: &PublishedRow| -> Vec<String> {
        row.cells.iter().map(|cell| cell.metric.clone()).collect()
    };
    let mut blocks: Vec<Vec<PublishedRow>> = Vec::new();
    for row in rows {
        match blocks.iter_mut().find(|block| metrics(&block[0]) == metrics(row)) {
            Some(block) => block.push(row.clone()),
            None => blocks.push(vec![row.clone()]),
        }
    }
    for block in &mut blocks {
        // Remove keys that no row of the block has, such as the flow in the table of whole runs.
        let names: Vec<String> = block[0].keys.iter().map(|(name, _)| name.clone()).collect();
        for name in names {
            let is_absent = |row: &PublishedRow| {
                row.keys.iter().any(|(key, word)| *key == name && word == NONE)
            };
            if block.iter().all(is_absent) {
                for row in block.iter_mut() {
                    row.keys.retain(|(key, _)| *key != name);
                }
            }
        }
    }
    blocks
}

/// Returns the table of a single metric with two columns for each buffer: the printed and the
/// measured value. Papers print the throughput of several flows in a table with one column for each
/// buffer. Measured values have one decimal more than printed values. `None` if the rows have
/// several metrics or lack the keys `flow` and `buffer_bdp`, or if the table is too wide.
fn grid(rows: &[PublishedRow]) -> Option<String> {
    let first = rows.first()?;
    let across = "buffer_bdp";
    let has = |key: &str| first.keys.iter().any(|(name, _)| name == key);
    if first.cells.len() != 1 || !has(across) || !has("flow") {
        return None;
    }
    let value_of = |row: &PublishedRow| {
        row.keys.iter().find(|(key, _)| key == across).map(|(_, value)| value.clone())
    };
    let mut values: Vec<String> = Vec::new();
    let mut lines: Vec<(Vec<String>, Vec<Option<&PublishedCell>>)> = Vec::new();
    for row in rows {
        let value = value_of(row)?;
        let column = values.iter().position(|known| *known == value).unwrap_or_else(|| {
            values.push(value);
            values.len() - 1
        });
        let keys = row.keys.iter().filter(|(key, _)| key != across);
        let keys: Vec<String> = keys.map(|(_, value)| value.clone()).collect();
        let line = lines.iter().position(|(known, _)| *known == keys).unwrap_or_else(|| {
            lines.push((keys, Vec::new()));
            lines.len() - 1
        });
        let cells = &mut lines[line].1;
        cells.resize(cells.len().max(column + 1), None);
        cells[column] = Some(row.cells.first().expect("a row has cells"));
    }
    let mut table = Table::new();
    for (key, _) in first.keys.iter().filter(|(key, _)| key != across) {
        let (title, unit) = split_unit(key);
        table = table.column(title, unit, Align::Left);
    }
    let (title, unit) = split_unit(across);
    for value in &values {
        table = table.column(&format!("{title} {value}"), "paper", Align::Right);
        table = table.column(unit, "measured", Align::Right);
    }
    for (mut line, cells) in lines {
        for column in 0..values.len() {
            let cell = cells.get(column).copied().flatten();
            line.push(cell.map_or_else(String::new, PublishedCell::published_text));
            let finer =
                cell.map(|cell| PublishedCell { decimals: cell.decimals + 1, ..cell.clone() });
            line.push(finer.map_or_else(String::new, |cell| measured_text(&cell)));
        }
        table.row(line);
    }
    let (metric, _) = split_unit(&first.cells[0].metric);
    let heading = format!("{metric}, {}:\n", first.cells[0].unit);
    (!table.is_too_wide()).then(|| heading + &table.render())
}

/// Returns the table with one line for each metric of each row of `rows`.
fn long(rows: &[PublishedRow], first: &PublishedRow) -> Table {
    let mut table = Table::new();
    for (key, _) in &first.keys {
        let (title, unit) = split_unit(key);
        table = table.column(title, unit, Align::Left);
    }
    table = table
        .column("metric", "", Align::Left)
        .column("unit", "", Align::Left)
        .column("paper", "", Align::Right)
        .column("measured", "", Align::Right)
        .column("diff %", "", Align::Right);
    for row in rows {
        for cell in &row.cells {
            let mut line: Vec<String> = row.keys.iter().map(|(_, value)| value.clone()).collect();
            line.extend([
                cell.metric.clone(),
                cell.unit.clone(),
                cell.published_text(),
                measured_text(cell),
                cell.difference(),
            ]);
            table.row(line);
        }
    }
    table
}

/// Returns the measured median, followed by its interval unless both ends of the interval round to
/// the median.
fn measured_text(cell: &PublishedCell) -> String {
    let decimals = cell.measured_decimals();
    let median = fixed(cell.measured, decimals);
    match cell.interval.map(|ends| ends.map(|end| fixed(end, decimals))) {
        Some([low, high]) if low != median || high != median => format!("{median} [{low}, {high}]"),
        _ => median,
    }
}

/// Returns the table with one line for each row of `rows`; the metrics are columns side by side.
fn wide(rows: &[PublishedRow], first: &PublishedRow) -> Table {
    let with_published: Vec<bool> = (0..first.cells.len())
        .map(|at| {
            rows.iter().any(|row| row.cells.get(at).is_some_and(|cell| cell.published.is_some()))
        })
        .collect();
    let mut table = Table::new();
    for (key, _) in &first.keys {
        let (title, unit) = split_unit(key);
        let is_number = rows.iter().all(|row| {
            row.keys.iter().any(|(name, value)| name == key && value.parse::<f64>().is_ok())
        });
        table = table.column(title, unit, if is_number { Align::Right } else { Align::Left });
    }
    for (at, cell) in first.cells.iter().enumerate() {
        let (title, _) = split_unit(&cell.metric);
        if with_published[at] {
            table = table.column(title, "paper", Align::Right);
            table = table.column(&cell.unit, "measured", Align::Right);
            table = table.column("", "diff %", Align::Right);
        } else {
            table = table.column(title, &cell.unit, Align::Right);
        }
    }
    for row in rows {
        let mut line: Vec<String> = row.keys.iter().map(|(_, value)| value.clone()).collect();
        for (at, cell) in row.cells.iter().enumerate() {
            let measured = measured_text(cell);
            if with_published[at] {
                line.push(cell.published_text());
                line.push(measured);
                line.push(cell.difference());
            } else {
                line.push(measured);
            }
        }
        table.row(line);
    }
    table
}

/// Returns a short title and the unit for a column, from the name of a key or metric in a data
/// file: `rate` and `Mbit/s` for `bandwidth_mbps`.
#[must_use]
pub fn split_unit(name: &str) -> (&str, &str) {
    match name {
        "bandwidth_mbps" => return ("rate", "Mbit/s"),
        "hsr_lambda" => return ("lambda", ""),
        _ => {}
    }
    for (ending, unit) in [
        ("_mbps", "Mbit/s"),
        ("_ms", "ms"),
        ("_bdp", "BDP"),
        ("_packets", "packets"),
        ("_pct", "%"),
        ("_s", "s"),
    ] {
        if let Some(stem) = name.strip_suffix(ending) {
            return (stem, unit);
        }
    }
    (name, "")
}

#[cfg(test)]
mod tests {
    use super::{PrintedAs, PublishedCell, PublishedRow, grid, measured_text, published_table};
    use crate::number::NONE;
    use expect_test::expect;

    fn cell(metric: &str, published: Option<f64>, measured: f64) -> PublishedCell {
        PublishedCell {
            metric: metric.to_owned(),
            unit: "Mibit/s".to_owned(),
            published,
            printed_as: PrintedAs::Value,
            measured: Some(measured),
            interval: None,
            decimals: 2,
        }
    }

    /// If the paper prints 8, a measured 7.21 is not shown as 7. If the paper prints whole numbers,
    /// a measured whole number is shown without decimals.
    #[test]
    fn a_measured_figure_is_not_rounded_to_whole_printed_ones() {
        let text = |measured, decimals| {
            let cell = cell("fill_time_s", Some(8.0), measured);
            measured_text(&PublishedCell { decimals, ..cell })
        };
        assert_eq!((text(7.21, 0), text(0.25, 0)), ("7.21".to_owned(), "0.250".to_owned()));
        assert_eq!((text(33_424.0, 0), text(7.216, 2)), ("33424".to_owned(), "7.22".to_owned()));
    }

    /// A median that is a whole number, such as 1, can have an interval that ends at 1.12. If the
    /// interval needs decimals, the median and the interval are both shown with decimals.
    #[test]
    fn a_whole_median_has_the_interval_that_is_not() {
        let text = |measured, interval| {
            let cell = cell("fill_time_s", None, measured);
            measured_text(&PublishedCell { decimals: 0, interval: Some(interval), ..cell })
        };
        assert_eq!(text(1.0, [1.0, 1.12]), "1.00 [1.00, 1.12]");
        assert_eq!(text(0.0, [0.0, 0.25]), "0.000 [0.000, 0.250]");
        assert_eq!(text(3.0, [2.0, 4.0]), "3 [2, 4]");
        assert_eq!(text(1.0, [1.0, 1.0]), "1");
    }

    /// A measured 2 % does not deviate from a printed "up to 5 %".
    #[test]
    fn a_printed_bound_has_a_sign_and_no_difference() {
        let text = |words: &str| {
            let printed_as = PrintedAs::from_words(words);
            let cell = PublishedCell { printed_as, ..cell("drop_pct", Some(5.0), 2.0) };
            (cell.published_text(), cell.difference())
        };
        let pair = |sign: &str, difference: &str| (sign.to_owned(), difference.to_owned());
        assert_eq!(text("up to, in shallow buffers"), pair("≤5.00", NONE));
        assert_eq!(text("just under"), pair("<5.00", NONE));
        assert_eq!(text("over two thirds"), pair(">5.00", NONE));
        assert_eq!(text("nearly"), pair("~5.00", "-60.0"));
        // A qualifier counts only at the start of the words.
        assert_eq!(text("gain is about 25 % per cycle"), pair("5.00", "-60.0"));
    }

    #[test]
    fn published_and_measured_values_are_side_by_side() {
        let keys = |cc: &str, rate: &str| {
            vec![
                ("algorithm".to_owned(), cc.to_owned()),
                ("bandwidth_mbps".to_owned(), rate.to_owned()),
            ]
        };
        let rows = [
            PublishedRow {
                keys: keys("bbr1", "5"),
                cells: vec![
                    cell("throughput_mbps", Some(4.38), 4.53),
                    cell("goodput_mbps", Some(3.8), 4.1),
                ],
            },
            PublishedRow {
                keys: keys("bbr1", "10"),
                cells: vec![
                    cell("throughput_mbps", Some(8.99), 9.21),
                    cell("goodput_mbps", None, 8.3),
                ],
            },
        ];
        expect![[r#"
            algorithm    rate  throughput   Mibit/s          goodput   Mibit/s
                       Mbit/s       paper  measured  diff %    paper  measured  diff %
            ──────────────────────────────────────────────────────────────────────────
            bbr1            5        4.38      4.53    +3.4     3.80      4.10    +7.9
            bbr1           10        8.99      9.21    +2.4        –      8.30       –
        "#]]
        .assert_eq(&published_table(&rows));
    }
    #[test]
    fn a_metric_over_two_parameters_is_a_grid() {
        let row = |rtt: &str, buffer: &str, published: Option<f64>, measured: f64| PublishedRow {
            keys: vec![
                ("buffer_bdp".to_owned(), buffer.to_owned()),
                ("flow".to_owned(), format!("to {rtt}")),
                ("rtt_ms".to_owned(), rtt.to_owned()),
            ],
            cells: vec![cell("throughput_mbps", published, measured)],
        };
        let rows = [
            row("8", "0.5", Some(19.0), 20.5),
            row("32", "0.5", Some(14.0), 13.0),
            row("8", "1", Some(15.0), 15.0),
            row("32", "1", None, 12.25),
        ];
        expect![[r#"
            throughput, Mibit/s:
            flow   rtt  buffer 0.5       BDP  buffer 1       BDP
                   ms        paper  measured     paper  measured
            ────────────────────────────────────────────────────
            to 8   8         19.00    20.500     15.00    15.000
            to 32  32        14.00    13.000         –    12.250
        "#]]
        .assert_eq(&grid(&rows).unwrap());
    }
}
