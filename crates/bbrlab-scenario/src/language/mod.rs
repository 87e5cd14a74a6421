//! How a text is read: TOML with positions, quantities with units, names, the files that a text
//! names, and rows that define keys. What the keys are is in [`keys`](crate::keys).

pub(crate) mod acts;
pub(crate) mod canonical;
mod cdf_file;
pub(crate) mod decimal;
pub(crate) mod document;
pub(crate) mod error;
pub(crate) mod key;
pub(crate) mod nearest;
pub(crate) mod path_trace;
pub(crate) mod quantity;
pub(crate) mod reader;
pub(crate) mod traces;
