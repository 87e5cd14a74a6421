//! Blocks of lines and tables in the formats of other programs: Markdown, LaTeX, CSV.
//!
//! Markdown, LaTeX and CSV have the columns and rows of the table for a terminal. On a terminal, a
//! title can be short, such as `p95` to the right of the column `queue mean`. In Markdown, LaTeX
//! and CSV, each column has the full title with its unit.

use super::block::{Block, OF_BEYOND, text};
use super::layout::{Align, Column, Table};
use crate::number::{BEYOND, NONE, is_grouped};

/// The format of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// Text for a terminal with this number of characters in a line. Without a number, tables have
    /// all their columns.
    Text(Option<usize>),
    /// Markdown as GitHub renders it.
    Markdown,
    /// LaTeX with the horizontal lines of the package booktabs.
    Latex,
    /// Comma-separated values. Lines that are not in a table are left out.
    Csv,
}

/// Writes the blocks in a format.
pub(super) fn formatted(blocks: &[Block], format: TableFormat) -> String {
    match format {
        TableFormat::Text(width) => text(blocks, width),
        // Without an empty line between them, lines would be one paragraph.
        TableFormat::Markdown => {
            let line = |line: &str| line.replace('<', "&lt;");
            in_parts(blocks, line, line, markdown, true)
        }
        TableFormat::Latex => {
            let comment = |line: &str| format!("% {}", line.replace('\n', " "));
            // The explanation of asterisks is not a comment: readers of the printed table need it.
            let note = |line: &str| format!("\\par{{\\footnotesize {}\\par}}", latex_text(line));
            let tables = in_parts(blocks, comment, note, latex, false);
            format!("% \\usepackage{{booktabs}}\n{tables}")
        }
        TableFormat::Csv => csv(blocks),
    }
}

/// Writes lines and tables, with an empty line before and after each table and, with `has_gaps`,
/// also between lines. `of_note` formats the explanation of the asterisk in tables.
fn in_parts(
    blocks: &[Block],
    of_line: impl Fn(&str) -> String,
    of_note: impl Fn(&str) -> String,
    of_table: impl Fn(&Table) -> String,
    has_gaps: bool,
) -> String {
    let mut text = String::new();
    let mut after_line = false;
    for block in blocks {
        let (part, is_line) = match block {
            Block::Line(line) | Block::Sentence(line) => (of_line(line), true),
            Block::Beyond => (of_note(OF_BEYOND), true),
            Block::Point(point) => (of_line(&format!("at {point}")), true),
            Block::Table(table) => (of_table(table), false),
            Block::Gap => continue,
        };
        if !text.is_empty() && (has_gaps || !(after_line && is_line)) {
            text.push('\n');
        }
        after_line = is_line;
        text.push_str(&part);
        text.push('\n');
    }
    text
}

/// Returns a column's name, with its unit in brackets.
fn name(column: &Column) -> String {
    let (title, unit) = column.in_full();
    match (title.is_empty(), unit.is_empty()) {
        (false, false) => format!("{title} ({unit})"),
        (true, _) => unit.to_owned(),
        (_, true) => title.to_owned(),
    }
}

fn markdown_text(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '\\' | '|' | '*' | '`' => escaped.extend(['\\', c]),
            '<' => escaped.push_str("&lt;"),
            '\n' | '\r' => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

fn markdown(table: &Table) -> String {
    let line = |cells: &mut dyn Iterator<Item = String>| {
        let cells: Vec<String> = cells.collect();
        format!("| {} |", cells.join(" | "))
    };
    let rule = |column: &Column| match column.align {
        Align::Left => "---".to_owned(),
        Align::Right => "---:".to_owned(),
    };
    let mut lines = vec![
        line(&mut table.columns.iter().map(|column| markdown_text(&name(column)))),
        line(&mut table.columns.iter().map(rule)),
    ];
    lines
        .extend(table.rows.iter().map(|row| line(&mut row.iter().map(|cell| markdown_text(cell)))));
    lines.join("\n")
}

fn latex_text(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' | '%' | '_' | '$' | '#' | '{' | '}' => escaped.extend(['\\', c]),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '\\' => escaped.push_str("\\textbackslash{}"),
            '|' => escaped.push_str("\\textbar{}"),
            '<' => escaped.push_str("\\textless{}"),
            '>' => escaped.push_str("\\textgreater{}"),
            '±' => escaped.push_str("$\\pm$"),
            'µ' | 'μ' => escaped.push_str("$\\mu$"),
            '–' => escaped.push_str("--"),
            '…' => escaped.push_str("\\ldots{}"),
            '\n' | '\r' => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Writes a number in LaTeX, in which a hyphen is not a minus sign.
fn latex_number(text: &str) -> String {
    let text = latex_text(text).replace(" $\\pm$", "\\,$\\pm$\\,");
    match text.strip_prefix('-') {
        Some(digits) if digits.starts_with(|c: char| c.is_ascii_digit()) => format!("$-${digits}"),
        _ => text,
    }
}

/// Splits a cell before the decimal point of its number; without a point, after the number. The
/// second part also contains half the width of the interval.
fn at_point(cell: &str) -> (&str, &str) {
    let mean = cell.split_once(" ±").map_or(cell.len(), |(mean, _)| mean.len());
    cell.split_at(cell[..mean].find('.').unwrap_or(mean))
}

/// Whether the numbers of a column have to be aligned at their decimal points, because they differ
/// in length after the point.
fn is_uneven(table: &Table, at: usize) -> bool {
    let cells = table.rows.iter().map(|row| row[at].as_str()).filter(|cell| *cell != NONE);
    let mut after = cells.map(|cell| at_point(cell).1.chars().count());
    let first = after.next();
    table.columns[at].align == Align::Right && after.any(|length| Some(length) != first)
}

fn latex(table: &Table) -> String {
    let uneven: Vec<bool> = (0..table.columns.len()).map(|at| is_uneven(table, at)).collect();
    let columns = table.columns.iter().zip(&uneven);
    let spec: String = columns
        .map(|(column, is_uneven)| match (column.align, is_uneven) {
            (Align::Left, _) => "l",
            (Align::Right, false) => "r",
            (Align::Right, true) => "r@{}l",
        })
        .collect();
    let line = |cells: Vec<String>| format!("  {} \\\\", cells.join(" & "));
    let heading = |part: &dyn Fn(&Column) -> String| {
        let columns = table.columns.iter().zip(&uneven);
        let cells = columns.map(|(column, is_uneven)| {
            let text = latex_text(&part(column));
            if *is_uneven { format!("\\multicolumn{{2}}{{r}}{{{text}}}") } else { text }
        });
        line(cells.collect())
    };
    let mut lines = vec![format!("\\begin{{tabular}}{{{spec}}}"), "  \\toprule".to_owned()];
    lines.push(heading(&|column| column.in_full().0.to_owned()));
    if table.columns.iter().any(|column| !column.in_full().1.is_empty()) {
        lines.push(heading(&|column| column.in_full().1.to_owned()));
    }
    lines.push("  \\midrule".to_owned());
    for row in &table.rows {
        let mut cells = Vec::new();
        for ((column, is_uneven), cell) in table.columns.iter().zip(&uneven).zip(row) {
            match (column.align, is_uneven) {
                (Align::Left, _) => cells.push(latex_text(cell)),
                (Align::Right, false) => cells.push(latex_number(cell)),
                (Align::Right, true) => {
                    let (before, after) = at_point(cell);
                    cells.extend([latex_number(before), latex_number(after)]);
                }
            }
        }
        lines.push(line(cells));
    }
    lines.extend(["  \\bottomrule".to_owned(), "\\end{tabular}".to_owned()]);
    lines.join("\n")
}

/// Writes the tables as CSV. Consecutive tables with the same columns become one table.
/// Consecutive tables of a comparison's sweep points become one table, with a column for the point,
/// even if a table lacks some columns of the other tables: the cells of these columns are empty. An
/// empty line separates tables that cannot be joined in this way.
fn csv(blocks: &[Block]) -> String {
    let mut parts: Vec<CsvPart<'_>> = Vec::new();
    let mut point = None;
    for block in blocks {
        match block {
            Block::Point(of) => point = Some(of.as_str()),
            Block::Table(table) => {
                if !parts.last_mut().is_some_and(|part| part.take(point, table)) {
                    parts.push(CsvPart::new(point, table));
                }
            }
            Block::Line(_) | Block::Sentence(_) | Block::Beyond | Block::Gap => {}
        }
    }
    let texts: Vec<String> = parts.iter().map(CsvPart::text).collect();
    texts.join("\n")
}

/// Tables that become one table in CSV.
struct CsvPart<'a> {
    columns: Vec<&'a Column>,
    tables: Vec<(Option<&'a str>, &'a Table)>,
}

impl<'a> CsvPart<'a> {
    fn new(point: Option<&'a str>, table: &'a Table) -> Self {
        Self { columns: table.columns.iter().collect(), tables: vec![(point, table)] }
    }

    /// Adds a table if it has the same columns as this part. If this part and the table are from
    /// sweep points of a comparison, also adds a table whose columns are a subset or a superset of
    /// the part's columns. Returns whether the table was added.
    fn take(&mut self, point: Option<&'a str>, table: &'a Table) -> bool {
        let of_points = self.tables[0].0.is_some() && point.is_some();
        let own = |column: &Column| self.columns.iter().any(|known| name(known) == name(column));
        let has_all = table.columns.iter().all(own);
        let missing = |known: &&Column| !table.columns.iter().any(|it| name(it) == name(known));
        let misses_none = !self.columns.iter().copied().any(|known| missing(&known));
        let is_same = has_all && misses_none;
        if !(is_same || of_points && (has_all || misses_none)) {
            return false;
        }
        if !has_all {
            self.columns = table.columns.iter().collect();
        }
        self.tables.push((point, table));
        true
    }

    /// Returns the rows of all tables with their sweep points. If a table lacks a column of this
    /// part, the table's rows have empty cells in this column.
    fn rows(&self) -> impl Iterator<Item = (Option<&'a str>, Vec<&'a str>)> {
        self.tables.iter().flat_map(|&(point, table)| {
            let place =
                |column: &&Column| table.columns.iter().position(|own| name(own) == name(column));
            let places: Vec<Option<usize>> = self.columns.iter().map(place).collect();
            table.rows.iter().map(move |row| {
                let cell = |at: &Option<usize>| at.map_or("", |at| row[at].as_str());
                (point, places.iter().map(cell).collect())
            })
        })
    }

    /// Writes the tables as CSV. A column of means with intervals becomes two columns.
    fn text(&self) -> String {
        let has_half: Vec<bool> = (0..self.columns.len())
            .map(|at| self.rows().any(|(_, row)| row[at].contains(" ±")))
            .collect();
        let first_point = self.tables[0].0;
        let mut header: Vec<String> = first_point.map(|_| "point".to_owned()).into_iter().collect();
        for (column, has_half) in self.columns.iter().zip(&has_half) {
            header.push(csv_text(&name(column)));
            if *has_half {
                let (title, unit) = column.in_full();
                let unit = if unit.is_empty() { String::new() } else { format!(" ({unit})") };
                header.push(csv_text(&format!("{title} ±{unit}")));
            }
        }
        let mut text = format!("{}\n", header.join(","));
        for (point, row) in self.rows() {
            let mut cells: Vec<String> = point.map(csv_text).into_iter().collect();
            for ((cell, column), has_half) in row.iter().zip(&self.columns).zip(&has_half) {
                let value = |text: &str| match column.align {
                    _ if text == NONE => String::new(),
                    Align::Right if is_grouped(text) => text.replace(',', ""),
                    _ => csv_text(text),
                };
                let (mean, half) = match cell.split_once(" ±") {
                    Some((mean, half)) if *has_half => (mean, half.trim_end_matches(BEYOND)),
                    _ => (*cell, ""),
                };
                cells.push(value(mean));
                if *has_half {
                    cells.push(value(half));
                }
            }
            text.push_str(&cells.join(","));
            text.push('\n');
        }
        text
    }
}

/// Writes a text as a cell of CSV. The text is put in quotes if it contains a comma, a quote or a
/// line break, or if it begins or ends with a space.
fn csv_text(text: &str) -> String {
    let is_plain = !text.contains([',', '"', '\n', '\r']) && text.trim() == text;
    if is_plain { text.to_owned() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}

#[cfg(test)]
mod tests {
    use super::{TableFormat, formatted};
    use crate::table::block::Block;
    use crate::table::{Align, Table};
    use expect_test::expect;

    /// Returns a table with every character that some format escapes, and a line above the table.
    fn blocks() -> Vec<Block> {
        let mut table = Table::new()
            .column("name", "", Align::Left)
            .column("goodput", "Mbit/s", Align::Right)
            .column("", "%", Align::Right)
            .in_full("share", "%")
            .column("packets", "", Align::Right);
        let cells = |cells: [&str; 4]| cells.map(str::to_owned).to_vec();
        table.row(cells([
            r#"a|b, "c" & 50% of_x $1 #2 {3} ~4 ^5 \6 <7>"#,
            "9.50 ±0.05",
            "50.0",
            "1,234,567",
        ]));
        table.row(cells(["bbr2_exp", "-10.25", "49.0", "–"]));
        vec![
            Block::Line("two-flows  (linux, 100 % of it)".to_owned()),
            Block::Line("digest a_b".to_owned()),
            Block::Gap,
            Block::Table(table),
            Block::Sentence("seeds changed nothing".to_owned()),
        ]
    }

    #[test]
    fn markdown_has_units_in_the_header_and_numbers_to_the_right() {
        expect![[r#"
            two-flows  (linux, 100 % of it)

            digest a_b

            | name | goodput (Mbit/s) | share (%) | packets |
            | --- | ---: | ---: | ---: |
            | a\|b, "c" & 50% of_x $1 #2 {3} ~4 ^5 \\6 &lt;7> | 9.50 ±0.05 | 50.0 | 1,234,567 |
            | bbr2_exp | -10.25 | 49.0 | – |

            seeds changed nothing
        "#]]
        .assert_eq(&formatted(&blocks(), TableFormat::Markdown));
    }

    #[test]
    fn latex_has_the_rules_of_booktabs_and_decimal_points_below_one_another() {
        expect![[r#"
            % \usepackage{booktabs}
            % two-flows  (linux, 100 % of it)
            % digest a_b

            \begin{tabular}{lr@{}lrr}
              \toprule
              name & \multicolumn{2}{r}{goodput} & share & packets \\
               & \multicolumn{2}{r}{Mbit/s} & \% &  \\
              \midrule
              a\textbar{}b, "c" \& 50\% of\_x \$1 \#2 \{3\} \textasciitilde{}4 \textasciicircum{}5 \textbackslash{}6 \textless{}7\textgreater{} & 9 & .50\,$\pm$\,0.05 & 50.0 & 1,234,567 \\
              bbr2\_exp & $-$10 & .25 & 49.0 & -- \\
              \bottomrule
            \end{tabular}

            % seeds changed nothing
        "#]]
        .assert_eq(&formatted(&blocks(), TableFormat::Latex));
    }

    #[test]
    fn latex_prints_what_an_asterisk_means() {
        let latex = formatted(&[Block::Beyond], TableFormat::Latex);
        let expected = "\n\\par{\\footnotesize *: the interval goes beyond the possible values (below 0, a share above 100 \\%, or Jain's index above 1)\\par}\n";
        assert!(latex.ends_with(expected), "{latex}");
    }

    #[test]
    fn csv_has_one_header_plain_numbers_and_nothing_but_tables() {
        expect![[r#"
            name,goodput (Mbit/s),goodput ± (Mbit/s),share (%),packets
            "a|b, ""c"" & 50% of_x $1 #2 {3} ~4 ^5 \6 <7>",9.50,0.05,50.0,1234567
            bbr2_exp,-10.25,,49.0,
        "#]]
        .assert_eq(&formatted(&blocks(), TableFormat::Csv));
    }

    #[test]
    fn points_of_the_same_kind_are_one_table_in_csv() {
        let table = |value: &str| {
            let mut table = Table::new().column("jain", "", Align::Right);
            table.row(vec![value.to_owned()]);
            Block::Table(table)
        };
        let point = |text: &str| Block::Point(text.to_owned());
        // In the test, only the third sweep point has an estimate, and only this point has an
        // interval that goes beyond the possible range.
        let mut more =
            Table::new().column("jain", "", Align::Right).column("more", "", Align::Left);
        more.row(vec!["0.9 ±0.2*".to_owned(), "about 10".to_owned()]);
        let mut other = Table::new().column("link", "", Align::Left);
        other.row(vec!["bottleneck".to_owned()]);
        let blocks = [
            point("buffer = 1bdp, cc = bbr1"),
            table("0.9 ±0.1"),
            Block::Gap,
            point("buffer = 2bdp, cc = bbr1"),
            table("0.8"),
            point("buffer = 4bdp, cc = bbr1"),
            Block::Table(more),
            Block::Table(other),
        ];
        expect![[r#"
            point,jain,jain ±,more
            "buffer = 1bdp, cc = bbr1",0.9,0.1,
            "buffer = 2bdp, cc = bbr1",0.8,,
            "buffer = 4bdp, cc = bbr1",0.9,0.2,about 10

            point,link
            "buffer = 4bdp, cc = bbr1",bottleneck
        "#]]
        .assert_eq(&formatted(&blocks, TableFormat::Csv));
    }
}
