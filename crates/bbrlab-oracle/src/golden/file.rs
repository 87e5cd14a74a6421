//! Loads the file of a trace.

use std::fs;
use std::io::ErrorKind;

use sha2::{Digest as _, Sha256};

use super::csv::Table;
use super::{GoldenError, GoldenTrace};
use crate::csv::unpack;

/// Loads a trace and checks length, checksum and number of rows against the manifest.
pub(super) fn load(trace: &GoldenTrace) -> Result<Table, GoldenError> {
    let file = || trace.file.clone();
    let packed = fs::read(&trace.path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => GoldenError::Missing { file: file() },
        _ => GoldenError::Unreadable { path: trace.path.clone(), reason: error.to_string() },
    })?;
    let bytes = packed.len() as u64;
    if bytes < trace.bytes {
        return Err(GoldenError::Truncated { file: file(), expected: trace.bytes, found: bytes });
    }
    let found = format!("{:x}", Sha256::digest(&packed));
    if found != trace.sha256 {
        return Err(GoldenError::Altered { file: file(), expected: trace.sha256.clone(), found });
    }
    let text = unpack(&packed).map_err(|reason| GoldenError::BadGzip { file: file(), reason })?;
    let lines = text.split_inclusive(|&byte| byte == b'\n').count() as u64;
    let rows = lines.saturating_sub(1);
    if rows != trace.rows {
        return Err(GoldenError::WrongRows { file: file(), expected: trace.rows, found: rows });
    }
    Table::new(text).map_err(|reason| GoldenError::BadRow { file: file(), row: 0, reason })
}
