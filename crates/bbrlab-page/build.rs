//! Lists the files of the lab's built page, `web/dist`, and the script of reports,
//! `web/dist-report`, so that the program contains them. If the page is not built, the program
//! contains no files, and prints how to build the page.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    // `cargo xtask web` touches this file, so that cargo runs this script again after the first
    // build of the page.
    println!("cargo::rerun-if-changed=build.rs");
    let manifest = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let dist = manifest.join("../../web/dist");
    let mut files = Vec::new();
    if dist.join("index.html").is_file() {
        println!("cargo::rerun-if-changed={}", dist.display());
        collect(&dist, "", &mut files);
    }
    files.sort();
    let mut code = "pub(crate) static FILES: &[(&str, &[u8])] = &[\n".to_owned();
    for (name, path) in files {
        let path = path.to_str().expect("paths of the page are UTF-8");
        writeln!(code, "    ({name:?}, include_bytes!({path:?})),").expect("a string");
    }
    code.push_str("];\n");
    let report = manifest.join("../../web/dist-report");
    let parts = ["report.js", "report.css"].map(|name| report.join(name));
    let doc = "/// The script and the style of the page of `bbrlab report`; `None` if they were not built.";
    writeln!(code, "{doc}\npub static REPORT: Option<(&str, &str)> =").expect("a string");
    if parts.iter().all(|part| part.is_file()) {
        println!("cargo::rerun-if-changed={}", report.display());
        let [script, style] = parts.map(|part| fs::canonicalize(part).expect("the file exists"));
        let (script, style) = (script.display().to_string(), style.display().to_string());
        writeln!(code, "    Some((include_str!({script:?}), include_str!({style:?})));")
    } else {
        writeln!(code, "    None;")
    }
    .expect("a string");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("files.rs"), code).expect("the folder for generated code is writable");
}

/// Collects the files in a folder and below it. Adds a pair to `files` for each file: the file's
/// path in the URL of the lab's page, and its absolute path.
fn collect(folder: &Path, prefix: &str, files: &mut Vec<(String, PathBuf)>) {
    for entry in fs::read_dir(folder).expect("the built page is readable") {
        let path = entry.expect("the built page is readable").path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .expect("names of the page's files are UTF-8");
        let name = format!("{prefix}{name}");
        if path.is_dir() {
            collect(&path, &format!("{name}/"), files);
        } else {
            files.push((name, fs::canonicalize(&path).expect("the file exists")));
        }
    }
}
