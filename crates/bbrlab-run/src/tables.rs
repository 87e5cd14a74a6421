//! Converts the results of many runs to plain tables, and back. Results that another back end has
//! computed are read from such tables.
//!
//! Each run has a row in `runs`, each of its links has a row in `links`, and so on. The columns are
//! the metrics of `record.rs`, after the column `run`, which is the run's number. In `tins` (the
//! classes of traffic of a queue discipline), the second column is `link`, the link's number. Swept
//! values can have any type, so they are stored as JSON text.

use std::mem;

use crate::column::{Cell, Column, Kind, Values};
use crate::figure::{Field, Figure, leaves};
use crate::record::{
    ControlFromOutside, FlowGroup, FlowSummary, LinkSummary, RunSummary, TinSummary, WaitSummary,
    exact,
};
use crate::run::SweepPoint;

/// The names of the tables, in order.
pub const TABLES: [&str; 7] =
    ["runs", "links", "tins", "waits", "flow_groups", "flows", "controls"];

/// The metrics of a run that are maps, stored as JSON text.
const MAPS: [&str; 2] = ["point", "point_values"];

/// Converts runs to the tables that [`TABLES`] names. `numbers` has the number of each run, for the
/// column `run`.
#[must_use]
pub fn tables_of(numbers: &[u64], runs: &[RunSummary]) -> [Vec<Column>; 7] {
    let of_runs = || numbers.iter().copied().zip(runs);
    let map = |map: &SweepPoint| serde_json::to_string(map).ok();
    let mut maps = vec![
        Column::new(MAPS[0], Values::OptText(runs.iter().map(|run| map(&run.point)).collect())),
        Column::new(
            MAPS[1],
            Values::OptText(runs.iter().map(|run| map(&run.point_values)).collect()),
        ),
    ];
    let mut whole = table(&["run"], RunSummary::FIGURES, of_runs().map(|(of, run)| ([of], run)));
    whole.append(&mut maps);
    let links = of_runs().flat_map(|(of, run)| run.links.iter().map(move |link| ([of], link)));
    let tins = of_runs().flat_map(|(of, run)| {
        let links = (0..).zip(&run.links);
        links.flat_map(move |(at, link)| link.tins.iter().map(move |tin| ([of, at], tin)))
    });
    let waits = of_runs().flat_map(|(of, run)| run.waits.iter().map(move |wait| ([of], wait)));
    let groups =
        of_runs().flat_map(|(of, run)| run.flow_groups.iter().map(move |group| ([of], group)));
    let flows = of_runs().flat_map(|(of, run)| run.flows.iter().map(move |flow| ([of], flow)));
    let controls =
        of_runs().flat_map(|(of, run)| run.controls.iter().map(move |control| ([of], control)));
    [
        whole,
        table(&["run"], LinkSummary::FIGURES, links),
        table(&["run", "link"], TinSummary::FIGURES, tins),
        table(&["run"], WaitSummary::FIGURES, waits),
        table(&["run"], FlowGroup::FIGURES, groups),
        table(&["run"], FlowSummary::FIGURES, flows),
        table(&["run"], ControlFromOutside::FIGURES, controls),
    ]
}

/// Reads the runs, each with its number, back from tables that [`tables_of`] created.
///
/// # Errors
/// Fails if a column is missing or has another type than its metric, or if a row refers to a run or
/// link that does not exist.
pub fn runs_of(tables: &[Vec<Column>; 7]) -> Result<Vec<(u64, RunSummary)>, String> {
    let [whole, links, tins, waits, groups, flows, controls] = tables;
    let mut runs: Vec<(u64, RunSummary)> = rows(&["run"], RunSummary::FIGURES, whole)?
        .into_iter()
        .map(|([number], run)| (number, run))
        .collect();
    let map = |name: &str, at: usize| -> Result<SweepPoint, String> {
        let Cell::Word(text) = cell(column(whole, name)?, at) else {
            return Err(format!("the column `{name}` has another kind"));
        };
        serde_json::from_str(&text).map_err(|error| format!("`{name}`: {error}"))
    };
    for (at, (_, run)) in runs.iter_mut().enumerate() {
        run.point = map(MAPS[0], at)?;
        run.point_values = map(MAPS[1], at)?;
    }
    let mut runs_by_number = Runs { runs: &mut runs, at: 0 };
    for ([number], link) in rows(&["run"], LinkSummary::FIGURES, links)? {
        runs_by_number.of(number)?.links.push(link);
    }
    for ([number, at], tin) in rows(&["run", "link"], TinSummary::FIGURES, tins)? {
        let links = &mut runs_by_number.of(number)?.links;
        let link = usize::try_from(at).ok().and_then(|at| links.get_mut(at));
        link.ok_or_else(|| format!("a tin of link {at}, which run {number} does not have"))?
            .tins
            .push(tin);
    }
    for ([number], wait) in rows(&["run"], WaitSummary::FIGURES, waits)? {
        runs_by_number.of(number)?.waits.push(wait);
    }
    for ([number], group) in rows(&["run"], FlowGroup::FIGURES, groups)? {
        runs_by_number.of(number)?.flow_groups.push(group);
    }
    for ([number], flow) in rows(&["run"], FlowSummary::FIGURES, flows)? {
        runs_by_number.of(number)?.flows.push(flow);
    }
    for ([number], control) in rows(&["run"], ControlFromOutside::FIGURES, controls)? {
        runs_by_number.of(number)?.controls.push(control);
    }
    for (_, run) in &mut runs {
        run.links = exact(mem::take(&mut run.links));
        run.links.iter_mut().for_each(|link| link.tins = exact(mem::take(&mut link.tins)));
        run.waits = exact(mem::take(&mut run.waits));
        run.flow_groups = exact(mem::take(&mut run.flow_groups));
        run.flows = exact(mem::take(&mut run.flows));
        run.controls = exact(mem::take(&mut run.controls));
    }
    Ok(runs)
}

/// Finds runs by their numbers. The search is fast if the caller looks up numbers in ascending
/// order.
struct Runs<'a> {
    runs: &'a mut [(u64, RunSummary)],
    at: usize,
}

impl Runs<'_> {
    fn of(&mut self, number: u64) -> Result<&mut RunSummary, String> {
        let count = self.runs.len();
        let is_it = |at: &usize| self.runs[at % count.max(1)].0 == number;
        let found = (self.at..self.at + count).find(is_it);
        let found =
            found.ok_or_else(|| format!("a row refers to run {number}, which does not exist"))?;
        self.at = found % count;
        Ok(&mut self.runs[self.at].1)
    }
}

/// Returns structs of metrics as columns. `keys` names the first columns, which contain the numbers
/// of the run and, for some tables, of the link to which each struct belongs.
fn table<'a, T: Field + 'a, const N: usize>(
    keys: &[&str; N],
    figures: &'static [Figure],
    records: impl Iterator<Item = ([u64; N], &'a T)>,
) -> Vec<Column> {
    let row = |(numbers, record): ([u64; N], &T)| {
        let mut cells: Vec<Cell> = numbers.map(Cell::Whole).into();
        record.cells(&mut cells);
        cells
    };
    let rows: Vec<Vec<Cell>> = records.map(row).collect();
    let names = columns_of(keys, figures).into_iter().enumerate();
    names
        .map(|(at, (name, kind))| Column::of_cells(name, kind, rows.iter().map(|row| &row[at])))
        .collect()
}

/// Reads the structs of metrics back from columns that [`table`] created, and returns each struct
/// with its keys.
fn rows<T: Field, const N: usize>(
    keys: &[&str; N],
    figures: &'static [Figure],
    columns: &[Column],
) -> Result<Vec<([u64; N], T)>, String> {
    let names = columns_of(keys, figures);
    let values = names.iter().map(|(name, kind)| {
        let values = column(columns, name)?;
        let is_of_kind = match values {
            Values::Int(_) | Values::OptInt(_) => *kind == Kind::Whole,
            Values::Float(_) | Values::OptFloat(_) => *kind == Kind::Number,
            Values::Text(_) | Values::OptText(_) => *kind == Kind::Word,
            Values::Repeated(..) => false,
        };
        is_of_kind.then_some(values).ok_or_else(|| format!("the column `{name}` has another kind"))
    });
    let values = values.collect::<Result<Vec<_>, String>>()?;
    let count = columns.first().map_or(0, |column| column.values.len());
    if columns.iter().any(|column| column.values.len() != count) {
        return Err("its columns differ in length".to_owned());
    }
    let mut records = Vec::with_capacity(count);
    for row in 0..count {
        let mut cells = values.iter().map(|values| cell(values, row));
        let record = (|| {
            let mut numbers = [0; N];
            for number in &mut numbers {
                *number = u64::of_cells(&mut cells)?;
            }
            Some((numbers, T::of_cells(&mut cells)?))
        })();
        records.push(record.ok_or_else(|| format!("a value is missing in row {row}"))?);
    }
    Ok(records)
}

/// Returns the names and kinds of the columns of a table.
fn columns_of<const N: usize>(keys: &[&str; N], figures: &'static [Figure]) -> Vec<(String, Kind)> {
    let keys = keys.iter().map(|key| ((*key).to_owned(), Kind::Whole));
    let own = leaves(figures, "", "_").into_iter().map(|leaf| (leaf.name, leaf.figure.kind));
    keys.chain(own).collect()
}

fn column<'a>(columns: &'a [Column], name: &str) -> Result<&'a Values, String> {
    let found = columns.iter().find(|column| column.name == name);
    found.map(|column| &column.values).ok_or_else(|| format!("the column `{name}` is missing"))
}

fn cell(values: &Values, row: usize) -> Cell {
    let whole = |value: i64| u64::try_from(value).ok().map(Cell::Whole);
    let cell = match values {
        Values::Int(values) => whole(values[row]),
        Values::OptInt(values) => values[row].and_then(whole),
        Values::Float(values) => Some(Cell::Number(values[row])),
        Values::OptFloat(values) => values[row].map(Cell::Number),
        Values::Text(values) => Some(Cell::Word(values[row].to_string())),
        Values::OptText(values) => values[row].clone().map(Cell::Word),
        Values::Repeated(..) => None,
    };
    cell.unwrap_or(Cell::Null)
}

#[cfg(test)]
mod tests {
    use super::{TABLES, runs_of, tables_of};
    use crate::column::{Cell, Kind, Values};
    use crate::figure::{Field, Figure, leaves};
    use crate::record::{
        ControlFromOutside, FlowGroup, FlowSummary, LinkSummary, RunSummary, TinSummary,
        WaitSummary,
    };

    /// Returns a struct in which every metric has a different value.
    fn full<T: Field>() -> T {
        let mut next = 0;
        let cells = leaves(T::PARTS, "", "_").into_iter().map(|leaf| {
            next += 1;
            match leaf.figure.kind {
                Kind::Whole => Cell::Whole(next),
                Kind::Number => Cell::Number(f64::from(u32::try_from(next).unwrap()) / 3.0),
                _ => Cell::Word(format!("word {next}")),
            }
        });
        T::of_cells(&mut cells.collect::<Vec<_>>().into_iter())
            .expect("there is a cell for each metric")
    }

    fn runs() -> Vec<RunSummary> {
        let link = |tins| LinkSummary { tins, ..full() };
        let mut whole = RunSummary {
            links: vec![LinkSummary::default(), link(vec![full(), TinSummary::default()])],
            flow_groups: vec![full(), FlowGroup::default()],
            flows: vec![FlowSummary::default(), full(), full()],
            waits: vec![full(), WaitSummary::default()],
            controls: vec![full()],
            ..full()
        };
        whole.point.insert("b".to_owned(), "1bdp".into());
        whole.point.insert("a".to_owned(), serde_json::json!([1, { "x": null }]));
        whole
            .point_values
            .insert("b".to_owned(), serde_json::json!({ "value": 0.1, "unit": "bdp" }));
        let other = RunSummary {
            seed: 7,
            flows: vec![full()],
            links: vec![full()],
            ..RunSummary::default()
        };
        vec![whole.clone(), RunSummary::default(), other, whole]
    }

    #[test]
    fn runs_survive_the_way_through_tables() {
        let numbers = [9, 3, 1 << 60, 0];
        let tables = tables_of(&numbers, &runs());
        let rows = tables.each_ref().map(|columns| columns[0].values.len());
        assert_eq!(
            TABLES.iter().zip(rows).collect::<Vec<_>>(),
            [
                (&"runs", 4),
                (&"links", 5),
                (&"tins", 4),
                (&"waits", 4),
                (&"flow_groups", 4),
                (&"flows", 7),
                (&"controls", 2)
            ]
        );
        let expected: Vec<_> = numbers.into_iter().zip(runs()).collect();
        assert_eq!(runs_of(&tables), Ok(expected));
        assert_eq!(runs_of(&tables_of(&[], &[])), Ok(Vec::new()));
    }

    /// Checks that every metric that is a list or a map, and so does not fit into a row, has its
    /// own table or column.
    #[test]
    fn no_list_is_forgotten() {
        let lists = |figures: &'static [Figure]| -> Vec<&str> {
            let lists = figures.iter().filter(|figure| figure.kind == Kind::Many);
            lists.map(|figure| figure.name).collect()
        };
        let of_run =
            ["point", "point_values", "links", "waits", "flow_groups", "flows", "controls"];
        assert_eq!(lists(RunSummary::FIGURES), of_run);
        assert_eq!(lists(LinkSummary::FIGURES), ["tins"]);
        for figures in [
            TinSummary::FIGURES,
            WaitSummary::FIGURES,
            FlowGroup::FIGURES,
            FlowSummary::FIGURES,
            ControlFromOutside::FIGURES,
        ] {
            assert!(lists(figures).is_empty(), "{:?}", lists(figures));
        }
    }

    #[test]
    fn tables_that_do_not_fit_together_are_reported() {
        let whole = tables_of(&[0, 1, 2, 3], &runs());
        let told = |change: &dyn Fn(&mut [Vec<crate::column::Column>; 7])| {
            let mut tables = whole.clone();
            change(&mut tables);
            runs_of(&tables).unwrap_err()
        };
        assert_eq!(told(&|tables| drop(tables[5].pop())), "the column `stalled_s` is missing");
        assert_eq!(
            told(&|tables| tables[0][1].values = Values::OptInt(vec![None; 4])),
            "the column `scenario` has another kind"
        );
        assert_eq!(
            told(&|tables| tables[5][0].values = Values::OptInt(vec![Some(8); 7])),
            "a row refers to run 8, which does not exist"
        );
        assert_eq!(
            told(&|tables| tables[2][1].values = Values::OptInt(vec![Some(5); 4])),
            "a tin of link 5, which run 0 does not have"
        );
        assert_eq!(
            told(&|tables| tables[5][3].values = Values::OptText(Vec::new())),
            "its columns differ in length"
        );
        assert_eq!(
            told(&|tables| tables[5][0].values = Values::OptInt(vec![None; 7])),
            "a value is missing in row 0"
        );
    }
}
