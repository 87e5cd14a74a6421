//! Compares the list of constants in `docs/constants.md` with the code. Both must have the same
//! constants with the same values.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The list in `docs/constants.md` must contain all constants of these source folders.
const COMPLETE: [&str; 3] =
    ["crates/bbrlab-rate/src", "crates/bbrlab-tcp/src", "crates/bbrlab-cc/src/cubic"];

/// Constants: the key is the file and the name, the value is the constant's text.
type Constants = BTreeMap<(String, String), String>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Reads the rows `| `NAME` | `VALUE` | `file` | symbol |` of the list.
fn listed() -> Constants {
    let text = fs::read_to_string(root().join("docs/constants.md")).expect("the document is there");
    let mut constants = Constants::new();
    for line in text.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [name, value, file, symbol] = cells.as_slice() else {
            panic!("four cells: {line}");
        };
        assert!(!symbol.is_empty(), "{line} names no kernel symbol");
        let plain = |cell: &str| cell.trim_matches('`').replace("\\|", "|");
        let before = constants.insert((plain(file), plain(name)), plain(value));
        assert!(before.is_none(), "listed twice: {line}");
    }
    constants
}

/// Returns the constants at the outer level of a file that have a type of a single word, such as
/// `u32`. Constants of tests are omitted.
fn constants_of(file: &str) -> Constants {
    let text = fs::read_to_string(root().join(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let mut constants = Constants::new();
    let mut rest = code;
    while let Some(at) = rest.find("const ") {
        let start = rest[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let is_item = rest[start..at].is_empty() || rest[start..at].starts_with("pub");
        rest = &rest[at + "const ".len()..];
        let Some((name, after)) = rest.split_once(": ") else { continue };
        let is_name =
            name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
        if !is_item || !is_name {
            continue;
        }
        let Some((kind, value)) = after.split_once('=') else { continue };
        let is_plain = kind.trim().chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let Some((value, _)) = value.split_once(';') else { continue };
        if is_plain {
            let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
            constants.insert((file.to_owned(), name.to_owned()), value);
        }
    }
    constants
}

fn sources(folder: &str, files: &mut Vec<String>) {
    let entries = fs::read_dir(root().join(folder)).expect("the folder is there");
    for entry in entries.flatten() {
        let name = entry.file_name().into_string().expect("names of source files are UTF-8");
        let path = format!("{folder}/{name}");
        if entry.path().is_dir() {
            sources(&path, files);
        } else if entry.path().extension().is_some_and(|end| end == "rs") && name != "tests.rs" {
            files.push(path);
        }
    }
}

#[test]
fn the_documents_list_of_constants_is_the_codes() {
    let listed = listed();
    assert!(listed.len() > 90, "the list was read");
    let mut files: Vec<String> = listed.keys().map(|(file, _)| file.clone()).collect();
    for folder in COMPLETE {
        sources(folder, &mut files);
    }
    files.sort();
    files.dedup();
    let mut wrong = Vec::new();
    for file in files {
        let in_code = constants_of(&file);
        for ((_, name), value) in &in_code {
            match listed.get(&(file.clone(), name.clone())) {
                None => wrong.push(format!("{file}: `{name}` = `{value}` is not in the list")),
                Some(known) if known != value => {
                    wrong.push(format!("{file}: `{name}` is `{value}`, the list says `{known}`"));
                }
                Some(_) => {}
            }
        }
        for (_, name) in listed.keys().filter(|(of, _)| *of == file) {
            if !in_code.contains_key(&(file.clone(), name.clone())) {
                wrong.push(format!("{file}: there is no `{name}`"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
