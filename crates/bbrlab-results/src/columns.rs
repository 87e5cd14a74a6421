//! The results of runs as columns: one row per flow, as in `summary.parquet`, or one per link.

use std::borrow::Cow;
use std::io::Write;
use std::ops::Range;
use std::rc::Rc;

use bbrlab_run::{
    Cell, Column, Field, FlowGroup, FlowSummary, Kind, Leaf, LinkSummary, Role, RunSummary, Runs,
    Values, leaves,
};
use serde_json::Value;

use crate::parquet_file::{Origin, ParquetWriter};
use crate::provenance::{COMMIT, VERSION};
use crate::unwritten::Unwritten;

/// Number of rows in a batch of columns. Summaries are written in batches, so that their memory
/// does not depend on the number of rows.
const ROWS_AT_A_TIME: usize = 1 << 12;

/// Number of rows that are converted to columns at a time. The number is small, because a row takes
/// several times as much memory before the conversion as in columns.
const ROWS_OF_A_PIECE: usize = 1 << 8;

/// Writes the results of runs as a Parquet file with one row per flow.
///
/// The first columns of the Parquet file identify the run and include the swept keys. The metrics
/// of the flow, of its group, of the run and of the run's bottleneck follow in this order. The
/// values of the run and of its bottleneck are repeated in all rows of the run. If the run has no
/// link with the name `bottleneck`, its first link counts as the bottleneck.
///
/// # Errors
/// Fails if `out` cannot be written to, or a run cannot be read.
#[expect(clippy::missing_panics_doc, reason = "never panics: `parts` yields at least one part")]
pub fn write_summary<R: Runs + ?Sized>(
    out: impl Write + Send,
    runs: &R,
    origin: Origin<'_>,
) -> Result<(), Unwritten<R::Error>> {
    let swept = Swept::new(runs).map_err(Unwritten::Without)?;
    let rows = swept.rows;
    let mut parts = parts(runs, swept).map(|part| part.map_err(Unwritten::Without));
    let first = parts.next().expect("`parts` yields at least one part")?;
    let mut file = ParquetWriter::new(out, &first, rows, origin)?;
    file.group(&first)?;
    for part in parts {
        file.group(&part?)?;
    }
    Ok(file.finish()?)
}

/// Consecutive flows of one run. Each flow is a row of `summary.parquet`.
struct RowsOfRun<'a> {
    run: Rc<Cow<'a, RunSummary>>,
    flows: Range<usize>,
}

impl RowsOfRun<'_> {
    fn flows(&self) -> &[FlowSummary] {
        &self.run.flows[self.flows.clone()]
    }
}

/// Returns the columns of `summary.parquet` in batches of some thousand rows. If there are no
/// flows, returns one batch of columns without rows.
pub fn flow_columns(runs: &[RunSummary]) -> impl Iterator<Item = Vec<Column>> {
    let Ok(swept) = Swept::new(runs);
    parts(runs, swept).map(|part| {
        let Ok(part) = part;
        part
    })
}

fn parts<R: Runs + ?Sized>(
    runs: &R,
    swept: Swept,
) -> impl Iterator<Item = Result<Vec<Column>, R::Error>> {
    let mut pieces = Pieces { runs, place: 0, current: None, flows: 0 };
    let mut is_first = true;
    std::iter::from_fn(move || {
        let mut part: Option<Vec<Column>> = None;
        for _ in 0..ROWS_AT_A_TIME / ROWS_OF_A_PIECE {
            let piece = match pieces.next() {
                Ok(piece) if piece.is_empty() && !is_first => break,
                Ok(piece) => columns(&piece, &swept),
                Err(error) => return Some(Err(error)),
            };
            is_first = false;
            match &mut part {
                None => part = Some(piece),
                Some(part) => {
                    let values = part.iter_mut().map(|column| &mut column.values);
                    values.zip(piece).for_each(|(values, more)| values.append(more.values));
                }
            }
        }
        part.map(Ok)
    })
}

/// Returns columns with one row per link: first the columns that identify the run, then the metrics
/// of the link.
#[must_use]
pub fn link_columns(runs: &[RunSummary]) -> Vec<Column> {
    let Ok(swept) = Swept::new(runs);
    let repeats: Vec<Repeated<'_>> =
        runs.iter().map(|run| Repeated { run, rows: run.links.len() }).collect();
    let mut columns = names(&repeats, &swept);
    let links: Vec<Vec<Cell>> = runs.iter().flat_map(|run| run.links.iter().map(cells)).collect();
    for (at, leaf) in of_link("link_").iter().enumerate() {
        columns.push(optional(leaf, links.iter().map(|cells| &cells[at])));
    }
    columns
}

/// Returns columns with one row per run: first the columns that identify the run, then the metrics
/// of the run and of its bottleneck.
#[must_use]
pub fn run_columns(runs: &[RunSummary]) -> Vec<Column> {
    let Ok(swept) = Swept::new(runs);
    let repeats: Vec<Repeated<'_>> = runs.iter().map(|run| Repeated { run, rows: 1 }).collect();
    let mut columns = names(&repeats, &swept);
    columns.extend(values_of_runs(&repeats));
    columns
}

/// Returns the names of the columns that [`flow_columns`], [`link_columns`] and [`run_columns`]
/// have for swept keys: one for each key, and one for each base unit of its values.
#[must_use]
pub fn swept_columns(runs: &[RunSummary]) -> Vec<String> {
    let Ok(swept) = Swept::new(runs);
    let units = |key: &SweptKey| {
        let with_unit: Vec<String> =
            key.units.iter().map(|unit| format!("{}_{unit}", key.name)).collect();
        std::iter::once(key.name.clone()).chain(with_unit)
    };
    swept.keys.iter().flat_map(units).collect()
}

/// A run with the number of rows in which its values are repeated.
#[derive(Clone, Copy)]
struct Repeated<'a> {
    run: &'a RunSummary,
    rows: usize,
}

impl<'a> From<&'a RowsOfRun<'_>> for Repeated<'a> {
    fn from(of: &'a RowsOfRun<'_>) -> Self {
        Self { run: &of.run, rows: of.flows.len() }
    }
}

/// Returns the columns that identify the run to which a row belongs.
fn names(repeats: &[Repeated<'_>], swept: &Swept) -> Vec<Column> {
    let rows: usize = repeats.iter().map(|of| of.rows).sum();
    let cells_of_runs: Vec<Vec<Cell>> = repeats.iter().map(|of| cells(of.run)).collect();
    let of_runs = |at: usize| {
        let per_run = repeats.iter().zip(&cells_of_runs);
        per_run.flat_map(move |(of, cells)| std::iter::repeat_n(&cells[at], of.rows))
    };
    let of_run = of_run();
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
    columns.extend(swept.columns(repeats, &columns));
    columns
}

/// Reads runs and returns their rows in pieces of at most [`ROWS_OF_A_PIECE`] rows.
struct Pieces<'a, R: ?Sized> {
    runs: &'a R,
    /// The index of the next run to read.
    place: usize,
    /// The run whose flows are not all returned yet.
    current: Option<Rc<Cow<'a, RunSummary>>>,
    /// Number of flows of `current` already returned.
    flows: usize,
}

impl<'a, R: Runs + ?Sized> Pieces<'a, R> {
    /// Returns the next piece, or an empty list after the last piece.
    fn next(&mut self) -> Result<Vec<RowsOfRun<'a>>, R::Error> {
        let mut piece = Vec::new();
        let mut room = ROWS_OF_A_PIECE;
        while room > 0 {
            let run = match self.current.take() {
                Some(run) => run,
                None if self.place == self.runs.count() => break,
                None => {
                    self.place += 1;
                    Rc::new(self.runs.get(self.place - 1)?)
                }
            };
            let from = self.flows;
            let to = run.flows.len().min(from + room);
            room -= (to - from).max(1);
            self.flows = 0;
            if to < run.flows.len() {
                (self.current, self.flows) = (Some(Rc::clone(&run)), to);
            }
            piece.push(RowsOfRun { run, flows: from..to });
        }
        Ok(piece)
    }
}

/// Returns the columns of `summary.parquet` for the rows in `part`. If no run has flows, returns
/// only the columns that identify the run.
fn columns(part: &[RowsOfRun<'_>], swept: &Swept) -> Vec<Column> {
    let repeats: Vec<Repeated<'_>> = part.iter().map(Repeated::from).collect();
    let mut columns = names(&repeats, swept);
    if swept.rows == 0 {
        return columns;
    }
    let flows: Vec<Vec<Cell>> = part.iter().flat_map(|of| of.flows().iter().map(cells)).collect();
    for (at, leaf) in of_flow().iter().enumerate() {
        columns.push(optional(leaf, flows.iter().map(|cells| &cells[at])));
    }
    drop(flows);
    let of_group = of_group();
    let groups: Vec<Vec<Cell>> = part.iter().flat_map(cells_of_groups).collect();
    for (at, leaf) in of_group.iter().enumerate() {
        if leaf.figure.role != Role::Name {
            columns.push(optional(leaf, groups.iter().map(|cells| &cells[at])));
        }
    }
    drop(groups);
    columns.extend(values_of_runs(&repeats));
    columns
}

/// Returns the metrics of runs and of their bottlenecks, repeated in all rows of a run.
fn values_of_runs(repeats: &[Repeated<'_>]) -> Vec<Column> {
    let mut columns = Vec::new();
    let mut add = |leaf: &Leaf, at: usize, per_run: &[Vec<Cell>]| {
        let rows = repeats.iter().zip(per_run);
        let values = rows.flat_map(|(of, cells)| std::iter::repeat_n(&cells[at], of.rows));
        columns.push(optional(leaf, values));
    };
    let cells_of_runs: Vec<Vec<Cell>> = repeats.iter().map(|of| cells(of.run)).collect();
    for (at, leaf) in of_run().iter().enumerate() {
        if matches!(leaf.figure.role, Role::Given | Role::Result) {
            add(leaf, at, &cells_of_runs);
        }
    }
    let of_bottleneck = of_link("bottleneck_");
    let links: Vec<Vec<Cell>> = repeats
        .iter()
        .map(|of| bottleneck(of.run).map_or_else(|| vec![Cell::Null; of_bottleneck.len()], cells))
        .collect();
    for (at, leaf) in of_bottleneck.iter().enumerate() {
        add(leaf, at, &links);
    }
    columns
}

/// The subject of a metric: a run, its bottleneck, a group of flows, a flow or a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureOf {
    /// The run: one value in all rows of a run.
    Run,
    /// The run's bottleneck: one value in all rows of a run.
    Bottleneck,
    /// A group of flows: one value in all rows of the group's flows.
    Group,
    /// A flow.
    Flow,
    /// A link: one value in each row of [`link_columns`], which has one row per link.
    Link,
}

impl FigureOf {
    /// All variants, in the order in which their columns are written.
    pub const ALL: [Self; 5] = [Self::Flow, Self::Group, Self::Run, Self::Bottleneck, Self::Link];

    /// Returns the name of the variant, such as `run`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Bottleneck => "bottleneck",
            Self::Group => "group",
            Self::Flow => "flow",
            Self::Link => "link",
        }
    }

    /// Returns the columns with the metrics of this subject, and the columns that name the subject.
    /// Each column has a different name.
    #[must_use]
    pub fn leaves(self) -> Vec<Leaf> {
        let leaves = match self {
            Self::Run => of_run(),
            Self::Bottleneck => of_link("bottleneck_"),
            Self::Group => of_group(),
            Self::Flow => of_flow(),
            Self::Link => of_link("link_"),
        };
        leaves.into_iter().filter(|leaf| leaf.figure.role != Role::Cost).collect()
    }

    /// Returns the metrics of this subject, with their names in JSON documents.
    #[must_use]
    pub fn json_leaves(self) -> Vec<Leaf> {
        let figures = match self {
            Self::Run => RunSummary::FIGURES,
            Self::Bottleneck | Self::Link => LinkSummary::FIGURES,
            Self::Group => FlowGroup::FIGURES,
            Self::Flow => FlowSummary::FIGURES,
        };
        let leaves = leaves(figures, "", ".").into_iter();
        leaves.filter(|leaf| leaf.figure.role != Role::Cost).collect()
    }
}

/// Returns what the metric in a column describes: a flow, a group, the run, the bottleneck or a
/// link. `None` for columns without a metric, such as the name of a run or a swept key.
#[must_use]
pub fn figure_of(column: &str) -> Option<FigureOf> {
    let is_it = |leaf: &Leaf| leaf.name == column && leaf.figure.role != Role::Name;
    FigureOf::ALL.into_iter().find(|of| of.leaves().iter().any(is_it))
}

fn of_run() -> Vec<Leaf> {
    let mut leaves = leaves(RunSummary::FIGURES, "", "_");
    let of_flow = of_flow();
    // Flows have goodputs too, so the run's goodput gets another name.
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

/// Returns one element per flow in `of`: the metrics of the group to which the flow belongs.
fn cells_of_groups(of: &RowsOfRun<'_>) -> Vec<Vec<Cell>> {
    let nothing = vec![Cell::Null; of_group().len()];
    let groups: Vec<(&str, Vec<Cell>)> =
        of.run.flow_groups.iter().map(|group| (group.group.as_str(), cells(group))).collect();
    let of_flow = |flow: &FlowSummary| {
        let found = groups.iter().find(|(name, _)| *name == flow.group);
        found.map_or_else(|| nothing.clone(), |(_, cells)| cells.clone())
    };
    of.flows().iter().map(of_flow).collect()
}

fn of_flow() -> Vec<Leaf> {
    let mut leaves = leaves(FlowSummary::FIGURES, "", "_");
    // Rename `id` to `flow`. The tables also have columns of the run, so `id` could be read as the
    // number of the run.
    let id = leaves.iter_mut().find(|leaf| leaf.name == "id");
    "flow".clone_into(&mut id.expect("flows are numbered").name);
    leaves
}

fn of_link(prefix: &str) -> Vec<Leaf> {
    leaves(LinkSummary::FIGURES, prefix, "_")
}

fn bottleneck(run: &RunSummary) -> Option<&LinkSummary> {
    run.links.iter().find(|link| link.name == "bottleneck").or_else(|| run.links.first())
}

fn cells(record: &impl Field) -> Vec<Cell> {
    let mut cells = Vec::new();
    record.cells(&mut cells);
    cells
}

/// Returns the columns of a time series of `run`, followed by columns that identify the run:
/// scenario hash, seed and the swept keys. With these columns, users can concatenate the series of
/// several runs.
#[must_use]
pub fn of_series(run: &RunSummary, mut columns: Vec<Column>) -> Vec<Column> {
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

/// Returns the value of a swept quantity in its base unit, and the unit.
fn base_value<'a>(run: &'a RunSummary, key: &str) -> Option<(f64, &'a str)> {
    let found = run.point_values.get(key)?;
    Some((found["value"].as_f64()?, found["unit"].as_str()?))
}

/// The data that the writer needs before the first row, collected from all runs: the swept keys
/// with the types of their values, and the number of rows.
struct Swept {
    keys: Vec<SweptKey>,
    rows: usize,
}

struct SweptKey {
    name: String,
    /// Whether any run has a value for this key. This flag and the next two determine the type of
    /// the key's column.
    has_values: bool,
    /// Whether all values of the key are integers.
    are_whole: bool,
    /// Whether all values of the key are numbers.
    are_numbers: bool,
    /// The different base units of those values that are quantities.
    units: Vec<String>,
}

impl Swept {
    fn new<R: Runs + ?Sized>(runs: &R) -> Result<Self, R::Error> {
        let mut swept = Self { keys: Vec::new(), rows: 0 };
        for run in runs.each() {
            swept.see(&*run?);
        }
        Ok(swept)
    }

    /// Counts the rows of a run, and adds the run's swept keys.
    fn see(&mut self, run: &RunSummary) {
        self.rows += run.flows.len();
        for (name, value) in &run.point {
            let place = self.keys.iter().position(|key| key.name == *name).unwrap_or_else(|| {
                self.keys.push(SweptKey::new(name));
                self.keys.len() - 1
            });
            self.keys[place].see(value, base_value(run, name));
        }
    }

    /// Returns the columns of those swept keys whose names are not among the columns `taken`. A key
    /// whose values have a unit gets a second column with the numbers in the base unit.
    fn columns(&self, part: &[Repeated<'_>], taken: &[Column]) -> Vec<Column> {
        let is_new = |key: &&SweptKey| taken.iter().all(|column| column.name != key.name);
        self.keys.iter().filter(is_new).flat_map(|key| key.columns(part)).collect()
    }
}

impl SweptKey {
    fn new(name: &str) -> Self {
        let name = name.to_owned();
        Self { name, has_values: false, are_whole: true, are_numbers: true, units: Vec::new() }
    }

    fn see(&mut self, value: &Value, base: Option<(f64, &str)>) {
        if !value.is_null() {
            self.has_values = true;
            self.are_whole &= value.is_u64() || value.is_i64();
            self.are_numbers &= value.is_number();
        }
        if let Some((_, unit)) = base
            && !self.units.iter().any(|known| known == unit)
        {
            self.units.push(unit.to_owned());
        }
    }

    fn kind(&self) -> Kind {
        if self.has_values && self.are_whole {
            Kind::Whole
        } else if self.are_numbers {
            Kind::Number
        } else {
            Kind::Word
        }
    }

    /// Returns the column of the key's values as they are written in the scenario, then a column
    /// for each base unit of the values, such as bytes. A buffer has two base units if some of its
    /// values are in bytes and others in BDPs.
    fn columns(&self, part: &[Repeated<'_>]) -> Vec<Column> {
        let values = part.iter().flat_map(|of| {
            std::iter::repeat_n(of.run.point.get(&self.name).unwrap_or(&Value::Null), of.rows)
        });
        let words = |value: &Value| match value {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        let spelled = match self.kind() {
            Kind::Whole => Values::OptInt(values.map(Value::as_i64).collect()),
            Kind::Number => Values::OptFloat(values.map(Value::as_f64).collect()),
            _ => Values::OptText(values.map(words).collect()),
        };
        let mut columns = vec![Column::new(self.name.as_str(), spelled)];
        for unit in &self.units {
            let values = part.iter().flat_map(|of| {
                let found = base_value(of.run, &self.name).filter(|(_, of)| of == unit);
                std::iter::repeat_n(found.map(|(value, _)| value), of.rows)
            });
            let values = Values::OptFloat(values.collect());
            columns.push(Column::new(format!("{}_{unit}", self.name), values));
        }
        columns
    }
}

/// Returns a column of a metric that every run has.
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

/// Returns a column of a metric that may be missing.
fn optional<'a>(leaf: &Leaf, cells: impl Iterator<Item = &'a Cell>) -> Column {
    Column::of_cells(leaf.name.as_str(), leaf.figure.kind, cells)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::{
        FigureOf, ROWS_AT_A_TIME, figure_of, of_flow, of_group, of_link, of_run, of_series,
        write_summary,
    };
    use crate::parquet_file::{decode, encode};
    use bbrlab_run::{
        Column, Delays, Figure, FlowSummary, Kind, Leaf, LinkSummary, QueueRow, QueueSeries, Role,
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
                cwnd_packets: (10 + row).into(),
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
            drops: 1.into(),
            random_losses: 0.into(),
            policer_drops: None,
            marks: 0.into(),
        });
        let through = |columns: Vec<Column>| decode(encode(&columns, &[]), |_| true).unwrap();
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
        let columns = decode(file, |_| true).unwrap();
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
        let names: Vec<String> = written(&[run]).into_iter().map(|column| column.name).collect();
        let at = names.iter().position(|name| name == "bottleneck.buffer").unwrap();
        assert_eq!(names[at + 1], "bottleneck.buffer_bdp");
    }

    /// An earlier version wrote files without columns that exist now.
    #[test]
    fn values_of_a_column_that_did_not_exist_are_unknown() {
        let mut series = Series::default();
        for path_queue_delay_us in [Some(7), Some(8)] {
            series.push(SeriesRow { path_queue_delay_us, ..SeriesRow::default() });
        }
        let mut columns = series.columns();
        columns.retain(|column| column.name != "path_queue_delay_us");
        let read = Series::from_columns(&columns).unwrap();
        assert_eq!((read.len(), read.path_queue_delay_us), (2, vec![None, None]));
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
            "the column `flow` does not contain integers"
        );
    }

    /// Returns the columns of a summary after it was written to a file and read back.
    fn written(runs: &[RunSummary]) -> Vec<Column> {
        let mut file = Vec::new();
        write_summary(&mut file, runs, &[]).unwrap();
        decode(file, |_| true).unwrap()
    }

    #[test]
    fn a_summary_in_several_parts_has_the_rows_of_all() {
        let of = |seed: u64, flows: usize| {
            let flow = |id: usize| FlowSummary { id: id.try_into().unwrap(), ..Default::default() };
            let mut run = run(Vec::new());
            (run.seed, run.flows) = (seed, (0..flows).map(flow).collect());
            // In the test, one swept key has a value only in the last run, and another is an
            // integer in all runs except one.
            run.point.insert("flows.count".to_owned(), (flows as u64).into());
            if seed == 3 {
                run.point.insert("duration".to_owned(), "1s".into());
                run.point.insert("flows.count".to_owned(), 0.5.into());
            }
            run
        };
        let counts = [ROWS_AT_A_TIME - 1, 2 * ROWS_AT_A_TIME + 3, 0, 5];
        let runs: Vec<RunSummary> = (0..).zip(counts).map(|(seed, n)| of(seed, n)).collect();
        let whole = written(&runs);
        let values = |name: &str| &whole.iter().find(|column| column.name == name).unwrap().values;
        let per_flow = runs.iter().flat_map(|run| run.flows.iter().map(move |flow| (run, flow)));
        let seeds = per_flow.clone().map(|(run, _)| i64::try_from(run.seed).unwrap());
        assert_eq!(*values("seed"), Values::Int(seeds.collect()));
        let flows = per_flow.clone().map(|(_, flow)| Some(i64::from(flow.id)));
        assert_eq!(*values("flow"), Values::OptInt(flows.collect()));
        let counts = per_flow.clone().map(|(run, _)| run.point["flows.count"].as_f64());
        assert_eq!(*values("flows.count"), Values::OptFloat(counts.collect()));
        let durations = per_flow.map(|(run, _)| run.point.get("duration").map(|_| "1s".to_owned()));
        assert_eq!(*values("duration"), Values::OptText(durations.collect()));
    }

    fn run(links: Vec<LinkSummary>) -> RunSummary {
        let flow =
            FlowSummary { cc: "bbr1".to_owned(), sent_packets: Some(7), ..FlowSummary::default() };
        RunSummary { seed: 3, links, flows: vec![flow], ..RunSummary::default() }
    }

    #[test]
    fn the_columns_are_the_same_with_and_without_a_link() {
        let kinds = |run: RunSummary| -> Vec<(String, std::mem::Discriminant<Values>)> {
            let columns = written(&[run]).into_iter();
            columns.map(|column| (column.name, std::mem::discriminant(&column.values))).collect()
        };
        let link = LinkSummary { name: "bottleneck".to_owned(), ..LinkSummary::default() };
        let with = kinds(run(vec![link]));
        assert_eq!(with, kinds(run(Vec::new())));
        let names: Vec<&str> = with.iter().map(|(name, _)| name.as_str()).collect();
        expect!["scenario scenario_hash profile backend backend_version version commit seed flow name group cc start_s stop_s rtt_base_ms throughput_mbps goodput_mbps goodput_ss_mbps sent_packets delivered_packets out_of_order_packets duplicate_packets discarded_packets lost_packets retransmitted_packets drops random_losses policer_drops rto_count rtt_ms_min rtt_ms_mean rtt_ms_p50 rtt_ms_p95 rtt_ms_p99 rtt_ms_max rtt_sample_ms_min rtt_sample_ms_mean rtt_sample_ms_p50 rtt_sample_ms_p95 rtt_sample_ms_p99 rtt_sample_ms_max srtt_ms_mean srtt_ms_p95 cwnd_packets_mean cwnd_packets_max limited_by_cwnd limited_by_pacing limited_by_rwnd limited_by_sndbuf limited_by_app delay_ms_n delay_ms_mean delay_ms_p50 delay_ms_p95 delay_ms_p99 delay_ms_max jitter_ms loss_ratio late_ratio path_queue_delay_ms_mean path_queue_delay_ms_p50 path_queue_delay_ms_p95 path_queue_delay_ms_p99 fct_ms_n fct_ms_mean fct_ms_p50 fct_ms_p95 fct_ms_p99 stalled_s group_flows group_rejected group_goodput_mbps group_goodput_active_mbps group_share group_share_active group_share_ss group_retransmitted_packets group_out_of_order_packets group_duplicate_packets group_drops group_random_losses group_policer_drops group_rtt_ms_mean group_rtt_ms_p95 group_delay_ms_n group_delay_ms_mean group_delay_ms_p50 group_delay_ms_p95 group_delay_ms_p99 group_delay_ms_max group_jitter_ms group_loss_ratio group_late_ratio group_path_queue_delay_ms_mean group_path_queue_delay_ms_p50 group_path_queue_delay_ms_p95 group_path_queue_delay_ms_p99 group_fct_ms_n group_fct_ms_unfinished group_fct_ms_never_begun group_fct_ms_mean group_fct_ms_p50 group_fct_ms_p95 group_fct_ms_p99 group_slowdown_p50 group_slowdown_p95 group_slowdown_p99 sim_s events data_packets digest run_goodput_mbps run_goodput_ss_mbps jain jain_ss lateness_us_packets lateness_us_mean lateness_us_p99 lateness_us_max bottleneck_name bottleneck_rate_mbps bottleneck_utilization bottleneck_arrivals bottleneck_departures bottleneck_queued_at_end bottleneck_drops bottleneck_drops_enqueue bottleneck_drops_dequeue bottleneck_random_losses bottleneck_policer_drops bottleneck_thinned_acks bottleneck_drop_ratio bottleneck_marks bottleneck_queue_packets_mean bottleneck_queue_packets_std bottleneck_queue_packets_p95 bottleneck_queue_packets_max bottleneck_queue_delay_ms_mean bottleneck_queue_delay_ms_p50 bottleneck_queue_delay_ms_p95 bottleneck_queue_delay_ms_p99 bottleneck_sojourn_ms_mean bottleneck_sojourn_ms_p95 bottleneck_sojourn_ms_max"]
        .assert_eq(&names.join(" "));
    }

    /// Returns a table for `docs/results.md`: name, kind, unit and meaning of each column.
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

    #[test]
    fn figures_are_of_the_run_the_bottleneck_a_group_or_a_flow() {
        for (column, of) in [
            ("goodput_mbps", Some(FigureOf::Flow)),
            ("rtt_ms_p95", Some(FigureOf::Flow)),
            ("group_share", Some(FigureOf::Group)),
            ("run_goodput_mbps", Some(FigureOf::Run)),
            ("jain", Some(FigureOf::Run)),
            ("bottleneck_queue_delay_ms_p95", Some(FigureOf::Bottleneck)),
            ("link_queue_delay_ms_p95", Some(FigureOf::Link)),
            ("queue_delay_ms_p95", None),
            ("seed", None),
            ("flow", None),
            ("bottleneck.buffer_bdp", None),
        ] {
            assert_eq!(figure_of(column), of, "{column}");
        }
    }

    /// The comments around the generated tables of `docs/results.md`.
    const FROM: &str = "<!-- Written from `record.rs`; `cargo xtask bless` rewrites it. -->\n";
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
            table("`summary.parquet`, of the run's bottleneck", in_files(of_link("bottleneck_"))),
            table("`series.parquet`", own(Series::FIGURES)),
            table("`queue.parquet`", own(QueueSeries::FIGURES)),
            table("`transfers.parquet`", own(Transfers::FIGURES)),
            table("`delays.parquet`", own(Delays::FIGURES)),
        ];
        let page = include_str!("../../../docs/results.md");
        let (before, rest) = page.split_once(FROM).expect("`FROM` is in docs/results.md");
        let (_, after) = rest.split_once(TO).expect("`TO` is in docs/results.md");
        let wanted = format!("{before}{FROM}{}{TO}{after}", tables.concat());
        // If this fails, `cargo xtask bless` rewrites `docs/results.md`.
        expect_file!["../../../docs/results.md"].assert_eq(&wanted);
    }
}
