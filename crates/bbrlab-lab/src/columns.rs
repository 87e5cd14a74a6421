//! `summary.parquet`: the records of runs as columns, one row per flow.

use std::borrow::Cow;

use bbrlab_run::{
    Cell, Column, Field, FlowGroup, FlowSummary, Kind, Leaf, LinkSummary, Role, RunSummary, Values,
    leaves,
};
use serde_json::Value;

use crate::provenance::{COMMIT, VERSION};

/// First the columns that identify the run, including the swept keys; then the flow's figures; then those of its group; then those of
/// the run and of its bottleneck (the link of that name, or else the first link), which are the same in all
/// rows of a run.
#[must_use]
pub(crate) fn summary_columns(runs: &[RunSummary]) -> Vec<Column> {
    let rows: usize = runs.iter().map(|run| run.flows.len()).sum();
    let of_run = of_run();
    let cells_of_runs: Vec<Vec<Cell>> = runs.iter().map(cells).collect();
    // One row per flow: each value of a run is repeated for each of its flows.
    let of_runs = |at: usize| {
        let per_run = runs.iter().zip(&cells_of_runs);
        per_run.flat_map(move |(run, cells)| std::iter::repeat_n(&cells[at], run.flows.len()))
    };
    let names = |kind: Kind| {
        let named = of_run
            .iter()
            .enumerate()
            .filter(move |(_, leaf)| leaf.figure.role == Role::Name && leaf.figure.kind == kind);
        named.map(|(at, leaf)| required(leaf, of_runs(at)))
    };
    let mut columns: Vec<Column> = names(Kind::Word).collect();
    for (name, value) in [("version", VERSION), ("commit", COMMIT)] {
        columns.push(Column::new(name, Values::Text(vec![value.into(); rows])));
    }
    columns.extend(names(Kind::Whole));
    columns.extend(swept(runs, &columns));
    if rows == 0 {
        return columns;
    }
    let flows: Vec<Vec<Cell>> = runs.iter().flat_map(|run| run.flows.iter().map(cells)).collect();
    for (at, leaf) in of_flow().iter().enumerate() {
        columns.push(optional(leaf, flows.iter().map(|cells| &cells[at])));
    }
    let of_group = of_group();
    let groups: Vec<Vec<Cell>> = runs.iter().flat_map(cells_of_groups).collect();
    for (at, leaf) in of_group.iter().enumerate() {
        if leaf.figure.role != Role::Name {
            columns.push(optional(leaf, groups.iter().map(|cells| &cells[at])));
        }
    }
    for (at, leaf) in of_run.iter().enumerate() {
        if matches!(leaf.figure.role, Role::Given | Role::Result) {
            columns.push(optional(leaf, of_runs(at)));
        }
    }
    let of_link = of_link();
    let links: Vec<Vec<Cell>> = runs
        .iter()
        .map(|run| bottleneck(run).map_or_else(|| vec![Cell::Null; of_link.len()], cells))
        .collect();
    for (at, leaf) in of_link.iter().enumerate() {
        let per_run = runs.iter().zip(&links);
        let values =
            per_run.flat_map(|(run, cells)| std::iter::repeat_n(&cells[at], run.flows.len()));
        columns.push(optional(leaf, values));
    }
    columns
}

fn of_run() -> Vec<Leaf> {
    let mut leaves = leaves(RunSummary::FIGURES, "", "_");
    let of_flow = of_flow();
    // Flows have goodputs too.
    for leaf in &mut leaves {
        if of_flow.iter().any(|of_flow| of_flow.name == leaf.name) {
            leaf.name.insert_str(0, "run_");
        }
    }
    leaves
}

fn of_group() -> Vec<Leaf> {
    leaves(FlowGroup::FIGURES, "group_", "_")
}

/// For each flow of a run, the figures of its group.
fn cells_of_groups(run: &RunSummary) -> Vec<Vec<Cell>> {
    let nothing = vec![Cell::Null; of_group().len()];
    let groups: Vec<(&str, Vec<Cell>)> =
        run.flow_groups.iter().map(|group| (group.group.as_str(), cells(group))).collect();
    let of_flow = |flow: &FlowSummary| {
        let found = groups.iter().find(|(name, _)| *name == flow.group);
        found.map_or_else(|| nothing.clone(), |(_, cells)| cells.clone())
    };
    run.flows.iter().map(of_flow).collect()
}

fn of_flow() -> Vec<Leaf> {
    let mut leaves = leaves(FlowSummary::FIGURES, "", "_");
    // Among the columns of the run, the name must say that it is the flow's number.
    let id = leaves.iter_mut().find(|leaf| leaf.name == "id");
    "flow".clone_into(&mut id.expect("flows are numbered").name);
    leaves
}

fn of_link() -> Vec<Leaf> {
    leaves(LinkSummary::FIGURES, "bottleneck_", "_")
}

fn bottleneck(run: &RunSummary) -> Option<&LinkSummary> {
    run.links.iter().find(|link| link.name == "bottleneck").or_else(|| run.links.first())
}

fn cells(record: &impl Field) -> Vec<Cell> {
    let mut cells = Vec::new();
    record.cells(&mut cells);
    cells
}

/// The columns of a series of `run` with, behind them, those that say which run it is: scenario hash, seed and the swept
/// keys. So the series of many runs can be put together.
#[must_use]
pub(crate) fn of_series(run: &RunSummary, mut columns: Vec<Column>) -> Vec<Column> {
    let rows = columns.first().map_or(0, |column| column.values.len());
    let repeated = |name: &str, cell: Cell| Column::new(name, Values::Repeated(cell, rows));
    let mut own = vec![
        repeated("scenario_hash", Cell::Word(run.scenario_hash.clone())),
        repeated("seed", Cell::Whole(run.seed)),
    ];
    for (key, value) in &run.point {
        let cell = match value {
            Value::Number(number) if number.is_u64() => number.as_u64().map(Cell::Whole),
            Value::Number(number) => number.as_f64().map(Cell::Number),
            Value::String(text) => Some(Cell::Word(text.clone())),
            other => Some(Cell::Word(other.to_string())),
        };
        own.push(repeated(key, cell.unwrap_or(Cell::Null)));
        if let Some((value, unit)) = base_value(run, key) {
            own.push(repeated(&format!("{key}_{unit}"), Cell::Number(value)));
        }
    }
    own.retain(|column| columns.iter().all(|taken| taken.name != column.name));
    columns.extend(own);
    columns
}

/// A swept quantity in its base unit.
fn base_value<'a>(run: &'a RunSummary, key: &str) -> Option<(f64, &'a str)> {
    let found = run.point_values.get(key)?;
    Some((found["value"].as_f64()?, found["unit"].as_str()?))
}

/// The swept quantity `key` as numbers: a column for each unit that occurs.
fn in_base_units(runs: &[RunSummary], key: &str) -> Vec<Column> {
    let mut units: Vec<&str> = Vec::new();
    for (_, unit) in runs.iter().filter_map(|run| base_value(run, key)) {
        if !units.contains(&unit) {
            units.push(unit);
        }
    }
    let column = |unit: &str| {
        let per_flow = |run: &RunSummary| {
            let value = base_value(run, key).filter(|&(_, of)| of == unit).map(|(value, _)| value);
            std::iter::repeat_n(value, run.flows.len())
        };
        let values = Values::OptFloat(runs.iter().flat_map(per_flow).collect());
        Column::new(format!("{key}_{unit}"), values)
    };
    units.into_iter().map(column).collect()
}

/// The swept keys that do not have a column already, each quantity also as a number in its base unit.
fn swept(runs: &[RunSummary], taken: &[Column]) -> Vec<Column> {
    let mut keys: Vec<&String> = Vec::new();
    for key in runs.iter().flat_map(|run| run.point.keys()) {
        if !keys.contains(&key) && taken.iter().all(|column| column.name != *key) {
            keys.push(key);
        }
    }
    let column = |key: &String| {
        let per_flow = |run: &RunSummary| {
            let value = run.point.get(key).cloned().unwrap_or(Value::Null);
            std::iter::repeat_n(value, run.flows.len())
        };
        by_kind(key, &runs.iter().flat_map(per_flow).collect::<Vec<Value>>())
    };
    let with_numbers = |key: &String| {
        let mut columns = vec![column(key)];
        columns.extend(in_base_units(runs, key));
        columns
    };
    keys.into_iter().flat_map(with_numbers).collect()
}

/// A figure that every run has.
fn required<'a>(leaf: &Leaf, cells: impl Iterator<Item = &'a Cell>) -> Column {
    let values = match optional(leaf, cells).values {
        Values::OptInt(values) => Values::Int(values.into_iter().flatten().collect()),
        Values::OptFloat(values) => Values::Float(values.into_iter().flatten().collect()),
        Values::OptText(values) => {
            Values::Text(values.into_iter().flatten().map(Cow::Owned).collect())
        }
        values => values,
    };
    Column::new(leaf.name.as_str(), values)
}

/// A figure that may be missing.
fn optional<'a>(leaf: &Leaf, cells: impl Iterator<Item = &'a Cell>) -> Column {
    let values = match leaf.figure.kind {
        Kind::Whole => Values::OptInt(cells.map(whole).collect()),
        Kind::Number => Values::OptFloat(cells.map(Cell::number).collect()),
        Kind::Word | Kind::Record | Kind::Many => Values::OptText(cells.map(word).collect()),
    };
    Column::new(leaf.name.as_str(), values)
}

/// Numbers above 63 bits become the largest one.
fn whole(cell: &Cell) -> Option<i64> {
    if let Cell::Whole(value) = cell {
        Some(i64::try_from(*value).unwrap_or(i64::MAX))
    } else {
        None
    }
}

fn word(cell: &Cell) -> Option<String> {
    if let Cell::Word(word) = cell { Some(word.clone()) } else { None }
}

/// An optional column: integers if all present values are integers, else numbers if all are numbers, else
/// words.
fn by_kind(name: &str, values: &[Value]) -> Column {
    let there = || values.iter().filter(|value| !value.is_null());
    let kind = if there().next().is_some() && there().all(|value| value.is_u64() || value.is_i64())
    {
        Values::OptInt(values.iter().map(Value::as_i64).collect())
    } else if there().all(Value::is_number) {
        Values::OptFloat(values.iter().map(Value::as_f64).collect())
    } else {
        let words = |value: &Value| match value {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        Values::OptText(values.iter().map(words).collect())
    };
    Column::new(name, kind)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::{of_flow, of_group, of_link, of_run, of_series, summary_columns};
    use crate::parquet_file::{decode, encode};
    use bbrlab_run::{
        Column, Figure, FlowSummary, Kind, Leaf, LinkSummary, QueueRow, QueueSeries, Role,
        RunSummary, Series, SeriesRow, Transfers, Values, leaves,
    };
    use expect_test::{expect, expect_file};

    #[test]
    fn series_and_queues_survive_the_way_through_a_file() {
        let mut series = Series::default();
        for row in 0..5u32 {
            series.push(SeriesRow {
                time_s: f64::from(row) / 100.0,
                flow: row % 2,
                cwnd_packets: 10 + row,
                ssthresh_packets: (row > 2).then_some(7),
                bw_bps: Some(50_000_000),
                state: if row < 3 { "STARTUP" } else { "" }.into(),
                ..SeriesRow::default()
            });
        }
        let mut queue = QueueSeries::default();
        queue.push(QueueRow {
            time_s: 0.5,
            link: 0,
            packets: 3,
            bytes: 4542.into(),
            arrivals: 9.into(),
            drops: 1,
            random_losses: 0.into(),
            policer_drops: None,
            marks: 0.into(),
        });
        let through = |columns: Vec<Column>| decode(encode(&columns, &[])).unwrap();
        assert_eq!(Series::from_columns(&through(series.columns())).unwrap(), series);
        assert_eq!(QueueSeries::from_columns(&through(queue.columns())).unwrap(), queue);
    }

    #[test]
    fn every_row_of_a_series_says_which_run_it_is_of() {
        let mut run = run(Vec::new());
        run.scenario_hash = "abc".to_owned();
        run.point.insert("bottleneck.buffer".to_owned(), "0.5bdp".into());
        run.point_values.insert(
            "bottleneck.buffer".to_owned(),
            serde_json::json!({ "value": 0.5, "unit": "bdp" }),
        );
        run.point.insert("flows.count".to_owned(), 4.into());
        let mut queue = QueueSeries::default();
        for _ in 0..20_000 {
            queue.push(QueueRow::default());
        }
        let file = encode(&of_series(&run, queue.columns()), &[]);
        let columns = decode(file).unwrap();
        let own: Vec<(&str, &Values)> =
            columns[9..].iter().map(|column| (column.name.as_str(), &column.values)).collect();
        let words = |word: &str| Values::Text(vec![word.to_owned().into(); 20_000]);
        assert_eq!(
            own,
            [
                ("scenario_hash", &words("abc")),
                ("seed", &Values::Int(vec![3; 20_000])),
                ("bottleneck.buffer", &words("0.5bdp")),
                ("bottleneck.buffer_bdp", &Values::Float(vec![0.5; 20_000])),
                ("flows.count", &Values::Int(vec![4; 20_000])),
            ]
        );
        let names: Vec<String> =
            summary_columns(&[run]).into_iter().map(|column| column.name).collect();
        let at = names.iter().position(|name| name == "bottleneck.buffer").unwrap();
        assert_eq!(names[at + 1], "bottleneck.buffer_bdp");
    }

    #[test]
    fn a_column_that_is_missing_or_of_another_kind_is_named() {
        let mut columns = Series::default().columns();
        let time_s = columns.remove(0);
        assert_eq!(Series::from_columns(&columns).unwrap_err(), "the column `time_s` is missing");
        columns[0].values = Values::Float(Vec::new());
        columns.insert(0, time_s);
        assert_eq!(
            Series::from_columns(&columns).unwrap_err(),
            "the column `flow` holds no integers"
        );
    }

    fn run(links: Vec<LinkSummary>) -> RunSummary {
        let flow =
            FlowSummary { cc: "bbr1".to_owned(), sent_packets: Some(7), ..FlowSummary::default() };
        RunSummary { seed: 3, links, flows: vec![flow], ..RunSummary::default() }
    }

    #[test]
    fn the_columns_are_the_same_with_and_without_a_link() {
        let kinds = |run: RunSummary| -> Vec<(String, std::mem::Discriminant<Values>)> {
            let columns = summary_columns(&[run]).into_iter();
            columns.map(|column| (column.name, std::mem::discriminant(&column.values))).collect()
        };
        let link = LinkSummary { name: "bottleneck".to_owned(), ..LinkSummary::default() };
        let with = kinds(run(vec![link]));
        assert_eq!(with, kinds(run(Vec::new())));
        let names: Vec<&str> = with.iter().map(|(name, _)| name.as_str()).collect();
        expect!["scenario scenario_hash profile version commit seed flow name group cc start_s stop_s rtt_base_ms throughput_mbps goodput_mbps goodput_ss_mbps sent_packets delivered_packets lost_packets retransmitted_packets drops random_losses rto_count rtt_ms_min rtt_ms_mean rtt_ms_p50 rtt_ms_p95 rtt_ms_p99 rtt_ms_max srtt_ms_mean srtt_ms_p95 cwnd_packets_mean cwnd_packets_max limited_by_cwnd limited_by_pacing limited_by_rwnd limited_by_sndbuf limited_by_app fct_ms_n fct_ms_mean fct_ms_p50 fct_ms_p95 fct_ms_p99 group_flows group_goodput_mbps group_share group_retransmitted_packets group_drops group_random_losses group_rtt_ms_mean group_rtt_ms_p95 group_fct_ms_n group_fct_ms_unfinished group_fct_ms_mean group_fct_ms_p50 group_fct_ms_p95 group_fct_ms_p99 group_slowdown_p50 group_slowdown_p95 group_slowdown_p99 sim_s events data_packets digest run_goodput_mbps run_goodput_ss_mbps jain jain_ss bottleneck_name bottleneck_rate_mbps bottleneck_utilization bottleneck_arrivals bottleneck_departures bottleneck_queued_at_end bottleneck_drops bottleneck_random_losses bottleneck_policer_drops bottleneck_drop_ratio bottleneck_marks bottleneck_queue_packets_mean bottleneck_queue_packets_std bottleneck_queue_packets_p95 bottleneck_queue_packets_max bottleneck_queue_delay_ms_mean bottleneck_queue_delay_ms_p50 bottleneck_queue_delay_ms_p95 bottleneck_queue_delay_ms_p99"]
        .assert_eq(&names.join(" "));
    }

    /// A table of `docs/results.md`: name, kind, unit and meaning of each column.
    fn table(title: &str, leaves: impl Iterator<Item = Leaf>) -> String {
        let mut text =
            format!("\n**{title}**\n\n| column | kind | unit | what |\n|---|---|---|---|\n");
        for Leaf { name, figure, of } in leaves {
            let kind = match figure.kind {
                Kind::Whole => "integer",
                Kind::Number => "number",
                _ => "text",
            };
            let of_what = of.map_or_else(String::new, |of| format!(" {}", of.meaning));
            let (unit, meaning) = (figure.unit, figure.meaning);
            writeln!(text, "| `{name}` | {kind} | {unit} | {meaning}{of_what} |").unwrap();
        }
        text
    }

    /// The marks around the tables of `docs/results.md`.
    const FROM: &str = "<!-- Written from `record.rs`; `cargo xtask bless` writes it anew. -->\n";
    const TO: &str = "\n<!-- End of what is written from `record.rs`. -->";

    #[test]
    fn the_page_of_results_has_every_column() {
        let in_files =
            |leaves: Vec<Leaf>| leaves.into_iter().filter(|leaf| leaf.figure.role != Role::Cost);
        let own = |figures: &'static [Figure]| in_files(leaves(figures, "", ""));
        let tables = [
            table("`summary.parquet`, of the run", in_files(of_run())),
            table("`summary.parquet`, of the flow", in_files(of_flow())),
            table(
                "`summary.parquet`, of the flow's group",
                in_files(of_group()).filter(|leaf| leaf.figure.role != Role::Name),
            ),
            table("`summary.parquet`, of the run's bottleneck", in_files(of_link())),
            table("`series.parquet`", own(Series::FIGURES)),
            table("`queue.parquet`", own(QueueSeries::FIGURES)),
            table("`transfers.parquet`", own(Transfers::FIGURES)),
        ];
        let page = include_str!("../../../docs/results.md");
        let (before, rest) = page.split_once(FROM).expect("the page has the mark");
        let (_, after) = rest.split_once(TO).expect("the page has the mark of the end");
        let wanted = format!("{before}{FROM}{}{TO}{after}", tables.concat());
        // If it differs: `cargo xtask bless` rewrites the page.
        expect_file!["../../../docs/results.md"].assert_eq(&wanted);
    }
}
