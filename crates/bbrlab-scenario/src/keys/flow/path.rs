//! The links that a flow crosses, as lists of names.

use std::sync::Arc;

use crate::language::canonical::toml_string;
use crate::language::document::{Node, Value};
use crate::language::reader::{Placed, Reader};

/// The largest number of links on a path.
const PATH_MAX: usize = 1000;

const LINK_NAMES: &str = "a list of 1 to 1000 names of [[links]] such as [\"a\", \"b\"]";

pub(super) fn read_link(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Arc<str>> {
    reader.text(node, name).map(Into::into)
}

pub(super) fn read_path(
    reader: &mut Reader<'_>,
    node: &Node,
    name: &str,
) -> Option<Vec<Placed<Arc<str>>>> {
    let Value::Array(links) = &node.value else {
        reader.wrong(node, name, LINK_NAMES);
        return None;
    };
    if links.is_empty() || links.len() > PATH_MAX {
        reader.wrong(node, name, LINK_NAMES);
        return None;
    }
    let mut path: Vec<Placed<Arc<str>>> = Vec::with_capacity(links.len());
    for link in links {
        let text: Arc<str> = reader.text(link, name)?.into();
        if path.iter().any(|before| before.value == text) {
            let found = format!("found {text:?} twice");
            reader.problem(
                link.at,
                format!("`{name}`: expected each link once"),
                found,
                Vec::new(),
            );
            return None;
        }
        path.push(Placed { value: text, at: link.at });
    }
    Some(path)
}

pub(super) fn show_path(path: &[Placed<Arc<str>>]) -> String {
    let names: Vec<String> = path.iter().map(|link| toml_string(&link.value)).collect();
    format!("[{}]", names.join(", "))
}
