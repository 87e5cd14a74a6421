//! Reads the text of a scenario: TOML with positions, quantities with units, names, trace files.
//! Also contains the type `Key`: a row of this type defines a key. The rows are in
//! [`keys`](crate::keys).

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
pub(crate) mod table_file;
pub(crate) mod traces;
