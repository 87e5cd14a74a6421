//! A comparison of the results in several folders, or of the values of a swept key: a table for
//! each sweep point, with a line per metric.

use serde_json::{Map, Value};

use super::block::Block;
use super::format::{TableFormat, formatted};
use super::layout::{Align, PERCENT, Table};
use super::run::point_text;
use super::sweep::few_seeds;
use super::tables::Tables;
use crate::answers::greatest;
use crate::compare::FolderComparison;
use crate::number::{NONE, figure, signed, with_half};
use crate::paired::{PairedComparison, PairedPoint, PairedValues};
use crate::swept_key::value_text;

/// Metrics that are not compared, because they follow from other metrics or describe the
/// simulation.
const NOT_COMPARED: [&str; 3] = ["events", "data_packets", "rate_mbps"];

/// The look of a comparison: which metrics have a row, and the format.
#[derive(Clone, Copy, Debug)]
pub struct ComparisonLook {
    /// Whether the user chose the metrics. Metrics that the user chose are shown even if their
    /// values are equal.
    pub is_chosen: bool,
    /// The format of the tables.
    pub format: TableFormat,
}

/// Writes the comparison as tables. `names` are the names of the folders. Unless the user chose the
/// metrics, those with equal values in all folders are left out, and a line below the table gives
/// their number.
#[must_use]
pub fn compare_table(
    names: &[String],
    comparison: &FolderComparison,
    look: ComparisonLook,
) -> String {
    compared_tables(names, comparison, look.is_chosen).formatted(look.format)
}

/// Returns the tables of [`compare_table`]. `is_chosen` states whether the user chose the metrics.
#[must_use]
pub fn compared_tables(names: &[String], comparison: &FolderComparison, is_chosen: bool) -> Tables {
    let mut blocks = Vec::new();
    for point in &comparison.points {
        if !blocks.is_empty() {
            blocks.push(Block::Gap);
        }
        if !point.point.is_empty() {
            blocks.push(Block::Point(point_text(&point.point)));
        }
        metrics_blocks(&mut blocks, names, &point.metrics, None, is_chosen);
        blocks.extend(uneven_seeds(names, &point.seeds).map(Block::Sentence));
        blocks.extend(point.notes.iter().cloned().map(Block::Sentence));
    }
    let intervals = comparison.points.iter().filter(|point| has_interval(&point.metrics));
    let least = intervals.filter_map(|point| point.seeds.iter().copied().min());
    blocks.extend(few_seeds(least));
    Tables(blocks)
}

/// Returns every pair of values of a paired comparison, with the sweep point of the pair.
fn pairs_of(
    comparison: &PairedComparison,
) -> impl Iterator<Item = (&PairedPoint, &PairedValues)> + Clone {
    comparison.points.iter().flat_map(|it| it.pairs.iter().map(move |pair| (it, pair)))
}

/// Writes the tables of a paired comparison, one for each sweep point and pair of values.
#[must_use]
pub fn paired_table(comparison: &PairedComparison, look: ComparisonLook) -> String {
    let mut blocks = Vec::new();
    for (point, pair) in pairs_of(comparison) {
        if !blocks.is_empty() {
            blocks.push(Block::Gap);
        }
        let names = [&pair.values[0], &pair.values[1]].map(value_text);
        let (seeds, s) = (pair.seeds.len(), if pair.seeds.len() == 1 { "" } else { "s" });
        let mut heading = format!("{} = {} and {}", comparison.paired, names[0], names[1]);
        if !point.point.is_empty() {
            heading.push_str(&format!(" at {}", point_text(&point.point)));
        }
        heading.push_str(&format!(": {seeds} pair{s} of runs with equal seeds"));
        blocks.push(Block::Sentence(heading));
        metrics_blocks(&mut blocks, &names, &pair.metrics, Some(seeds), look.is_chosen);
        blocks.extend(without_partner(pair.unpaired));
        blocks.extend(pair.notes.iter().cloned().map(Block::Sentence));
    }
    blocks.extend(without_reference(comparison));
    blocks.extend(of_all_pairs(comparison));
    formatted(&blocks, look.format)
}

/// Returns a paired comparison as one table: a row for each sweep point, pair of values and metric.
/// All rows compare with the same reference value.
#[must_use]
pub fn paired_tables(comparison: &PairedComparison, is_chosen: bool) -> Tables {
    let mut keys: Vec<&str> = Vec::new();
    let mut rows: Vec<(&PairedPoint, &PairedValues, Row<'_>)> = Vec::new();
    for (point, pair) in pairs_of(comparison) {
        let new = point.point.keys().map(String::as_str).filter(|key| !keys.contains(key));
        keys.extend(new.collect::<Vec<_>>());
        let (of_pair, _) = rows_of(&pair.metrics, 2, is_chosen);
        rows.extend(of_pair.into_iter().map(|row| (point, pair, row)));
    }
    let has_estimate = rows.iter().any(|(.., row)| row.has_estimate());
    let reference = pairs_of(comparison).next().map(|(_, pair)| value_text(&pair.values[0]));
    let mut table = Table::new();
    for key in &keys {
        table = table.column(key, "", Align::Left);
    }
    table = table
        .column(&comparison.paired, "", Align::Left)
        .column("metric", "", Align::Left)
        .column(&reference.unwrap_or_default(), "", Align::Right)
        .column("value", "", Align::Right)
        .column("pairs", "", Align::Right)
        .column("difference", "", Align::Right)
        .column("%", "", Align::Right)
        .in_full("relative difference", "%");
    if has_estimate {
        table = table.column("to decide", "seeds", Align::Right);
    }
    for (point, pair, row) in &rows {
        let own = keys
            .iter()
            .map(|key| point.point.get(*key).map_or_else(|| NONE.to_owned(), value_text));
        let mut cells: Vec<String> = own.collect();
        cells.push(value_text(&pair.values[1]));
        cells.extend(row.cells(true, has_estimate));
        table.row(cells);
    }
    let is_each = rows.iter().any(|(.., row)| row.is_equal);
    let mut blocks = vec![Block::Table(table)];
    blocks.extend(explanations(is_each, has_estimate));
    blocks.extend(without_partner(pairs_of(comparison).map(|(_, pair)| pair.unpaired).sum()));
    let mut notes: Vec<&String> = Vec::new();
    for note in pairs_of(comparison).flat_map(|(_, pair)| &pair.notes) {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    blocks.extend(notes.into_iter().cloned().map(Block::Sentence));
    blocks.extend(without_reference(comparison));
    blocks.extend(of_all_pairs(comparison));
    Tables(blocks)
}

/// Returns the sentence on runs without a partner: no run at the other value has the same seed.
fn without_partner(runs: usize) -> Option<Block> {
    let which = match runs {
        0 => return None,
        1 => "1 run is left out, because no run of the other value has its seed".to_owned(),
        runs => {
            format!("{runs} runs are left out, because no run of the other value has their seed")
        }
    };
    let why = "sweep points have different seeds if the scenario has the key `until`, or if the \
               sweep is not complete";
    Some(Block::Sentence(format!("{which}: {why}")))
}

/// Returns the sentence on sweep points without a run with the reference value.
fn without_reference(comparison: &PairedComparison) -> Option<Block> {
    let (_, pair) = pairs_of(comparison).next()?;
    let points: Vec<String> = comparison.left_out.iter().map(point_text).collect();
    (!points.is_empty()).then(|| {
        let reference = value_text(&pair.values[0]);
        Block::Sentence(format!(
            "left out, because they have no run with {} = {reference}: {}",
            comparison.paired,
            points.join("; ")
        ))
    })
}

/// Returns the sentences about all pairs together: a warning if there are few seeds, and a warning
/// if there are many intervals.
fn of_all_pairs(comparison: &PairedComparison) -> impl Iterator<Item = Block> {
    /// With this many intervals of one metric, the chance that at least one of them excludes zero
    /// although nothing differs is above 14 %.
    const MANY: usize = 3;
    let pairs = || pairs_of(comparison).filter(|(_, pair)| has_interval(&pair.metrics));
    let few = few_seeds(pairs().map(|(_, pair)| pair.seeds.len()));
    let many = (pairs().count() >= MANY).then(|| {
        Block::Sentence(format!(
            "{} comparisons: each interval leaves out zero with a chance of 5 % if nothing differs, so about one in 20 does",
            pairs().count()
        ))
    });
    few.into_iter().chain(many)
}

/// Returns the sentences that explain words in the cells of a table.
fn explanations(is_each: bool, has_estimate: bool) -> impl Iterator<Item = Block> {
    let each = is_each
        .then_some("each: the difference is the same with every seed, so there is no interval");
    let estimate = has_estimate.then_some(
        "to decide: seeds with which the interval would leave out zero, if mean and spread stay",
    );
    each.into_iter().chain(estimate).map(|text| Block::Sentence(text.to_owned()))
}

/// Whether some difference has an interval.
fn has_interval(metrics: &Map<String, Value>) -> bool {
    let is_it = |ci95: &Value| ci95.is_array() && ci95[0] != Value::Null;
    metrics.values().any(|metric| is_it(&metric["ci95"]))
}

/// Adds a table with a line per metric, and sentences: how many equal metrics are left out, and
/// what words in the table's cells mean. `pairs` is the number of pairs of runs; `None` in a
/// comparison of folders.
fn metrics_blocks(
    blocks: &mut Vec<Block>,
    names: &[String],
    metrics: &Map<String, Value>,
    pairs: Option<usize>,
    is_chosen: bool,
) {
    let several = names.len() > 2;
    let (rows, equal) = rows_of(metrics, names.len(), is_chosen);
    let has_estimate = rows.iter().any(Row::has_estimate);
    let has_n = pairs.is_some_and(|pairs| rows.iter().any(|row| row.n != Some(pairs as u64)));
    let mut table = Table::new().column("metric", "", Align::Left);
    for name in names {
        table = table.column(name, "", Align::Right);
    }
    if has_n {
        table = table.column("pairs", "", Align::Right);
    }
    for name in &names[1..] {
        let title =
            if several { format!("{name} - {}", names[0]) } else { "difference".to_owned() };
        table = table
            .column(&title, "", Align::Right)
            .column("%", "", Align::Right)
            .in_full(&format!("relative {title}"), "%");
        if has_estimate {
            table = table.column("to decide", "seeds", Align::Right);
            if several {
                table = table.in_full(&format!("{title}, to decide"), "seeds");
            }
        }
    }
    for row in &rows {
        table.row(row.cells(has_n, has_estimate));
    }
    if !table.is_empty() {
        blocks.push(Block::Table(table));
    }
    if equal > 0 {
        blocks.push(Block::Sentence(format!("{equal} metrics are equal")));
    }
    blocks.extend(explanations(rows.iter().any(|row| row.is_equal), has_estimate));
}

/// Whether a metric is a share, which tables show in percent.
fn is_share(metric: &str) -> bool {
    greatest(metric).is_finite()
        && !metric.rsplit('.').next().is_some_and(|it| it.starts_with("jain"))
}

/// Returns the rows of the metrics, and the number of metrics without a row because their values
/// are equal. `sides` is the number of compared folders or values. Metrics that the user chose have
/// a row even if their values are equal.
fn rows_of(metrics: &Map<String, Value>, sides: usize, is_chosen: bool) -> (Vec<Row<'_>>, usize) {
    let several = sides > 2;
    let mut rows: Vec<Row<'_>> = Vec::new();
    let mut equal = 0;
    for (metric, found) in metrics {
        let is_omitted =
            NOT_COMPARED.iter().any(|omitted| metric.rsplit('.').next() == Some(*omitted));
        if is_omitted && !is_chosen {
            continue;
        }
        let values: Vec<Option<f64>> = found["values"]
            .as_array()
            .map(|values| values.iter().map(Value::as_f64).collect())
            .unwrap_or_default();
        if values.iter().all(Option::is_none) {
            continue;
        }
        let is_known = values.iter().all(Option::is_some);
        if is_known && values.windows(2).all(|two| two[0] == two[1]) && !is_chosen {
            equal += 1;
            continue;
        }
        let of = |place: usize, what: &str| {
            if several { found[what][place].clone() } else { found[what].clone() }
        };
        let is_share = is_share(metric);
        let scale = if is_share { 100.0 } else { 1.0 };
        let scaled = |value: &Value| value.as_f64().map(|value| value * scale);
        let contrasts = (0..sides - 1).map(|place| Contrast {
            difference: scaled(&of(place, "difference")),
            high: scaled(&of(place, "ci95")[1]),
            to_decide: to_decide(&of(place, "seeds_to_decide")),
        });
        rows.push(Row {
            metric,
            is_share,
            contrasts: contrasts.collect(),
            n: found["n"].as_u64(),
            is_equal: found["is_equal"] == true && values[0] != values[1],
            values: values.into_iter().map(|value| value.map(|value| value * scale)).collect(),
        });
    }
    (rows, equal)
}
/// A row of the table, which shows one metric.
struct Row<'a> {
    metric: &'a str,
    /// Whether the values are in percent.
    is_share: bool,
    values: Vec<Option<f64>>,
    /// The number of pairs in which both runs have the metric; `None` in a comparison of folders.
    n: Option<u64>,
    contrasts: Vec<Contrast>,
    /// Whether all pairs have the same difference, other than zero.
    is_equal: bool,
}

/// The difference between a metric's value in a later column and its value in the first one.
struct Contrast {
    difference: Option<f64>,
    /// The upper end of the difference's interval.
    high: Option<f64>,
    to_decide: String,
}

impl Row<'_> {
    fn has_estimate(&self) -> bool {
        self.contrasts.iter().any(|contrast| !contrast.to_decide.is_empty())
    }

    fn cells(&self, has_n: bool, has_estimate: bool) -> Vec<String> {
        let unit = if self.is_share { PERCENT } else { "" };
        let mut cells = vec![format!("{}{unit}", self.metric)];
        cells.extend(self.values.iter().map(|value| figure(*value)));
        if has_n {
            cells.push(self.n.map_or_else(|| NONE.to_owned(), |n| n.to_string()));
        }
        for Contrast { difference, high, to_decide } in &self.contrasts {
            let mean = figure(*difference);
            let half = difference.zip(*high).map(|(mean, high)| figure(high - mean));
            cells.push(match half {
                Some(half) => with_half(&mean, &half),
                None if self.is_equal => format!("{mean} each"),
                None => mean,
            });
            let base = self.values[0].filter(|&base| base != 0.0);
            let percent =
                difference.zip(base).map(|(difference, base)| difference / base.abs() * 100.0);
            cells.push(signed(percent, 1));
            if has_estimate {
                cells.push(to_decide.clone());
            }
        }
        cells
    }
}

/// Returns the number of seeds with which the interval would probably exclude zero, as text; empty
/// without an estimate.
fn to_decide(seeds: &Value) -> String {
    let about = seeds["about"].as_u64().map(|seeds| format!("about {seeds}"));
    let more = || seeds["more_than"].as_u64().map(|seeds| format!("over {seeds}"));
    about.or_else(more).unwrap_or_default()
}

/// Returns a sentence with the number of seeds in each folder; `None` if the numbers are equal.
fn uneven_seeds(names: &[String], seeds: &[usize]) -> Option<String> {
    if seeds.windows(2).all(|two| two[0] == two[1]) {
        return None;
    }
    let of: Vec<String> =
        names.iter().zip(seeds).map(|(name, seeds)| format!("{seeds} in {name}")).collect();
    let no_interval = if seeds.iter().any(|&seeds| seeds < 2) {
        "; a difference has an interval if both folders have at least two seeds"
    } else {
        ""
    };
    Some(format!("seeds: {}{no_interval}", of.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::{ComparisonLook, TableFormat, compare_table, paired_table};
    use crate::compare::compare;
    use crate::table::tests::sample_run;
    use bbrlab_run::RunSummary;
    use expect_test::expect;

    fn look(width: impl Into<Option<usize>>) -> ComparisonLook {
        ComparisonLook { is_chosen: false, format: TableFormat::Text(width.into()) }
    }

    #[test]
    fn metrics_that_differ_are_side_by_side() {
        let (a, mut b) = (sample_run(), sample_run());
        b.jain = Some(0.5);
        b.flow_groups[1].group = "reno".to_owned();
        b.flow_groups.truncate(1);
        let names = ["before".to_owned(), "after".to_owned()];
        expect![[r#"
            metric                                   before  after  difference      %
            ─────────────────────────────────────────────────────────────────────────
            jain                                      0.987  0.500      -0.487  -49.3
            flow_groups.cubic.goodput_mbps            21.90      –           –      –
            flow_groups.cubic.share %                 47.10      –           –      –
            flow_groups.cubic.retransmitted_packets   502.0      –           –      –
            flow_groups.cubic.out_of_order_packets     3950      –           –      –
            flow_groups.cubic.duplicate_packets        7.00      –           –      –
            flow_groups.cubic.drops                   502.0      –           –      –
            flow_groups.cubic.random_losses               0      –           –      –
            flow_groups.cubic.rtt_ms.mean             47.31      –           –      –
            flow_groups.cubic.rtt_ms.p95              71.40      –           –      –
            flow_groups.cubic.fct_ms.n                    0      –           –      –
            flow_groups.cubic.fct_ms.unfinished           0      –           –      –
            30 metrics are equal
        "#]]
        .assert_eq(&compare_table(&names, &compare(&[&[a], &[b]]), look(100)));
    }

    #[test]
    fn folders_with_other_numbers_of_seeds_say_so() {
        let (a, mut b) = (sample_run(), sample_run());
        b.seed += 1;
        let names = ["sweep".to_owned(), "one".to_owned()];
        let table = compare_table(&names, &compare(&[&[a.clone(), b], &[a]]), look(None));
        let line = "seeds: 2 in sweep, 1 in one; a difference has an interval if both folders have at least two seeds\n";
        assert!(table.ends_with(line), "{table}");
    }

    /// Runs of two congestion controls with these goodputs, for the seeds from 1 on.
    fn sweep(goodputs: &[(f64, f64)]) -> Vec<RunSummary> {
        let run = |cc: &str, seed: usize, goodput: f64| {
            let mut run = sample_run();
            run.seed = seed as u64;
            run.goodput_mbps = Some(goodput);
            run.jain = Some(if cc == "bbr1" { 0.5 } else { 0.75 });
            run.point.insert("flows.cc".to_owned(), cc.into());
            run.point.insert("bottleneck.buffer".to_owned(), "2bdp".into());
            run
        };
        let pairs = goodputs.iter().enumerate();
        pairs
            .flat_map(|(at, &(one, two))| [run("bbr1", at + 1, one), run("cubic", at + 1, two)])
            .collect()
    }

    #[test]
    fn pairs_of_a_sweep_have_a_table_each() {
        let mut runs = sweep(&[(40.0, 42.0), (44.0, 43.0), (36.0, 40.0), (41.0, 42.0)]);
        runs[7].jain_ss = None;
        let found = crate::paired(&runs, "cc", None).unwrap();
        expect![[r#"
            flows.cc = bbr1 and cubic at bottleneck.buffer = 2bdp: 4 pairs of runs with equal seeds
            metric                                bbr1  cubic  difference      %  to decide
                                                                                      seeds
            ───────────────────────────────────────────────────────────────────────────────
            goodput_mbps                         40.25  41.75  1.50 ±3.31   +3.7   about 10
            jain                                 0.500  0.750  0.250 each  +50.0
            flow_groups.<flows.cc>.goodput_mbps  24.60  21.90  -2.70 each  -11.0
            flow_groups.<flows.cc>.share %       52.90  47.10  -5.81 each  -11.0
            27 metrics are equal
            each: the difference is the same with every seed, so there is no interval
            to decide: seeds with which the interval would leave out zero, if mean and spread stay
            few seeds: an interval from 4 seeds is wide, and its width varies much; 5 or more are better
        "#]]
        .assert_eq(&paired_table(&found, look(100)));
        let mut runs = sweep(&[(40.0, 42.0), (44.0, 43.0)]);
        runs.truncate(3);
        let mut found = crate::paired(&runs, "cc", None).unwrap();
        found.keep(&["goodput_ss_mbps".to_owned(), "jain".to_owned()]).unwrap();
        let chosen = ComparisonLook { is_chosen: true, ..look(None) };
        expect![[r#"
            flows.cc = bbr1 and cubic at bottleneck.buffer = 2bdp: 1 pair of runs with equal seeds
            metric            bbr1  cubic  difference      %
            ────────────────────────────────────────────────
            goodput_ss_mbps  47.10  47.10           0    0.0
            jain             0.500  0.750       0.250  +50.0
            1 run is left out, because no run of the other value has its seed: sweep points have different seeds if the scenario has the key `until`, or if the sweep is not complete
        "#]]
        .assert_eq(&paired_table(&found, chosen));
    }

    #[test]
    fn folders_whose_interval_includes_zero_show_how_many_seeds_would_decide() {
        let runs = sweep(&[(40.0, 42.0), (44.0, 43.0), (36.0, 40.0), (41.0, 42.0)]);
        let of = |cc: &str| {
            let own = runs.iter().filter(|run| run.point["flows.cc"] == cc);
            own.cloned().collect::<Vec<RunSummary>>()
        };
        let names = ["bbr1".to_owned(), "cubic".to_owned()];
        let found = compare(&[&of("bbr1"), &of("cubic")]);
        expect![[r#"
            at bottleneck.buffer = 2bdp
            metric         bbr1  cubic  difference      %  to decide
                                                               seeds
            ────────────────────────────────────────────────────────
            goodput_mbps  40.25  41.75  1.50 ±3.31   +3.7   about 10
            jain          0.500  0.750       0.250  +50.0
            40 metrics are equal
            to decide: seeds with which the interval would leave out zero, if mean and spread stay
            few seeds: an interval from 4 seeds is wide, and its width varies much; 5 or more are better
        "#]]
        .assert_eq(&compare_table(&names, &found, look(100)));
    }
}
