//! Reads the results of a real Linux stack: the summary of a reference folder.
//!
//! A reference folder has a `summary.csv` with one row per run and flow. The rows of one kernel and
//! one scenario form a *test point*; the runs of a point have different seeds. Each recorded run is
//! converted to a `RunSummary`, the struct that our runs have. Values that the file does not
//! contain are `None`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use bbrlab_run::{Fct, FlowSummary, LinkSummary, QueueDelay, QueuePackets, RunSummary, Srtt};

use super::LinuxError;
use super::csv::{Columns, Row};

/// The largest `summary.csv` that is read, in bytes: about a hundred thousand rows.
const BYTES_MAX: u64 = 64 << 20;

/// Columns that the summary must have.
const NEEDED: [&str; 8] =
    ["kernel", "scenario", "family", "seed", "flow", "cc", "start_s", "flow_rtt_ms"];

/// The setting for the rate of a second bottleneck. If this setting is present, the columns `rev_*`
/// of the summary describe the second bottleneck.
pub(super) const SECOND_RATE: &str = "rate2_mbps";

/// The settings for the rate of a second link. If one of these settings is present, the columns
/// `rev_*` of the summary describe the second link.
const SECOND_LINK: [&str; 3] = [SECOND_RATE, "rev_rate_mbps", "ack_rate_mbps"];

/// A scenario on a kernel, with all its seeds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ReferencePoint {
    pub(super) kernel: String,
    pub(super) scenario: String,
    pub(super) family: String,
    pub(super) rate_mbps: f64,
    pub(super) buffer_pkts: u64,
    pub(super) buffer_bdp: Option<f64>,
    pub(super) loss: f64,
    pub(super) duration_s: f64,
    /// The `key=value` pairs in the column `settings`.
    pub(super) settings: BTreeMap<String, String>,
    /// The runs of the test point, one per seed.
    pub(super) seeds: Vec<RunSummary>,
}

impl ReferencePoint {
    /// Whether there is a second link with a rate: a second bottleneck, or a link on the reverse
    /// path.
    pub(super) fn has_second_link(&self) -> bool {
        SECOND_LINK.iter().any(|&key| self.settings.contains_key(key))
    }
}

/// Reads the summary of a reference folder.
pub(super) fn read(dir: &Path) -> Result<Vec<ReferencePoint>, LinuxError> {
    let path = dir.join("summary.csv");
    let length = fs::metadata(&path).map_err(|error| LinuxError::read(&path, &error))?.len();
    if length > BYTES_MAX {
        return Err(LinuxError::at(
            &path,
            0,
            &format!("found {length} bytes, expected at most {BYTES_MAX}"),
        ));
    }
    let text = fs::read_to_string(&path).map_err(|error| LinuxError::read(&path, &error))?;
    parse(&path, &text)
}

/// Parses the text of the summary in the file `path`.
pub(super) fn parse(path: &Path, text: &str) -> Result<Vec<ReferencePoint>, LinuxError> {
    let mut lines = text.lines();
    let header = lines.next().ok_or_else(|| LinuxError::at(path, 1, "found an empty file"))?;
    let columns = Columns::new(path, header, &NEEDED)?;
    let mut points: Vec<ReferencePoint> = Vec::new();
    let mut place: BTreeMap<(String, String), usize> = BTreeMap::new();
    for (number, line) in lines.enumerate() {
        if line.is_empty() {
            continue;
        }
        let row = columns.row(path, number + 2, line)?;
        let key = (row.text("kernel")?.to_owned(), row.text("scenario")?.to_owned());
        let index = if let Some(&index) = place.get(&key) {
            index
        } else {
            points.push(point(&row)?);
            place.insert(key, points.len() - 1);
            points.len() - 1
        };
        let point = &mut points[index];
        let seed = row.count("seed")?;
        if point.seeds.last().is_none_or(|run| run.seed != seed) {
            if point.seeds.iter().any(|run| run.seed == seed) {
                return Err(row.wrong("seed", "consecutive rows for each seed"));
            }
            let run = seed_run(&row, point, seed)?;
            point.seeds.push(run);
        }
        let run = point.seeds.last_mut().expect("a run was added if the list was empty");
        let id = u32::try_from(row.count("flow")?).ok();
        let Some(id) = id.filter(|&id| id as usize == run.flows.len()) else {
            return Err(row.wrong("flow", "the flows of a run in order, from 0"));
        };
        run.flows.push(flow(&row, id, point.duration_s)?);
    }
    if points.is_empty() {
        return Err(LinuxError::at(path, 1, "found no rows after the header"));
    }
    for point in &points {
        let flows = point.seeds[0].flows.len();
        if point.seeds.iter().any(|run| run.flows.len() != flows) {
            let reason = format!("{}: the seeds differ in their number of flows", point.scenario);
            return Err(LinuxError::at(path, 0, &reason));
        }
    }
    Ok(points)
}

fn point(row: &Row<'_>) -> Result<ReferencePoint, LinuxError> {
    let mut settings = BTreeMap::new();
    for pair in row.optional_text("settings").unwrap_or_default().split(';') {
        if pair.is_empty() {
            continue;
        }
        let (key, value) =
            pair.split_once('=').ok_or_else(|| row.wrong("settings", "key=value pairs"))?;
        settings.insert(key.to_owned(), value.to_owned());
    }
    Ok(ReferencePoint {
        kernel: row.text("kernel")?.to_owned(),
        scenario: row.text("scenario")?.to_owned(),
        family: row.text("family")?.to_owned(),
        rate_mbps: row.number("rate_mbps")?,
        buffer_pkts: row.count("buffer_pkts")?,
        buffer_bdp: row.optional("buffer_bdp")?,
        loss: row.optional("loss")?.unwrap_or(0.0),
        duration_s: row.number("duration_s")?,
        settings,
        seeds: Vec::new(),
    })
}

/// Returns a run of a test point, without its flows, from the values that are equal in all rows of
/// the run.
fn seed_run(row: &Row<'_>, point: &ReferencePoint, seed: u64) -> Result<RunSummary, LinuxError> {
    let mut links = vec![LinkSummary {
        name: "bottleneck".to_owned(),
        rate_mbps: Some(point.rate_mbps),
        utilization: row.optional("run_util")?,
        drops: row.optional_count("run_drops")?,
        policer_drops: policer_drops(row)?,
        marks: row.optional_count("ce_marks")?,
        queue_packets: QueuePackets {
            mean: row.optional("run_queue_mean_pkts")?,
            p95: row.optional("run_queue_p95_pkts")?,
            ..QueuePackets::default()
        },
        queue_delay_ms: QueueDelay {
            mean: row.optional("run_qdelay_mean_ms")?,
            p95: row.optional("run_qdelay_p95_ms")?,
            ..QueueDelay::default()
        },
        ..LinkSummary::default()
    }];
    if point.has_second_link() {
        links.push(LinkSummary {
            name: "second".to_owned(),
            utilization: row.optional("rev_util")?,
            drops: row.optional_count("rev_drops")?,
            ..LinkSummary::default()
        });
    }
    Ok(RunSummary {
        scenario: point.scenario.clone(),
        profile: "linux".to_owned(),
        backend: "linux".to_owned(),
        backend_version: point.kernel.clone(),
        seed,
        sim_s: point.duration_s,
        jain_ss: row.optional("run_jain_ss")?,
        links,
        ..RunSummary::default()
    })
}

/// Reads the counter `police.drops` from the column `qdisc_stats`; returns `None` if there is no
/// policer. The file omits counters that are 0, so the result is 0 for a policer without this
/// counter.
fn policer_drops(row: &Row<'_>) -> Result<Option<u64>, LinuxError> {
    let counters = row.optional_text("qdisc_stats").unwrap_or_default();
    let mut of_police = counters.split(';').filter_map(|pair| pair.strip_prefix("police."));
    let is_there = of_police.clone().next().is_some();
    let Some(drops) = of_police.find_map(|pair| pair.strip_prefix("drops=")) else {
        return Ok(is_there.then_some(0));
    };
    let wrong = |_| row.wrong("qdisc_stats", "a whole number of `police.drops`");
    drops.parse().map(Some).map_err(wrong)
}

fn flow(row: &Row<'_>, id: u32, stop_s: f64) -> Result<FlowSummary, LinuxError> {
    Ok(FlowSummary {
        id,
        cc: our_name(row.text("cc")?).to_owned(),
        start_s: Some(row.number("start_s")?),
        stop_s: Some(stop_s),
        rtt_base_ms: Some(row.number("flow_rtt_ms")?),
        goodput_mbps: row.optional("goodput_mbps")?,
        goodput_ss_mbps: row.optional("goodput_ss_mbps")?,
        sent_packets: row.optional_count("data_segs_sent")?,
        retransmitted_packets: row.optional_count("retrans_pkts")?,
        srtt_ms: Srtt { mean: row.optional("srtt_mean_ms")?, p95: row.optional("srtt_p95_ms")? },
        fct_ms: Fct {
            mean: row.optional("fct_mean_ms")?,
            p95: row.optional("fct_p95_ms")?,
            ..Fct::default()
        },
        ..FlowSummary::default()
    })
}

/// Returns the base RTT of a recorded Linux flow, in milliseconds.
pub(super) fn base_rtt_ms(flow: &FlowSummary) -> f64 {
    flow.rtt_base_ms.expect("read from the column `flow_rtt_ms`, which must have a value")
}

/// Returns our name for a congestion control of the kernel.
fn our_name(cc: &str) -> &str {
    if cc == "bbr" { "bbr1" } else { cc }
}

/// Returns the path of a reference folder's summary, for messages.
pub(super) fn summary_path(dir: &Path) -> PathBuf {
    dir.join("summary.csv")
}

#[cfg(test)]
mod tests {
    use super::parse;
    use std::path::Path;

    const HEADER: &str = "kernel,scenario,family,seed,flow,cc,start_s,flow_rtt_ms,rate_mbps,buffer_pkts,loss,duration_s,goodput_mbps,settings";

    fn message(rows: &str) -> String {
        match parse(Path::new("d/summary.csv"), &format!("{HEADER}\n{rows}")) {
            Ok(points) => format!("{} points", points.len()),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn wrong_rows_are_named_by_line_and_column() {
        let good = "6.12,x,1_single,1,0,bbr,0.1,30,50,124,0,50,46.7,tso=on";
        assert_eq!(message(good), "1 points");
        assert_eq!(message(""), "d/summary.csv:1: found no rows after the header");
        assert_eq!(
            message("6.12,x,1_single,1,0,bbr,soon,30,50,124,0,50,46.7,"),
            "d/summary.csv:2: `start_s`: found \"soon\", expected a number"
        );
        assert_eq!(message("6.12,x"), "d/summary.csv:2: found 2 cells, expected 14");
        assert_eq!(
            message(&good.replace("tso=on", "tso")),
            "d/summary.csv:2: `settings`: found \"tso\", expected key=value pairs"
        );
        assert_eq!(
            message(&good.replace("1,0,bbr", "1,1,bbr")),
            "d/summary.csv:2: `flow`: found \"1\", expected the flows of a run in order, from 0"
        );
    }
}
