//! `bbrlab evaluate`: evaluates the claims and calculations in papers' data files from the numbers
//! that the papers print. `papers/check.py` calls this command.

use std::fs;

use bbrlab_lab::{LabError, plain};
use bbrlab_papers::{Printed, evaluate_printed};
use serde::Serialize;

use crate::args::EvaluateArgs;
use crate::output::{Output, Verdict};

/// The JSON document that `evaluate` prints, with an entry for each data file.
#[derive(Serialize)]
struct Document {
    files: Vec<Printed>,
}

pub(crate) fn evaluate(args: &EvaluateArgs, output: &mut Output) -> Verdict {
    let mut files = Vec::new();
    for file in &args.files {
        let wrong = |reason: String| LabError::Usage(format!("{}: {reason}", file.display()));
        let text = fs::read_to_string(file).map_err(|error| wrong(plain(&error)))?;
        let key = file.file_stem().unwrap_or_default().to_string_lossy();
        files.push(evaluate_printed(&key, &text).map_err(wrong)?);
    }
    output.json(&Document { files })
}
