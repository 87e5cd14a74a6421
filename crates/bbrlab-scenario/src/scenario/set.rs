//! `--set KEY=VALUE`: sets a value of the scenario, or a list of its sweep.

use std::sync::Arc;

use super::sweep::Setting;
use crate::language::document::{self, At, Source, Step, Table};
use crate::language::reader::Reader;

/// The longest `--set`, in bytes.
const SET_BYTES_MAX: usize = 1 << 16;

/// Applies a `--set` to the tree and returns the setting; `None` if the `--set` is wrong.
pub(super) fn apply_set(
    reader: &mut Reader<'_>,
    sources: &mut Vec<Source>,
    tree: &mut Table,
    set: &str,
) -> Option<Setting> {
    let source = u32::try_from(sources.len()).expect("a command line has few settings");
    let shown = set.get(..SET_BYTES_MAX).unwrap_or(set);
    sources.push(Source { name: "--set".to_owned(), text: shown.to_owned() });
    let at = |start: usize, end: usize| {
        let small = |at: usize| u32::try_from(at.min(SET_BYTES_MAX)).expect("bounded");
        At { source, start: small(start), end: small(end) }
    };
    let title = "`--set`: expected key=value such as bottleneck.buffer=2bdp";
    if set.len() > SET_BYTES_MAX {
        reader.problem(at(0, 1), title, format!("found {} bytes", set.len()), Vec::new());
        return None;
    }
    let Some((key, value)) = set.split_once('=') else {
        reader.problem(at(0, set.len()), title, "found no `=`", Vec::new());
        return None;
    };
    let lead = key.len() - key.trim_start().len();
    let key_at = at(lead, key.trim_end().len().max(lead));
    let node = Arc::new(document::parse_set_value(value, source, key.len() + 1));
    // `sweep.KEY` sets a whole list, and `sweep.points` sets all points.
    let path = match key.trim().strip_prefix("sweep.") {
        Some(swept) => {
            let step = |key: &str| Step { key: key.to_owned(), index: None };
            Ok(vec![step("sweep"), step(swept.trim_matches('"'))])
        }
        None => document::parse_path(key),
    };
    let set = path.and_then(|path| document::set(tree, &path, key_at, &node).map(|()| path));
    match set {
        Ok(path) => {
            let key = key.trim().into();
            Some(Setting { key, path: path.into(), key_at, value: node })
        }
        Err(found) => {
            let title = "`--set`: expected a key of the scenario";
            reader.problem(key_at, title, format!("found {found}"), Vec::new());
            None
        }
    }
}
