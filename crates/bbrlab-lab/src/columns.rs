//! Result records as the columns of the Parquet files, and the series' columns back as records.

use bbrlab_report::flat_columns;
use bbrlab_run::{QueueRow, QueueSeries, RunSummary, Series, SeriesRow, Transfers};
use serde_json::Value;

use crate::parquet_file::{Column, Values};
use crate::provenance::{COMMIT, VERSION};

/// `series.parquet`.
#[must_use]
pub(crate) fn series_columns(series: &Series) -> Vec<Column> {
    vec![
        Column::new("time_s", Values::Float(series.time_s.clone())),
        Column::new("flow", ints(&series.flow)),
        Column::new("cwnd_packets", ints(&series.cwnd_packets)),
        Column::new("ssthresh_packets", opt_ints(&series.ssthresh_packets)),
        Column::new("inflight_packets", ints(&series.inflight_packets)),
        Column::new("pacing_rate_bps", opt_ints(&series.pacing_rate_bps)),
        Column::new("bw_bps", opt_ints(&series.bw_bps)),
        Column::new("min_rtt_us", opt_ints(&series.min_rtt_us)),
        Column::new("srtt_us", opt_ints(&series.srtt_us)),
        Column::new("rtt_us", opt_ints(&series.rtt_us)),
        Column::new("sent_packets", ints(&series.sent_packets)),
        Column::new("delivered_packets", ints(&series.delivered_packets)),
        Column::new("lost_packets", ints(&series.lost_packets)),
        Column::new("retransmitted_packets", ints(&series.retransmitted_packets)),
        Column::new("received_bytes", ints(&series.received_bytes)),
        Column::new(
            "state",
            Values::Text(series.state.iter().map(|&state| state.to_owned()).collect()),
        ),
        Column::new("inflight_hi_packets", opt_ints(&series.inflight_hi_packets)),
        Column::new("inflight_lo_packets", opt_ints(&series.inflight_lo_packets)),
        Column::new("bw_hi_bps", opt_ints(&series.bw_hi_bps)),
        Column::new("bw_lo_bps", opt_ints(&series.bw_lo_bps)),
    ]
}

/// `queue.parquet`.
#[must_use]
pub(crate) fn queue_columns(queue: &QueueSeries) -> Vec<Column> {
    vec![
        Column::new("time_s", Values::Float(queue.time_s.clone())),
        Column::new("link", ints(&queue.link)),
        Column::new("packets", ints(&queue.packets)),
        Column::new("bytes", ints(&queue.bytes)),
        Column::new("drops", ints(&queue.drops)),
        Column::new("marks", ints(&queue.marks)),
    ]
}

/// `transfers.parquet`, of runs with flows that have a byte count or a train.
#[must_use]
pub(crate) fn transfer_columns(transfers: &Transfers) -> Vec<Column> {
    vec![
        Column::new("flow", ints(&transfers.flow)),
        Column::new("n", ints(&transfers.n)),
        Column::new("bytes", ints(&transfers.bytes)),
        Column::new("start_s", Values::Float(transfers.start_s.clone())),
        Column::new("fct_s", Values::OptFloat(transfers.fct_s.clone())),
        Column::new("retransmitted_packets", ints(&transfers.retransmitted_packets)),
    ]
}

/// `summary.parquet`: a row a flow. First what tells the run, the swept keys among it; then the flow's
/// figures; then those of the run and of its bottleneck, the same in each row of a run.
#[must_use]
pub(crate) fn summary_columns(runs: &[RunSummary]) -> Vec<Column> {
    let mut swept: Vec<&String> = Vec::new();
    for key in runs.iter().flat_map(|run| run.point.keys()) {
        if !swept.contains(&key) {
            swept.push(key);
        }
    }
    // A row a flow: each value of a run is there once a flow.
    let per_flow = |value: &dyn Fn(&RunSummary) -> Value| -> Vec<Value> {
        runs.iter().flat_map(|run| std::iter::repeat_n(value(run), run.flows.len())).collect()
    };
    let mut columns = vec![
        text("scenario", &per_flow(&|run| run.scenario.clone().into())),
        text("scenario_hash", &per_flow(&|run| run.scenario_hash.clone().into())),
        text("profile", &per_flow(&|run| run.profile.clone().into())),
        text("version", &per_flow(&|_| VERSION.into())),
        text("commit", &per_flow(&|_| COMMIT.into())),
        whole("seed", &per_flow(&|run| run.seed.into())),
    ];
    let reserved: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
    for key in swept.into_iter().filter(|key| !reserved.contains(key)) {
        let values = per_flow(&|run| run.point.get(key).cloned().unwrap_or(Value::Null));
        columns.push(by_kind(key, &values));
    }
    let rows: Vec<Vec<(String, Value)>> = runs
        .iter()
        .flat_map(|run| run.flows.iter().map(move |flow| flat_columns(run, flow)))
        .collect();
    let names: Vec<String> = rows
        .first()
        .map_or_else(Vec::new, |row| row.iter().map(|(name, _)| name.clone()).collect());
    for (at, name) in names.iter().enumerate() {
        let values: Vec<Value> = rows
            .iter()
            .map(|row| row.get(at).map_or(Value::Null, |(_, value)| value.clone()))
            .collect();
        columns.push(by_kind(name, &values));
    }
    columns
}

fn ints<T: Copy + TryInto<i64>>(values: &[T]) -> Values {
    Values::Int(values.iter().map(|&value| int(value)).collect())
}

fn opt_ints<T: Copy + TryInto<i64>>(values: &[Option<T>]) -> Values {
    Values::OptInt(values.iter().map(|value| value.map(int)).collect())
}

/// Beyond 63 bits the largest number stands for "more than can be".
fn int<T: TryInto<i64>>(value: T) -> i64 {
    value.try_into().unwrap_or(i64::MAX)
}

fn text(name: &str, values: &[Value]) -> Column {
    let words = values.iter().map(|value| value.as_str().unwrap_or_default().to_owned()).collect();
    Column::new(name, Values::Text(words))
}

fn whole(name: &str, values: &[Value]) -> Column {
    Column::new(
        name,
        Values::Int(values.iter().map(|value| int(value.as_u64().unwrap_or(0))).collect()),
    )
}

/// Optional, as whole numbers if all that is there are whole numbers, else as numbers, else as words.
fn by_kind(name: &str, values: &[Value]) -> Column {
    let there = || values.iter().filter(|value| !value.is_null());
    let kind = if there().next().is_some() && there().all(|value| value.is_u64() || value.is_i64())
    {
        Values::OptInt(values.iter().map(Value::as_i64).collect())
    } else if there().all(Value::is_number) {
        Values::OptFloat(values.iter().map(Value::as_f64).collect())
    } else {
        let words = |value: &Value| match value {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        Values::OptText(values.iter().map(words).collect())
    };
    Column::new(name, kind)
}

/// The series of a `series.parquet`.
///
/// # Errors
/// If a column is missing or of another kind.
pub(crate) fn series_from(columns: &[Column]) -> Result<Series, String> {
    let time_s = floats_of(columns, "time_s")?;
    let states = Names::of(texts_of(columns, "state")?);
    let at = |name: &str| ints_of(columns, name);
    let (flow, cwnd, ssthresh, inflight) =
        (at("flow")?, at("cwnd_packets")?, at("ssthresh_packets")?, at("inflight_packets")?);
    let (pacing_rate, bw, min_rtt, srtt, rtt) =
        (at("pacing_rate_bps")?, at("bw_bps")?, at("min_rtt_us")?, at("srtt_us")?, at("rtt_us")?);
    let (sent, delivered, lost, retransmitted, received) = (
        at("sent_packets")?,
        at("delivered_packets")?,
        at("lost_packets")?,
        at("retransmitted_packets")?,
        at("received_bytes")?,
    );
    let (inflight_hi, inflight_lo, bw_hi, bw_lo) = (
        at("inflight_hi_packets")?,
        at("inflight_lo_packets")?,
        at("bw_hi_bps")?,
        at("bw_lo_bps")?,
    );
    let mut series = Series::default();
    for (row, &time_s) in time_s.iter().enumerate() {
        series.push(SeriesRow {
            time_s,
            flow: narrow(flow[row]).unwrap_or_default(),
            cwnd_packets: narrow(cwnd[row]).unwrap_or_default(),
            ssthresh_packets: narrow(ssthresh[row]),
            inflight_packets: narrow(inflight[row]).unwrap_or_default(),
            pacing_rate_bps: narrow(pacing_rate[row]),
            bw_bps: narrow(bw[row]),
            min_rtt_us: narrow(min_rtt[row]),
            srtt_us: narrow(srtt[row]),
            rtt_us: narrow(rtt[row]),
            sent_packets: narrow(sent[row]).unwrap_or_default(),
            delivered_packets: narrow(delivered[row]).unwrap_or_default(),
            lost_packets: narrow(lost[row]).unwrap_or_default(),
            retransmitted_packets: narrow(retransmitted[row]).unwrap_or_default(),
            received_bytes: narrow(received[row]).unwrap_or_default(),
            state: states.at(row),
            inflight_hi_packets: narrow(inflight_hi[row]),
            inflight_lo_packets: narrow(inflight_lo[row]),
            bw_hi_bps: narrow(bw_hi[row]),
            bw_lo_bps: narrow(bw_lo[row]),
        });
    }
    Ok(series)
}

/// The queues of a `queue.parquet`.
///
/// # Errors
/// If a column is missing or of another kind.
pub(crate) fn queue_from(columns: &[Column]) -> Result<QueueSeries, String> {
    let time_s = floats_of(columns, "time_s")?;
    let at = |name: &str| ints_of(columns, name);
    let (link, packets, bytes, drops, marks) =
        (at("link")?, at("packets")?, at("bytes")?, at("drops")?, at("marks")?);
    let mut queue = QueueSeries::default();
    for (row, &time_s) in time_s.iter().enumerate() {
        queue.push(QueueRow {
            time_s,
            link: narrow(link[row]).unwrap_or_default(),
            packets: narrow(packets[row]).unwrap_or_default(),
            bytes: narrow(bytes[row]).unwrap_or_default(),
            drops: narrow(drops[row]).unwrap_or_default(),
            marks: narrow(marks[row]).unwrap_or_default(),
        });
    }
    Ok(queue)
}

fn narrow<T: TryFrom<i64>>(value: Option<i64>) -> Option<T> {
    value.and_then(|value| T::try_from(value).ok())
}

fn column<'a>(columns: &'a [Column], name: &str) -> Result<&'a Values, String> {
    let found = columns.iter().find(|column| column.name == name);
    found.map(|column| &column.values).ok_or_else(|| format!("the column `{name}` is missing"))
}

fn ints_of(columns: &[Column], name: &str) -> Result<Vec<Option<i64>>, String> {
    match column(columns, name)? {
        Values::Int(values) => Ok(values.iter().copied().map(Some).collect()),
        Values::OptInt(values) => Ok(values.clone()),
        _ => Err(format!("the column `{name}` holds no integers")),
    }
}

fn floats_of<'a>(columns: &'a [Column], name: &str) -> Result<&'a [f64], String> {
    match column(columns, name)? {
        Values::Float(values) => Ok(values),
        _ => Err(format!("the column `{name}` holds no numbers")),
    }
}

fn texts_of<'a>(columns: &'a [Column], name: &str) -> Result<&'a [String], String> {
    match column(columns, name)? {
        Values::Text(values) => Ok(values),
        _ => Err(format!("the column `{name}` holds no words")),
    }
}

/// States as the series hold them: names that live as long as the program. There are about ten.
struct Names<'a> {
    texts: &'a [String],
    known: Vec<&'static str>,
}

impl<'a> Names<'a> {
    fn of(texts: &'a [String]) -> Self {
        /// Other names than a dozen or two come from no run of ours.
        const KNOWN_MAX: usize = 64;
        let mut known: Vec<&'static str> = vec![""];
        for text in texts {
            if known.len() < KNOWN_MAX && !known.contains(&text.as_str()) {
                known.push(Box::leak(text.clone().into_boxed_str()));
            }
        }
        Self { texts, known }
    }

    fn at(&self, row: usize) -> &'static str {
        let text = self.texts.get(row).map_or("", String::as_str);
        self.known.iter().find(|name| **name == text).copied().unwrap_or("")
    }
}

#[cfg(test)]
mod tests {
    use super::{queue_columns, queue_from, series_columns, series_from};
    use crate::parquet_file::{decode, encode};
    use bbrlab_run::{QueueRow, QueueSeries, Series, SeriesRow};
    use expect_test::expect;

    #[test]
    fn series_and_queues_survive_the_way_through_a_file() {
        let mut series = Series::default();
        for row in 0..5u32 {
            series.push(SeriesRow {
                time_s: f64::from(row) / 100.0,
                flow: row % 2,
                cwnd_packets: 10 + row,
                ssthresh_packets: (row > 2).then_some(7),
                bw_bps: Some(50_000_000),
                state: if row < 3 { "STARTUP" } else { "" },
                ..SeriesRow::default()
            });
        }
        let mut queue = QueueSeries::default();
        queue.push(QueueRow { time_s: 0.5, link: 0, packets: 3, bytes: 4542, drops: 1, marks: 0 });
        assert_eq!(
            series_from(&decode(encode(&series_columns(&series), &[])).unwrap()).unwrap(),
            series
        );
        assert_eq!(
            queue_from(&decode(encode(&queue_columns(&queue), &[])).unwrap()).unwrap(),
            queue
        );
    }

    #[test]
    fn the_series_have_the_columns_of_the_design() {
        let names: Vec<String> =
            series_columns(&Series::default()).into_iter().map(|column| column.name).collect();
        expect![[r"
            time_s, flow, cwnd_packets, ssthresh_packets, inflight_packets, pacing_rate_bps, bw_bps, min_rtt_us, srtt_us, rtt_us, sent_packets, delivered_packets, lost_packets, retransmitted_packets, received_bytes, state, inflight_hi_packets, inflight_lo_packets, bw_hi_bps, bw_lo_bps"]]
        .assert_eq(&names.join(", "));
    }

    #[test]
    fn a_missing_column_is_named() {
        let columns = &series_columns(&Series::default())[1..];
        assert_eq!(series_from(columns).unwrap_err(), "the column `time_s` is missing");
    }
}
