//! `cargo xtask bench`: prints the table of benchmark cases of `bbrlab bench`, with valgrind's
//! counts and the speed of ns-3.

mod baseline;
mod binary;
pub(crate) mod growth;
mod ns3;
pub(crate) mod overheads;
pub(crate) mod pgo;
pub(crate) mod profile;
mod valgrind;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use self::valgrind::{Measured, Tool};

const USAGE: &str =
    "usage: cargo xtask bench [CASE]… [--repeat N] [--json] [--against FILE] [--bless] [--no-ns3]
  CASE      as in `bbrlab bench`; by default, all except d
  --repeat  processes per case that measure seconds and memory; the fastest counts (default 5)
  --against prints ratios to an earlier document, such as results/bench.json
  --bless   writes the results into results/bench.json
  --no-ns3  leaves out ns-3";

/// The parsed arguments of `cargo xtask bench`.
#[derive(Debug, Default, PartialEq, Eq)]
struct Wanted {
    cases: Vec<String>,
    repeat: Option<String>,
    against: Option<String>,
    json: bool,
    bless: bool,
    no_ns3: bool,
}

impl Wanted {
    fn parse(args: &[String]) -> Result<Self, String> {
        let mut wanted = Self::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let mut value = || {
                let missing = || format!("`{arg}` needs a value\n{USAGE}");
                args.next().cloned().map(Some).ok_or_else(missing)
            };
            match arg.as_str() {
                "--repeat" => wanted.repeat = value()?,
                "--against" => wanted.against = value()?,
                "--json" => wanted.json = true,
                "--bless" => wanted.bless = true,
                "--no-ns3" => wanted.no_ns3 = true,
                flag if flag.starts_with('-') => return Err(format!("no flag `{flag}`\n{USAGE}")),
                case => wanted.cases.push(case.to_owned()),
            }
        }
        Ok(wanted)
    }
}

/// Runs the command.
pub(crate) fn run(root: &Path, args: &[String]) -> Result<(), String> {
    let wanted = Wanted::parse(args)?;
    if let Some(path) = &wanted.against {
        baseline::read(Path::new(path))?;
    }
    let has_valgrind = valgrind::is_installed();
    if wanted.bless && !has_valgrind {
        return Err(format!("nothing to bless: {}", valgrind::MISSING));
    }
    let binary = binary::build(root)?;
    let mut document = timed(&binary, &wanted)?;
    let cases = document["cases"].as_array_mut().ok_or("`bbrlab bench --json` gave no cases")?;
    if has_valgrind {
        eprintln!("counting instructions (callgrind) and misses (cachegrind)");
        fill_in(&binary, cases)?;
    } else {
        eprintln!("instructions and misses are not counted: {}", valgrind::MISSING);
    }
    if !wanted.no_ns3 {
        ns3::fill_in(root, cases)?;
    }
    if wanted.bless {
        let path = baseline::bless(root, &binary, cases)?;
        eprintln!("{} is written; `cargo xtask bless` updates the page", path.display());
    }
    show(root, &binary, &document, &wanted)
}

/// Runs the gate's step that compares the speed with the baseline. The release build must exist.
pub(crate) fn gate(root: &Path) -> Result<(), String> {
    baseline::gate(root, &binary::of_release(root))
}

/// Runs `bbrlab bench --json`, and returns its document, which has the seconds, memory and digest
/// of each case.
fn timed(binary: &Path, wanted: &Wanted) -> Result<Value, String> {
    let mut command = Command::new(binary);
    command.args(["bench", "--json"]).args(&wanted.cases).stderr(Stdio::inherit());
    if let Some(repeat) = &wanted.repeat {
        command.args(["--repeat", repeat]);
    }
    let output = command.output().map_err(|error| format!("{}: {error}", binary.display()))?;
    if !output.status.success() {
        return Err(format!("`bbrlab bench` ended with {}", output.status));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("`bbrlab bench`: {error}"))
}

/// Adds valgrind's counts per packet to the benchmark cases.
fn fill_in(binary: &Path, cases: &mut [Value]) -> Result<(), String> {
    let measured = cases.iter().map(measured).collect::<Result<Vec<_>, _>>()?;
    let costs = valgrind::count(binary, &measured, &[Tool::Callgrind, Tool::Cachegrind])?;
    for (case, costs) in cases.iter_mut().zip(costs) {
        costs.fill_in(case);
    }
    Ok(())
}

/// Converts a benchmark case of the document to the runs that valgrind measures. The case's field
/// `counted_s` has the simulated seconds of the shorter and of the longer run.
fn measured(case: &Value) -> Result<Measured, String> {
    let length = |at: usize| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few 10^5")]
        case["counted_s"][at].as_f64().map(|seconds| (seconds * 1e3).round() as u32)
    };
    let name = case["name"].as_str().ok_or("`bbrlab bench --json` gave a case without a name")?;
    let lengths_ms = length(0).zip(length(1)).map(|(short, long)| [short, long]);
    let lengths_ms = lengths_ms.ok_or_else(|| format!("case {name} has no `counted_s`"))?;
    Ok(Measured { arguments: vec![name.to_owned()], lengths_ms })
}

/// Prints the results with `bbrlab bench --show`, so that only `bbrlab` defines the layout of the
/// table.
fn show(root: &Path, binary: &Path, document: &Value, wanted: &Wanted) -> Result<(), String> {
    let path = root.join("target/bench.json");
    fs::write(&path, document.to_string())
        .map_err(|error| format!("{}: {error}", path.display()))?;
    let mut command = Command::new(binary);
    command.args(["bench", "--show"]).arg(path);
    if let Some(against) = &wanted.against {
        command.args(["--against", against]);
    }
    if wanted.json {
        command.arg("--json");
    }
    let status = command.status().map_err(|error| format!("{}: {error}", binary.display()))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("`bbrlab bench --show` ended with {status}"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Wanted, measured};

    fn parse(words: &str) -> Result<Wanted, String> {
        Wanted::parse(&words.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn arguments_are_understood_or_refused() {
        let wanted = parse("a b --against results/bench.json --json").unwrap();
        assert_eq!((wanted.cases.len(), wanted.json, wanted.bless), (2, true, false));
        assert_eq!(wanted.against.as_deref(), Some("results/bench.json"));
        assert!(parse("--agianst x").unwrap_err().starts_with("no flag `--agianst`"));
        assert!(parse("--against").unwrap_err().starts_with("`--against` needs a value"));
    }

    #[test]
    fn a_case_says_in_which_lengths_it_is_counted() {
        let case = json!({ "name": "c", "counted_s": [0.4, 0.8] });
        assert_eq!(measured(&case).unwrap().lengths_ms, [400, 800]);
        let error = measured(&json!({ "name": "c" })).unwrap_err();
        assert_eq!(error, "case c has no `counted_s`");
    }
}
