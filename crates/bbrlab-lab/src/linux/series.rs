//! What a real Linux stack did over time: a reference folder's time series of seed 1.
//!
//! `<folder>/<scenario>.flows.csv.gz` and `.queue.csv.gz`, the folder named after the kernel. A folder without
//! series is a smaller reference, not a damaged one.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;

use super::LinuxError;
use super::csv::Columns;

/// The most that a series may unpack to.
const BYTES_MAX: u64 = 256 << 20;

/// A flow at a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FlowSample {
    pub(super) time_s: f64,
    pub(super) flow: u32,
    pub(super) cwnd_packets: f64,
    pub(super) srtt_us: Option<f64>,
    pub(super) received_bytes: f64,
}

/// The flows of a point over time; `None` if the folder has no such series.
pub(super) fn flows(
    dir: &Path,
    kernel: &str,
    scenario: &str,
) -> Result<Option<Vec<FlowSample>>, LinuxError> {
    let path = dir.join(folder(kernel)).join(format!("{scenario}.flows.csv.gz"));
    let Some(text) = unpack(&path)? else { return Ok(None) };
    let (columns, lines) = table(&path, &text, &["t", "flow", "cwnd", "srtt_us", "rx_bytes"])?;
    let mut samples = Vec::new();
    for (number, line) in lines {
        let row = columns.row(&path, number, line)?;
        samples.push(FlowSample {
            time_s: row.number("t")?,
            flow: u32::try_from(row.count("flow")?).map_err(|_| row.wrong("flow", "a flow"))?,
            cwnd_packets: row.number("cwnd")?,
            srtt_us: row.optional("srtt_us")?,
            received_bytes: row.number("rx_bytes")?,
        });
    }
    Ok(Some(samples))
}

/// The queue of a point over time: seconds and packets; `None` if the folder has no such series.
pub(super) fn queue(
    dir: &Path,
    kernel: &str,
    scenario: &str,
) -> Result<Option<Vec<(f64, f64)>>, LinuxError> {
    let path = dir.join(folder(kernel)).join(format!("{scenario}.queue.csv.gz"));
    let Some(text) = unpack(&path)? else { return Ok(None) };
    let (columns, lines) = table(&path, &text, &["t", "qlen"])?;
    let mut samples = Vec::new();
    for (number, line) in lines {
        let row = columns.row(&path, number, line)?;
        samples.push((row.number("t")?, row.number("qlen")?));
    }
    Ok(Some(samples))
}

/// `6.12.117 + BBRv3` is `linux-6.12-bbrv3`; what stands in brackets does not count.
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

/// The columns, and the lines below them with their numbers.
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
