//! Writes the list of papers as Rust code, one paper for each file in `papers/study/`. The list has
//! each paper's data file and, if `src/metrics/` has a file with the paper's name, its formulas.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    let manifest = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let papers = manifest.join("../../papers").canonicalize().expect("the folder exists");
    let (studies, metrics) = (papers.join("study"), manifest.join("src/metrics"));
    for path in [&manifest.join("build.rs"), &studies, &metrics] {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    let entries = fs::read_dir(&studies).expect("the papers are readable");
    let files = entries.map(|entry| entry.expect("the papers are readable").file_name());
    let mut files: Vec<String> = files.filter_map(|file| file.into_string().ok()).collect();
    files.sort();
    let (mut modules, mut list) = (String::new(), String::new());
    for file in files {
        let Some(key) = file.strip_suffix(".toml") else { continue };
        let path = |folder: &Path, file: &str| folder.join(file).display().to_string();
        let module = path(&metrics, &format!("{key}.rs"));
        let formulas = if Path::new(&module).is_file() {
            writeln!(modules, "#[path = {module:?}]\nmod {key};").expect("a string");
            format!("{key}::FORMULAS")
        } else {
            "Formulas::NONE".to_owned()
        };
        let (text, study) = (path(&papers, &file), path(&studies, &file));
        writeln!(
            list,
            "PaperFiles {{ key: {key:?}, text: include_str!({text:?}), \
             study: include_str!({study:?}), formulas: {formulas} }},"
        )
        .expect("a string");
    }
    let code = format!("{modules}\npub(super) const PAPERS: &[PaperFiles] = &[\n{list}];\n");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("papers.rs"), code).expect("the folder for generated code is writable");
}
