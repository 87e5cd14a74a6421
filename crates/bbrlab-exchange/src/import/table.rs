//! Reads comma-separated tables with named columns: `time_s`, and any columns of `series.parquet`.
//!
//! `flow` is the number or the name of the row's flow; without this column, the table has one flow.
//! `cc` is the flow's congestion control. `goodput_bps` is the payload rate since the flow's
//! previous row. Empty cells of an imported table are unknown values. Columns that are not known
//! are left out, with a note.

use std::path::Path;

use bbrlab_lab::LabError;
use bbrlab_run::{Cwnd, FlowSummary, MaybeKnown, SeriesRow, Srtt, mean, percentile};
use csv::StringRecord;

use super::measurement::{MeasuredFlow, Measurement, mbps};
use super::source::{Source, wrong, wrong_at};

/// The largest number of flows that are read from a table.
const FLOWS_MAX: usize = 1000;

/// The columns that are read, in addition to `time_s`.
const COLUMNS: [&str; 18] = [
    "flow",
    "cc",
    "cwnd_packets",
    "ssthresh_packets",
    "inflight_packets",
    "pacing_rate_bps",
    "bw_bps",
    "min_rtt_us",
    "srtt_us",
    "rtt_us",
    "sent_packets",
    "delivered_packets",
    "lost_packets",
    "retransmitted_packets",
    "received_bytes",
    "throughput_bps",
    "goodput_bps",
    "state",
];

/// Reads the flows and their time series from a comma-separated table.
///
/// # Errors
/// Fails if the file is damaged, has no rows or has too many flows, if a cell that must be a number
/// is not one, or if the times of a flow do not rise.
pub(crate) fn read(source: Source) -> Result<Measurement, LabError> {
    let Source { path, content, .. } = source;
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(content);
    let header = reader.headers().map_err(|error| damaged(&path, &error))?.clone();
    let names: Vec<&str> = header.iter().map(|name| name.trim_start_matches('\u{feff}')).collect();
    let is_known = |name: &&&str| **name == "time_s" || COLUMNS.contains(name);
    let others: Vec<&str> = names.iter().filter(|name| !is_known(name)).copied().collect();
    let mut notes = Vec::new();
    if !others.is_empty() {
        notes.push(format!(
            "left out, because a time series has no such columns: {}",
            others.join(", ")
        ));
    }
    let mut tables: Vec<OneFlow> = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| damaged(&path, &error))?;
        let line = record.position().map_or(0, csv::Position::line);
        let row = Row { path: &path, line, names: &names, record: &record };
        let name = row.text("flow").unwrap_or_default().to_owned();
        let place = tables.iter().position(|table| table.name == name);
        let place = match place {
            Some(place) => place,
            None if tables.len() == FLOWS_MAX => {
                return Err(row.wrong("flow", &format!("at most {FLOWS_MAX} flows")));
            }
            None => {
                tables.push(OneFlow { name, ..OneFlow::default() });
                tables.len() - 1
            }
        };
        tables[place].add(&row)?;
    }
    if tables.is_empty() {
        return Err(wrong(&path, "found no rows after the header"));
    }
    let flows = tables.into_iter().map(OneFlow::flow).collect();
    Ok(Measurement { tool: "csv", version: String::new(), begin_s: None, flows, notes })
}

fn damaged(path: &Path, error: &csv::Error) -> LabError {
    match (error.kind(), error.position()) {
        (csv::ErrorKind::UnequalLengths { expected_len, len, .. }, Some(at)) => {
            wrong_at(path, at.line(), &format!("found {len} cells, expected {expected_len}"))
        }
        (csv::ErrorKind::Utf8 { .. }, Some(at)) => {
            wrong_at(path, at.line(), "found bytes that are not UTF-8 text")
        }
        _ => wrong(path, &error.to_string()),
    }
}

/// A row of a table.
struct Row<'a> {
    path: &'a Path,
    line: u64,
    names: &'a [&'a str],
    record: &'a StringRecord,
}

impl Row<'_> {
    fn text(&self, name: &str) -> Option<&str> {
        let at = self.names.iter().position(|known| *known == name)?;
        self.record.get(at).filter(|cell| !cell.is_empty())
    }

    fn number(&self, name: &str) -> Result<Option<f64>, LabError> {
        let Some(cell) = self.text(name) else { return Ok(None) };
        let number = cell.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
        number.map(Some).ok_or_else(|| self.wrong(name, "a number from 0 on"))
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the number is rounded and not negative"
    )]
    fn count(&self, name: &str) -> Result<Option<u64>, LabError> {
        Ok(self.number(name)?.map(|number| number.round() as u64))
    }

    fn small(&self, name: &str) -> Result<Option<u32>, LabError> {
        let small = |count| u32::try_from(count).map_err(|_| self.wrong(name, "less than 2^32"));
        self.count(name)?.map(small).transpose()
    }

    fn wrong(&self, name: &str, expected: &str) -> LabError {
        let found = self.text(name).unwrap_or_default();
        wrong_at(self.path, self.line, &format!("`{name}`: found \"{found}\", expected {expected}"))
    }
}

/// The rows of one flow, converted to a time series, and the flow's payload bytes over time.
#[derive(Default)]
struct OneFlow {
    name: String,
    cc: Option<String>,
    rows: Vec<SeriesRow>,
    payload: Vec<(f64, u64)>,
}

impl OneFlow {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "bytes of a measurement"
    )]
    fn add(&mut self, row: &Row<'_>) -> Result<(), LabError> {
        let time_s =
            row.number("time_s")?.ok_or_else(|| row.wrong("time_s", "a number from 0 on"))?;
        let before_s = self.rows.last().map(|last| last.time_s);
        if before_s.is_some_and(|before_s| before_s >= time_s) {
            return Err(row.wrong("time_s", "a time after the flow's previous row"));
        }
        self.cc = self.cc.take().or_else(|| row.text("cc").map(str::to_owned));
        let received = row.count("received_bytes")?;
        if let Some(bytes) = received {
            self.payload.push((time_s, bytes));
        } else if let Some(rate) = row.number("goodput_bps")? {
            let (last_s, bytes) =
                self.payload.last().copied().unwrap_or((before_s.unwrap_or(time_s), 0));
            if self.payload.is_empty() {
                self.payload.push((last_s, 0));
            }
            let more = rate / 8.0 * (time_s - last_s);
            self.payload.push((time_s, (bytes as f64 + more) as u64));
        }
        self.rows.push(SeriesRow {
            time_s,
            cwnd_packets: MaybeKnown(row.small("cwnd_packets")?),
            ssthresh_packets: row.small("ssthresh_packets")?,
            inflight_packets: MaybeKnown(row.small("inflight_packets")?),
            pacing_rate_bps: row.count("pacing_rate_bps")?,
            bw_bps: row.count("bw_bps")?,
            min_rtt_us: row.small("min_rtt_us")?,
            srtt_us: row.small("srtt_us")?,
            rtt_us: row.small("rtt_us")?,
            sent_packets: MaybeKnown(row.count("sent_packets")?),
            delivered_packets: MaybeKnown(row.count("delivered_packets")?),
            lost_packets: MaybeKnown(row.count("lost_packets")?),
            retransmitted_packets: MaybeKnown(row.count("retransmitted_packets")?),
            received_bytes: MaybeKnown(received),
            throughput_bps: row.count("throughput_bps")?,
            state: row.text("state").unwrap_or_default().to_owned().into(),
            ..SeriesRow::default()
        });
        Ok(())
    }

    #[expect(clippy::cast_precision_loss, reason = "rates of a network")]
    fn flow(self) -> MeasuredFlow {
        let Self { name, cc, rows, mut payload } = self;
        let first_bytes = payload.first().map_or(0, |point| point.1);
        for point in &mut payload {
            point.1 = point.1.saturating_sub(first_bytes);
        }
        let last = |count: fn(&SeriesRow) -> Option<u64>| rows.iter().rev().find_map(count);
        let values = |value: fn(&SeriesRow) -> Option<f64>| -> Vec<f64> {
            rows.iter().filter_map(value).collect()
        };
        let mut srtts = values(|row| Some(f64::from(row.srtt_us?) / 1e3));
        srtts.sort_by(f64::total_cmp);
        let windows = values(|row| row.cwnd_packets.0.map(f64::from));
        let (start_s, stop_s) =
            (rows.first().map(|row| row.time_s), rows.last().map(|row| row.time_s));
        let bytes = payload.last().map(|point| point.1);
        let seconds = start_s.zip(stop_s).map_or(0.0, |(start_s, stop_s)| stop_s - start_s);
        let summary = FlowSummary {
            name: Some(name.clone())
                .filter(|name| !name.is_empty() && name.parse::<u32>().is_err()),
            cc: cc.unwrap_or_default(),
            start_s,
            stop_s,
            throughput_mbps: mean(&values(|row| Some(row.throughput_bps? as f64 / 1e6))),
            goodput_mbps: bytes.and_then(|bytes| mbps(bytes, seconds)),
            sent_packets: last(|row| row.sent_packets.0),
            delivered_packets: last(|row| row.delivered_packets.0),
            lost_packets: last(|row| row.lost_packets.0),
            retransmitted_packets: last(|row| row.retransmitted_packets.0),
            srtt_ms: Srtt { mean: mean(&srtts), p95: percentile(&srtts, 950) },
            cwnd_packets: Cwnd {
                mean: mean(&windows),
                max: windows.iter().copied().reduce(f64::max),
            },
            ..FlowSummary::default()
        };
        MeasuredFlow { summary, rows, payload, ..MeasuredFlow::default() }
    }
}
