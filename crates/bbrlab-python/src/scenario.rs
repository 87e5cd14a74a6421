//! Scenarios from files, built-ins and Python values.

use std::path::PathBuf;
use std::sync::Arc;

use bbrlab_cost::Estimate;
use bbrlab_lab::{Named, check_backend, files_in, open_named};
use bbrlab_papers::not_a_scenario;
use bbrlab_run::{Source, SweepPoint};
use bbrlab_scenario::Scenario;
use pyo3::exceptions::{PyIndexError, PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PySequence, PyString, PyTuple};

use crate::control::Classes;
use crate::given;
use crate::named::back_end;
use crate::raise::{of_class, of_scenario, raised};
use crate::shown::shown;

/// A scenario, parsed and checked: the network and its flows. A scenario is immutable, can be
/// pickled, and is equal to a scenario with the same name and hash.
///
/// Args:
///     source: A file, a folder of results, the id of a built-in scenario, another scenario, or a
///         dict in the form of a scenario file. Without a source, give the file's keys and tables
///         as keywords.
///     set: Values of keys that replace those of the source: a dict, or a list of `"key=value"`.
///     controls: Custom congestion controls: a dict from their names in the scenario to classes or
///         to paths of shared objects.
///     name: The scenario's name, instead of the file's or the built-in's.
///
/// Raises:
///     `ScenarioError`: If the scenario is invalid. The message is the same as on the command
///         line, with the place of each mistake.
///     `TypeError`: If an argument, or a value in it, has a type that no scenario can contain, or
///         if there is both a source and keywords, or neither.
///     `ValueError`: If there are too many or too deeply nested values, a whole number has more
///         than 64 bits, or a duration has no unit or no fixed length.
///
/// >>> import bbrlab as bl
/// >>> bl.Scenario("examples.dumbbell", {"flows.cc": "bbr3"}).runs
/// 1
/// >>> bl.Scenario(
/// ...     duration="10s",
/// ...     bottleneck={"rate": "50Mbit/s", "buffer": "1bdp"},
/// ...     flows=[{"cc": "bbr3", "rtt": "30ms"}, {"cc": "cubic", "rtt": "30ms", "start": "2s"}],
/// ... )
/// <bbrlab.Scenario "python", 1 run, hash f13f6add1cc4>
#[pyclass(frozen, module = "bbrlab", name = "Scenario")]
pub(crate) struct PyScenario {
    pub(crate) inner: Arc<Scenario>,
    /// The classes of the custom congestion controls that the scenario declares. A class is missing
    /// if the scenario's text names it but the caller did not pass it.
    pub(crate) classes: Classes,
}

impl PyScenario {
    fn new(inner: Scenario, classes: Classes) -> Self {
        Self { inner: Arc::new(inner), classes }
    }

    pub(crate) fn checked(&self, run: &Bound<'_, PyAny>) -> PyResult<u64> {
        let runs = self.inner.runs();
        match run.extract() {
            Ok(run) if run < runs => return Ok(run),
            // If the value is not a number, return Python's own error.
            Err(error) if !error.is_instance_of::<PyOverflowError>(run.py()) => return Err(error),
            Ok(_) | Err(_) => {}
        }
        let text = format!("expected a run from 0 to {}, found {}", runs - 1, shown(run)?);
        Err(PyIndexError::new_err(text))
    }

    /// Returns this scenario with a name, and with the values of keys and the classes in `sets`
    /// instead of its own.
    fn changed(&self, py: Python<'_>, name: &str, sets: Sets) -> PyResult<Self> {
        let inner = &self.inner;
        let changed = Scenario::parse_kept(
            name,
            inner.name(),
            &inner.to_toml(),
            Some(&files_in(None)),
            &sets.in_order(),
        );
        let classes = sets.classes.over(&self.classes);
        changed
            .map(|changed| Self::new(changed, classes))
            .map_err(|errors| of_scenario(py, &errors))
    }
}

#[pymethods]
impl PyScenario {
    #[new]
    #[pyo3(signature = (source = None, /, set = None, *, controls = None, name = None, **keys))]
    fn open(
        py: Python<'_>,
        source: Option<&Bound<'_, PyAny>>,
        set: Option<&Bound<'_, PyAny>>,
        controls: Option<&Bound<'_, PyAny>>,
        name: Option<&str>,
        keys: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let mut sets = set.map_or_else(|| Ok(Sets::default()), sets)?;
        if let Some(controls) = controls {
            sets.classes = given::named_classes(controls)?.over(&sets.classes);
        }
        let Some(source) = source else {
            let Some(keys) = keys else {
                return Err(PyTypeError::new_err(
                    "Scenario: expected a file, the id of a built-in scenario, a dict or keywords, found nothing",
                ));
            };
            return given_as(py, keys.cast()?, name, "<keywords>", sets);
        };
        if keys.is_some() {
            return Err(PyTypeError::new_err(
                "Scenario: expected either a source or keywords, found both; `set` changes keys of a source",
            ));
        }
        if let Ok(mapping) = source.cast::<PyMapping>() {
            return given_as(py, mapping, name, "<dict>", sets);
        }
        if let Ok(other) = source.cast::<Self>() {
            let other = other.get();
            return other.changed(py, name.unwrap_or(other.inner.name()), sets);
        }
        let path = path_of(source)?;
        if path == "-" {
            return Err(of_class(
                py,
                "UsageError",
                "Scenario: expected a file or the id of a built-in scenario, found `-`; only the command line reads standard input",
            ));
        }
        let mut named = open_named(&path, &sets.in_order(), true, not_a_scenario)
            .map_err(|error| raised(py, error))?;
        if named.len() > 1 {
            let text = format!(
                "{path}: expected one scenario, found {}; name one of its folders",
                named.len()
            );
            return Err(of_class(py, "UsageError", &text));
        }
        let Named { scenario, .. } = named.remove(0);
        let scenario = match name {
            Some(name) => scenario.placed(name, SweepPoint::default()),
            None => scenario,
        };
        Ok(Self::new(scenario, sets.classes))
    }

    /// Restores a pickled scenario.
    #[staticmethod]
    #[pyo3(signature = (name, text, controls = None))]
    fn _restore(
        py: Python<'_>,
        name: &str,
        text: &str,
        controls: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let classes = controls.map_or_else(|| Ok(Classes::default()), given::named_classes)?;
        // A declaration has the hash of the class's source text. The source text may have changed
        // since the pickling, and then the class is another congestion control. The declarations of
        // the given classes therefore replace the declarations in the pickled scenario.
        let sets: Vec<String> = given::declarations(&classes).collect();
        let restored = Scenario::parse_kept(name, name, text, Some(&files_in(None)), &sets);
        restored
            .map(|restored| Self::new(restored, classes))
            .map_err(|errors| of_scenario(py, &errors))
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let restore = py.get_type::<Self>().getattr("_restore")?;
        let (name, text) = (self.inner.name(), self.inner.to_toml());
        Ok((restore, (name, text, self.controls(py)?).into_pyobject(py)?))
    }

    /// The custom congestion controls: a dict from their names in the scenario to classes or to
    /// paths of shared objects.
    #[getter]
    fn controls<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let controls = PyDict::new(py);
        for (name, class) in self.classes.iter() {
            controls.set_item(name, class.object())?;
        }
        for (path, plugin) in self.classes.plugins() {
            controls.set_item(plugin.name(), path)?;
        }
        Ok(controls)
    }

    /// The scenario's name: by default the file's without its extension, the built-in's id, or
    /// `python` for a dict or keywords.
    #[getter]
    fn name(&self) -> &str {
        self.inner.name()
    }

    /// The scenario's title; empty if it has none.
    #[getter]
    fn title(&self) -> &str {
        self.inner.title()
    }

    /// The hash of all sweep points and seeds, in hexadecimal. Keys that are not simulated, such as
    /// the title, do not change the hash.
    #[getter]
    fn hash(&self) -> &str {
        self.inner.hash()
    }

    /// Number of runs: `points * seeds`; an upper bound if `repeat` has `until`.
    #[getter]
    fn runs(&self) -> u64 {
        self.inner.runs()
    }

    /// Number of sweep points; 1 without a sweep.
    #[getter]
    fn points(&self) -> u64 {
        self.inner.points()
    }

    /// Number of seeds per sweep point; the largest number if `repeat` has `until`.
    #[getter]
    fn seeds(&self) -> u64 {
        self.inner.repeat()
    }

    /// Returns the whole scenario as the text of a file, with its sweep and seeds.
    ///
    /// >>> import bbrlab as bl
    /// >>> print(*bl.Scenario("examples.dumbbell").to_toml().splitlines()[:2], sep="\n")
    /// title = "One BBR flow over one bottleneck"
    /// duration = "20s"
    fn to_toml(&self) -> String {
        self.inner.to_toml()
    }

    /// Returns the scenario of one run as the text of a file.
    ///
    /// Args:
    ///     run: The run's number, from 0.
    ///
    /// Raises:
    ///     `IndexError`: If the run does not exist.
    ///
    /// >>> import bbrlab as bl
    /// >>> "seed = 3" in bl.Scenario("examples.two-bbr").run_toml(2)
    /// True
    fn run_toml(&self, run: &Bound<'_, PyAny>) -> PyResult<String> {
        Ok(self.inner.run_toml(self.checked(run)?))
    }

    /// Returns the number of flows of each `[[flows]]` table in the first run; `None` for a table
    /// with `arrivals`.
    fn _flows_of_tables(&self) -> Vec<Option<usize>> {
        let run = self.inner.run(0);
        let of_class = |(class, source): (usize, &Source)| {
            let count = || run.flows.iter().filter(|flow| flow.class as usize == class).count();
            (!matches!(source, Source::Arrivals { .. })).then(count)
        };
        run.classes.iter().map(|class| &class.source).enumerate().map(of_class).collect()
    }

    /// Returns the scenario with other values of some keys.
    ///
    /// Args:
    ///     values: A dict, or a list of `"key=value"`.
    ///
    /// Raises:
    ///     `ScenarioError`: If a key does not exist or a value is invalid.
    ///
    /// >>> import bbrlab as bl
    /// >>> s = bl.Scenario("examples.dumbbell")
    /// >>> s.set({"bottleneck.buffer": "4bdp", "flows.count": 2}) == s.set(["bottleneck.buffer=4bdp", "flows.count=2"])
    /// True
    fn set(&self, py: Python<'_>, values: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.changed(py, self.inner.name(), sets(values)?)
    }

    /// Returns the scenario with a sweep.
    ///
    /// Args:
    ///     sweep: Keys, each with a list of values. A key that is already swept gets these values;
    ///         other swept keys stay.
    ///     seeds: Runs per sweep point, each with its own seed.
    ///
    /// Raises:
    ///     `ScenarioError`: If the scenario is invalid at a sweep point, or has too many sweep
    ///         points.
    ///
    /// >>> import bbrlab as bl
    /// >>> s = bl.Scenario("examples.dumbbell").swept({"flows.cc": ["bbr1", "cubic"], "flows.count": [1, 2, 4]}, seeds=5)
    /// >>> s.points, s.seeds, s.runs
    /// (6, 5, 30)
    #[pyo3(signature = (sweep = None, seeds = None))]
    fn swept(
        &self,
        py: Python<'_>,
        sweep: Option<&Bound<'_, PyAny>>,
        seeds: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let mut sets = Sets::default();
        let pairs = sweep.map_or_else(
            || Ok(Vec::new()),
            |sweep| {
                let sweep = given::mapping(sweep, "sweep", "keys with their values")?;
                given::pairs(sweep, "sweep", &mut sets.classes)
            },
        )?;
        for (key, value) in pairs {
            sets.words.push(format!("sweep.\"{key}\"={value}"));
        }
        if let Some(seeds) = seeds {
            sets.words.push(format!("repeat={}", given::value(seeds, "seeds")?));
        }
        self.changed(py, self.inner.name(), sets)
    }

    /// Returns an estimate of the cost without running: `runs`, `data_packets`, `events`, `cpu_s`,
    /// `memory_bytes` (of the largest run), `records_bytes` (of the metrics that a sweep of several
    /// runs returns; 0 for one run) and `series_rows`. The estimate is accurate within a factor of
    /// two if flows fill the link. `on` is the back end whose CPU time is estimated. A `UsageError`
    /// names the parts of the scenario that this back end cannot compute.
    ///
    /// >>> import bbrlab as bl
    /// >>> 10_000 < bl.Scenario("examples.dumbbell").estimate()["data_packets"] < 20_000
    /// True
    #[pyo3(signature = (*, on = "sim"))]
    fn estimate<'py>(&self, py: Python<'py>, on: &str) -> PyResult<Bound<'py, PyDict>> {
        let on = back_end(py, on)?;
        let (estimate, cpu_s) = py.detach(|| {
            let estimate = Estimate::of_scenario(&self.inner);
            let cpu_s = check_backend(&self.inner, on).and_then(|()| on.cpu_s(&estimate));
            (estimate, cpu_s)
        });
        let cpu_s = cpu_s.map_err(|error| raised(py, error))?;
        let fields = PyDict::new(py);
        fields.set_item("runs", estimate.runs)?;
        fields.set_item("data_packets", estimate.data_packets)?;
        fields.set_item("events", estimate.events)?;
        fields.set_item("cpu_s", cpu_s)?;
        fields.set_item("memory_bytes", estimate.memory_bytes)?;
        fields.set_item("records_bytes", estimate.records_bytes)?;
        fields.set_item("series_rows", estimate.series_rows)?;
        Ok(fields)
    }

    fn __repr__(&self) -> String {
        let inner = &self.inner;
        let hash = inner.hash();
        let hash = hash.get(..12).unwrap_or(hash);
        let runs =
            if inner.runs() == 1 { "1 run".to_owned() } else { format!("{} runs", inner.runs()) };
        format!("<bbrlab.Scenario {:?}, {runs}, hash {hash}>", inner.name())
    }

    fn __eq__(&self, other: &Self) -> bool {
        (self.inner.name(), self.inner.hash()) == (other.inner.name(), other.inner.hash())
    }

    fn __hash__(&self) -> u64 {
        u64::from_str_radix(self.inner.hash().get(..15).unwrap_or("0"), 16).unwrap_or_default()
    }
}

/// Parses a scenario that Python gives as a mapping.
fn given_as(
    py: Python<'_>,
    keys: &Bound<'_, PyMapping>,
    name: Option<&str>,
    origin: &str,
    sets: Sets,
) -> PyResult<PyScenario> {
    let mut classes = Classes::default();
    let text = given::document(keys, &mut classes)?;
    let (name, words) = (name.unwrap_or("python"), sets.in_order());
    let parsed = Scenario::parse(name, origin, &text, Some(&files_in(None)), &words);
    parsed
        .map(|parsed| PyScenario::new(parsed, sets.classes.over(&classes)))
        .map_err(|errors| of_scenario(py, &errors))
}

/// Returns the path of a file or the id of a built-in scenario, as text.
fn path_of(source: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(text) = source.cast::<PyString>() {
        return Ok(text.to_cow()?.into_owned());
    }
    if let Ok(path) = source.extract::<PathBuf>() {
        return Ok(path.to_string_lossy().into_owned());
    }
    Err(PyTypeError::new_err(format!(
        "Scenario: expected a file, the id of a built-in scenario, a dict or keywords, found {}",
        source.get_type().name()?
    )))
}

/// Values of keys in the format of the command line's `--set`, and the classes of congestion
/// controls that occur as values.
#[derive(Default)]
struct Sets {
    words: Vec<String>,
    classes: Classes,
}

impl Sets {
    /// Returns the `--set` values that declare the classes, followed by the other values.
    fn in_order(&self) -> Vec<String> {
        given::declarations(&self.classes).chain(self.words.iter().cloned()).collect()
    }

    /// Adds values of keys: a mapping, `key=value`, or a list of these.
    fn add(&mut self, given: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Ok(mapping) = given.cast::<PyMapping>() {
            let pairs = given::pairs(mapping, "set", &mut self.classes)?;
            self.words.extend(pairs.iter().map(|(key, value)| format!("{key}={value}")));
            return Ok(());
        }
        if given.is_instance_of::<PyString>() {
            self.words.push(given.extract()?);
            return Ok(());
        }
        let wrong = || {
            PyTypeError::new_err(
                "set: expected a dict of keys and values, or a list of \"key=value\"",
            )
        };
        for item in given.cast::<PySequence>().map_err(|_| wrong())?.try_iter()? {
            let item = item?;
            if !item.is_instance_of::<PyString>() && item.cast::<PyMapping>().is_err() {
                return Err(wrong());
            }
            self.add(&item)?;
        }
        Ok(())
    }
}

/// Collects the values of keys in `given`: a mapping, `key=value`, or a list of these.
fn sets(given: &Bound<'_, PyAny>) -> PyResult<Sets> {
    let mut sets = Sets::default();
    sets.add(given)?;
    Ok(sets)
}
