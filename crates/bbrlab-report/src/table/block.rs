//! Output in blocks, such as lines and tables, as text for a terminal or as HTML for a notebook.

use std::fmt::Write as _;

use super::layout::{Align, Table, cut};
use crate::html::escaped;
use crate::number::BEYOND;

/// The largest number of rows of a table in HTML. If the table has more rows, a line below it says
/// how many more there are. Longer tables would enlarge the file of a notebook, which stores all
/// output.
const ROWS_SHOWN: usize = 100;

/// A block of the output, such as a line or a table.
pub(super) enum Block {
    /// A line, cut off at the width of the terminal.
    Line(String),
    /// A sentence, which is never cut off.
    Sentence(String),
    /// The sweep point that the next tables describe.
    Point(String),
    /// The explanation of the sign `*` at intervals that reach beyond the possible values of their
    /// metric. Tables as text leave out this explanation if the terminal has no room for the
    /// columns with such intervals.
    Beyond,
    /// An empty line.
    Gap,
    Table(Table),
}

/// The explanation of [`BEYOND`].
pub(super) const OF_BEYOND: &str = "*: the interval goes beyond the possible values (below 0, a share above 100 %, or Jain's index above 1)";

/// Writes the blocks as text. `width` is the terminal's width in characters. Without `width`,
/// tables have all their columns.
pub(super) fn text(blocks: &[Block], width: Option<usize>) -> String {
    let mut text = String::new();
    for block in blocks {
        match block {
            Block::Line(line) => text.push_str(&cut(line, width.unwrap_or(usize::MAX))),
            Block::Sentence(line) => text.push_str(line),
            Block::Point(point) => text.extend(["at ", point]),
            Block::Beyond if shows_beyond(&text) => text.push_str(OF_BEYOND),
            Block::Beyond => continue,
            Block::Gap => {}
            Block::Table(table) => {
                text.push_str(&table.render_in(width));
                continue;
            }
        }
        text.push('\n');
    }
    text
}

/// Whether a text has an interval that ends with the sign [`BEYOND`].
fn shows_beyond(text: &str) -> bool {
    text.split_whitespace().any(|word| word.starts_with('±') && word.ends_with(BEYOND))
}

/// Writes the blocks as HTML without colours or fonts: only the alignment of columns is set.
pub(super) fn html(blocks: &[Block]) -> String {
    let mut html = String::from("<div style=\"overflow-x: auto\">\n");
    write_html(&mut html, blocks, of_table);
    html.push_str("</div>");
    html
}

/// Writes the blocks as HTML for a report's page. The page's style sheet aligns the columns,
/// because the page's content security policy forbids styles in elements. Each table scrolls
/// separately, also with the keyboard.
pub(super) fn page(blocks: &[Block]) -> String {
    let mut html = String::new();
    write_html(&mut html, blocks, table_of_page);
    html
}

/// Writes the blocks as HTML. Lines without a gap between them are one paragraph.
fn write_html(html: &mut String, blocks: &[Block], write_table: fn(&mut String, &Table)) {
    let mut lines: Vec<String> = Vec::new();
    let end = |html: &mut String, lines: &mut Vec<String>| {
        if !lines.is_empty() {
            put(html, &format!("<p>{}</p>\n", lines.join("<br>\n")));
            lines.clear();
        }
    };
    for block in blocks {
        match block {
            Block::Line(line) | Block::Sentence(line) => lines.push(escaped(line)),
            Block::Point(point) => lines.push(format!("at {}", escaped(point))),
            Block::Beyond => lines.push(OF_BEYOND.to_owned()),
            Block::Gap => end(html, &mut lines),
            Block::Table(table) => {
                end(html, &mut lines);
                write_table(html, table);
            }
        }
    }
    end(html, &mut lines);
}

fn table_of_page(html: &mut String, table: &Table) {
    let first = table.columns.first().map_or("", |column| column.title.as_str());
    put(
        html,
        &format!(
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table by {}\">\n<table>\n<thead>\n<tr>",
            escaped(first)
        ),
    );
    let word = |at: usize| match table.columns[at].align {
        Align::Left => " class=\"word\"",
        Align::Right => "",
    };
    for (at, column) in table.columns.iter().enumerate() {
        let (title, unit) = (escaped(&column.title), escaped(&column.unit));
        put(html, &format!("<th scope=\"col\"{}>{title}<small>{unit}</small></th>", word(at)));
    }
    put(html, "</tr>\n</thead>\n<tbody>\n");
    for cells in table.rows.iter().take(ROWS_SHOWN) {
        put(html, "<tr>");
        for (at, cell) in cells.iter().enumerate() {
            let (tag, scope) = if at == 0 { ("th", " scope=\"row\"") } else { ("td", "") };
            put(html, &format!("<{tag}{scope}{}>{}</{tag}>", word(at), escaped(cell)));
        }
        put(html, "</tr>\n");
    }
    put(html, "</tbody>\n</table>\n</div>\n");
    let more = table.rows.len().saturating_sub(ROWS_SHOWN);
    if more > 0 {
        put(html, &format!("<p>and {more} rows more</p>\n"));
    }
}

fn of_table(html: &mut String, table: &Table) {
    let row = |html: &mut String, tag: &str, more: &str, cell: &dyn Fn(usize) -> String| {
        html.push_str("<tr>");
        for (at, column) in table.columns.iter().enumerate() {
            let align = match column.align {
                Align::Left => "left",
                Align::Right => "right",
            };
            let style = format!("text-align: {align}; white-space: nowrap{more}");
            put(html, &format!("<{tag} style=\"{style}\">{}</{tag}>", escaped(&cell(at))));
        }
        html.push_str("</tr>\n");
    };
    html.push_str("<table style=\"margin-bottom: 1em\">\n<thead>\n");
    row(html, "th", "", &|at| table.columns[at].title.clone());
    if table.columns.iter().any(|column| !column.unit.is_empty()) {
        row(html, "th", "; font-weight: normal", &|at| table.columns[at].unit.clone());
    }
    html.push_str("</thead>\n<tbody>\n");
    for cells in table.rows.iter().take(ROWS_SHOWN) {
        row(html, "td", "", &|at| cells[at].clone());
    }
    html.push_str("</tbody>\n</table>\n");
    let more = table.rows.len().saturating_sub(ROWS_SHOWN);
    if more > 0 {
        put(html, &format!("<p>and {more} rows more</p>\n"));
    }
}

fn put(html: &mut String, text: &str) {
    html.write_str(text).expect("writing to a string cannot fail");
}

#[cfg(test)]
mod tests {
    use super::{Block, ROWS_SHOWN, html};
    use crate::table::{Align, Table};
    use expect_test::expect;

    #[test]
    fn blocks_become_html_with_escaped_text() {
        let mut table =
            Table::new().column("flow", "", Align::Left).column("goodput", "Mbit/s", Align::Right);
        table.row(vec!["<script>alert(\"1 & 2\")</script>".to_owned(), "9.50".to_owned()]);
        let line = |text: &str| Block::Line(text.to_owned());
        let blocks = [line("a < b"), line("seed 1"), Block::Gap, Block::Table(table), line("end")];
        expect![[r#"
            <div style="overflow-x: auto">
            <p>a &lt; b<br>
            seed 1</p>
            <table style="margin-bottom: 1em">
            <thead>
            <tr><th style="text-align: left; white-space: nowrap">flow</th><th style="text-align: right; white-space: nowrap">goodput</th></tr>
            <tr><th style="text-align: left; white-space: nowrap; font-weight: normal"></th><th style="text-align: right; white-space: nowrap; font-weight: normal">Mbit/s</th></tr>
            </thead>
            <tbody>
            <tr><td style="text-align: left; white-space: nowrap">&lt;script&gt;alert(&quot;1 &amp; 2&quot;)&lt;/script&gt;</td><td style="text-align: right; white-space: nowrap">9.50</td></tr>
            </tbody>
            </table>
            <p>end</p>
            </div>"#]]
        .assert_eq(&html(&blocks));
    }

    #[test]
    fn a_notebook_keeps_the_first_rows_of_a_long_table() {
        let mut table = Table::new().column("flow", "", Align::Left);
        for row in 0..ROWS_SHOWN + 7 {
            table.row(vec![format!("row {row}.")]);
        }
        let html = html(&[Block::Table(table)]);
        assert!(html.contains("row 99.") && !html.contains("row 100."));
        assert!(html.ends_with("</table>\n<p>and 7 rows more</p>\n</div>"), "{html}");
    }
}
