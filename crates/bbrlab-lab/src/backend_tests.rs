//! Tests of sweeps on a back end that is not in `BACKENDS`: scenarios that the back end refuses,
//! the names of result folders, and versions of the back end.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use bbrlab_backends::{Backend, Executed, LabError, Refusal, SIMULATOR, Stop, Task, check_backend};
use bbrlab_cost::Estimate;
use bbrlab_run::{Controls, Place, Run, RunSummary, Runs as _};
use bbrlab_scenario::Scenario;

use crate::batch::{Batch, BatchOptions, SummaryOf, default_out};
use crate::decided::run_batch;
use crate::finish::finish_if_complete;
use crate::picture_files::read_results;
use crate::run_folder::{ControlTexts, backend_of};
use crate::scratch::Scratch;

/// A back end that measures few values, supports neither ECN nor random loss, and never gives
/// the same goodput twice.
#[derive(Debug)]
struct Testbed {
    version: &'static str,
    runs: AtomicU64,
}

impl Testbed {
    const fn new(version: &'static str) -> Self {
        Self { version, runs: AtomicU64::new(0) }
    }
}

impl Backend for Testbed {
    fn name(&self) -> &'static str {
        "testbed"
    }

    fn version(&self) -> String {
        self.version.to_owned()
    }

    fn refusals(&self, run: &Run) -> Vec<Refusal> {
        let links = (0u32..).zip(&run.links).filter(|(_, link)| link.loss.is_some());
        let losses = links.map(|(number, _)| Refusal {
            place: Place::Link(number),
            key: "loss",
            reason: "loses no packet at random".to_owned(),
            nearest: None,
        });
        let classes = (0u32..).zip(&run.classes);
        let marked = classes.filter(|(_, class)| format!("{:?}", class.settings.ecn) != "Off");
        let marked = marked.map(|(number, _)| Refusal {
            place: Place::Flows(number),
            key: "ecn",
            reason: "has no ECN".to_owned(),
            nearest: Some("`ecn = false`".to_owned()),
        });
        losses.chain(marked).collect()
    }

    fn cpu_s(&self, estimate: &Estimate) -> Result<f64, LabError> {
        Ok(estimate.sim_s)
    }

    fn is_repeatable(&self) -> bool {
        false
    }

    fn execute(&self, task: &Task<'_>, watch: &mut dyn FnMut(f64)) -> Result<Executed, String> {
        let mut executed = SIMULATOR.execute(task, watch)?;
        let measured = self.runs.fetch_add(1, Ordering::Relaxed);
        let summary = &mut executed.result.summary;
        *summary = RunSummary {
            scenario: summary.scenario.clone(),
            scenario_hash: summary.scenario_hash.clone(),
            profile: summary.profile.clone(),
            backend: self.name().to_owned(),
            backend_version: self.version(),
            point: summary.point.clone(),
            seed: summary.seed,
            #[expect(clippy::cast_precision_loss, reason = "the tests measure only a few runs")]
            goodput_mbps: Some(4.0 + measured as f64 / 100.0),
            ..RunSummary::default()
        };
        Ok(executed)
    }
}

static TESTBED: Testbed = Testbed::new("1");
static NEXT: Testbed = Testbed::new("2");

fn scenario(keys: &str) -> Scenario {
    let text = format!(
        "duration = \"1s\"\n{keys}[bottleneck]\nrate = \"5Mbit/s\"\nbuffer = \"1bdp\"\n\
         [[flows]]\ncc = \"cubic\"\nrtt = \"20ms\"\n"
    );
    Scenario::parse("door", "door", &text, None, &[]).unwrap()
}

fn options(on: &'static dyn Backend, out: &Path) -> BatchOptions {
    BatchOptions {
        on,
        out: Some(out.to_path_buf()),
        force: false,
        jobs: 1,
        pictures: false,
        only: None,
        summary: SummaryOf::These,
        held: u64::MAX,
        controls: Controls::none(),
        control_texts: ControlTexts::new(),
        stop: Stop::new(),
    }
}

fn run<'s>(scenario: &'s Scenario, on: &'static dyn Backend, out: &Path) -> Batch<'s> {
    run_batch(scenario, &options(on, out), |_| {}).unwrap()
}

fn refused(scenario: &Scenario, on: &'static dyn Backend, out: &Path) -> String {
    run_batch(scenario, &options(on, out), |_| {}).unwrap_err().to_string()
}

#[test]
fn what_a_back_end_cannot_do_is_refused_with_the_keys() {
    let text = "title = \"both\"\nduration = \"1s\"\n[bottleneck]\nrate = \"5Mbit/s\"\n\
                buffer = \"1bdp\"\nreverse_loss = 0.01\n[[flows]]\ncc = \"cubic\"\nrtt = \"20ms\"\n\
                [[flows]]\ncc = \"cubic\"\necn = true\nrtt = \"20ms\"\n";
    let both = Scenario::parse("both", "both", text, None, &[]).unwrap();
    let error = check_backend(&both, &TESTBED).unwrap_err().to_string();
    assert_eq!(
        error,
        "both: `bottleneck.reverse_loss`: testbed loses no packet at random\n\
         `flows[1].ecn`: testbed has no ECN; the nearest is `ecn = false`"
    );
    check_backend(&both, SIMULATOR).unwrap();
    let scratch = Scratch::new("door-refused");
    assert_eq!(refused(&both, &TESTBED, scratch.path()), error);
}

#[test]
fn folders_of_another_back_end_have_its_name_and_are_not_taken_for_the_simulators() {
    let (one, sweep) = (scenario(""), scenario("repeat = 2\n"));
    let name = |on: &dyn Backend| default_out(&one, on).file_name().unwrap().to_owned();
    let ours = name(SIMULATOR).into_string().unwrap();
    assert_eq!(name(&TESTBED).into_string().unwrap(), format!("{ours}-testbed"));
    let scratch = Scratch::new("door-folders");
    let (single, many) = (scratch.path().join("single"), scratch.path().join("many"));
    assert_eq!(run(&one, &TESTBED, &single).computed, 1);
    assert_eq!(run(&one, &TESTBED, &single).found, 1);
    let error = refused(&one, SIMULATOR, &single);
    assert!(error.contains("contains another run") && error.contains("by testbed"), "{error}");
    assert_eq!(run(&sweep, &TESTBED, &many).computed, 2);
    let error = refused(&sweep, SIMULATOR, &many);
    assert!(error.contains("contains another sweep") && error.contains("by testbed"), "{error}");
    let mut folders: Vec<String> = fs::read_dir(&many)
        .unwrap()
        .flatten()
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    folders.sort();
    assert!(folders.iter().all(|folder| folder.ends_with("_testbed")), "{folders:?}");
    assert_eq!(finish_if_complete(&sweep, &many, false).unwrap().complete, 2);
    let mark = fs::read_to_string(many.join("sweep.json")).unwrap();
    let mark: BTreeMap<String, serde_json::Value> = serde_json::from_str(&mark).unwrap();
    assert_eq!((&mark["backend"], &mark["backend_version"]), (&"testbed".into(), &"1".into()));
    // The back end that wrote the folder, `Testbed`, is not in `BACKENDS`.
    let error = backend_of(&many).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "`testbed`, which this program lacks; expected one of the back ends sim, linux, host, ns3"
        ),
        "{error}"
    );
}

#[test]
fn another_version_of_a_back_end_computes_its_runs_again() {
    let sweep = scenario("repeat = 2\n");
    let scratch = Scratch::new("door-version");
    let first = run(&sweep, &TESTBED, scratch.path()).records.into_vec().unwrap();
    // Runs without digests are never regarded as identical, so the summary must have a confidence
    // interval for the group.
    let document = read_results(scratch.path()).unwrap();
    let group = &document.groups.unwrap()[0];
    assert_eq!((group.identical_digests, &*group.backend), (None, "testbed"));
    assert!(group.metrics.get("goodput_mbps").unwrap().ci95.is_some());
    let again = run(&sweep, &NEXT, scratch.path());
    assert_eq!((again.computed, again.found), (2, 0));
    let versions = again.records.into_vec().unwrap().into_iter().map(|run| run.backend_version);
    assert_eq!(versions.collect::<Vec<_>>(), ["2", "2"]);
    assert_eq!(first[0].backend_version, "1");
}

#[test]
fn recomputed_runs_that_differ_leave_no_summary_that_contradicts_them() {
    let sweep = scenario("repeat = 3\n");
    let scratch = Scratch::new("door-anew");
    run(&sweep, &TESTBED, scratch.path());
    let mut forced = options(&TESTBED, scratch.path());
    forced.force = true;
    forced.summary = SummaryOf::Later;
    forced.only = Some([1].into());
    let anew = run_batch(&sweep, &forced, |_| {}).unwrap();
    assert_eq!(anew.records.count(), 1);
    assert!(!scratch.path().join("summary.json").exists());
    assert_eq!(read_results(scratch.path()).unwrap().runs.len(), 3);
}
