//! Policers.

use bbrlab_link::Policer;

use crate::document::Node;
use crate::reader::{Keys, Reader};

pub(super) fn read_police(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Policer> {
    let example = "a table such as { rate = \"10Mbit/s\", burst = \"32KiB\" }";
    let table = reader.table(node, name, example)?;
    let mut keys = Keys::new(table, name, node.at);
    let rate =
        reader.needed(&mut keys, "rate", "what may pass, such as \"10Mbit/s\"", Reader::rate);
    let burst = reader.needed(
        &mut keys,
        "burst",
        "what may pass at once, such as \"32KiB\"",
        Reader::positive_bytes,
    );
    keys.finish(reader);
    Some(Policer { rate: rate?, burst: burst? })
}
