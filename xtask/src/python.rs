//! The Python package: built and tested in an environment of its own under `target/`, with the packages that
//! `python/requirements.txt` names. Where there is no Python, or the packages cannot be had, that is said and counted.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the tests need.
const REQUIREMENTS: &str = "python/requirements.txt";

/// Python 3.10 or newer with what makes environments.
const IS_USABLE: &str = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))";

/// Builds the package, then runs its tests and the checks of its types.
pub(crate) fn check(root: &Path) -> Result<(), String> {
    if !Command::new("python3")
        .args(["-c", IS_USABLE])
        .output()
        .is_ok_and(|out| out.status.success())
    {
        println!("skipped: no Python 3.10 with venv");
        return Ok(());
    }
    let Some(env) = environment(root)? else {
        println!("skipped: no packages of {REQUIREMENTS}");
        return Ok(());
    };
    let python = root.join("python");
    run(&env, &python, &["maturin", "develop", "--quiet", "--profile", "dev"])?;
    run(&env, &python, &["python", "-m", "pytest", "--quiet"])?;
    run(&env, &python, &["python", "-m", "mypy"])?;
    run(
        &env,
        &python,
        &["python", "-m", "mypy.stubtest", "bbrlab._bbrlab", "--ignore-missing-stub"],
    )
}

/// The environment with the packages in it; `None` if they cannot be installed.
fn environment(root: &Path) -> Result<Option<PathBuf>, String> {
    let wanted = fs::read_to_string(root.join(REQUIREMENTS))
        .map_err(|error| format!("{REQUIREMENTS}: {error}"))?;
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let env = target.join("python-env");
    let mark = env.join("requirements.txt");
    if fs::read_to_string(&mark).is_ok_and(|there| there == wanted) {
        return Ok(Some(env));
    }
    let made = Command::new("python3").args(["-m", "venv", "--clear"]).arg(&env).status();
    if !made.is_ok_and(|status| status.success()) {
        return Ok(None);
    }
    let words = [
        "python",
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "-r",
        REQUIREMENTS,
    ];
    if run(&env, root, &words).is_err() {
        return Ok(None);
    }
    fs::write(&mark, wanted).map_err(|error| format!("{}: {error}", mark.display()))?;
    Ok(Some(env))
}

/// Runs a program of the environment.
fn run(env: &Path, dir: &Path, words: &[&str]) -> Result<(), String> {
    eprintln!("== {}", words.join(" "));
    let bin = env.join("bin");
    let mut path = vec![bin.clone()];
    path.extend(env::var_os("PATH").iter().flat_map(env::split_paths));
    let path = env::join_paths(path).map_err(|error| error.to_string())?;
    let status = Command::new(bin.join(words[0]))
        .args(&words[1..])
        .current_dir(dir)
        .env("VIRTUAL_ENV", env)
        .env("PATH", path)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .status()
        .map_err(|error| format!("cannot run {}: {error}", words[0]))?;
    if status.success() { Ok(()) } else { Err(format!("`{}` failed", words.join(" "))) }
}
