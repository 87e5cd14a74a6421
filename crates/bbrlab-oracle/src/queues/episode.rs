//! Reads `episodes.csv`. Each row describes an episode: a log of the packets at one or more points
//! of a network of Linux hosts, with the network's settings.

use std::path::{Path, PathBuf};

use super::tc::{self, Child};
use bbrlab_units::Span;

use crate::error::LogError;
use crate::table::Table;

const COLUMNS: &str = "name,qdisc,rate_mbps,rtt_ms,ccs,starts_s,settings,t0_ns";

/// A point of the network at which packets were logged.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The name of this point of the network in the log: `bn`, `data`, `ack` or `police`.
    pub name: &'static str,
    /// The queue discipline or policer that the packets meet at this point of the network.
    pub child: Child,
    /// Rate of the link after the discipline in bit/s. `None` means that there is no link, and
    /// packets leave when the discipline releases them.
    pub rate_bps: Option<u64>,
}

/// An episode: a log of packets at one or more points of a network.
#[derive(Clone, Debug, PartialEq)]
pub struct Episode {
    /// The episode's name.
    pub name: String,
    /// The kernel's clock at the start of the log, in nanoseconds.
    pub t0_ns: u64,
    /// The points of the network at which packets were logged.
    pub points: Vec<Point>,
    dir: PathBuf,
}

impl Episode {
    pub(super) fn packets_path(&self) -> PathBuf {
        self.dir.join(format!("{}.pkts.csv.gz", self.name))
    }

    pub(super) fn events_path(&self) -> PathBuf {
        self.dir.join(format!("{}.events.csv.gz", self.name))
    }
}

pub(super) fn load(dir: &Path) -> Result<Vec<Episode>, LogError> {
    let path = dir.join("episodes.csv");
    let table = Table::load(&path, COLUMNS)?;
    let mut episodes = Vec::new();
    for (at, cells) in table.rows().iter().enumerate() {
        let bad = |reason| LogError::BadRow { path: path.clone(), row: at + 1, reason };
        let [name, qdisc, rate, rtt, _ccs, _starts, settings, t0, ..] = cells.as_slice() else {
            return Err(bad("found fewer than 8 cells, expected at least 8".to_owned()));
        };
        let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if name.is_empty() || !is_plain {
            return Err(bad(format!("name: found `{name}`, expected letters, digits, `_`")));
        }
        let t0_ns =
            t0.parse().map_err(|_| bad(format!("t0_ns: found `{t0}`, expected a number")))?;
        let points = points(qdisc, rate, rtt, settings).map_err(bad)?;
        episodes.push(Episode { name: name.clone(), t0_ns, points, dir: dir.to_owned() });
    }
    Ok(episodes)
}

fn points(qdisc: &str, rate: &str, rtt: &str, settings: &str) -> Result<Vec<Point>, String> {
    // The rate `0 (own shaper)` means that `cake` itself shapes the traffic, and that there is no
    // link after it.
    let rate = rate.split(' ').next().unwrap_or_default();
    let mbps: u64 =
        rate.parse().map_err(|_| format!("rate_mbps: found `{rate}`, expected a number"))?;
    let rate_bps = (mbps > 0).then_some(mbps.saturating_mul(1_000_000));
    let child = tc::qdisc(qdisc).map_err(|reason| format!("qdisc: {reason}"))?;
    let mut points = vec![Point { name: "bn", child, rate_bps }];
    let rtt_ms: u64 =
        rtt.parse().map_err(|_| format!("rtt_ms: found `{rtt}`, expected a number"))?;
    let one_way = Span(rtt_ms.saturating_mul(500_000));
    for setting in settings.split(';').filter(|setting| !setting.is_empty()) {
        let (key, value) = setting
            .split_once('=')
            .ok_or_else(|| format!("settings: found `{setting}`, expected key=value pairs"))?;
        let (name, child) = match key {
            // The setting `ecn` of an episode says whether the hosts negotiated ECN. The replay
            // does not need this setting, because the log has the ECN field of each packet.
            "ecn" => match value {
                "True" | "1" | "False" | "0" => continue,
                _ => {
                    let expected = "ecn=True, ecn=1, ecn=False or ecn=0";
                    return Err(format!("settings: found `{setting}`, expected {expected}"));
                }
            },
            "police" => ("police", tc::police(value)),
            "data_slot" => ("data", tc::slot(value, one_way)),
            "ack_slot" => ("ack", tc::slot(value, one_way)),
            _ => {
                return Err(format!(
                    "settings: found `{key}`, expected police, data_slot, ack_slot, ecn"
                ));
            }
        };
        let child = child.map_err(|reason| format!("settings: {reason}"))?;
        points.push(Point { name, child, rate_bps: None });
    }
    Ok(points)
}
