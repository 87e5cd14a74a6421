//! Reads a scenario that the lab's page sends as texts, and reports mistakes in it.

use std::collections::BTreeMap;

use bbrlab_scenario::{Scenario, ScenarioErrors};
use serde::{Deserialize, Serialize};

/// The name of the scenario's text in messages.
const ORIGIN: &str = "scenario";

/// The largest number of mistakes that an answer contains.
const MISTAKES_MAX: usize = 50;

/// A scenario as the lab's page sends it: its text, values of keys to change, and the files that it
/// names.
#[derive(Debug, Deserialize)]
pub(crate) struct ScenarioText {
    name: String,
    text: String,
    /// The texts of the files that the scenario names.
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default)]
    sets: Vec<String>,
}

/// A mistake in a scenario.
#[derive(Debug, Serialize)]
pub(crate) struct Mistake {
    line: Option<usize>,
    column: usize,
    column_end: usize,
    expected: String,
    found: String,
    help: Vec<String>,
    notes: Vec<String>,
    message: String,
}

impl ScenarioText {
    /// Reads and checks the scenario at every point of its sweep.
    pub(crate) fn parse(&self) -> Result<Scenario, Vec<Mistake>> {
        let read = |name: &str| {
            let missing = || format!("`{name}` was not given to the page; add this file");
            self.files.get(name).cloned().ok_or_else(missing)
        };
        Scenario::parse(&self.name, ORIGIN, &self.text, Some(&read), &self.sets)
            .map_err(|errors| mistakes(&errors))
    }
}

fn mistakes(errors: &ScenarioErrors) -> Vec<Mistake> {
    let mistake = |error: &bbrlab_scenario::ScenarioError| Mistake {
        // The line of a mistake in a `--set` value is left out, because it is a line of this value,
        // not of the scenario's text.
        line: error.line.filter(|_| error.origin == ORIGIN),
        column: error.column,
        column_end: error.column_end,
        expected: error.title.clone(),
        found: error.found.clone(),
        help: error.help.clone(),
        notes: error.notes.clone(),
        message: error.to_string(),
    };
    errors.0.iter().take(MISTAKES_MAX).map(mistake).collect()
}
