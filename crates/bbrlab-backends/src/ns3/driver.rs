//! The driver: our C++ program for ns-3, which is compiled on first use against the chosen
//! installation and kept in the user's cache.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bbrlab_kernel::{Ended, cache_folder, run_program};
use sha2::{Digest as _, Sha256};

use super::installations::Ns3Installation;
use crate::error::{LabError, plain};
use crate::stop::Stop;

/// The driver's sources: name and text.
const SOURCES: [(&str, &str); 5] = [
    ("main.cc", include_str!("../../../../adapters/ns3/backend/main.cc")),
    ("plan.h", include_str!("../../../../adapters/ns3/backend/plan.h")),
    ("figures.h", include_str!("../../../../adapters/ns3/backend/figures.h")),
    ("wire.h", include_str!("../../../../adapters/ns3/backend/wire.h")),
    ("flow.h", include_str!("../../../../adapters/ns3/backend/flow.h")),
];

/// The name of the driver's file.
const PROGRAM: &str = "driver";

/// The libraries of ns-3 that the driver uses.
const LIBRARIES: [&str; 7] =
    ["core", "network", "internet", "point-to-point", "traffic-control", "bridge", "stats"];

/// The first release whose headers need C++20: 3.42.
const CXX20_SINCE: u32 = 42;

/// A compilation is stopped after this time; it usually takes about 15 s of CPU time.
const LIMIT: Duration = Duration::from_secs(1800);

/// Returns the compiler's options: all arguments except the source file, the driver's name and the
/// libraries of ns-3.
fn arguments(ns3: &Ns3Installation) -> Vec<String> {
    let standard = if ns3.release() >= CXX20_SINCE { "c++20" } else { "c++17" };
    let mut all = vec![format!("-std={standard}"), "-O2".to_owned()];
    all.push(format!("-I{}", ns3.include.display()));
    all.push("-Wl,--allow-shlib-undefined,--disable-new-dtags".to_owned());
    all.push(format!("-Wl,-rpath,{}", ns3.libraries.display()));
    all.push("-ldl".to_owned());
    all
}

fn libraries(ns3: &Ns3Installation) -> impl Iterator<Item = PathBuf> + '_ {
    LIBRARIES.iter().map(|name| ns3.libraries.join(format!("{}{name}.so", ns3.prefix)))
}

/// Returns the folder of the driver. The folder's name is a hash of the driver's sources, of the
/// version of ns-3 and of the compiler's options.
fn folder(ns3: &Ns3Installation) -> Result<PathBuf, LabError> {
    let mut hash = Sha256::new();
    for (name, text) in SOURCES {
        hash.update(format!("{name}\0{text}\0"));
    }
    hash.update(format!("{}\0{}\0", ns3.version, arguments(ns3).join("\0")));
    let cache = cache_folder("ns3").map_err(|error| LabError::Usage(error.to_string()))?;
    Ok(cache.join(&format!("{:x}", hash.finalize())[..16]))
}

/// Returns the driver for the installation `ns3`; `None` if this driver has not been compiled yet.
pub(super) fn existing(ns3: &Ns3Installation) -> Option<PathBuf> {
    folder(ns3).ok().map(|folder| folder.join(PROGRAM)).filter(|program| program.is_file())
}

/// Returns the driver for the installation `ns3`. Compiles the driver if this has not been done
/// yet.
///
/// # Errors
/// Fails if there is no compiler, the compilation fails, or the user requests a stop.
pub(super) fn driver(ns3: &Ns3Installation, stop: &Stop) -> Result<PathBuf, LabError> {
    /// Threads wait here while one thread compiles the driver.
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(program) = existing(ns3) {
        return Ok(program);
    }
    let folder = folder(ns3)?;
    let building = folder.with_extension(format!("{}.building", std::process::id()));
    let built = build_in(&building, ns3, stop);
    let moved = built.and_then(|()| match fs::rename(&building, &folder) {
        // Another process has compiled the driver in the meantime and created this folder.
        Err(_) if folder.join(PROGRAM).is_file() => Ok(()),
        other => other.map_err(|error| LabError::io("write", &folder, &error)),
    });
    let _ = fs::remove_dir_all(&building);
    moved.map(|()| folder.join(PROGRAM))
}

fn build_in(building: &Path, ns3: &Ns3Installation, stop: &Stop) -> Result<(), LabError> {
    let io = |path: &Path, error: &io::Error| LabError::io("write", path, error);
    fs::create_dir_all(building).map_err(|error| io(building, &error))?;
    for (name, text) in SOURCES {
        let path = building.join(name);
        fs::write(&path, text).map_err(|error| io(&path, &error))?;
    }
    for library in libraries(ns3) {
        if !library.is_file() {
            return Err(LabError::Usage(format!(
                "ns-3 {}: the library {} is missing",
                ns3.version,
                library.display()
            )));
        }
    }
    let log = building.join("log");
    let file = fs::File::create(&log).map_err(|error| io(&log, &error))?;
    let out = file.try_clone().map_err(|error| io(&log, &error))?;
    let mut command = Command::new("g++");
    command
        .arg("main.cc")
        .args(["-o", PROGRAM])
        .args(arguments(ns3))
        .args(libraries(ns3))
        .current_dir(building)
        .env("TMPDIR", building)
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(file);
    let ended = run_program(&mut command, Some(LIMIT), true, &|| stop.is_requested(), &mut || {});
    match ended {
        Ok(Ended::Exited(status, _)) if status.success() => Ok(()),
        Ok(Ended::Exited(..)) => Err(LabError::Failed(complaint(&log, ns3))),
        Ok(Ended::Stopped) => Err(LabError::Interrupted("interrupted while compiling".to_owned())),
        Ok(Ended::TimedOut) => Err(LabError::Failed(format!(
            "g++ did not end within {} s while it compiled the driver for ns-3",
            LIMIT.as_secs()
        ))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(LabError::Usage(
            "the back end ns3 compiles a small program once and needs g++, which is missing; \
             Debian: sudo apt-get install --no-install-recommends g++"
                .to_owned(),
        )),
        Err(error) => Err(LabError::Failed(format!("cannot start g++: {}", plain(&error)))),
    }
}

/// Returns a message with the compiler's first error.
fn complaint(log: &Path, ns3: &Ns3Installation) -> String {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let is_error = |line: &&str| line.contains("error") || line.contains("undefined reference");
    let first = text.lines().find(is_error).or_else(|| text.lines().next()).unwrap_or("");
    let first: String = first.chars().take(300).collect();
    format!("g++ cannot compile the driver for ns-3 {}: {first}", ns3.version)
}
