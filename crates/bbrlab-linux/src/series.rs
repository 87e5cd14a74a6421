//! Reads the time series of a real Linux stack from a reference folder. Only the runs with seed 1
//! have series there.
//!
//! The files are `<folder>/<scenario>.flows.csv.gz` and `.queue.csv.gz`, where `<folder>` is
//! derived from the kernel's name. A reference folder may have no series. The series are converted
//! to the type of our runs' series.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use bbrlab_run::{MaybeKnown, QueueRow, QueueSeries, Series, SeriesRow};
use flate2::read::GzDecoder;

use super::LinuxError;
use super::csv::Columns;

/// The largest allowed size of an unpacked series, in bytes.
const BYTES_MAX: u64 = 256 << 20;

/// Columns that a table of flows must have.
const FLOW_COLUMNS: [&str; 8] =
    ["t", "flow", "cwnd", "unacked", "srtt_us", "retrans_total", "delivered", "rx_bytes"];

/// Reads the time series of a test point's flows; `None` if the folder has no such series.
pub(super) fn flows(
    dir: &Path,
    kernel: &str,
    scenario: &str,
) -> Result<Option<Series>, LinuxError> {
    let path = dir.join(folder(kernel)).join(format!("{scenario}.flows.csv.gz"));
    let Some(text) = unpack(&path)? else { return Ok(None) };
    let (columns, lines) = table(&path, &text, &FLOW_COLUMNS)?;
    let mut series = Series::default();
    for (number, line) in lines {
        let row = columns.row(&path, number, line)?;
        let bits = |bytes: Option<u64>| bytes.map(|bytes| bytes.saturating_mul(8));
        series.push(SeriesRow {
            time_s: row.number("t")?,
            flow: row.small("flow")?,
            cwnd_packets: row.small("cwnd")?.into(),
            ssthresh_packets: row.optional_small("ssthresh")?,
            inflight_packets: row.small("unacked")?.into(),
            pacing_rate_bps: bits(row.optional_count("pacing_Bps")?),
            bw_bps: bits(row.optional_count("bbr_bw_Bps")?),
            min_rtt_us: row.optional_small("bbr_min_rtt_us")?.or(row.optional_small("min_rtt_us")?),
            srtt_us: row.optional_small("srtt_us")?,
            delivered_packets: row.count("delivered")?.into(),
            retransmitted_packets: row.count("retrans_total")?.into(),
            received_bytes: row.count("rx_bytes")?.into(),
            inflight_hi_packets: row.optional_small("bbr_inflight_hi")?,
            inflight_lo_packets: row.optional_small("bbr_inflight_lo")?,
            bw_hi_bps: bits(row.optional_count("bbr_bw_hi_Bps")?),
            bw_lo_bps: bits(row.optional_count("bbr_bw_lo_Bps")?),
            ..SeriesRow::default()
        });
    }
    Ok(Some(series))
}

/// Reads the time series of a test point's queue; `None` if the folder has no such series.
pub(super) fn queue(
    dir: &Path,
    kernel: &str,
    scenario: &str,
) -> Result<Option<QueueSeries>, LinuxError> {
    let path = dir.join(folder(kernel)).join(format!("{scenario}.queue.csv.gz"));
    let Some(text) = unpack(&path)? else { return Ok(None) };
    let (columns, lines) = table(&path, &text, &["t", "qlen", "drops"])?;
    let mut series = QueueSeries::default();
    for (number, line) in lines {
        let row = columns.row(&path, number, line)?;
        series.push(QueueRow {
            time_s: row.number("t")?,
            packets: row.count("qlen")?,
            drops: row.count("drops")?.into(),
            marks: MaybeKnown(row.optional_count("marks")?),
            ..QueueRow::default()
        });
    }
    Ok(Some(series))
}

/// Returns the name of the folder for a kernel, such as `linux-6.12-bbrv3` for `6.12.117 + BBRv3`.
/// Text in brackets in the kernel's name is ignored.
fn folder(kernel: &str) -> PathBuf {
    let kernel = kernel.split('(').next().unwrap_or_default().trim();
    let (version, patch) = kernel.split_once(" + ").unwrap_or((kernel, ""));
    let series: Vec<&str> = version.split('.').take(2).collect();
    let mut name = format!("linux-{}", series.join("."));
    if !patch.is_empty() {
        name = format!("{name}-{}", patch.to_lowercase());
    }
    PathBuf::from(name)
}

fn unpack(path: &Path) -> Result<Option<String>, LinuxError> {
    let file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(LinuxError::read(path, &error)),
    };
    let mut text = String::new();
    match GzDecoder::new(file).take(BYTES_MAX).read_to_string(&mut text) {
        Ok(_) => Ok(Some(text)),
        Err(error) => Err(LinuxError::at(path, 0, &format!("is damaged: {error}"))),
    }
}

/// Returns the positions of a table's columns, and the lines after its header, each with its line
/// number.
fn table<'a>(
    path: &Path,
    text: &'a str,
    needed: &[&str],
) -> Result<(Columns, impl Iterator<Item = (usize, &'a str)>), LinuxError> {
    let mut lines = text.lines();
    let header = lines.next().ok_or_else(|| LinuxError::at(path, 1, "found an empty file"))?;
    let columns = Columns::new(path, header, needed)?;
    Ok((columns, lines.enumerate().map(|(place, line)| (place + 2, line))))
}

#[cfg(test)]
mod tests {
    use super::folder;
    use std::path::Path;

    #[test]
    fn folders_are_named_after_the_kernel() {
        assert_eq!(folder("6.12.117"), Path::new("linux-6.12"));
        assert_eq!(folder("6.12.117 (HZ=250)"), Path::new("linux-6.12"));
        assert_eq!(folder("6.12.117 + BBRv3"), Path::new("linux-6.12-bbrv3"));
        assert_eq!(folder("6.1.192 + BBRv2"), Path::new("linux-6.1-bbrv2"));
    }
}
