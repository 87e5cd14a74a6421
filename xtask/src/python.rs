//! Checks the Python package. The package is built and tested in a virtual environment under
//! `target/`, with the packages in `python/requirements.txt`. After the tests, the package is
//! installed into an empty environment, as a user would do. If Python or the packages are
//! unavailable, prints a line that begins with `skipped:`.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::checked;

/// The packages that the tests need.
const REQUIREMENTS: &str = "python/requirements.txt";

/// A Python program that succeeds if Python is 3.10 or newer and has the modules for virtual
/// environments.
const IS_USABLE: &str = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))";

/// Builds the package, then runs its tests and type checks.
pub(crate) fn check(root: &Path) -> Result<(), String> {
    if !Command::new("python3")
        .args(["-c", IS_USABLE])
        .output()
        .is_ok_and(|out| out.status.success())
    {
        println!("skipped: no Python 3.10 or newer with venv");
        return Ok(());
    }
    let Some(env) = environment(root)? else {
        println!("skipped: the packages in {REQUIREMENTS} cannot be installed");
        return Ok(());
    };
    let python = root.join("python");
    let settings = checked::settings(root)?;
    let settings = settings.each_ref().map(String::as_str);
    run(&env, &python, &[&["maturin", "develop", "--quiet"][..], &settings].concat())?;
    run(&env, &python, &["python", "-m", "pytest", "--quiet"])?;
    run(&env, &python, &["python", "-m", "mypy"])?;
    run(
        &env,
        &python,
        &[
            &["python", "-m", "mypy.stubtest", "bbrlab._bbrlab", "--ignore-missing-stub"][..],
            &["--mypy-config-file", "stubtest.ini"],
        ]
        .concat(),
    )?;
    installed(root)
}

/// Installs the package into the virtual environment, runs the program `words` in this environment,
/// and returns the program's output. Returns `None` if the environment's packages cannot be
/// installed.
pub(crate) fn output(root: &Path, words: &[&str]) -> Result<Option<String>, String> {
    let Some(env) = environment(root)? else { return Ok(None) };
    let python = root.join("python");
    run(&env, &python, &["maturin", "develop", "--quiet", "--release"])?;
    eprintln!("== {}", words.join(" "));
    let out = Command::new(env.join("bin").join(words[0]))
        .args(&words[1..])
        .current_dir(&python)
        .output()
        .map_err(|error| format!("cannot run {}: {error}", words[0]))?;
    if !out.status.success() {
        return Err(String::from_utf8_lossy(&out.stderr).into_owned());
    }
    String::from_utf8(out.stdout).map(Some).map_err(|error| error.to_string())
}

/// The packages that installing `bbrlab` needs. The README's first example also needs
/// `FOR_THE_EXAMPLE`.
const TO_INSTALL: [&str; 2] = ["maturin>=1.9,<2", "numpy"];
const FOR_THE_EXAMPLE: &str = "matplotlib";

/// Follows the README in an empty environment. Installs the package with only Rust and the packages
/// that the README names, and runs the README's lines, which write a plot.
fn installed(root: &Path) -> Result<(), String> {
    let target = crate::target(root);
    let packages = target.join("python-packages");
    let env = target.join("python-empty");
    let work = target.join("python-first-run");
    let failed = |path: &Path| {
        let path = path.display().to_string();
        move |error: std::io::Error| format!("{path}: {error}")
    };
    for folder in [&env, &work] {
        if folder.exists() {
            fs::remove_dir_all(folder).map_err(failed(folder))?;
        }
    }
    fs::create_dir_all(&work).map_err(failed(&work))?;
    new_environment(&env)?;
    let at = packages.display().to_string();
    let pip = ["python", "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-cache-dir"];
    let wanted = [&pip[..], &["download", "--dest", &at], &TO_INSTALL, &[FOR_THE_EXAMPLE]].concat();
    if run(&env, root, &wanted).is_err() {
        println!("skipped: cannot download the packages that ./python and its example need");
        return Ok(());
    }
    // The commands are the README's commands, except for the settings, which reuse the build of the
    // tests.
    let from = ["--no-index", "--find-links", &at];
    let settings = format!("--config-settings=build-args={}", checked::settings(root)?.join(" "));
    run(&env, root, &[&pip[..], &["install", &settings, "./python"], &from].concat())?;
    run(&env, &work, &["bbrlab", "--version"])?;
    run(&env, &work, &["python", "-c", "import bbrlab; print(bbrlab.run('examples.dumbbell'))"])?;
    run(&env, root, &[&pip[..], &["install", FOR_THE_EXAMPLE], &from].concat())?;
    let example = root.join("python/examples/first_run.py");
    run(&env, &work, &["python", &example.display().to_string()])?;
    let picture = work.join("share.png");
    let bytes = fs::metadata(&picture).map_err(failed(&picture))?.len();
    if bytes < 10_000 {
        return Err(format!(
            "{}: expected a picture of at least 10000 bytes, found {bytes} bytes",
            picture.display()
        ));
    }
    Ok(())
}

/// Returns the virtual environment with the packages of `REQUIREMENTS`, or `None` if they cannot be
/// installed.
fn environment(root: &Path) -> Result<Option<PathBuf>, String> {
    let wanted = fs::read_to_string(root.join(REQUIREMENTS))
        .map_err(|error| format!("{REQUIREMENTS}: {error}"))?;
    let env = crate::target(root).join("python-env");
    let mark = env.join("requirements.txt");
    if fs::read_to_string(&mark).is_ok_and(|there| there == wanted) {
        return Ok(Some(env));
    }
    if new_environment(&env).is_err() {
        return Ok(None);
    }
    let words = [
        "python",
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        // The installed files remain in `target/`, so a second copy in a cache would only fill a
        // small disk.
        "--no-cache-dir",
        // Python compiles a module when a test imports it, and most modules are never imported.
        "--no-compile",
        "-r",
        REQUIREMENTS,
    ];
    if run(&env, root, &words).is_err() {
        return Ok(None);
    }
    fs::write(&mark, wanted).map_err(|error| format!("{}: {error}", mark.display()))?;
    Ok(Some(env))
}

/// Creates a virtual environment that contains only pip.
fn new_environment(env: &Path) -> Result<(), String> {
    let made = Command::new("python3").args(["-m", "venv", "--clear"]).arg(env).status();
    if made.is_ok_and(|status| status.success()) {
        return Ok(());
    }
    Err(format!("cannot make the environment {}", env.display()))
}

/// Runs a program of the virtual environment.
fn run(env: &Path, dir: &Path, words: &[&str]) -> Result<(), String> {
    let bin = env.join("bin");
    let mut path = vec![bin.clone()];
    path.extend(env::var_os("PATH").iter().flat_map(env::split_paths));
    let path = env::join_paths(path).map_err(|error| error.to_string())?;
    crate::step(&words.join(" "), || {
        let status = Command::new(bin.join(words[0]))
            .args(&words[1..])
            .current_dir(dir)
            .env("VIRTUAL_ENV", env)
            .env("PATH", path)
            .env("PYTHONPYCACHEPREFIX", env.join("compiled"))
            .status()
            .map_err(|error| format!("cannot run {}: {error}", words[0]))?;
        if status.success() { Ok(()) } else { Err("failed".to_owned()) }
    })
}
