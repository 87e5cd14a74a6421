//! `cargo xtask site`: builds the documentation as a web site that needs no network, in
//! `target/site/book`.
//!
//! This task collects the pages in `docs/`, the project's other pages and generated pages (help of
//! the commands, the JSON Schema, the Python API), and mdBook builds the site from them. The task
//! replaces links to files of the repository by links to copies of the files, and checks every link
//! and anchor of the site. If `cargo xtask web` has built the lab's page, the site contains this
//! page, and other pages show experiments of the lab in frames.

mod assemble;
mod generated;
mod lab;
mod links;

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

pub(crate) use generated::GENERATED;

use generated::Figures;

/// The release of mdBook that builds the site. If this release is not in `target/mdbook`, the
/// command builds it from source.
const MDBOOK: &str = "0.5.4";

/// Builds the site and checks its links. `--no-python` omits the Python API, for which the package
/// has to be built. `--figures` runs all experiments of the papers and adds their figures;
/// `--figures=NAME,NAME` runs only the named papers or experiments. Finished runs are kept under
/// `target/site`.
pub(crate) fn run(root: &Path, args: &[String]) -> Result<(), String> {
    let (mut with_python, mut figures) = (true, Figures::None);
    for arg in args {
        match (arg.as_str(), arg.strip_prefix("--figures=")) {
            ("--no-python", _) => with_python = false,
            ("--figures", _) => figures = Figures::Of(Vec::new()),
            (_, Some(names)) => {
                figures = Figures::Of(names.split(',').map(str::to_owned).collect());
            }
            (other, None) => {
                return Err(format!(
                    "site: unknown argument `{other}`; there are `--no-python`, `--figures` and \
                     `--figures=NAME,NAME`"
                ));
            }
        }
    }
    let site = crate::target(root).join("site");
    let src = site.join("src");
    if src.exists() {
        fs::remove_dir_all(&src).map_err(|error| format!("{}: {error}", src.display()))?;
    }
    assemble::pages(root, &src)?;
    generated::commands(root, &src)?;
    generated::schema(root, &src)?;
    generated::python_api(root, &src, with_python)?;
    generated::gallery(root, &site, &figures)?;
    for file in ["book.toml", "site.css", "site.js"] {
        copy(&root.join("docs").join(file), &site.join(file))?;
    }

    let mdbook = mdbook(root)?;
    eprintln!("== mdbook build");
    let built = Command::new(mdbook).arg("build").arg(&site).status();
    if !built.map_err(|error| format!("cannot run mdBook: {error}"))?.success() {
        return Err("mdBook failed".to_owned());
    }
    links::check(&site.join("book"))?;
    println!("the site begins at {}", site.join("book/index.html").display());
    Ok(())
}

/// Returns the path of mdBook, and builds the release [`MDBOOK`] if it is missing.
fn mdbook(root: &Path) -> Result<PathBuf, String> {
    let target = crate::target(root);
    let tools = target.join("mdbook");
    let program = tools.join("bin/mdbook");
    let version = Command::new(&program).arg("--version").output();
    let wanted = format!("mdbook v{MDBOOK}");
    if version.is_ok_and(|out| String::from_utf8_lossy(&out.stdout).trim() == wanted) {
        return Ok(program);
    }
    let version = format!("={MDBOOK}");
    let tools = tools.display().to_string();
    let build = target.join("mdbook-build").display().to_string();
    // mdBook is built without optimisation, because it runs for only a second.
    let words = [
        &["install", "mdbook", "--locked", "--debug", "--force", "--version", &version][..],
        &["--no-default-features", "--features", "search", "--root", &tools],
        &["--target-dir", &build],
    ];
    crate::cargo(&words.concat(), &[("CARGO_PROFILE_DEV_DEBUG", "0")])?;
    Ok(program)
}

/// Writes `text` at `path`, and creates missing folders.
fn write(path: &Path, text: impl AsRef<[u8]>) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(path.parent().unwrap_or(path)).map_err(failed)?;
    fs::write(path, text).map_err(failed)
}

/// Copies a file, and creates missing folders.
fn copy(from: &Path, to: &Path) -> Result<(), String> {
    write(to, fs::read(from).map_err(|error| format!("{}: {error}", from.display()))?)
}

/// Returns the path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            other => out.push(other),
        }
    }
    out
}
