//! `controls`: declares custom congestion controls, which flows select by their names in `cc`. The
//! program that runs the scenario provides their code. The declaration contains the origin of the
//! code and a hash of the code, so the scenario's hash changes when the code changes.

use std::sync::Arc;

use bbrlab_run::Outside;

use crate::keys::flow::{PLUGIN, is_cc_name};
use crate::language::canonical::{inline_table, toml_key, toml_string};
use crate::language::document::{At, Node};
use crate::language::key::{Form, Part, needed, optional};
use crate::language::reader::{Keys, Reader};

/// The largest number of custom congestion controls.
const CONTROLS_MAX: usize = 1000;

/// The largest lengths, in bytes, of a congestion control's name and of its `source`.
const NAME_MAX: usize = 40;
const SOURCE_MAX: usize = 400;

/// The keys of a custom congestion control.
pub(crate) const OUTSIDE_PARTS: &[Part] = &[
    needed("source", Form::Text),
    optional("sha256", Form::Text),
    optional("answers_share_of_marks", Form::Bool),
];

/// Reads the declared congestion controls: a table in which each key is a control's name and each
/// value a table. Sorts the controls by name.
pub(crate) fn read_controls(
    reader: &mut Reader<'_>,
    node: &Node,
    name: &str,
) -> Option<Vec<Arc<Outside>>> {
    let table = reader.table(node, name, "a table such as { mine = { source = \"...\" } }")?;
    if table.entries.len() > CONTROLS_MAX {
        let found = format!("found {}", table.entries.len());
        let title = format!("`{name}`: expected at most {CONTROLS_MAX} names");
        reader.problem(node.at, title, found, Vec::new());
        return None;
    }
    let mut controls = Vec::with_capacity(table.entries.len());
    for entry in &table.entries {
        check_name(reader, &entry.key, entry.key_at, name)?;
        controls.push(Arc::new(read_outside(reader, &entry.value, &entry.key, name)?));
    }
    controls.sort_by(|a, b| a.name.cmp(&b.name));
    Some(controls)
}

fn check_name(reader: &mut Reader<'_>, own: &str, at: At, name: &str) -> Option<()> {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    let shown: String = own.chars().take(NAME_MAX).collect();
    let plain = own.strip_prefix(PLUGIN).unwrap_or(own);
    let found = if plain.is_empty() || own.len() > NAME_MAX || !plain.bytes().all(is_plain) {
        format!("found {shown:?}")
    } else if is_cc_name(own) {
        format!("found {shown:?}, which is a built-in name")
    } else {
        return Some(());
    };
    let title =
        format!("`{name}`: expected unique names of up to {NAME_MAX} letters, digits, `-` and `_`");
    reader.problem(at, title, found, Vec::new());
    None
}

fn read_outside(reader: &mut Reader<'_>, node: &Node, own: &str, name: &str) -> Option<Outside> {
    let name = format!("{name}.{own}");
    let expected = "a congestion control: a table { source, sha256 }, as Python writes for a class";
    let table = reader.table(node, &name, expected)?;
    let mut keys = Keys::new(table, name, node.at);
    let text = |reader: &mut Reader<'_>, node: &Node, name: &str| {
        let text = reader.text(node, name)?;
        if text.len() > SOURCE_MAX {
            reader.wrong(node, name, &format!("a text of at most {SOURCE_MAX} bytes"));
            return None;
        }
        Some(text.to_owned())
    };
    let source = reader.needed(&mut keys, "source", "the origin of the control's code", text);
    let (hash_name, switch_name) = (keys.name("sha256"), keys.name("answers_share_of_marks"));
    let sha256 = keys.take("sha256").map(|node| read_hash(reader, node, &hash_name));
    let switch = keys.take("answers_share_of_marks").map(|node| reader.boolean(node, &switch_name));
    keys.finish(reader);
    Some(Outside {
        name: own.to_owned(),
        source: source?,
        sha256: match sha256 {
            Some(hash) => Some(hash?),
            None => None,
        },
        answers_share_of_marks: switch.map_or(Some(false), |switch| switch)?,
    })
}

fn read_hash(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<String> {
    let text = reader.text(node, name)?;
    let is_hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    if text.len() != 64 || !text.bytes().all(is_hex) {
        reader.wrong(node, name, "64 hexadecimal digits");
        return None;
    }
    Some(text.to_owned())
}

/// Returns the declared congestion controls as an inline table; `None` if there are none.
pub(crate) fn show_controls<'a>(
    controls: impl Iterator<Item = &'a Arc<Outside>>,
) -> Option<String> {
    let shown: Vec<String> = controls.map(|of| show_outside(of)).collect();
    (!shown.is_empty()).then(|| inline_table(shown))
}

fn show_outside(outside: &Outside) -> String {
    let mut parts = vec![format!("source = {}", toml_string(&outside.source))];
    parts.extend(outside.sha256.as_ref().map(|hash| format!("sha256 = {}", toml_string(hash))));
    if outside.answers_share_of_marks {
        parts.push("answers_share_of_marks = true".to_owned());
    }
    format!("{} = {}", toml_key(&outside.name), inline_table(parts))
}
