//! Opens a file to import: unpacks it if it is compressed, and recognises its format by its first
//! bytes.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use bbrlab_lab::{LabError, plain};
use flate2::bufread::MultiGzDecoder;
use sha2::{Digest as _, Sha256};

/// The largest number of bytes of text that is read from a file, after unpacking. Captures have no
/// limit, because they are read packet by packet.
pub(crate) const TEXT_BYTES_MAX: u64 = 256 << 20;

/// The formats that can be imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// pcap or pcapng.
    Capture,
    /// A JSON document from iperf3 or Flent.
    Json,
    /// A comma-separated table with named columns.
    Table,
    /// Output of `ss`.
    Ss,
    /// XML of ns-3's `FlowMonitor`.
    FlowMonitor,
}

/// A file to import, opened and with its format recognised.
pub(crate) struct Source {
    /// The file's path, for messages.
    pub(crate) path: PathBuf,
    /// The file's format, recognised by its first bytes.
    pub(crate) format: Format,
    /// The content, after unpacking.
    pub(crate) content: Box<dyn BufRead + Send>,
}

impl Source {
    /// Opens a file and recognises its format.
    ///
    /// # Errors
    /// Fails if the file cannot be read or has none of the formats.
    pub(crate) fn open(path: &Path) -> Result<Self, LabError> {
        let unreadable = |error: io::Error| {
            LabError::Usage(format!("{}: cannot be read: {}", path.display(), plain(&error)))
        };
        if path.is_dir() {
            return Err(wrong(path, "found a folder, expected a file with a measurement"));
        }
        let mut file = BufReader::new(File::open(path).map_err(unreadable)?);
        let is_packed = file.fill_buf().map_err(unreadable)?.starts_with(&[0x1f, 0x8b]);
        let mut content: Box<dyn BufRead + Send> = if is_packed {
            Box::new(BufReader::new(MultiGzDecoder::new(file)))
        } else {
            Box::new(file)
        };
        let first = content.fill_buf().map_err(unreadable)?;
        if first.is_empty() {
            return Err(wrong(path, "found an empty file"));
        }
        let format = format_of(first).ok_or_else(|| {
            let shown: Vec<String> =
                first.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
            let expected = "expected pcap or pcapng, JSON of iperf3 or Flent, output of ss, XML of \
                            ns-3's FlowMonitor, or a table with the column `time_s`";
            wrong(path, &format!("byte 0: found {}, {expected}", shown.join(" ")))
        })?;
        if format != Format::Capture {
            content = Box::new(BufReader::new(Limited { rest: TEXT_BYTES_MAX, content }));
        }
        Ok(Self { path: path.to_owned(), format, content })
    }
}

/// Returns the error that a file cannot be imported, with the reason.
pub(crate) fn wrong(path: &Path, reason: &str) -> LabError {
    LabError::Usage(format!("{}: {reason}", path.display()))
}

/// Returns the error that a file cannot be imported because of this line, with the reason.
pub(crate) fn wrong_at(path: &Path, line: u64, reason: &str) -> LabError {
    LabError::Usage(format!("{}:{line}: {reason}", path.display()))
}

fn format_of(first: &[u8]) -> Option<Format> {
    /// The first bytes of captures: pcap with microseconds and nanoseconds in both byte orders,
    /// pcap as modified by Kuznetzov, and pcapng.
    const CAPTURES: [[u8; 4]; 6] = [
        [0xd4, 0xc3, 0xb2, 0xa1],
        [0xa1, 0xb2, 0xc3, 0xd4],
        [0x4d, 0x3c, 0xb2, 0xa1],
        [0xa1, 0xb2, 0x3c, 0x4d],
        [0x34, 0xcd, 0xb2, 0xa1],
        [0x0a, 0x0d, 0x0d, 0x0a],
    ];
    if CAPTURES.iter().any(|magic| first.starts_with(magic)) {
        return Some(Format::Capture);
    }
    let text = String::from_utf8_lossy(&first[..first.len().min(8192)]);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.starts_with('{') {
        return Some(Format::Json);
    }
    if text.starts_with('<') {
        return Some(Format::FlowMonitor);
    }
    let is_header =
        |line: &str| line.split(',').any(|cell| cell.trim().trim_matches('"') == "time_s");
    if text.lines().next().is_some_and(is_header) {
        return Some(Format::Table);
    }
    let is_ss = ["ESTAB", "cwnd:", "rto:"].iter().any(|word| text.contains(word));
    is_ss.then_some(Format::Ss)
}

/// Returns the SHA-256 of a file in hexadecimal.
///
/// # Errors
/// Fails if the file cannot be read.
pub(crate) fn sha256_of(path: &Path) -> Result<String, LabError> {
    let unreadable = |error: io::Error| wrong(path, &format!("cannot be read: {}", plain(&error)));
    let mut file = File::open(path).map_err(unreadable)?;
    let mut hasher = Sha256::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        match file.read(&mut piece).map_err(unreadable)? {
            0 => break,
            count => hasher.update(&piece[..count]),
        }
    }
    Ok(format!("{:x}", hasher.finalize()))
}

/// A reader that returns an error after `rest` bytes, so that a text cannot fill the memory.
struct Limited {
    rest: u64,
    content: Box<dyn BufRead + Send>,
}

impl Read for Limited {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.content.read(into)?;
        self.rest = self.rest.checked_sub(count as u64).ok_or_else(|| {
            let reason = format!(
                "found more than {TEXT_BYTES_MAX} bytes of text, expected at most that many; measure with a longer interval, or split the file"
            );
            io::Error::other(reason)
        })?;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::{Format, format_of};

    #[test]
    fn formats_are_recognised_by_their_first_bytes() {
        for (first, format) in [
            (&b"\xd4\xc3\xb2\xa1\x02\x00"[..], Some(Format::Capture)),
            (b"\x0a\x0d\x0d\x0a", Some(Format::Capture)),
            (b" {\n\"start\": {}", Some(Format::Json)),
            (b"\xef\xbb\xbftime_s,flow\n0,0\n", Some(Format::Table)),
            (b"1795853974.1\nESTAB 0 0 10.0.0.1:1 10.0.0.2:2\n", Some(Format::Ss)),
            (b"<?xml version=\"1.0\" ?>\n<FlowMonitor>\n", Some(Format::FlowMonitor)),
            (b"PK\x03\x04", None),
            (b"a,b\n1,2\n", None),
        ] {
            assert_eq!(format_of(first), format, "{first:?}");
        }
    }
}
