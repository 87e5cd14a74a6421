//! A scenario file: it is read, checked at every point of its sweep, and resolved run by run.

mod sweep;
mod whole;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::builtin::Builtin;
use crate::keys::idle::IdleKeys;
use crate::keys::link::{ACCESS_KEYS, LINK_KEYS};
use crate::keys::spec::Spec;
use crate::keys::stack::STACK_KEYS;
use crate::language::canonical::sha256;
use crate::language::document::{self, At, Source, Step, Table};
use crate::language::error::{ScenarioError, ScenarioErrors};
use crate::language::key::Key;
use crate::language::quantity::base_value;
use crate::language::reader::Reader;
use crate::language::traces::{ReadFile, Traces, no_files};
use crate::lowering::lower::{self, Network};
use crate::lowering::outline::Outline;
use bbrlab_run::{Outside, Run, SweepPoint};
use sweep::{Setting, Sweep};

/// How the text of a run begins that has keys which act at other points of its sweep only.
const IDLE: &str = "# Keys here may act at other points of the sweep only.\n";

/// The longest `--set`.
const SET_BYTES_MAX: usize = 1 << 16;

/// The largest number of runs of one file.
const RUNS_MAX: u64 = 10_000_000;

/// The largest product of points and values of a file. Checking a sweep takes time in proportion to
/// this product.
const WORK_MAX: u64 = 1_000_000;

/// Characters of a hash and the end of its line.
const HASH_LINE: usize = 65;

/// The keys of a table with their values.
fn settings_in<S>(table: &str, keys: &[Key<S>], values: &S) -> Vec<(String, Option<String>)> {
    keys.iter().map(|key| (format!("{table}.{}", key.name), key.value(values))).collect()
}

/// A scenario that has been read and checked, so that every point of its sweep can be run.
#[derive(Clone, Debug)]
pub struct Scenario {
    name: String,
    title: String,
    tree: Table,
    sweep: Sweep,
    traces: Traces,
    seed: u64,
    repeat: u64,
    outside: Vec<Arc<Outside>>,
    hash: String,
    /// The hashes of the points, a line each.
    point_hashes: Arc<str>,
    /// The place in a sweep that a run of it alone keeps.
    place: SweepPoint,
}

impl Scenario {
    /// The largest text of a scenario in bytes.
    pub const BYTES_MAX: u64 = 1 << 20;

    /// The largest text in bytes of what a folder of results keeps, which holds its traces.
    pub const KEPT_BYTES_MAX: u64 = 64 << 20;

    /// The same under another name and, for a single run, with its place in a sweep: both are not
    /// in the text.
    #[must_use]
    pub fn placed(self, name: &str, place: SweepPoint) -> Self {
        Self { name: name.to_owned(), place, ..self }
    }

    /// Reads a built-in scenario. A `--set` cannot name a file.
    ///
    /// # Errors
    /// If there is none with this id, or if a `--set` is wrong.
    pub fn builtin(id: &str, sets: &[String]) -> Result<Self, ScenarioErrors> {
        let found = Builtin::named(id)?;
        Self::parse(found.id, found.file, found.text, None, sets)
    }

    /// Reads a text and applies the values of `--set key=value`. `name` is the scenario's name in
    /// results, `origin` the text's name in messages; `files` reads the files that the text and the
    /// values name, and without it they cannot name one.
    ///
    /// # Errors
    /// If a value is wrong at any point of its sweep, or a file cannot be read.
    pub fn parse(
        name: &str,
        origin: &str,
        text: &str,
        files: Option<ReadFile<'_>>,
        sets: &[String],
    ) -> Result<Self, ScenarioErrors> {
        Self::parse_at_most(Self::BYTES_MAX, name, origin, text, files, sets)
    }

    /// Reads the text of [`Self::to_toml`] again, which is longer than other scenarios if it holds
    /// traces, and applies the values of `--set key=value`.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn parse_kept(
        name: &str,
        origin: &str,
        text: &str,
        files: Option<ReadFile<'_>>,
        sets: &[String],
    ) -> Result<Self, ScenarioErrors> {
        Self::parse_at_most(Self::KEPT_BYTES_MAX, name, origin, text, files, sets)
    }

    fn parse_at_most(
        bytes_max: u64,
        name: &str,
        origin: &str,
        text: &str,
        files: Option<ReadFile<'_>>,
        sets: &[String],
    ) -> Result<Self, ScenarioErrors> {
        check_text(bytes_max, origin, text)?;
        let mut sources = vec![Source { name: origin.to_owned(), text: text.to_owned() }];
        let mut tree = document::parse(&sources[0], 0)?;
        let mut traces = Traces::default();
        let mut reader = Reader::new(files.unwrap_or(&no_files), &mut traces);
        let mut settings = Vec::new();
        for set in sets {
            settings.extend(apply_set(&mut reader, &mut sources, &mut tree, set));
        }
        if !reader.problems.is_empty() {
            return Err(reader.errors(&sources, None));
        }
        let sweep = Sweep::read(&mut reader, &tree, &settings);
        // What a run has kept was checked before it was run, with its traces in files.
        let counts_traces = bytes_max == Self::BYTES_MAX;
        let work = sweep.points().saturating_mul(values_in(&tree, counts_traces));
        if reader.problems.is_empty() && work > WORK_MAX {
            let title = format!(
                "`sweep`: expected points times values of the file to be at most {WORK_MAX}"
            );
            let found = format!("found {} points, {work} in all", sweep.points());
            reader.problem(sweep_at(&tree), title, found, Vec::new());
        }
        if !reader.problems.is_empty() {
            // The sweep is not applied, but the rest of the file is still checked.
            let _ = Spec::read(&mut reader, &tree);
            return Err(reader.errors(&sources, None));
        }
        let mut scenario = Self {
            name: name.to_owned(),
            title: String::new(),
            tree,
            sweep,
            traces: Traces::default(),
            seed: 1,
            repeat: 1,
            outside: Vec::new(),
            hash: String::new(),
            point_hashes: Arc::from(""),
            place: SweepPoint::new(),
        };
        let mut idle = IdleKeys::default();
        let mut hashes = String::new();
        let mut point_of: BTreeMap<String, u64> = BTreeMap::new();
        for point in 0..scenario.sweep.points() {
            let (tree, named) = scenario.sweep.apply(&mut reader, &scenario.tree, point);
            let spec = Spec::read(&mut reader, &tree);
            let network =
                reader.problems.is_empty().then(|| lower::network(&spec, None, &mut reader));
            if network.flatten().is_none() {
                let note = (point > 0).then(|| format!("at the point {}", shown_point(&named)));
                return Err(reader.errors(&sources, note.as_deref()));
            }
            if point == 0 {
                (scenario.title, scenario.seed, scenario.repeat) =
                    (spec.title.clone(), spec.seed, spec.repeat);
                scenario.outside.clone_from(&spec.controls);
                let start = At { source: 0, start: 0, end: 0 };
                let repeat_at = || scenario.tree.get("repeat").map_or(start, |it| it.value.at);
                // Files and tables have seeds as signed numbers.
                let seeds = i64::MAX as u64 - spec.seed + 1;
                if spec.repeat > seeds {
                    let title =
                        format!("`repeat`: expected at most {seeds}, since seeds end at 2^63 - 1");
                    let found = format!("found {} seeds from {} on", spec.repeat, spec.seed);
                    reader.problem(repeat_at(), title, found, Vec::new());
                    return Err(reader.errors(&sources, None));
                }
                if scenario.sweep.points().saturating_mul(spec.repeat) > RUNS_MAX {
                    let at = repeat_at();
                    let title = format!("`repeat`: expected at most {RUNS_MAX} runs in all");
                    let found =
                        format!("found {} points times {}", scenario.sweep.points(), spec.repeat);
                    reader.problem(at, title, found, Vec::new());
                    return Err(reader.errors(&sources, None));
                }
            }
            idle.look(&spec, &tree);
            let hash = spec.hash();
            hashes.push_str(&hash);
            hashes.push('\n');
            if let Some(before) = point_of.insert(hash, point) {
                let (_, twin) = scenario.sweep.apply(&mut reader, &scenario.tree, before);
                let at = sweep_at(&scenario.tree);
                let title = "`sweep`: expected points of which no two are the same run";
                let found = format!("found {} and {}", shown_point(&twin), shown_point(&named));
                let help = "`repeat` runs a point with several seeds".to_owned();
                reader.problem(at, title, found, vec![help]);
                return Err(reader.errors(&sources, None));
            }
        }
        // What a run has kept is one point of the sweep in which its keys act.
        let has_to_act = counts_traces && !text.starts_with(IDLE);
        if has_to_act && idle.refuse(&mut reader) {
            return Err(reader.errors(&sources, None));
        }
        let (seed, repeat) = (scenario.seed, scenario.repeat);
        scenario.hash =
            sha256(&format!("{seed} {repeat}\n{}\n{hashes}", scenario.sweep.canonical()));
        scenario.point_hashes = hashes.into();
        scenario.traces = traces;
        Ok(scenario)
    }

    /// The scenario's name: a built-in's id, the file's name without its extension, or the title of
    /// what was read from standard input.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The title, which may be empty.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// A hash over all points and seeds in hexadecimal, which is part of the name of the folder for
    /// all runs.
    #[must_use]
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// The congestion controls from outside that it declares.
    #[must_use]
    pub fn outside(&self) -> &[Arc<Outside>] {
        &self.outside
    }

    /// The number of points of the sweep; 1 without a sweep.
    #[must_use]
    pub fn points(&self) -> u64 {
        self.sweep.points()
    }

    /// The number of runs per point, each with a seed of its own.
    #[must_use]
    pub fn repeat(&self) -> u64 {
        self.repeat
    }

    /// Whether the file has a `[sweep]`.
    #[must_use]
    pub fn has_sweep(&self) -> bool {
        self.tree.get("sweep").is_some()
    }

    /// The number of runs in all. Run `i` is point `i / repeat` with seed `seed + i % repeat`.
    #[must_use]
    pub fn runs(&self) -> u64 {
        self.points() * self.repeat
    }

    /// The point and the seed of a run, without resolving it.
    #[must_use]
    pub fn point_and_seed(&self, run: u64) -> (u64, u64) {
        (run / self.repeat, self.seed.saturating_add(run % self.repeat))
    }

    /// The hash of a point's resolved scenario, without the seed.
    ///
    /// # Panics
    /// If there is no such point.
    #[must_use]
    pub fn point_hash(&self, point: u64) -> &str {
        let line = usize::try_from(point).ok().and_then(|at| at.checked_mul(HASH_LINE));
        let hash = line.and_then(|at| self.point_hashes.get(at..at + HASH_LINE - 1));
        hash.unwrap_or_else(|| panic!("point {point} of {}", self.points()))
    }

    /// The swept keys of a point with their values, or those of the place that a single run has in
    /// a sweep.
    #[must_use]
    pub fn named_point(&self, point: u64) -> SweepPoint {
        let named = self.sweep.named(point);
        if named.is_empty() { self.place.clone() } else { named }
    }

    /// A run, fully resolved.
    ///
    /// # Panics
    /// If there is no such run.
    #[must_use]
    pub fn run(&self, run: u64) -> Run {
        let (point, seed) = self.checked(run);
        let (spec, _) = self.resolve_checked(point);
        let named = self.named_point(point);
        let Network { links, link_tables, bottleneck, classes, .. } = network(&spec, Some(seed));
        Run {
            scenario: self.name.clone(),
            title: spec.title.clone(),
            scenario_hash: self.point_hash(point).to_owned(),
            profile: spec.stack.profile,
            point_values: point_values(&named),
            point: named,
            seed,
            duration: spec.duration,
            sample: spec.sample(),
            flow_series: spec.flow_series(),
            stack: spec.stack.stack,
            links,
            link_tables,
            bottleneck,
            classes,
            flows: lower::flows(&spec, seed),
        }
    }

    /// The text of `scenario.toml` in a run's folder: this run alone, in the canonical spelling.
    /// Reading it gives the same run, except for its name and its point of the sweep.
    ///
    /// # Panics
    /// If there is no such run.
    #[must_use]
    pub fn run_toml(&self, run: u64) -> String {
        let (point, seed) = self.checked(run);
        let (spec, idle) = self.looked_at(point);
        let text = spec.to_toml(seed);
        if idle.is_any() { format!("{IDLE}{text}") } else { text }
    }

    /// The text of `scenario.toml` in a sweep's folder: all of the scenario as it is run, with
    /// every `--set` applied and its traces in it. Reading it gives the same runs, except for the
    /// scenario's name.
    #[must_use]
    pub fn to_toml(&self) -> String {
        whole::to_toml(&self.tree, &self.sweep, &self.traces)
    }

    /// The keys of `[stack]`, `[bottleneck]` and `[access]` in a run, given or not, with their
    /// values as TOML; `None` for a key without a value.
    ///
    /// # Panics
    /// If there is no such run.
    #[must_use]
    pub fn settings(&self, run: u64) -> Vec<(String, Option<String>)> {
        let (point, _) = self.checked(run);
        let spec = self.resolve_checked(point).0;
        let mut settings = settings_in("stack", STACK_KEYS, &spec.stack);
        if let Some(bottleneck) = &spec.bottleneck {
            settings.extend(settings_in("bottleneck", LINK_KEYS, bottleneck));
        }
        settings.extend(settings_in("access", ACCESS_KEYS, &spec.access));
        settings
    }

    /// What all runs of a point have in common.
    ///
    /// # Panics
    /// If there is no such point.
    #[must_use]
    pub fn outline(&self, point: u64) -> Outline {
        assert!(point < self.points(), "point {point} of {}", self.points());
        let (spec, _) = self.resolve_checked(point);
        let network = network(&spec, None);
        Outline::new(&spec, network)
    }

    fn checked(&self, run: u64) -> (u64, u64) {
        assert!(run < self.runs(), "run {run} of {}", self.runs());
        self.point_and_seed(run)
    }

    fn resolve(&self, reader: &mut Reader<'_>, point: u64) -> (Spec, SweepPoint) {
        let (tree, named) = self.sweep.apply(reader, &self.tree, point);
        (Spec::read(reader, &tree), named)
    }

    /// A checked point, and the keys that cannot act there.
    fn looked_at(&self, point: u64) -> (Spec, IdleKeys) {
        let spec = self.resolve_checked(point).0;
        let mut traces = self.traces.clone();
        let mut reader = Reader::without_files(&mut traces);
        let mut idle = IdleKeys::default();
        idle.look(&spec, &self.sweep.apply(&mut reader, &self.tree, point).0);
        (spec, idle)
    }

    fn resolve_checked(&self, point: u64) -> (Spec, SweepPoint) {
        let mut traces = self.traces.clone();
        let mut reader = Reader::without_files(&mut traces);
        let resolved = self.resolve(&mut reader, point);
        assert!(reader.problems.is_empty(), "every point was checked when the scenario was read");
        resolved
    }
}

/// That a text may be a scenario.
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

/// Where the sweep begins.
fn sweep_at(tree: &Table) -> At {
    tree.get("sweep").map_or(At { source: 0, start: 0, end: 0 }, |entry| entry.key_at)
}

/// The values of a point, as a message shows them.
fn shown_point(named: &SweepPoint) -> String {
    let values: Vec<String> = named.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    values.join(", ")
}

/// The network of a point that was checked; without a seed, the bound of all.
fn network(spec: &Spec, seed: Option<u64>) -> Network {
    let mut traces = Traces::default();
    let mut reader = Reader::without_files(&mut traces);
    lower::network(spec, seed, &mut reader)
        .expect("every point was checked when the scenario was read")
}

/// Applies a `--set`, and returns it unless it is wrong.
fn apply_set(
    reader: &mut Reader<'_>,
    sources: &mut Vec<Source>,
    tree: &mut Table,
    set: &str,
) -> Option<Setting> {
    let source = u32::try_from(sources.len()).expect("a command line is short");
    let shown = set.get(..SET_BYTES_MAX).unwrap_or(set);
    sources.push(Source { name: "--set".to_owned(), text: shown.to_owned() });
    let at = |start: usize, end: usize| {
        let small = |at: usize| u32::try_from(at.min(SET_BYTES_MAX)).expect("bounded");
        At { source, start: small(start), end: small(end) }
    };
    let title = "`--set`: expected key=value such as bottleneck.buffer=2bdp";
    if set.len() > SET_BYTES_MAX {
        reader.problem(at(0, 1), title, format!("found {} bytes", set.len()), Vec::new());
        return None;
    }
    let Some((key, value)) = set.split_once('=') else {
        reader.problem(at(0, set.len()), title, "found no `=`", Vec::new());
        return None;
    };
    let lead = key.len() - key.trim_start().len();
    let key_at = at(lead, key.trim_end().len().max(lead));
    let node = Arc::new(document::parse_set_value(value, source, key.len() + 1));
    // `sweep.KEY` sets a whole list, or all of the points.
    let path = match key.trim().strip_prefix("sweep.") {
        Some(swept) => {
            let step = |key: &str| Step { key: key.to_owned(), index: None };
            Ok(vec![step("sweep"), step(swept.trim_matches('"'))])
        }
        None => document::parse_path(key),
    };
    let set = path.and_then(|path| document::set(tree, &path, key_at, &node).map(|()| path));
    match set {
        Ok(path) => {
            let key = key.trim().into();
            Some(Setting { key, path: path.into(), key_at, value: node })
        }
        Err(found) => {
            let title = "`--set`: expected a key of the scenario";
            reader.problem(key_at, title, format!("found {found}"), Vec::new());
            None
        }
    }
}

/// Turns a text into a part of a file's name: at most so many letters, digits, `.` and `-`; never
/// hidden, never a path.
#[must_use]
pub fn plain_name(text: &str, most: usize) -> String {
    let kept = text
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '.' || c == '-' { c } else { ' ' });
    let spaced: String = kept.collect();
    let joined = spaced.split_whitespace().collect::<Vec<_>>().join("-");
    joined.trim_matches(['.', '-']).chars().take(most).collect()
}

/// The number of keys and list elements of a tree, with those of its traces or without.
fn values_in(table: &Table, counts_traces: bool) -> u64 {
    let of_node = |node: &document::Node| values_of(node, counts_traces);
    let counted = table.entries.iter().filter(|entry| match &*entry.key {
        "sweep" => false,
        "opportunities_ms" | "rows" => counts_traces,
        _ => true,
    });
    counted.map(|entry| of_node(&entry.value)).sum()
}

fn values_of(node: &document::Node, counts_traces: bool) -> u64 {
    1 + match &node.value {
        document::Value::Array(values) => {
            values.iter().map(|value| values_of(value, counts_traces)).sum()
        }
        document::Value::Table(table) => values_in(table, counts_traces),
        _ => 0,
    }
}

/// The swept quantities of a point as numbers in base units.
#[must_use]
pub fn point_values(point: &SweepPoint) -> SweepPoint {
    let number = |(key, value): (&String, &serde_json::Value)| {
        let (value, unit) = base_value(value.as_str()?)?;
        Some((key.clone(), serde_json::json!({ "value": value, "unit": unit })))
    };
    point.iter().filter_map(number).collect()
}
