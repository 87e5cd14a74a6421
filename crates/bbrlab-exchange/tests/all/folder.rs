//! Folders for tests, and simulated runs in them.

use std::fs;
use std::path::{Path, PathBuf};

use bbrlab_lab::{ControlTexts, Stop, execute, save_run};
use bbrlab_run::{Controls, RunSummary};
use bbrlab_scenario::Scenario;

/// Returns an empty folder for a test.
pub(crate) fn empty(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("exchange").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// A scenario with two flows over a short queue, which drops packets of both flows.
pub(crate) const TWO_FLOWS: &str = "duration = \"2s\"\n[bottleneck]\nrate = \"10Mbit/s\"\n\
     buffer = \"20pkt\"\n[[flows]]\ncc = \"cubic\"\nrtt = \"20ms\"\n\
     [[flows]]\ncc = \"bbr1\"\nrtt = \"20ms\"\nstart = \"0.5s\"\n";

/// Simulates a scenario and writes the run into `folder`.
pub(crate) fn run(folder: &Path, text: &str) -> RunSummary {
    let scenario = Scenario::parse("two", "two", text, None, &[]).unwrap();
    let executed =
        execute(&scenario.run(0), 1000, &Controls::none(), &Stop::new(), |_| {}).unwrap();
    save_run(folder, &scenario.run_toml(0), &executed, &ControlTexts::new(), true).unwrap();
    executed.result.summary
}
