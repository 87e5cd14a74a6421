//! A comparison of the results in several folders as text: a table for each point of the sweep,
//! with a line per metric.

use serde_json::Value;

use super::block::Block;
use super::format::{TableFormat, formatted};
use super::layout::{Align, Table};
use super::run::point_text;
use crate::compare::{ComparedPoint, FolderComparison};
use crate::number::{figure, with_half};

/// Metrics that are not compared, because they follow from other metrics or describe the
/// simulation.
const NOT_COMPARED: [&str; 3] = ["events", "data_packets", "rate_mbps"];

/// The comparison as text. `names` are the names of the folders. Metrics with equal values in all
/// folders are left out and counted below.
#[must_use]
pub fn compare_table(
    names: &[String],
    comparison: &FolderComparison,
    width: Option<usize>,
) -> String {
    compare_table_as(names, comparison, TableFormat::Text(width))
}

/// The table of [`compare_table`] in a format.
#[must_use]
pub fn compare_table_as(
    names: &[String],
    comparison: &FolderComparison,
    format: TableFormat,
) -> String {
    let mut blocks = Vec::new();
    for point in &comparison.points {
        if !blocks.is_empty() {
            blocks.push(Block::Gap);
        }
        if !point.point.is_empty() {
            blocks.push(Block::Point(point_text(&point.point)));
        }
        point_blocks(&mut blocks, names, point);
    }
    formatted(&blocks, format)
}

fn point_blocks(blocks: &mut Vec<Block>, names: &[String], point: &ComparedPoint) {
    let mut table = Table::new().column("metric", "", Align::Left);
    for name in names {
        table = table.column(name, "", Align::Right);
    }
    for name in &names[1..] {
        let title = if names.len() > 2 {
            format!("{name} - {}", names[0])
        } else {
            "difference".to_owned()
        };
        table = table
            .column(&title, "", Align::Right)
            .column("%", "", Align::Right)
            .in_full(&title, "%");
    }
    let mut equal = 0;
    for (metric, found) in &point.metrics {
        if NOT_COMPARED.iter().any(|omitted| metric.rsplit('.').next() == Some(*omitted)) {
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
        if is_known && values.windows(2).all(|two| two[0] == two[1]) {
            equal += 1;
            continue;
        }
        let mut cells = vec![metric.clone()];
        cells.extend(values.iter().map(|value| figure(*value)));
        let several = names.len() > 2;
        for place in 0..names.len() - 1 {
            let of = |what: &str| if several { &found[what][place] } else { &found[what] };
            let difference = of("difference").as_f64();
            let high = of("ci95")[1].as_f64();
            let mean = figure(difference);
            let half = difference.zip(high).map(|(mean, high)| figure(high - mean));
            cells.push(half.map_or(mean.clone(), |half| with_half(&mean, &half)));
            let base = values[0].filter(|&base| base != 0.0);
            let percent =
                difference.zip(base).map(|(difference, base)| difference / base.abs() * 100.0);
            cells.push(percent.map_or_else(|| "–".to_owned(), |percent| format!("{percent:+.1}")));
        }
        table.row(cells);
    }
    if !table.is_empty() {
        blocks.push(Block::Table(table));
    }
    if equal > 0 {
        blocks.push(Block::Sentence(format!("{equal} metrics are equal")));
    }
    blocks.extend(uneven_seeds(names, &point.seeds).map(Block::Sentence));
}

/// A sentence with the number of seeds in each folder, unless the numbers are equal.
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
    use super::compare_table;
    use crate::compare::compare;
    use crate::table::tests::sample_run;
    use expect_test::expect;

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
            flow_groups.cubic.share                   0.471      –           –      –
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
        .assert_eq(&compare_table(&names, &compare(&[&[a], &[b]]), Some(100)));
    }

    #[test]
    fn folders_with_other_numbers_of_seeds_say_so() {
        let (a, mut b) = (sample_run(), sample_run());
        b.seed += 1;
        let names = ["sweep".to_owned(), "one".to_owned()];
        let table = compare_table(&names, &compare(&[&[a.clone(), b], &[a]]), None);
        let line = "seeds: 2 in sweep, 1 in one; a difference has an interval if both folders have at least two seeds\n";
        assert!(table.ends_with(line), "{table}");
    }
}
