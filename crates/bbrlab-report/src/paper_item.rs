//! A redrawn figure or table of a paper, with its number and heading, as HTML or Markdown.

use crate::html::{escaped, line};
use crate::picture::Picture;

/// A figure or a table of a paper, redrawn with measured values.
#[derive(Clone, Debug)]
pub struct PaperItem {
    /// The number of the figure or table in the paper.
    pub number: String,
    /// The item's heading.
    pub title: String,
    /// A note for a reader who compares with the paper; may be empty.
    pub note: String,
    /// The picture or table.
    pub shown: Shown,
}

/// The content of an item.
#[derive(Clone, Debug)]
pub enum Shown {
    /// A picture.
    Picture(Picture),
    /// A table.
    Table(PaperTable),
    /// The item's experiment was not run. The field is the command that runs the experiment.
    Absent(String),
}

/// An item of a paper whose experiment was not run.
#[derive(Clone, Debug, Default)]
pub struct AbsentItem {
    /// The paper's key, and the item's number in the paper.
    pub number: String,
    /// The item's heading.
    pub title: String,
    /// The command that runs the experiment.
    pub command: String,
}

/// A table in a paper's layout.
#[derive(Clone, Debug, Default)]
pub struct PaperTable {
    /// The headings of the first columns, which contain the names of the rows.
    pub corner: Vec<String>,
    /// The headings of the other columns. Each element is a line of the table's head, and has a
    /// heading for every one of these columns.
    pub heads: Vec<Vec<String>>,
    /// The rows, each with its names and its cells. A row has one name for each column of `corner`.
    pub lines: Vec<(Vec<String>, Vec<TableCell>)>,
}

/// A cell with a value as measured here and as printed in the paper.
#[derive(Clone, Debug, Default)]
pub struct TableCell {
    /// The median over the seeds.
    pub measured: Option<String>,
    /// The printed value.
    pub published: Option<String>,
    /// The 95 % confidence interval of the median, as text (see [`Median`](crate::Median)).
    pub interval: Option<String>,
    /// An index from 0 to 1 that determines the shading: 1 is not shaded, and values up to 0.4 are
    /// darkest. `None` without shading.
    pub shade: Option<f64>,
}

impl TableCell {
    fn words(&self) -> String {
        match (&self.measured, &self.published) {
            (Some(measured), Some(published)) => format!("{measured} ({published})"),
            (Some(measured), None) => measured.clone(),
            (None, Some(published)) => format!("– ({published})"),
            (None, None) => String::new(),
        }
    }

    fn html(&self) -> String {
        let mut attributes = String::new();
        if let Some(interval) = &self.interval {
            attributes.push_str(&format!(" title=\"{}\"", escaped(interval)));
        }
        if let Some(shade) = self.shade {
            // The lower the index `shade`, the darker the cell. The darkness is limited so that the
            // text stays readable.
            let alpha = (1.0 - shade).clamp(0.0, 0.6);
            attributes.push_str(&format!(" style=\"background: rgba(213, 94, 0, {alpha:.2})\""));
        }
        let measured = self.measured.as_deref().unwrap_or("–");
        let words = match (&self.published, &self.measured) {
            (None, None) => String::new(),
            (None, Some(_)) => escaped(measured),
            (Some(published), _) => {
                format!(
                    "{} <span class=\"faint\">({})</span>",
                    escaped(measured),
                    escaped(published)
                )
            }
        };
        format!("<td{attributes}>{words}</td>")
    }
}

impl PaperTable {
    fn html(&self) -> String {
        let mut html = "<div class=\"wide\"><table class=\"paper\"><thead>".to_owned();
        for (level, heads) in self.heads.iter().enumerate() {
            html.push_str("<tr>");
            let is_last = level + 1 == self.heads.len();
            for name in &self.corner {
                let name = if is_last { escaped(name) } else { String::new() };
                html.push_str(&format!("<th class=\"key\">{name}</th>"));
            }
            let mut from = 0;
            while from < heads.len() {
                let to = self.end_of(level, from);
                let head = escaped(&heads[from]);
                html.push_str(&format!("<th colspan=\"{}\">{head}</th>", to - from));
                from = to;
            }
            html.push_str("</tr>");
        }
        html.push_str("</thead><tbody>");
        let mut before: &[String] = &[];
        for (names, cells) in &self.lines {
            // A row whose first name is new begins a group of rows.
            let begins = self.corner.len() > 1 && before.first() != names.first();
            html.push_str(if begins { "<tr class=\"first\">" } else { "<tr>" });
            for (at, name) in names.iter().enumerate() {
                let is_said = before.len() == names.len() && before[..=at] == names[..=at];
                let name = if is_said { String::new() } else { escaped(name) };
                html.push_str(&format!("<th class=\"key\">{name}</th>"));
            }
            html.extend(cells.iter().map(TableCell::html));
            html.push_str("</tr>");
            before = names;
        }
        html.push_str("</tbody></table></div>");
        html
    }

    /// Returns the index after the last column of the group of columns that begins at `from`. The
    /// group's columns have the same headings in the line `level` of the head and in all lines
    /// above. One heading spans all columns of the group.
    fn end_of(&self, level: usize, from: usize) -> usize {
        let is_same =
            |column: usize| (0..=level).all(|at| self.heads[at][column] == self.heads[at][from]);
        (from + 1..self.heads[level].len())
            .find(|&column| !is_same(column))
            .unwrap_or(self.heads[level].len())
    }

    fn markdown(&self) -> String {
        let columns = self.heads.first().map_or(0, Vec::len);
        let head = |column: usize| {
            let words: Vec<&str> = self.heads.iter().map(|heads| heads[column].as_str()).collect();
            words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(", ")
        };
        let heads: Vec<String> =
            self.corner.iter().cloned().chain((0..columns).map(head)).collect();
        let mut text = format!("| {} |\n|", heads.join(" | "));
        text.push_str(&" --- |".repeat(self.corner.len()));
        text.push_str(&" ---: |".repeat(columns));
        text.push('\n');
        for (names, cells) in &self.lines {
            let words: Vec<String> =
                names.iter().cloned().chain(cells.iter().map(TableCell::words)).collect();
            text.push_str(&format!("| {} |\n", words.join(" | ")));
        }
        text
    }
}

impl PaperItem {
    fn heading(&self) -> String {
        format!("{}. {}", self.number, self.title)
    }

    /// Writes the item as part of an HTML page.
    pub(crate) fn html(&self, html: &mut String) {
        let caption = format!("<b>{}.</b> {}", escaped(&self.number), escaped(&self.title));
        let note = if self.note.is_empty() {
            String::new()
        } else {
            format!("<br><span class=\"faint\">{}</span>", escaped(&self.note))
        };
        line(html, "<figure>");
        match &self.shown {
            // A picture's SVG begins with the `<svg>` tag and has no XML declaration, so it can be
            // embedded unchanged.
            Shown::Picture(picture) => {
                line(html, &picture.svg);
                if !self.note.is_empty() {
                    line(
                        html,
                        &format!(
                            "<figcaption class=\"faint\">{}</figcaption>",
                            escaped(&self.note)
                        ),
                    );
                }
            }
            Shown::Table(table) => {
                line(html, &format!("<figcaption>{caption}{note}</figcaption>"));
                line(html, &table.html());
            }
            Shown::Absent(command) => {
                let absent = format!("Not run here: <code>{}</code>", escaped(command));
                line(html, &format!("<figcaption>{caption} {absent}</figcaption>"));
            }
        }
        line(html, "</figure>");
    }

    /// Returns the item as part of a Markdown text. `folder` contains the pictures.
    pub(crate) fn markdown(&self, folder: &str) -> String {
        let mut text = format!("\n**{}**", self.heading());
        if !self.note.is_empty() {
            text.push_str(&format!(" {}", self.note));
        }
        text.push_str("\n\n");
        match &self.shown {
            Shown::Picture(picture) => {
                text.push_str(&format!("![{}]({folder}/{}.svg)\n", self.heading(), picture.name));
            }
            Shown::Table(table) => text.push_str(&table.markdown()),
            Shown::Absent(command) => text.push_str(&format!("Not run here: `{command}`\n")),
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::{PaperItem, PaperTable, Shown, TableCell};
    use expect_test::expect;

    fn item() -> PaperItem {
        let cell = |measured: &str, published: Option<&str>| TableCell {
            measured: Some(measured.to_owned()),
            published: published.map(str::to_owned),
            ..TableCell::default()
        };
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        PaperItem {
            number: "Table 6".to_owned(),
            title: "Nine <flows>".to_owned(),
            note: String::new(),
            shown: Shown::Table(PaperTable {
                corner: words(&["algorithm", "delay, ms"]),
                heads: vec![words(&["1 BDP", "1 BDP"]), words(&["throughput", "loss"])],
                lines: vec![
                    (words(&["BBR", "10"]), vec![cell("8.4", Some("8.3")), cell("7", None)]),
                    (words(&["BBR", "40"]), vec![cell("8.5", None), TableCell::default()]),
                ],
            }),
        }
    }

    #[test]
    fn a_table_has_the_papers_layout_and_its_figures_in_brackets() {
        expect![[r#"

            **Table 6. Nine <flows>**

            | algorithm | delay, ms | 1 BDP, throughput | 1 BDP, loss |
            | --- | --- | ---: | ---: |
            | BBR | 10 | 8.4 (8.3) | 7 |
            | BBR | 40 | 8.5 |  |
        "#]]
        .assert_eq(&item().markdown("pictures"));
    }

    #[test]
    fn on_a_page_equal_headings_are_one_and_names_are_said_once() {
        let mut html = String::new();
        item().html(&mut html);
        for wanted in [
            "Nine &lt;flows&gt;",
            "<th colspan=\"2\">1 BDP</th>",
            "<td>8.4 <span class=\"faint\">(8.3)</span></td>",
            "<th class=\"key\"></th><th class=\"key\">40</th>",
        ] {
            assert!(html.contains(wanted), "{wanted} is missing:\n{html}");
        }
    }
}
