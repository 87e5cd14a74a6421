//! Reads JSON documents of iperf3 or Flent. A document is parsed while it is read, and values that
//! the import does not use are not stored.

use std::collections::BTreeMap;

use bbrlab_lab::LabError;
use serde::Deserialize;

use super::measurement::Measurement;
use super::source::{Source, wrong_at};
use super::{flent, iperf3};

/// The parts of iperf3's and of Flent's documents that the import uses.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Document {
    // Fields of iperf3's documents.
    start: Option<iperf3::Start>,
    #[serde(default)]
    intervals: Vec<iperf3::Interval>,
    end: Option<iperf3::End>,
    error: Option<String>,
    title: Option<String>,
    /// The kind of an event: with `--json-stream`, each line is an event instead of a document.
    event: Option<String>,
    data: Option<serde_json::Value>,
    // Fields of Flent's documents.
    metadata: Option<flent::Metadata>,
    x_values: Option<Vec<Option<f64>>>,
    results: Option<BTreeMap<String, Vec<Option<f64>>>>,
}

/// Reads a document of iperf3 or of Flent.
///
/// # Errors
/// Fails if the document is damaged or comes from another program.
pub(crate) fn read(source: Source) -> Result<Measurement, LabError> {
    let Source { path, content, .. } = source;
    let at = |error: &serde_json::Error| {
        let text = error.to_string();
        let reason = text.split(" at line ").next().unwrap_or(&text).to_owned();
        let reason = if error.is_eof() {
            format!("found the end of the file in the middle of the document ({reason})")
        } else {
            format!("column {}: {reason}", error.column())
        };
        wrong_at(&path, error.line().max(1) as u64, &reason)
    };
    let mut documents = serde_json::Deserializer::from_reader(content).into_iter::<Document>();
    let mut document = match documents.next() {
        Some(first) => first.map_err(|error| at(&error))?,
        None => Document::default(),
    };
    if document.event.is_some() {
        let mut whole = Document::default();
        add_event(&mut whole, document).map_err(|error| at(&error))?;
        for event in documents {
            add_event(&mut whole, event.map_err(|error| at(&error))?)
                .map_err(|error| at(&error))?;
        }
        document = whole;
    }
    let Document { start, intervals, end, error, title, metadata, x_values, results, .. } =
        document;
    if let Some(results) = results {
        let (metadata, x_values) = (metadata.unwrap_or_default(), x_values.unwrap_or_default());
        return flent::measurement(&path, flent::Parts { metadata, x_values, results });
    }
    if start.is_none() && error.is_none() {
        return Err(wrong_at(
            &path,
            1,
            "found JSON without `start` and `results`, expected a document of iperf3 (-J) or Flent",
        ));
    }
    iperf3::measurement(&path, iperf3::Parts { start, intervals, end, error, title })
}

/// Adds the data of one event of `--json-stream` to `whole`.
fn add_event(whole: &mut Document, event: Document) -> Result<(), serde_json::Error> {
    let Some(data) = event.data else { return Ok(()) };
    match event.event.as_deref() {
        Some("start") => whole.start = Some(serde_json::from_value(data)?),
        Some("interval") => whole.intervals.push(serde_json::from_value(data)?),
        Some("end") => whole.end = Some(serde_json::from_value(data)?),
        Some("error") => whole.error = data.as_str().map(str::to_owned),
        _ => {}
    }
    Ok(())
}
