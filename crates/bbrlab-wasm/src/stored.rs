//! Converts a completed run to bytes for the lab's page. Stored rows have the same columns as the
//! rows of a run in progress.
//!
//! The bytes are the length of a JSON text (4 bytes, little-endian), the JSON text, the columns of
//! flows, and the columns of links. Each column begins at a multiple of 8 bytes.

use bbrlab_run::Run;
use bbrlab_sim::{Rows, Sim};
use serde_json::json;

use crate::columns::{Columns, Values, flow_columns};
use crate::started::Started;

const ALIGNED: usize = 8;

/// Returns a run with its rows as bytes, in the format that the documentation of this module
/// describes.
///
/// # Errors
/// Fails if this program lacks a congestion control of the run.
pub fn stored(run: &Run, rows: &Rows) -> Result<Vec<u8>, String> {
    let sim = Sim::new(run)?;
    let mut columns = Columns::default();
    columns.fill(rows);
    let lengths: Vec<usize> = columns.values().iter().map(Values::len).collect();
    let head = json!({
        "started": Started::of(run, &sim),
        "words": columns.words(),
        "flow_rows": lengths.first(),
        "link_rows": lengths.get(flow_columns().count()),
    });
    let head = head.to_string().into_bytes();
    let length = u32::try_from(head.len()).map_err(|_| "the run has too many flows".to_owned())?;
    let mut bytes = length.to_le_bytes().to_vec();
    bytes.extend(head);
    for values in columns.values() {
        bytes.resize(bytes.len().next_multiple_of(ALIGNED), 0);
        match values {
            Values::F64(values) => {
                for value in values {
                    bytes.extend(value.to_le_bytes());
                }
            }
            Values::U32(values) => {
                for value in values {
                    bytes.extend(value.to_le_bytes());
                }
            }
            Values::F32(values) => {
                for value in values {
                    bytes.extend(value.to_le_bytes());
                }
            }
            Values::U8(values) => bytes.extend(values),
        }
    }
    Ok(bytes)
}
