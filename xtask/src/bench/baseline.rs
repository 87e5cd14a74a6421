//! The baseline of speed, `results/bench.json`: the cost per packet in each benchmark case, and the
//! compiler of the measured build of bbrlab. `cargo xtask check`, the gate, compares short runs of
//! two benchmark cases with the baseline.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::valgrind::{self, Measured, Tool};

/// The path of the baseline's file, from the project's root.
pub(super) const KEPT: &str = "results/bench.json";

/// Maximum relative difference of instructions per packet from the baseline. On every machine, a
/// compiler generates the same code from the same sources, so only the instructions in the C
/// library differ between machines.
const TOLERANCE: f64 = 0.03;

/// The benchmark cases that the gate measures, with the simulated milliseconds of the shorter of
/// two runs per case. All four runs together take about 10 s.
const SHORT: [(&str, u32); 2] = [("a", 5000), ("b", 250)];

/// The result of comparing instructions per packet with the baseline: all differences are at most
/// [`TOLERANCE`], or at least one is larger. The text lists the benchmark cases with their values.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Within(String),
    Outside(String),
}

/// Returns the compiler's release, commit and target:
/// `1.95.0 (59807616e 2026-04-14) x86_64-unknown-linux-gnu`.
pub(super) fn compiler(root: &Path) -> Result<String, String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc)
        .arg("-vV")
        .current_dir(root)
        .output()
        .map_err(|error| format!("cannot run rustc: {error}"))?;
    let told = String::from_utf8_lossy(&output.stdout);
    named(&told).ok_or_else(|| format!("`rustc -vV` does not name a version and a host:\n{told}"))
}

/// Finds the compiler's release, commit and target in the output of `rustc -vV`.
fn named(told: &str) -> Option<String> {
    let version = told.lines().next()?.strip_prefix("rustc ")?;
    let host = told.lines().find_map(|line| line.strip_prefix("host: "))?;
    Some(format!("{version} {host}"))
}

pub(super) fn read(path: &Path) -> Result<Value, String> {
    let wrong = |reason: String| format!("{}: {reason}", path.display());
    let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let document: Value = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    if document["cases"].is_array() {
        Ok(document)
    } else {
        Err(wrong("no list of `cases`; `cargo xtask bench --bless` writes such a file".to_owned()))
    }
}

/// Compares the speed with the baseline, as a step of the gate. If nothing can be compared, prints
/// the reason in a line that begins with `skipped: speed`.
pub(super) fn gate(root: &Path, binary: &Path) -> Result<(), String> {
    let baseline = read(&root.join(KEPT))?;
    let compiler = compiler(root)?;
    let why_not = if valgrind::is_installed() {
        other_compiler(&baseline, &compiler)
    } else {
        Some(valgrind::MISSING.to_owned())
    };
    if let Some(reason) = why_not {
        eprintln!("skipped: speed is not compared with {KEPT}: {reason}");
        return Ok(());
    }
    match compare(&baseline, &short(binary)?)? {
        Verdict::Within(text) => {
            eprintln!("   {text}");
            Ok(())
        }
        Verdict::Outside(text) => Err(text),
    }
}

/// Returns an error message if the baseline was measured with another compiler, because values of
/// different compilers cannot be compared.
fn other_compiler(baseline: &Value, compiler: &str) -> Option<String> {
    let of = baseline["rustc"].as_str().unwrap_or("an unnamed compiler");
    (of != compiler)
        .then(|| format!("the baseline is from rustc {of}, this compiler is {compiler}"))
}

/// Measures the benchmark cases in [`SHORT`]. Returns a JSON object for each case, with the case's
/// name, the milliseconds of the shorter run and the instructions per packet.
fn short(binary: &Path) -> Result<Vec<Value>, String> {
    let cases = SHORT
        .map(|(name, ms)| Measured { arguments: vec![name.to_owned()], lengths_ms: [ms, 2 * ms] });
    let costs = valgrind::count(binary, &cases, &[Tool::Callgrind])?;
    let figures = SHORT.iter().zip(costs).map(|((name, ms), costs)| {
        let instructions = costs.instructions.map(|count| (count * 10.0).round() / 10.0);
        json!({ "name": name, "short_ms": ms, "instructions_per_packet": instructions })
    });
    Ok(figures.collect())
}

/// Compares the instructions per packet in the gate's runs with the baseline.
fn compare(baseline: &Value, now: &[Value]) -> Result<Verdict, String> {
    let mut lines = Vec::new();
    let mut is_outside = false;
    for run in now {
        let key = |of: &Value| (of["name"].clone(), of["short_ms"].clone());
        let kept = baseline["gate"].as_array().into_iter().flatten();
        let then = kept.clone().find(|kept| key(kept) == key(run));
        let figure = |of: &Value| of["instructions_per_packet"].as_f64();
        let Some((now, then)) = figure(run).zip(then.and_then(figure)) else {
            return Err(format!(
                "{KEPT} has no run of {} with {} ms; `cargo xtask bench --bless` rewrites it",
                run["name"], run["short_ms"]
            ));
        };
        let ratio = now / then;
        is_outside |= (ratio - 1.0).abs() > TOLERANCE;
        let name = run["name"].as_str().unwrap_or_default();
        lines
            .push(format!("{name} {now:.0} instructions per packet, {ratio:.3} of the baseline's"));
    }
    let text = lines.join("; ");
    if !is_outside {
        return Ok(Verdict::Within(text));
    }
    Ok(Verdict::Outside(format!(
        "{text}. This differs by more than {:.0} %: find the cause; if it is intended, run `cargo xtask bench --bless`",
        TOLERANCE * 100.0
    )))
}

/// Measures the cases in [`SHORT`], which the gate (`cargo xtask check`) compares with the
/// baseline. Writes their values and `cases` into the baseline. The values of other cases do not
/// change.
pub(super) fn bless(root: &Path, binary: &Path, cases: &[Value]) -> Result<PathBuf, String> {
    let path = root.join(KEPT);
    let compiler = compiler(root)?;
    let earlier =
        if path.exists() { read(&path)? } else { json!({ "rustc": compiler, "cases": [] }) };
    let gate = short(binary)?;
    let text = blessed(&earlier, cases, &gate, &compiler, &processor())?;
    fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path)
}

/// Returns the new baseline, with one benchmark case per line.
fn blessed(
    earlier: &Value,
    cases: &[Value],
    gate: &[Value],
    compiler: &str,
    processor: &str,
) -> Result<String, String> {
    let before: Vec<&Value> = earlier["cases"].as_array().into_iter().flatten().collect();
    let is_kept = |old: &&Value| cases.iter().all(|case| case["name"] != old["name"]);
    if before.iter().any(is_kept)
        && let Some(reason) = other_compiler(earlier, compiler)
    {
        return Err(format!("{KEPT}: {reason}; name no case, to measure all of them"));
    }
    // Cases remain in their previous order, followed by new cases.
    let mut all: Vec<&Value> = before;
    for case in cases {
        match all.iter_mut().find(|old| old["name"] == case["name"]) {
            Some(old) => *old = case,
            None => all.push(case),
        }
    }
    let lines =
        |of: Vec<&Value>| of.iter().map(|one| format!("    {one}")).collect::<Vec<_>>().join(",\n");
    Ok(format!(
        "{{\n  \"rustc\": {},\n  \"processor\": {},\n  \"gate\": [\n{}\n  ],\n  \"cases\": [\n{}\n  ]\n}}\n",
        json!(compiler),
        json!(processor),
        lines(gate.iter().collect()),
        lines(all)
    ))
}

/// Returns the name of this machine's processor. The JSON documents with results record this name,
/// because seconds on different processors cannot be compared.
pub(super) fn processor() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map_or(std::env::consts::ARCH, |(_, name)| name.trim()).to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Verdict, blessed, compare, named, other_compiler};

    fn run(name: &str, instructions: f64) -> Value {
        json!({ "name": name, "short_ms": 5, "instructions_per_packet": instructions })
    }

    fn baseline() -> Value {
        json!({ "rustc": "1.95.0 x86", "gate": [run("a", 2000.0), run("b", 3000.0)], "cases": [] })
    }

    #[test]
    fn three_percent_are_within_the_tolerance_and_four_are_not() {
        let verdict = compare(&baseline(), &[run("a", 2058.0), run("b", 2911.0)]).unwrap();
        let text = "a 2058 instructions per packet, 1.029 of the baseline's; b 2911 instructions per packet, 0.970 of the baseline's";
        assert_eq!(verdict, Verdict::Within(text.to_owned()));
        for wrong in [2080.0, 1920.0] {
            let verdict = compare(&baseline(), &[run("a", wrong)]).unwrap();
            assert!(matches!(verdict, Verdict::Outside(text) if text.contains("--bless")));
        }
    }

    #[test]
    fn a_run_that_the_baseline_lacks_is_an_error() {
        let error = compare(&baseline(), &[run("c", 1.0)]).unwrap_err();
        assert!(error.contains("no run of \"c\" with 5 ms"), "{error}");
    }

    #[test]
    fn only_the_same_compiler_can_be_compared() {
        let told =
            "rustc 1.95.0 (59807616e 2026-04-14)\nbinary: rustc\nhost: x86_64-unknown-linux-gnu\n";
        let name = named(told).unwrap();
        assert_eq!(name, "1.95.0 (59807616e 2026-04-14) x86_64-unknown-linux-gnu");
        assert_eq!(named("error: no such thing"), None);
        assert_eq!(other_compiler(&baseline(), "1.95.0 x86"), None);
        let reason = other_compiler(&baseline(), "1.96.0 x86").unwrap();
        assert_eq!(reason, "the baseline is from rustc 1.95.0 x86, this compiler is 1.96.0 x86");
    }

    #[test]
    fn blessing_some_cases_keeps_the_others_of_the_same_compiler() {
        let case = |name: &str, n: u32| json!({ "name": name, "data_packets": n });
        let mut earlier = baseline();
        earlier["cases"] = json!([case("a", 1), case("b", 2)]);
        let new = [case("c", 3), case("a", 4)];
        let text = blessed(&earlier, &new, &[run("a", 9.0)], "1.95.0 x86", "p").unwrap();
        let now: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(now["cases"], json!([case("a", 4), case("b", 2), case("c", 3)]));
        assert_eq!((&now["gate"], &now["processor"]), (&json!([run("a", 9.0)]), &json!("p")));
        let error = blessed(&earlier, &new, &[], "1.96.0 x86", "p").unwrap_err();
        assert!(error.contains("all of them"), "{error}");
        let all = [case("b", 5), case("a", 4)];
        assert!(blessed(&earlier, &all, &[], "1.96.0 x86", "p").is_ok());
    }
}
