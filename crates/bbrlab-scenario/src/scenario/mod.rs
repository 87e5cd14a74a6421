//! Reads scenario files, checks them at every point of the sweep, and resolves single runs.

mod parse;
mod set;
mod sweep;
mod whole;

use std::sync::Arc;

use crate::builtin::Builtin;
use crate::keys::idle::IdleKeys;
use crate::keys::link::{ACCESS_KEYS, LINK_KEYS};
use crate::keys::repeat::{Repeat, Until};
use crate::keys::spec::Spec;
use crate::keys::stack::STACK_KEYS;
use crate::language::document::Table;
use crate::language::error::ScenarioErrors;
use crate::language::key::Key;
use crate::language::quantity::base_value;
use crate::language::reader::Reader;
use crate::language::traces::{ReadFile, Traces};
use crate::lowering::lower::{self, Network};
use crate::lowering::outline::Outline;
use bbrlab_run::{Outside, Run, SweepPoint};
use sweep::Sweep;

/// The first line of a run's `scenario.toml`, if the file has keys that have no effect in this run.
/// Such keys may have an effect at other points of the run's sweep. The parser accepts such keys in
/// a text that begins with this line, so a change of the line would make the parser reject older
/// files.
const IDLE: &str = "# Keys here may act at other points of the sweep only.\n";

/// Bytes of a line of `point_hashes`: 64 hexadecimal digits and a line feed.
const HASH_LINE: usize = 65;

/// Returns the full names of a table's keys with their values.
fn settings_in<S>(table: &str, keys: &[Key<S>], values: &S) -> Vec<(String, Option<String>)> {
    keys.iter().map(|key| (format!("{table}.{}", key.name), key.value(values))).collect()
}

/// A scenario that has been read and checked, so that every run of its sweep can be resolved.
#[derive(Clone, Debug)]
pub struct Scenario {
    name: String,
    title: String,
    tree: Table,
    sweep: Sweep,
    traces: Traces,
    seed: u64,
    repeat: Repeat,
    outside: Vec<Arc<Outside>>,
    hash: String,
    /// The hashes of the sweep points, one per line.
    point_hashes: Arc<str>,
    /// For the scenario of a single run: the point of the sweep from which the run comes; else
    /// empty.
    place: SweepPoint,
}

impl Scenario {
    /// The largest text of a scenario in bytes.
    pub const BYTES_MAX: u64 = 1 << 20;

    /// The largest text in bytes of a scenario in a folder of results. Such a text contains the
    /// scenario's traces.
    pub const KEPT_BYTES_MAX: u64 = 64 << 20;

    /// Sets the name and, for the scenario of a single run, its sweep point. The scenario's text
    /// contains neither name nor point.
    #[must_use]
    pub fn placed(self, name: &str, place: SweepPoint) -> Self {
        Self { name: name.to_owned(), place, ..self }
    }

    /// Reads a built-in scenario. `sets` are the values of `--set`; they cannot name a file.
    ///
    /// # Errors
    /// Fails if no scenario has this id, or if the value of a `--set` is wrong.
    pub fn builtin(id: &str, sets: &[String]) -> Result<Self, ScenarioErrors> {
        let found = Builtin::named(id)?;
        Self::parse(found.id, found.file, found.text, None, sets)
    }

    /// Reads a text and applies the values of `--set key=value`. `name` is the scenario's name in
    /// results, `origin` the text's name in messages. `files` reads the files that the text and the
    /// values name. If `files` is `None`, naming a file is an error.
    ///
    /// # Errors
    /// Fails if a value is wrong at any point of the sweep, or a file cannot be read.
    pub fn parse(
        name: &str,
        origin: &str,
        text: &str,
        files: Option<ReadFile<'_>>,
        sets: &[String],
    ) -> Result<Self, ScenarioErrors> {
        Self::parse_at_most(Self::BYTES_MAX, name, origin, text, files, sets)
    }

    /// Reads a text that [`Self::to_toml`] wrote, and applies the values of `--set key=value`. A
    /// text by `to_toml` may be longer than other scenarios, because it contains traces.
    ///
    /// # Errors
    /// Fails like [`Self::parse`].
    pub fn parse_kept(
        name: &str,
        origin: &str,
        text: &str,
        files: Option<ReadFile<'_>>,
        sets: &[String],
    ) -> Result<Self, ScenarioErrors> {
        Self::parse_at_most(Self::KEPT_BYTES_MAX, name, origin, text, files, sets)
    }

    /// Returns the scenario's name: the id of a built-in, the file's name without its extension, or
    /// the title of a text from standard input.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns sentences for users about the files of the scenario: ignored columns and rounded
    /// values.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        self.traces.notes()
    }

    /// Returns the title, which may be empty.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Returns a hash over all points and seeds, in hexadecimal. The hash is part of the name of
    /// the sweep's folder.
    #[must_use]
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Returns the custom congestion controls that the scenario declares.
    #[must_use]
    pub fn outside(&self) -> &[Arc<Outside>] {
        &self.outside
    }

    /// Returns the number of points of the sweep; 1 without a sweep.
    #[must_use]
    pub fn points(&self) -> u64 {
        self.sweep.points()
    }

    /// Returns the number of runs per sweep point, each with its own seed; with [`Self::until`],
    /// the largest number.
    #[must_use]
    pub fn repeat(&self) -> u64 {
        self.repeat.most()
    }

    /// Returns the rule that decides when a sweep point has enough runs; `None` if the number of
    /// runs per point is fixed.
    #[must_use]
    pub fn until(&self) -> Option<&Until> {
        match &self.repeat {
            Repeat::Fixed(_) => None,
            Repeat::Until(until) => Some(until),
        }
    }

    /// Returns whether the file has a `[sweep]`.
    #[must_use]
    pub fn has_sweep(&self) -> bool {
        self.tree.get("sweep").is_some()
    }

    /// Returns the total number of runs; with [`Self::until`], an upper bound. Run `i` has the
    /// sweep point `i / repeat` and the seed `seed + i % repeat`.
    #[must_use]
    pub fn runs(&self) -> u64 {
        self.points() * self.repeat()
    }

    /// Returns the sweep point and the seed of a run.
    #[must_use]
    pub fn point_and_seed(&self, run: u64) -> (u64, u64) {
        (run / self.repeat(), self.seed.saturating_add(run % self.repeat()))
    }

    /// Returns the hash of a sweep point's resolved scenario, without the seed.
    ///
    /// # Panics
    /// Panics if the sweep point does not exist.
    #[must_use]
    pub fn point_hash(&self, point: u64) -> &str {
        let line = usize::try_from(point).ok().and_then(|at| at.checked_mul(HASH_LINE));
        let hash = line.and_then(|at| self.point_hashes.get(at..at + HASH_LINE - 1));
        hash.unwrap_or_else(|| panic!("point {point} of {}", self.points()))
    }

    /// Returns the swept keys of a sweep point with their values. For the scenario of a single run,
    /// returns the keys of the sweep to which the run belongs.
    #[must_use]
    pub fn named_point(&self, point: u64) -> SweepPoint {
        let named = self.sweep.named(point);
        if named.is_empty() { self.place.clone() } else { named }
    }

    /// Returns the run with the number `run`: its links, classes and flows, with all defaults
    /// filled in.
    ///
    /// # Panics
    /// Panics if the run does not exist.
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
            queue_series: true,
            stack: spec.stack.stack,
            links,
            link_tables,
            bottleneck,
            classes,
            flows: lower::flows(&spec, seed),
        }
    }

    /// Returns the text of `scenario.toml` in a run's folder: the scenario of this run only, in the
    /// canonical spelling. Reading the text of a run gives the same run, except for its name and
    /// its point of the sweep.
    ///
    /// # Panics
    /// Panics if the run does not exist.
    #[must_use]
    pub fn run_toml(&self, run: u64) -> String {
        let (point, seed) = self.checked(run);
        let (spec, idle) = self.spec_and_idle_keys(point);
        let text = spec.to_toml(seed);
        if idle.is_any() { format!("{IDLE}{text}") } else { text }
    }

    /// Returns the text of `scenario.toml` in a sweep's folder: the whole scenario with every
    /// `--set` applied and with its traces. Reading the text of a sweep gives the same runs, except
    /// for the scenario's name.
    #[must_use]
    pub fn to_toml(&self) -> String {
        whole::to_toml(&self.tree, &self.sweep, &self.traces)
    }

    /// Returns all keys of `[stack]`, of `[bottleneck]` if the scenario has one, and of `[access]`,
    /// with their values in a run as TOML. Includes keys that the scenario does not set. `None` for
    /// a key without a value.
    ///
    /// # Panics
    /// Panics if the run does not exist.
    #[must_use]
    pub fn settings(&self, run: u64) -> Vec<(String, Option<String>)> {
        let (point, _) = self.checked(run);
        let spec = self.resolve_checked(point).0;
        let mut settings = settings_in("stack", &STACK_KEYS, &spec.stack);
        if let Some(bottleneck) = &spec.bottleneck {
            settings.extend(settings_in("bottleneck", LINK_KEYS, bottleneck));
        }
        settings.extend(settings_in("access", ACCESS_KEYS, &spec.access));
        settings
    }

    /// Returns the common properties of all runs of a sweep point.
    ///
    /// # Panics
    /// Panics if the sweep point does not exist.
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

    /// Returns the values of all keys at a checked sweep point, and the keys that have no effect at
    /// this point.
    fn spec_and_idle_keys(&self, point: u64) -> (Spec, IdleKeys) {
        let spec = self.resolve_checked(point).0;
        let mut traces = self.traces.clone();
        let mut reader = Reader::without_files(&mut traces);
        let mut idle = IdleKeys::default();
        idle.examine(&spec, &self.sweep.apply(&mut reader, &self.tree, point).0);
        (spec, idle)
    }

    fn resolve_checked(&self, point: u64) -> (Spec, SweepPoint) {
        let mut traces = self.traces.clone();
        let mut reader = Reader::without_files(&mut traces);
        let resolved = self.resolve(&mut reader, point);
        assert!(
            reader.problems.is_empty(),
            "every sweep point was checked when the scenario was read"
        );
        resolved
    }
}

/// Builds the network of a checked sweep point. Without a seed, each link with a model in its key
/// `trace` has the model's highest rate and shortest delay.
fn network(spec: &Spec, seed: Option<u64>) -> Network {
    let mut traces = Traces::default();
    let mut reader = Reader::without_files(&mut traces);
    lower::network(spec, seed, &mut reader)
        .expect("every sweep point was checked when the scenario was read")
}

/// Converts a text to a part of a file name: at most `most` letters, digits, `.` and `-`. The
/// result never names a hidden file or another folder.
#[must_use]
pub fn plain_name(text: &str, most: usize) -> String {
    let kept = text
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '.' || c == '-' { c } else { ' ' });
    let spaced: String = kept.collect();
    let joined = spaced.split_whitespace().collect::<Vec<_>>().join("-");
    joined.trim_matches(['.', '-']).chars().take(most).collect()
}

/// Returns the values of a sweep point that are quantities, each as `{ "value": NUMBER, "unit":
/// NAME }` in its base unit: bit/s, seconds, bytes, packets or BDPs.
#[must_use]
pub fn point_values(point: &SweepPoint) -> SweepPoint {
    let number = |(key, value): (&String, &serde_json::Value)| {
        let (value, unit) = base_value(value.as_str()?)?;
        Some((key.clone(), serde_json::json!({ "value": value, "unit": unit })))
    };
    point.iter().filter_map(number).collect()
}
