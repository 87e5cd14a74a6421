//! `bbrlab lab`: serves the lab, which is a web page, to this machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use bbrlab_lab::{LabError, plain, read_queue, read_results, read_series, runs_below};
use bbrlab_page::{Server, is_built};
use bbrlab_run::{FlowGroup, Kind, Leaf, LinkSummary, Role, RunSummary, leaves};
use bbrlab_scenario::Scenario;
use bbrlab_sim::Rows;
use serde_json::json;

use crate::args::LabArgs;
use crate::output::{Output, Verdict};

/// The system's command that opens an address in the user's browser.
const OPENER: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };

pub(crate) fn lab(args: &LabArgs, output: &mut Output) -> Verdict {
    if !is_built() {
        return Err(LabError::Usage(
            "this program was built without the lab's page. To get it, run `cargo xtask web` in a clone (it needs Node 20), \
             then build the program again"
                .to_owned(),
        )
        .into());
    }
    let shown = Shown::of(args.folder.clone())?;
    let port = args.port;
    let server = Server::open(port).map_err(|error| {
        LabError::Failed(format!("cannot listen on port {port}: {}", plain(&error)))
    })?;
    let address = server.address();
    output.text(&format!("{address}\n"))?;
    output.note("Ctrl-C ends the server.");
    if args.open {
        let started =
            Command::new(OPENER).arg(&address).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        if let Err(error) = started {
            output.note(&format!("cannot start `{OPENER}`: {}; open the address", plain(&error)));
        }
    }
    server
        .serve(&|path| shown.file(path))
        .map_err(|error| LabError::Failed(format!("the server failed: {}", plain(&error))))?;
    Ok(())
}

/// The runs in the user's folder. The lab's page shows these runs in addition to the runs that it
/// computes.
struct Shown {
    folder: Option<PathBuf>,
    runs: Vec<PathBuf>,
}

impl Shown {
    fn of(folder: Option<PathBuf>) -> Result<Self, LabError> {
        let runs = folder.as_deref().map_or_else(|| Ok(Vec::new()), runs_below)?;
        Ok(Self { folder, runs })
    }

    /// Returns a file that the lab's page requests below `data/`; `None` for any other path. The
    /// file is `runs.json`, which lists the runs, or `runs/N/summary.json`, `runs/N/scenario.toml`
    /// or `runs/N/rows` of the run with the `id` N in that list.
    fn file(&self, path: &str) -> Option<Vec<u8>> {
        if path == "runs.json" {
            return Some(self.list().to_string().into_bytes());
        }
        let (place, file) = path.strip_prefix("runs/")?.split_once('/')?;
        let folder = self.runs.get(place.parse::<usize>().ok()?)?;
        match file {
            "summary.json" | "scenario.toml" => fs::read(folder.join(file)).ok(),
            "rows" => rows(folder).ok(),
            _ => None,
        }
    }

    fn list(&self) -> serde_json::Value {
        let run = |(place, folder): (usize, &PathBuf)| {
            let summary = read_results(folder).ok()?.runs.into_iter().next()?;
            Some(json!({
                "id": place,
                "folder": folder.display().to_string(),
                "scenario": summary.scenario,
                "seed": summary.seed,
                "point": summary.point,
                "point_values": summary.point_values,
                "backend": summary.backend,
                "digest": summary.digest,
            }))
        };
        json!({
            "folder": self.folder.as_ref().map(|folder| folder.display().to_string()),
            "runs": self.runs.iter().enumerate().filter_map(run).collect::<Vec<_>>(),
            "metrics": metrics(),
        })
    }
}

/// Returns the name, unit and meaning of every numeric metric of runs, links and groups of flows.
/// The lab's page offers these metrics for the heat map of a sweep.
fn metrics() -> Vec<serde_json::Value> {
    let tables = [
        (RunSummary::FIGURES, ""),
        (LinkSummary::FIGURES, "links."),
        (FlowGroup::FIGURES, "flow_groups."),
    ];
    let leaves = tables.into_iter().flat_map(|(figures, prefix)| leaves(figures, prefix, "."));
    let numbers = leaves.filter(|leaf| {
        let role = leaf.of.unwrap_or(leaf.figure).role;
        role == Role::Result && matches!(leaf.figure.kind, Kind::Whole | Kind::Number)
    });
    let entry = |leaf: Leaf| {
        let words = [leaf.figure.meaning, leaf.of.map_or("", |of| of.meaning)].join(" ");
        json!({ "name": leaf.name, "unit": leaf.figure.unit, "meaning": words.trim() })
    };
    numbers.map(entry).collect()
}

/// Returns the time series of a run, in the format that the lab's page reads.
fn rows(folder: &Path) -> Result<Vec<u8>, LabError> {
    let text = fs::read_to_string(folder.join("scenario.toml"))
        .map_err(|error| LabError::Failed(plain(&error)))?;
    let scenario = Scenario::parse_kept("run", "scenario.toml", &text, None, &[])
        .map_err(LabError::Scenario)?;
    let rows = Rows { series: read_series(folder)?, queue: read_queue(folder)? };
    bbrlab_wasm::stored(&scenario.run(0), &rows).map_err(LabError::Failed)
}
