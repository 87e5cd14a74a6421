//! Reads a scenario: parses the text, applies the values of `--set`, and reads and checks every
//! point of the sweep.

use std::collections::BTreeMap;

use super::set::apply_set;
use super::sweep::{Setting, Sweep};
use super::{IDLE, Scenario};
use crate::keys::idle::IdleKeys;
use crate::keys::repeat::Repeat;
use crate::keys::spec::Spec;
use crate::keys::until_metric::reason_against;
use crate::language::canonical::sha256;
use crate::language::document::{self, At, Node, Source, Table, Value};
use crate::language::error::{ScenarioError, ScenarioErrors};
use crate::language::reader::Reader;
use crate::language::traces::{ReadFile, Traces, no_files};
use crate::lowering::lower::{self, Network};
use bbrlab_run::SweepPoint;

/// The largest number of runs of one file.
const RUNS_MAX: u64 = 10_000_000;

/// The limit for the number of sweep points times the number of values in the file. The time to
/// check a sweep is proportional to this product.
const WORK_MAX: u64 = 1_000_000;

/// A scenario's text after parsing, with the values of `--set` applied.
struct Parsed {
    /// The text and each `--set`, for error messages.
    sources: Vec<Source>,
    tree: Table,
    settings: Vec<Setting>,
}

/// The result of checking the points of a sweep.
#[derive(Default)]
struct Points {
    /// The first sweep point. The scenario's title, seed, `repeat` and `controls` come from the
    /// first point of a sweep.
    first: Spec,
    idle: IdleKeys,
    /// For each sweep point, the reason why the metric in `repeat.of` has no value at this point,
    /// or the same value in all runs. The list is empty if the metric may differ between the runs
    /// of at least one point.
    valueless: Vec<String>,
    /// The hashes of the sweep points, one per line.
    hashes: String,
}

impl Scenario {
    pub(super) fn parse_at_most(
        bytes_max: u64,
        name: &str,
        origin: &str,
        text: &str,
        files: Option<ReadFile<'_>>,
        sets: &[String],
    ) -> Result<Self, ScenarioErrors> {
        check_text(bytes_max, origin, text)?;
        // A scenario in a folder of results was checked before its run. Two errors are therefore
        // not reported again: keys without effect, and a metric in `repeat.of` that has no value,
        // or the same value in all runs.
        let is_kept = bytes_max != Self::BYTES_MAX;
        let mut traces = Traces::default();
        let mut reader = Reader::new(files.unwrap_or(&no_files), &mut traces);
        let parsed = Parsed::new(&mut reader, origin, text, sets)?;
        let sweep = parsed.read_sweep(&mut reader, is_kept)?;
        let Points { first, idle, valueless, hashes } = Points::read(&mut reader, &parsed, &sweep)?;
        // The scenario in a run's folder is one point of a sweep. Keys of this scenario may act at
        // other points, so keys without effect are accepted.
        let has_to_act = !is_kept && !text.starts_with(IDLE);
        if has_to_act && idle.refuse(&mut reader) {
            return Err(reader.errors(&parsed.sources, None));
        }
        if !is_kept && let Some(reason) = valueless.first() {
            refuse_metric(&mut reader, &parsed.tree, &first, reason);
            return Err(reader.errors(&parsed.sources, None));
        }
        let Spec { title, seed, repeat, controls, .. } = first;
        Ok(Self {
            name: name.to_owned(),
            title,
            hash: sha256(&format!("{seed} {}\n{}\n{hashes}", repeat.show(), sweep.canonical())),
            tree: parsed.tree,
            sweep,
            traces,
            seed,
            repeat,
            outside: controls,
            point_hashes: hashes.into(),
            place: SweepPoint::new(),
        })
    }
}

impl Parsed {
    /// Parses the text and applies the values of `--set`.
    fn new(
        reader: &mut Reader<'_>,
        origin: &str,
        text: &str,
        sets: &[String],
    ) -> Result<Self, ScenarioErrors> {
        let mut sources = vec![Source { name: origin.to_owned(), text: text.to_owned() }];
        let mut tree = document::parse(&sources[0], 0)?;
        let mut settings = Vec::new();
        for set in sets {
            settings.extend(apply_set(reader, &mut sources, &mut tree, set));
        }
        right_so_far(reader, &sources)?;
        Ok(Self { sources, tree, settings })
    }

    /// Reads the sweep. If the sweep is wrong, checks the remaining keys of the file without the
    /// sweep, to report all mistakes.
    fn read_sweep(&self, reader: &mut Reader<'_>, is_kept: bool) -> Result<Sweep, ScenarioErrors> {
        let sweep = Sweep::read(reader, &self.tree, &self.settings);
        if reader.problems.is_empty() {
            check_work(reader, &self.tree, &sweep, is_kept);
        }
        if !reader.problems.is_empty() {
            let _ = Spec::read(reader, &self.tree);
        }
        right_so_far(reader, &self.sources)?;
        Ok(sweep)
    }
}

impl Points {
    /// Reads and checks each sweep point, up to the first wrong one.
    fn read(
        reader: &mut Reader<'_>,
        parsed: &Parsed,
        sweep: &Sweep,
    ) -> Result<Self, ScenarioErrors> {
        let mut points = Self::default();
        let mut point_of: BTreeMap<String, u64> = BTreeMap::new();
        for point in 0..sweep.points() {
            let (tree, named) = sweep.apply(reader, &parsed.tree, point);
            let Some((spec, network)) = checked_spec(reader, &tree) else {
                let note = (point > 0).then(|| format!("at the point {}", shown_point(&named)));
                return Err(reader.errors(&parsed.sources, note.as_deref()));
            };
            if point == 0 {
                check_runs(reader, &parsed.tree, &spec, sweep.points());
                right_so_far(reader, &parsed.sources)?;
            }
            points.idle.examine(&spec, &tree);
            points.valueless.extend(reason_against(&spec, &network.classes));
            let hash = spec.hash();
            points.hashes.push_str(&hash);
            points.hashes.push('\n');
            if let Some(before) = point_of.insert(hash, point) {
                let (_, twin) = sweep.apply(reader, &parsed.tree, before);
                refuse_twins(reader, &parsed.tree, &twin, &named);
                return Err(reader.errors(&parsed.sources, None));
            }
            if point == 0 {
                points.first = spec;
            }
        }
        if (points.valueless.len() as u64) < sweep.points() {
            points.valueless.clear();
        }
        Ok(points)
    }
}

/// Returns an error with all mistakes recorded so far, if there are any.
fn right_so_far(reader: &Reader<'_>, sources: &[Source]) -> Result<(), ScenarioErrors> {
    if reader.problems.is_empty() { Ok(()) } else { Err(reader.errors(sources, None)) }
}

/// Checks that a text is not too long, not empty and not binary.
fn check_text(bytes_max: u64, origin: &str, text: &str) -> Result<(), ScenarioErrors> {
    if text.len() as u64 > bytes_max {
        let found = format!("found {} bytes", text.len());
        let title = format!("expected a scenario of at most {bytes_max} bytes");
        return Err(ScenarioError::of_file(origin, title, found).into());
    }
    if text.trim().is_empty() {
        let found = "found an empty file";
        return Err(ScenarioError::of_file(origin, "expected a scenario", found).into());
    }
    if let Some(at) = text.find('\0') {
        let line = 1 + text[..at].bytes().filter(|&b| b == b'\n').count();
        let found = format!("found a binary file: a zero byte on line {line}");
        return Err(ScenarioError::of_file(origin, "expected a scenario", found).into());
    }
    Ok(())
}

/// Checks that the product of points and values is at most [`WORK_MAX`], so that checking all
/// points of the sweep does not take too long.
fn check_work(reader: &mut Reader<'_>, tree: &Table, sweep: &Sweep, is_kept: bool) {
    let work = sweep.points().saturating_mul(values_in(tree, !is_kept));
    if work > WORK_MAX {
        let title = format!(
            "`sweep`: expected the number of points times the number of values in the file to be \
             at most {WORK_MAX}"
        );
        let found = format!("found {} points and a product of {work}", sweep.points());
        reader.problem(sweep_at(tree), title, found, Vec::new());
    }
}

/// Reads and checks the sweep point that a tree describes; `None` if the point has a mistake.
fn checked_spec(reader: &mut Reader<'_>, tree: &Table) -> Option<(Spec, Network)> {
    let spec = Spec::read(reader, tree);
    let network = reader.problems.is_empty().then(|| lower::network(&spec, None, reader)).flatten();
    Some((spec, network?))
}

/// Checks that there are enough seeds for `repeat`, and not too many runs.
fn check_runs(reader: &mut Reader<'_>, tree: &Table, spec: &Spec, points: u64) {
    let at = tree.get("repeat").map_or(At::NOWHERE, |entry| entry.value.at);
    // Files and tables store seeds as signed 64-bit numbers, so the largest seed is 2^63 - 1.
    let seeds = i64::MAX as u64 - spec.seed + 1;
    let repeat = spec.repeat.most();
    if repeat > seeds {
        let title = format!("`repeat`: expected at most {seeds}, since seeds end at 2^63 - 1");
        let found = format!("found {repeat} seeds from {} on", spec.seed);
        reader.problem(at, title, found, Vec::new());
    } else if points.saturating_mul(repeat) > RUNS_MAX {
        let title = format!("`repeat`: expected at most {RUNS_MAX} runs in all");
        let found = format!("found {points} points times {repeat}");
        reader.problem(at, title, found, Vec::new());
    }
}

/// Reports that the metric in `repeat.of` has no value, or the same value in all runs.
fn refuse_metric(reader: &mut Reader<'_>, tree: &Table, spec: &Spec, reason: &str) {
    let Repeat::Until(until) = &spec.repeat else { return };
    let repeat = tree.get("repeat").map(|entry| &entry.value);
    let of = repeat.and_then(|node| match &node.value {
        Value::Table(table) => table.get("of").map(|entry| entry.value.at),
        _ => None,
    });
    let title = "`repeat.of`: expected a metric that differs between runs of this scenario";
    let found = format!("found \"{}\": {reason}", until.of().name());
    reader.problem(of.unwrap_or(At::NOWHERE), title, found, Vec::new());
}

/// Reports two sweep points that give the same run.
fn refuse_twins(reader: &mut Reader<'_>, tree: &Table, twin: &SweepPoint, named: &SweepPoint) {
    let title = "`sweep`: expected points that give different runs";
    let found = format!("found {} and {}", shown_point(twin), shown_point(named));
    let help = "`repeat` runs a point with several seeds".to_owned();
    reader.problem(sweep_at(tree), title, found, vec![help]);
}

/// Returns the position of the key `sweep` in the file, for error messages.
fn sweep_at(tree: &Table) -> At {
    tree.get("sweep").map_or(At::NOWHERE, |entry| entry.key_at)
}

/// Returns the values of a sweep point, as a message shows them.
fn shown_point(named: &SweepPoint) -> String {
    let values: Vec<String> = named.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    values.join(", ")
}

/// Returns the number of keys and list elements of a tree, without those of `[sweep]`.
/// `counts_traces` states whether the contents of traces count.
fn values_in(table: &Table, counts_traces: bool) -> u64 {
    let of_node = |node: &Node| values_of(node, counts_traces);
    let counted = table.entries.iter().filter(|entry| match &*entry.key {
        "sweep" => false,
        "opportunities_ms" | "rows" => counts_traces,
        _ => true,
    });
    counted.map(|entry| of_node(&entry.value)).sum()
}

fn values_of(node: &Node, counts_traces: bool) -> u64 {
    1 + match &node.value {
        Value::Array(values) => values.iter().map(|value| values_of(value, counts_traces)).sum(),
        Value::Table(table) => values_in(table, counts_traces),
        _ => 0,
    }
}
