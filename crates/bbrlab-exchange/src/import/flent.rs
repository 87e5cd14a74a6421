//! Reads Flent's data files, `.flent.gz`. All series of a file have the same times.
//!
//! Each series with the rate of one flow, in Mbit/s, becomes a flow; the rate is payload, as
//! netperf counts it. The series with `::tcp_rtt` and `::tcp_cwnd` after the flow's name are the
//! kernel's smoothed RTT and cwnd. Sums and means over flows are left out, and so are pings, which
//! belong to no flow.
//!
//! Sources: Flent 2.1, `flent/resultset.py` (file format 4) and `flent/tests/*.inc`.

use std::collections::BTreeMap;
use std::path::Path;

use bbrlab_lab::LabError;
use bbrlab_run::{Cwnd, FlowSummary, MaybeKnown, SeriesRow, Srtt, mean, percentile};
use serde::Deserialize;

use super::measurement::{MeasuredFlow, Measurement, wire_bytes};
use super::source::wrong;

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Metadata {
    #[serde(rename = "FLENT_VERSION")]
    version: Option<String>,
    #[serde(rename = "SERIES_META", default)]
    series: BTreeMap<String, SeriesMeta>,
}

#[derive(Debug, Default, Deserialize)]
struct SeriesMeta {
    #[serde(rename = "UNITS")]
    units: Option<String>,
    #[serde(rename = "CONG_CONTROL")]
    cong_control: Option<String>,
}

/// The parts of Flent's document that the import uses.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    pub(crate) metadata: Metadata,
    pub(crate) x_values: Vec<Option<f64>>,
    pub(crate) results: BTreeMap<String, Vec<Option<f64>>>,
}

/// The values of a series; `None` if the document lacks the series.
type OptionalSeries<'a> = Option<&'a [Option<f64>]>;

/// Assumed payload bytes of a segment, because Flent's files do not contain them.
const MSS: u64 = 1448;

/// Converts the document to flows.
///
/// # Errors
/// Fails if the series have different lengths or times that do not rise.
pub(crate) fn measurement(path: &Path, parts: Parts) -> Result<Measurement, LabError> {
    let Parts { metadata, x_values, results } = parts;
    let times: Option<Vec<f64>> = x_values.into_iter().collect();
    let times = times.ok_or_else(|| wrong(path, "`x_values`: found null, expected times"))?;
    if times.windows(2).any(|pair| pair[0] >= pair[1]) {
        return Err(wrong(
            path,
            "`x_values`: found a time that does not rise, expected rising times",
        ));
    }
    if let Some((name, values)) = results.iter().find(|(_, values)| values.len() != times.len()) {
        let (found, expected) = (values.len(), times.len());
        return Err(wrong(
            path,
            &format!("`{name}`: found {found} values, expected {expected}, as in `x_values`"),
        ));
    }
    let (mut flows, mut left_out) = (Vec::new(), Vec::new());
    for (name, rates) in &results {
        let meta = metadata.series.get(name);
        if is_flow(name, meta) {
            let of = |what: &str| results.get(&format!("{name}::{what}")).map(Vec::as_slice);
            flows.extend(flow(name, meta, &times, rates, (of("tcp_rtt"), of("tcp_cwnd"))));
        } else if !name.contains("::tcp_") {
            left_out.push(name.clone());
        }
    }
    let mut notes = Vec::new();
    if !left_out.is_empty() {
        notes.push(format!(
            "left out, because they belong to no single flow: {}",
            left_out.join(", ")
        ));
    }
    let version = metadata.version.unwrap_or_default();
    Ok(Measurement { tool: "flent", version, begin_s: None, flows, notes })
}

/// Whether a series is the rate of one TCP flow.
fn is_flow(name: &str, meta: Option<&SeriesMeta>) -> bool {
    let is_rate = match meta.and_then(|meta| meta.units.as_deref()) {
        Some(units) => units == "Mbits/s",
        None => name.starts_with("TCP "),
    };
    let of_several = [" avg", " sum", " totals", "totals"];
    is_rate && !name.contains("::tcp_") && !of_several.iter().any(|end| name.ends_with(end))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "measured values are not negative and fit the integer types"
)]
fn flow(
    name: &str,
    meta: Option<&SeriesMeta>,
    times: &[f64],
    rates: &[Option<f64>],
    (rtts, windows): (OptionalSeries<'_>, OptionalSeries<'_>),
) -> Option<MeasuredFlow> {
    let first = rates.iter().position(Option::is_some)?;
    let last = rates.iter().rposition(Option::is_some)?;
    let (mut rows, mut payload) = (Vec::new(), vec![(times[first], 0)]);
    let (mut bytes, mut before_s) = (0.0, times[first]);
    for at in first..=last {
        let time_s = times[at];
        bytes += rates[at].unwrap_or(0.0).max(0.0) * 1e6 / 8.0 * (time_s - before_s);
        before_s = time_s;
        payload.push((time_s, bytes as u64));
        let wire = wire_bytes(MSS * 1000, MSS, false) as f64 / (MSS as f64 * 1000.0);
        let value =
            |of: Option<&[Option<f64>]>| of.and_then(|values| values[at]).filter(|v| *v >= 0.0);
        rows.push(SeriesRow {
            time_s,
            srtt_us: value(rtts).map(|ms| (ms * 1e3).round() as u32),
            cwnd_packets: MaybeKnown(value(windows).map(|packets| packets.round() as u32)),
            throughput_bps: rates[at].map(|mbps| (mbps.max(0.0) * 1e6 * wire).round() as u64),
            ..SeriesRow::default()
        });
    }
    let known: Vec<f64> = rates.iter().flatten().copied().collect();
    let mut srtts: Vec<f64> = rtts.into_iter().flatten().flatten().copied().collect();
    srtts.sort_by(f64::total_cmp);
    let windows: Vec<f64> = windows.into_iter().flatten().flatten().copied().collect();
    let goodput_mbps = mean(&known);
    let summary = FlowSummary {
        name: Some(name.to_owned()),
        cc: meta.and_then(|meta| meta.cong_control.clone()).unwrap_or_default(),
        start_s: Some(times[first]),
        stop_s: Some(times[last]),
        goodput_mbps,
        throughput_mbps: goodput_mbps.map(|mbps| mbps * 1514.0 / 1448.0),
        srtt_ms: Srtt { mean: mean(&srtts), p95: percentile(&srtts, 950) },
        cwnd_packets: Cwnd { mean: mean(&windows), max: windows.iter().copied().reduce(f64::max) },
        ..FlowSummary::default()
    };
    Some(MeasuredFlow { summary, rows, payload, ..MeasuredFlow::default() })
}
