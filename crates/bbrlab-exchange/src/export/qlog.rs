//! Exports the time series of flows as qlog, one file in JSON-SEQ per flow.
//!
//! A row of the series becomes `quic:recovery_metrics_updated` with the values that changed, and a
//! change of the congestion-avoidance state becomes `quic:congestion_state_updated`. Congestion
//! windows are in bytes: packets times the MSS. There is no `quic:packet_lost`, because the results
//! of a run have counts of losses, not the lost packets.
//!
//! Sources: draft-ietf-quic-qlog-main-schema-13, draft-ietf-quic-qlog-quic-events-12.

use std::io::Write;
use std::path::{Path, PathBuf};

use bbrlab_lab::{LabError, RunFiles, Unwritten, read_run_files, write_new_by};
use bbrlab_run::FlowSummary;
use serde_json::{Map, Value, json};

/// Writes one file per flow of the run in `folder` into `out`, or into `folder` if `out` is `None`.
/// Returns the files' names.
///
/// # Errors
/// Fails if the folder has no run with a time series of its flows, or a file exists and `force` is
/// false.
pub fn export_qlog(
    folder: &Path,
    out: Option<&Path>,
    force: bool,
) -> Result<Vec<PathBuf>, LabError> {
    let shown = folder.display();
    if !folder.join("run.json").is_file() {
        return Err(LabError::Usage(format!(
            "{shown}: expected the folder of one run, with run.json; if this is a sweep, name the folder of one of its runs"
        )));
    }
    let files = read_run_files(folder)?;
    if files.series.is_empty() {
        let reason = "has no time series of its flows; run the scenario with `sample = \"10ms\"`";
        return Err(LabError::Usage(format!("{shown}: {reason}")));
    }
    let mut written = Vec::new();
    for flow in &files.summary.flows {
        let path = out.unwrap_or(folder).join(format!("flow{}.sqlog", flow.id));
        write_new_by(&path, force, |file| write_flow(file, &files, flow))?;
        written.push(path);
    }
    Ok(written)
}

/// Writes a record of JSON-SEQ (RFC 7464).
fn record(file: &mut impl Write, value: &Value) -> Result<(), Unwritten> {
    file.write_all(b"\x1e")?;
    serde_json::to_writer(&mut *file, value).map_err(std::io::Error::from)?;
    Ok(file.write_all(b"\n")?)
}

fn write_flow(
    file: &mut impl Write,
    files: &RunFiles,
    flow: &FlowSummary,
) -> Result<(), Unwritten> {
    let RunFiles { run, summary, series, .. } = files;
    let name = flow.name.as_ref().map_or_else(String::new, |name| format!(" ({name})"));
    let header = json!({
        "file_schema": "urn:ietf:params:qlog:file:sequential",
        "serialization_format": "application/qlog+json-seq",
        "title": format!("{}, flow {}{name}: {}", summary.scenario, flow.id, flow.cc),
        "description": format!(
            "TCP, computed or measured by {} {}; congestion windows are packets times {} bytes",
            summary.backend, summary.backend_version, run.class(flow.id).mss
        ),
        "trace": {
            "vantage_point": { "name": "the sending host", "type": "server" },
            "event_schemas": ["urn:ietf:params:qlog:events:quic-12"],
            "common_fields": {
                "protocol_types": ["TCP"],
                "time_format": "relative_to_epoch",
                "reference_time": { "clock_type": "monotonic", "epoch": "unknown" },
            },
        },
    });
    record(file, &header)?;
    let bytes = |packets: u32| u64::from(packets) * u64::from(run.class(flow.id).mss);
    let ms = |us: u32| f64::from(us) / 1e3;
    let mut before: Map<String, Value> = Map::new();
    let mut state: Option<String> = None;
    for row in (0..series.len()).filter(|&row| series.flow[row] == flow.id) {
        let time = series.time_s[row] * 1e3;
        let values = [
            ("congestion_window", series.cwnd_packets[row].0.map(|it| json!(bytes(it)))),
            ("bytes_in_flight", series.inflight_packets[row].0.map(|it| json!(bytes(it)))),
            ("packets_in_flight", series.inflight_packets[row].0.map(|it| json!(it))),
            ("ssthresh", series.ssthresh_packets[row].map(|it| json!(bytes(it)))),
            ("min_rtt", series.min_rtt_us[row].map(|it| json!(ms(it)))),
            ("smoothed_rtt", series.srtt_us[row].map(|it| json!(ms(it)))),
            ("latest_rtt", series.rtt_us[row].map(|it| json!(ms(it)))),
            ("pacing_rate", series.pacing_rate_bps[row].map(|it| json!(it))),
        ];
        let mut changed = Map::new();
        for (key, value) in values {
            if let Some(value) = value
                && before.get(key) != Some(&value)
            {
                before.insert(key.to_owned(), value.clone());
                changed.insert(key.to_owned(), value);
            }
        }
        if !changed.is_empty() {
            let name = "quic:recovery_metrics_updated";
            record(file, &json!({ "time": time, "name": name, "data": changed }))?;
        }
        let new = state_name(&series.ca_state[row]);
        if !new.is_empty() && state.as_deref() != Some(new) {
            let mut data = Map::new();
            data.extend(state.take().map(|old| ("old".to_owned(), json!(old))));
            data.insert("new".to_owned(), json!(new));
            let name = "quic:congestion_state_updated";
            record(file, &json!({ "time": time, "name": name, "data": data }))?;
            state = Some(new.to_owned());
        }
    }
    Ok(())
}

/// Returns qlog's name of a congestion-avoidance state. Linux's states CWR and Loss keep their
/// names, because qlog has no names for them.
fn state_name(ca_state: &str) -> &str {
    if ca_state == "avoidance" { "congestion_avoidance" } else { ca_state }
}
