//! Measures ns-3 on the dumbbell of the benchmark cases (`docs/performance.md`, "Cases"), if ns-3
//! is installed: builds and runs `adapters/ns3/dumbbell.cc`.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

const SOURCE: &str = "adapters/ns3/dumbbell.cc";

/// The folder of the libraries of Debian's `libns3-dev`.
const FOLDER: &str = "/usr/lib/x86_64-linux-gnu";

/// The ns-3 libraries that `dumbbell.cc` uses. `THEIRS` are further libraries that the libraries in
/// `NEEDED` need in some versions of ns-3.
const NEEDED: [&str; 5] = ["core", "network", "internet", "point-to-point", "applications"];
const THEIRS: [&str; 4] = ["traffic-control", "bridge", "mpi", "stats"];

/// Benchmark cases, with the arguments of the ns-3 program: rate, RTT in milliseconds,
/// flows, seconds. The runs are shorter than bbrlab's runs, because ns-3 takes about a hundred
/// times as long per packet.
const CASES: [(&str, [&str; 4]); 3] = [
    ("a", ["50Mbps", "30", "1", "30"]),
    ("b", ["1Gbps", "10", "16", "2"]),
    ("c", ["10Gbps", "10", "1000", "0.1"]),
];

/// Adds ns-3's data packets per CPU second to the benchmark cases that ns-3 can run, or prints that
/// ns-3 is not installed.
pub(super) fn fill_in(root: &Path, cases: &mut [Value]) -> Result<(), String> {
    let wanted = |case: &Value| CASES.iter().find(|(name, _)| case["name"] == *name);
    if !cases.iter().any(|case| wanted(case).is_some()) {
        return Ok(());
    }
    let Some(program) = build(root)? else {
        eprintln!(
            "no comparison with ns-3: it is not installed (Debian: `apt install libns3-dev`)"
        );
        return Ok(());
    };
    for case in cases {
        if let Some((name, arguments)) = wanted(case) {
            eprintln!("{name} on ns-3: {} s simulated", arguments[3]);
            let speed = packets_per_cpu_s(&program, arguments)?;
            case["ns3_data_packets_per_cpu_s"] = json!(speed.round());
        }
    }
    Ok(())
}

/// Builds `dumbbell.cc`, and returns the program's path, or `None` if ns-3 is not installed.
fn build(root: &Path) -> Result<Option<PathBuf>, String> {
    let library = |name: &&str| Path::new(FOLDER).join(format!("libns3-{name}.so"));
    if !NEEDED.iter().all(|name| library(name).exists()) {
        return Ok(None);
    }
    let libraries = NEEDED.iter().chain(&THEIRS).map(library).filter(|path| path.exists());
    let program = root.join("target/ns3-dumbbell");
    let output = Command::new("g++")
        .args(["-std=c++17", "-O2", "-DNDEBUG", "-Wl,--allow-shlib-undefined"])
        .arg(root.join(SOURCE))
        .arg("-o")
        .arg(&program)
        .args(libraries)
        .output()
        .map_err(|error| format!("ns-3 is installed, but g++ cannot be run: {error}"))?;
    if output.status.success() {
        return Ok(Some(program));
    }
    Err(format!("{SOURCE}: {}", String::from_utf8_lossy(&output.stderr)))
}

fn packets_per_cpu_s(program: &Path, arguments: &[&str]) -> Result<f64, String> {
    let output = Command::new(program)
        .arg("TcpBbr")
        .args(arguments)
        .output()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    let told = String::from_utf8_lossy(&output.stdout);
    let failed =
        || format!("{SOURCE} {arguments:?}: {told}{}", String::from_utf8_lossy(&output.stderr));
    if !output.status.success() {
        return Err(failed());
    }
    speed(&told).ok_or_else(failed)
}

/// Computes the data packets per CPU second from the output of `dumbbell.cc`.
fn speed(told: &str) -> Option<f64> {
    let (packets, seconds) = told.trim().split_once(' ')?;
    let (packets, seconds): (f64, f64) = (packets.parse().ok()?, seconds.parse().ok()?);
    (packets > 0.0 && seconds > 0.0).then_some(packets / seconds)
}

#[cfg(test)]
mod tests {
    use super::speed;

    #[test]
    fn the_programs_line_is_packets_and_seconds() {
        assert_eq!(speed("124000 4.0\n"), Some(31_000.0));
        for wrong in ["", "124000", "0 1.0", "1 0", "a b"] {
            assert_eq!(speed(wrong), None, "{wrong}");
        }
    }
}
