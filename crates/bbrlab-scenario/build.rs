//! Lists the files below `scenarios/` as built-in scenarios, in the order of
//! `src/builtin_order.txt`.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    let manifest = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let scenarios = manifest.join("../../scenarios").canonicalize().expect("the folder exists");
    let order = manifest.join("src/builtin_order.txt");
    for path in [&manifest.join("build.rs"), &order, &scenarios] {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    let order = fs::read_to_string(order).expect("the order is readable");
    let rank = |is_it: &dyn Fn(&str) -> bool| order.lines().position(is_it);
    let mut found = Vec::new();
    for (group, folder) in entries(&scenarios) {
        let of_group = rank(&|line| line.split('.').next() == Some(&group));
        let of_group = of_group.or_else(|| rank(&|line| line == "*"));
        for (file, path) in entries(&folder) {
            let Some(name) = file.strip_suffix(".toml") else { continue };
            let id = format!("{group}.{name}");
            let of_file = rank(&|line| line == id).unwrap_or(usize::MAX);
            found.push((of_group, group.clone(), of_file, id, path));
        }
    }
    found.sort();
    let mut code = "&[\n".to_owned();
    for (_, _, _, id, path) in found {
        let (group, name) = id.split_once('.').expect("an id has two parts");
        let file = format!("scenarios/{group}/{name}.toml");
        let path = path.to_str().expect("paths of scenarios are UTF-8");
        writeln!(code, "Builtin {{ id: {id:?}, file: {file:?}, text: include_str!({path:?}) }},")
            .expect("a string");
    }
    code.push_str("]\n");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("builtins.rs"), code).expect("the folder for generated code is writable");
}

/// Returns the name and the path of each entry of a folder; nothing if `folder` is a file.
fn entries(folder: &Path) -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let entries = entries.map(|entry| entry.expect("the scenarios are readable"));
    let named = |entry: fs::DirEntry| Some((entry.file_name().into_string().ok()?, entry.path()));
    entries.filter_map(named).collect()
}
