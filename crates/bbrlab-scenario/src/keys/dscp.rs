//! `dscp` of a flow: the six bits of the IP header by which a queue discipline distinguishes
//! classes of traffic.

use crate::language::canonical::show_text;
use crate::language::document::{Node, Value};
use crate::language::nearest::nearest;
use crate::language::reader::{Reader, found};

/// The names and values of the code points. Sources: RFC 2474 (CS), 2597 (AF), 3246 (EF), 5865
/// (VA), 8622 (LE).
const NAMES: [(&str, u8); 24] = [
    ("CS0", 0),
    ("LE", 1),
    ("CS1", 8),
    ("AF11", 10),
    ("AF12", 12),
    ("AF13", 14),
    ("CS2", 16),
    ("AF21", 18),
    ("AF22", 20),
    ("AF23", 22),
    ("CS3", 24),
    ("AF31", 26),
    ("AF32", 28),
    ("AF33", 30),
    ("CS4", 32),
    ("AF41", 34),
    ("AF42", 36),
    ("AF43", 38),
    ("CS5", 40),
    ("VA", 44),
    ("EF", 46),
    ("CS6", 48),
    ("CS7", 56),
    ("BE", 0),
];

/// The largest code point: six bits that are all 1.
const MAX: u64 = 63;

/// Returns the names of all code points.
pub(crate) fn dscp_names() -> Vec<&'static str> {
    NAMES.iter().map(|&(name, _)| name).collect()
}

/// Reads a code point, given as a name or a number.
pub(crate) fn read_dscp(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<u8> {
    let Value::Text(text) = &node.value else {
        let value = reader.integer(node, name, 0, MAX)?;
        return u8::try_from(value).ok();
    };
    if let Some(&(_, value)) = NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(text)) {
        return Some(value);
    }
    let mut help = Vec::new();
    if let Some(right) = nearest(text, dscp_names()) {
        help.push(format!("did you mean {right:?}?"));
    }
    let title = format!("`{name}`: expected a DSCP such as \"EF\" or 46");
    reader.problem(node.at, title, format!("found {}", found(&node.value)), help);
    None
}

/// Returns the code point as a scenario writes it; `None` for best effort, which is the default.
pub(crate) fn show_dscp(dscp: u8) -> Option<String> {
    match NAMES.iter().find(|&&(_, value)| value == dscp) {
        _ if dscp == 0 => None,
        Some((name, _)) => show_text(name),
        None => Some(dscp.to_string()),
    }
}
