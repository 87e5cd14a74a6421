//! Tables as data, before they are written as text, Markdown, LaTeX or CSV. Texts that the user
//! chose can still replace names in these tables.

use super::block::Block;
use super::format::{TableFormat, formatted};
use super::layout::{Align, Column, PERCENT};
use crate::alike::alike;
use crate::answers::headings;

/// The tables of a run, of a sweep or of a comparison, and the lines of text between the tables.
pub struct Tables(pub(super) Vec<Block>);

impl Tables {
    /// Writes the tables in a format.
    #[must_use]
    pub fn formatted(&self, format: TableFormat) -> String {
        formatted(&self.0, format)
    }

    /// Adds a line below the tables with the values of swept keys by which the user chose the runs,
    /// as [`where_words`](crate::where_words) returns them. If the text is empty, no line is added.
    #[must_use]
    pub fn only(mut self, words: &str) -> Self {
        if !words.is_empty() {
            self.0.push(Block::Sentence(format!("only runs with {words}")));
        }
        self
    }

    /// Leaves out the columns with the names in `omitted`. A name is the full heading of a column
    /// (`bbr1 share`), a part of the heading (`bbr1` or `share`), or the name of the column's
    /// metric.
    ///
    /// # Errors
    /// Fails if no table has such a column, or no column would be left. The error's text lists the
    /// headings.
    pub fn without(mut self, omitted: &[String]) -> Result<Self, String> {
        for name in omitted {
            let mut is_there = self.omit(name);
            if !is_there {
                for heading in headings().filter(|heading| heading.name == name) {
                    is_there |= self.omit(heading.title);
                }
            }
            if !is_there {
                return Err(self.unknown("--omit", name));
            }
        }
        let is_empty = |block: &Block| matches!(block, Block::Table(it) if it.columns.is_empty());
        if self.0.iter().any(is_empty) {
            return Err(format!("--omit: {} would leave no column", omitted.join(", ")));
        }
        Ok(self)
    }

    fn omit(&mut self, name: &str) -> bool {
        let mut is_there = false;
        for block in &mut self.0 {
            let Block::Table(table) = block else { continue };
            while let Some(at) = table.columns.iter().position(|column| column.is_called(name)) {
                table.columns.remove(at);
                for row in &mut table.rows {
                    row.remove(at);
                }
                is_there = true;
            }
        }
        is_there
    }

    /// Replaces names by the user's texts, each given as `NAME=TEXT`. A name is the full heading of
    /// a column (`bbr1 share`), a part of the heading (`bbr1` or `share`), the name of the column's
    /// metric, or a text in a column, such as a swept value. A name may contain `=` itself.
    ///
    /// # Errors
    /// Fails if a name occurs in none of the tables. The error's text lists the headings.
    pub fn labelled(mut self, legend: &[String]) -> Result<Self, String> {
        let mut legend: Vec<&String> = legend.iter().collect();
        // Longer names come first, so that the full heading of a column is replaced before a part
        // of it.
        legend.sort_by_key(|own| std::cmp::Reverse(own.find('=')));
        let mut renamed: Vec<&str> = Vec::new();
        for own in legend {
            let ends = own.match_indices('=').map(|(at, _)| at);
            let readings: Vec<(&str, &str)> = ends.map(|at| (&own[..at], &own[at + 1..])).collect();
            if let Some((name, _)) = readings.iter().find(|(name, _)| renamed.contains(name)) {
                return Err(format!("--legend: `{name}` is named twice"));
            }
            let Some((name, _)) = readings.iter().find(|(name, text)| self.rename(name, text))
            else {
                let name = own.split_once('=').map_or(own.as_str(), |(name, _)| name);
                return Err(self.unknown("--legend", name));
            };
            renamed.push(name);
        }
        Ok(self)
    }

    /// Replaces a name wherever it occurs in the tables. Returns whether it occurs.
    fn rename(&mut self, name: &str, text: &str) -> bool {
        let mut is_there = self.rename_shown(name, text);
        if !is_there {
            for heading in headings().filter(|heading| heading.name == name) {
                is_there |= self.rename_shown(heading.title, text);
            }
        }
        is_there
    }

    fn rename_shown(&mut self, name: &str, text: &str) -> bool {
        let mut is_there = false;
        for block in &mut self.0 {
            let Block::Table(table) = block else { continue };
            for (at, column) in table.columns.iter_mut().enumerate() {
                is_there |= column.rename(name, text);
                let cells = table.rows.iter_mut().map(|row| &mut row[at]);
                for cell in cells.filter(|_| column.align == Align::Left) {
                    if *cell == name {
                        text.clone_into(cell);
                    } else if cell.strip_suffix(PERCENT) == Some(name) {
                        // A share's name is followed by `%`, which stays when the name is replaced.
                        *cell = format!("{text}{PERCENT}");
                    } else {
                        continue;
                    }
                    is_there = true;
                }
            }
        }
        is_there
    }

    fn unknown(&self, flag: &str, name: &str) -> String {
        let mut known: Vec<&str> = Vec::new();
        for block in &self.0 {
            let Block::Table(table) = block else { continue };
            for column in &table.columns {
                for title in [column.title.as_str(), column.in_full().0] {
                    if !title.is_empty() && !known.contains(&title) {
                        known.push(title);
                    }
                }
            }
        }
        let near = alike(name, known.iter().copied());
        let near =
            near.first().map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        format!("{flag}: unknown `{name}`; headings are {}{near}", known.join(", "))
    }
}

impl Column {
    /// Whether a name is the column's full heading or a part of it.
    fn is_called(&self, name: &str) -> bool {
        let Some((title, _)) = &self.full else { return self.title == name };
        let is_below = title.ends_with(&format!(" {name}")) && self.unit.starts_with(name);
        title == name || self.title == name || is_below
    }

    /// Replaces a name in the column's heading. Returns whether the heading has the name.
    fn rename(&mut self, name: &str, text: &str) -> bool {
        if let Some((title, unit)) = &mut self.full {
            let (front, back) = (format!("{name} "), format!(" {name}"));
            if title == name {
                // The text replaces the full title, so it is the title in every format.
                text.clone_into(title);
                self.title = title.clone();
                self.unit = unit.clone();
                return true;
            }
            let is_title = self.title == name;
            let is_below = title.ends_with(&back) && self.unit.starts_with(name);
            if is_title {
                text.clone_into(&mut self.title);
                if let Some(rest) = title.strip_prefix(&front) {
                    *title = format!("{text} {rest}");
                } else if let Some(rest) = title.strip_suffix(&back) {
                    *title = format!("{rest} {text}");
                }
            } else if is_below {
                self.unit.replace_range(..name.len(), text);
                *title = format!("{} {text}", title.strip_suffix(&back).unwrap_or_default());
            }
            return is_title || is_below;
        }
        let is_there = self.title == name;
        if is_there {
            text.clone_into(&mut self.title);
        }
        is_there
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::sample_run;
    use crate::table::{TableFormat, Tables, chosen_sweep_tables, run_tables};
    use bbrlab_run::RunSummary;
    use expect_test::expect;

    fn runs() -> Vec<RunSummary> {
        let mut runs = vec![sample_run(), sample_run()];
        for (run, cc) in runs.iter_mut().zip(["bbr1", "bbr2"]) {
            run.point.insert("flows[0].cc".to_owned(), cc.into());
            run.scenario_hash = cc.to_owned();
        }
        runs
    }

    fn chosen(metrics: &[&str]) -> Result<Tables, String> {
        let metrics: Vec<String> = metrics.iter().map(|&name| name.to_owned()).collect();
        chosen_sweep_tables(&runs(), &metrics, &[])
    }

    fn labelled(tables: Tables, legend: &[&str]) -> Result<Tables, String> {
        let legend: Vec<String> = legend.iter().map(|&own| own.to_owned()).collect();
        tables.labelled(&legend)
    }

    #[test]
    fn chosen_columns_have_the_users_words() {
        let metrics = ["share", "queue_delay_ms.mean", "flows.cwnd_packets.max"];
        let text = chosen(&metrics).unwrap().formatted(TableFormat::Text(None));
        expect![[r#"
            cc       bbr1    cubic  queue delay                            bbr1                           cubic
                  share %  share %           ms  flows.cwnd_packets.max packets  flows.cwnd_packets.max packets
            ───────────────────────────────────────────────────────────────────────────────────────────────────
            bbr1     52.9     47.1        14.80                          260.00                          260.00
            bbr2     52.9     47.1        14.80                          260.00                          260.00
        "#]]
        .assert_eq(&text);
        let words = [
            "cc=Algorithm",
            "bbr2=BBRv2",
            "cubic share=CUBIC's part",
            "bbr1=BBRv1",
            "share=Share",
            "queue_delay_ms.mean=Delay",
        ];
        let of = |format| labelled(chosen(&metrics).unwrap(), &words).unwrap().formatted(format);
        expect![[r#"
            Algorithm    BBRv1  CUBIC's part  Delay                           BBRv1                           cubic
                       Share %             %     ms  flows.cwnd_packets.max packets  flows.cwnd_packets.max packets
            ───────────────────────────────────────────────────────────────────────────────────────────────────────
            BBRv1         52.9          47.1  14.80                          260.00                          260.00
            BBRv2         52.9          47.1  14.80                          260.00                          260.00
        "#]]
        .assert_eq(&of(TableFormat::Text(None)));
        expect![[r#"
            Algorithm,BBRv1 Share (%),CUBIC's part (%),Delay (ms),BBRv1 flows.cwnd_packets.max (packets),cubic flows.cwnd_packets.max (packets)
            BBRv1,52.9,47.1,14.80,260.00,260.00
            BBRv2,52.9,47.1,14.80,260.00,260.00
        "#]]
        .assert_eq(&of(TableFormat::Csv));
        let table = run_tables(&sample_run());
        let text = labelled(table, &["cubic=CUBIC", "goodput=Rate"]).unwrap();
        let text = text.formatted(TableFormat::Text(None));
        assert!(text.contains("CUBIC") && !text.contains("cubic"), "{text}");
        assert!(text.contains("Rate"), "{text}");
    }

    #[test]
    fn a_line_names_the_values_that_chose_the_runs() {
        let text = |words| chosen(&["share"]).unwrap().only(words);
        let of_all = text("").formatted(TableFormat::Text(None));
        let of_some = text("cc bbr1 or bbr2").formatted(TableFormat::Text(None));
        assert!(of_some.starts_with(of_all.trim_end()), "{of_some}");
        assert!(of_some.ends_with("\nonly runs with cc bbr1 or bbr2\n"), "{of_some}");
        let latex = text("cc bbr1").formatted(TableFormat::Latex);
        assert!(latex.ends_with("\n% only runs with cc bbr1\n"), "{latex}");
    }

    #[test]
    fn unknown_metrics_and_names_are_refused() {
        let unknown = chosen(&["shrae"]).err().unwrap();
        assert_eq!(unknown, "unknown metric `shrae`; similar metrics: share");
        let twice = labelled(chosen(&["share"]).unwrap(), &["cubic=C", "cubic=D"]).err().unwrap();
        assert_eq!(twice, "--legend: `cubic` is named twice");
        let unknown = labelled(chosen(&["share"]).unwrap(), &["cubik=C"]).err().unwrap();
        assert_eq!(
            unknown,
            "--legend: unknown `cubik`; headings are cc, bbr1, bbr1 share, cubic, cubic share; \
             did you mean `cubic`?"
        );
    }
}
