//! The program that opens the flows' sockets: C sources that are compiled on first use and kept in
//! the user's cache.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf, absolute};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bbrlab_kernel::{Ended, cache_folder, plain, run_program};
use sha2::{Digest as _, Sha256};

/// The name of the header, the only source that is not in the compiler's command line.
const HEADER: &str = "lab.h";

/// The C sources of this program, each with its name and its text.
const SOURCES: [(&str, &str); 8] = [
    (HEADER, include_str!("../../../adapters/linux/lab.h")),
    ("main.c", include_str!("../../../adapters/linux/main.c")),
    ("host.c", include_str!("../../../adapters/linux/host.c")),
    ("scenario.c", include_str!("../../../adapters/linux/scenario.c")),
    ("traffic.c", include_str!("../../../adapters/linux/traffic.c")),
    ("records.c", include_str!("../../../adapters/linux/records.c")),
    ("capture.c", include_str!("../../../adapters/linux/capture.c")),
    ("qdisc.c", include_str!("../../../adapters/linux/qdisc.c")),
];

/// The file name of the compiled program.
const PROGRAM: &str = "lab";

/// The time limit of a compilation, which usually takes about a second of CPU time.
const LIMIT: Duration = Duration::from_secs(600);

/// Returns the folder of the compiled program, which is named after a hash of the sources.
fn folder() -> Result<PathBuf, String> {
    let mut hash = Sha256::new();
    for (name, text) in SOURCES {
        hash.update(format!("{name}\0{text}\0"));
    }
    let mut name = String::new();
    for byte in &hash.finalize()[..8] {
        write!(name, "{byte:02x}").expect("writing to a string");
    }
    let folder = cache_folder("host").map_err(|error| error.to_string())?.join(name);
    // The path must be absolute, because the compiler and the program are started in other folders.
    absolute(&folder).map_err(|error| failed("find", &folder, &error))
}

/// Returns the path of the compiled program, if the program has been compiled.
#[must_use]
pub fn existing() -> Option<PathBuf> {
    folder().ok().map(|folder| folder.join(PROGRAM)).filter(|program| program.is_file())
}

/// Returns the path of the compiled program, and compiles it if needed; `None` if `stop` returned
/// true meanwhile.
///
/// # Errors
/// Fails if there is no compiler, or the compilation fails.
pub fn program(stop: &dyn Fn() -> bool) -> Result<Option<PathBuf>, String> {
    /// Threads wait here while one thread compiles the C sources.
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(program) = existing() {
        return Ok(Some(program));
    }
    let folder = folder()?;
    let building = folder.with_extension(format!("{}.building", std::process::id()));
    let built = build_in(&building, stop);
    let moved = built.and_then(|is_built| {
        if !is_built {
            return Ok(None);
        }
        match fs::rename(&building, &folder) {
            // If the compiled program exists in spite of an error, another process has compiled it
            // meanwhile.
            Err(error) if !folder.join(PROGRAM).is_file() => Err(failed("write", &folder, &error)),
            _ => Ok(Some(folder.join(PROGRAM))),
        }
    });
    let _ = fs::remove_dir_all(&building);
    moved
}

fn failed(what: &str, path: &Path, error: &io::Error) -> String {
    format!("cannot {what} {}: {}", path.display(), plain(error))
}

/// Returns whether the program was compiled; if not, `stop` returned true.
fn build_in(building: &Path, stop: &dyn Fn() -> bool) -> Result<bool, String> {
    fs::create_dir_all(building).map_err(|error| failed("write", building, &error))?;
    for (name, text) in SOURCES {
        let path = building.join(name);
        fs::write(&path, text).map_err(|error| failed("write", &path, &error))?;
    }
    let log = building.join("log");
    let file = File::create(&log).map_err(|error| failed("write", &log, &error))?;
    let mut command = Command::new("cc");
    command
        .args(["-O2", "-o", PROGRAM])
        .args(SOURCES.map(|(name, _)| name).iter().filter(|&&name| name != HEADER))
        .current_dir(building)
        .env("TMPDIR", building)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(file);
    match run_program(&mut command, Some(LIMIT), true, stop, &mut || {}) {
        Ok(Ended::Exited(status, _)) if status.success() => Ok(true),
        Ok(Ended::Exited(..)) => {
            let text = fs::read_to_string(&log).unwrap_or_default();
            let error = text.lines().find(|line| line.contains("error"));
            let error = error.or_else(|| text.lines().next()).unwrap_or("no message");
            Err(format!("cc cannot compile the program of the back end `host`: {error}"))
        }
        Ok(Ended::Stopped) => Ok(false),
        Ok(Ended::TimedOut) => Err(format!("cc did not end within {} s", LIMIT.as_secs())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(
            "the back end `host` compiles a small program once and needs cc, which is missing; \
             Debian: sudo apt-get install --no-install-recommends gcc libc6-dev"
                .to_owned(),
        ),
        Err(error) => Err(format!("cannot start cc: {}", plain(&error))),
    }
}
