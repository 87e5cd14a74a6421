//! `bbrlab bench`: measures the simulator's speed on fixed scenarios, the benchmark cases, and
//! prints a table. Every case runs in its own processes, so that the peak memory of the case can be
//! measured. `cargo xtask bench` counts instructions and cache misses per packet, and calls `bbrlab
//! bench --show` to print a table with these counts.

mod document;

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use bbrlab_lab::{BENCH_CASES, BenchCase, BenchResult, LabError, bench_case, refuse_second_stdin};
use bbrlab_report::{Align, Table, count, figure, fixed};

use self::document::{Document, Ratios, check_counts, check_shared, ratios, read, the_cases};
use crate::args::{BenchArgs, BenchCaseArgs};
use crate::output::{Output, Stopped, Verdict};

pub(crate) fn bench(args: &BenchArgs, output: &mut Output) -> Verdict {
    // The files are read before the measurements, which take minutes, so that a user learns of a
    // wrong file at once.
    let files = [&args.show, &args.against].into_iter().flatten();
    refuse_second_stdin(&files.map(|path| path.display().to_string()).collect::<Vec<_>>())?;
    let cases = chosen(args)?;
    let shown = args.show.as_deref().map(|path| shown(path, args)).transpose()?;
    let earlier = args.against.as_deref().map(read).transpose()?;
    let names: Vec<&str> = match &shown {
        Some(document) => document.cases.iter().map(|case| case.name.as_str()).collect(),
        None => cases.iter().map(|case| case.name).collect(),
    };
    let mut not_compared = Vec::new();
    if let (Some(path), Some(earlier)) = (&args.against, &earlier) {
        check_shared(path, earlier, &names)?;
        let has = |name: &&str| earlier.cases.iter().any(|case| case.name == *name);
        not_compared.extend(names.iter().filter(|name| !has(name)).map(|&name| name.to_owned()));
        if !not_compared.is_empty() && !args.quiet {
            let (path, left) = (path.display(), not_compared.join(", "));
            output.note(&format!(
                "{path} does not contain these cases, so they are not compared: {left}"
            ));
        }
    }
    let mut document = match shown {
        Some(document) => document,
        None => Document::of(measure(&cases, args, output)?),
    };
    if let (Some(path), Some(earlier)) = (&args.against, &earlier) {
        check_counts(path, &document.cases, earlier)?;
        document.ratios = ratios(&document.cases, &earlier.cases);
        document.against = Some(earlier.origin.clone());
        document.not_compared = not_compared;
    }
    if args.json {
        output.json(&document)?;
    } else {
        output.text(&format!("{}\n\n", document.origin.describe()))?;
        output.text(&describe(&document.cases))?;
    }
    let (Some(path), Some(earlier)) = (&args.against, &earlier) else { return Ok(()) };
    if !args.json {
        let (path, origin) = (path.display(), earlier.origin.describe());
        output.text(&format!(
            "\nRatios of the values above to the values in {path} ({origin})\n\n"
        ))?;
        output.text(&describe_ratios(&document.ratios))?;
    }
    if let Some(told) = document.origin.other_machine(&earlier.origin)
        && !args.quiet
    {
        output.note(&told);
    }
    let others = document.ratios.iter().filter(|of| !of.same_digest);
    let others: Vec<String> = others.map(|of| other_digest(of, &document)).collect();
    if others.is_empty() {
        return Ok(());
    }
    let (path, others) = (path.display(), others.join("; "));
    Err(LabError::Failed(format!("the results differ from {path}: {others}")).into())
}

/// Returns the line about a benchmark case whose digest differs from the digest in the document of
/// `--against`, such as `a: expected the digest 0123456789abcdef, found 2c67afc55edbf284`.
fn other_digest(of: &Ratios, document: &Document) -> String {
    let case = document.cases.iter().find(|case| case.name == of.name);
    let found = case.map_or("none", |case| case.digest.as_str());
    format!("{}: expected the digest {}, found {found}", of.name, of.earlier_digest)
}

/// Returns the benchmark cases that the user named, or the default cases.
fn chosen(args: &BenchArgs) -> Result<Vec<&'static BenchCase>, LabError> {
    if args.cases.is_empty() {
        return Ok(BENCH_CASES.iter().filter(|case| case.is_default).collect());
    }
    if let Some(name) = (1..args.cases.len())
        .map(|at| (&args.cases[at], &args.cases[..at]))
        .find_map(|(name, before)| before.contains(name).then_some(name))
    {
        return Err(LabError::Usage(format!(
            "`{name}`: expected each case once, found it again; --repeat N measures each case N times"
        )));
    }
    let case = |name: &String| match bench_case(name) {
        Err(_) if Path::new(name).is_file() => Err(LabError::Usage(format!(
            "`{name}`: expected a case, found a file; --show FILE prints its values"
        ))),
        case => case,
    };
    args.cases.iter().map(case).collect()
}

/// Returns the document in a file, reduced to the benchmark cases that the user named; with all
/// cases if the user named none.
fn shown(path: &Path, args: &BenchArgs) -> Result<Document, LabError> {
    let mut document = read(path)?;
    if args.cases.is_empty() {
        return Ok(document);
    }
    let mut rest = std::mem::take(&mut document.cases);
    for name in &args.cases {
        let Some(at) = rest.iter().position(|case| case.name == *name) else {
            rest.append(&mut document.cases);
            let has: Vec<&str> = rest.iter().map(|case| case.name.as_str()).collect();
            let (path, has) = (path.display(), the_cases(&has));
            return Err(LabError::Usage(format!(
                "--show {path}: expected the case {name}, found {has}"
            )));
        };
        document.cases.push(rest.remove(at));
    }
    Ok(document)
}

fn measure(
    cases: &[&BenchCase],
    args: &BenchArgs,
    output: &mut Output,
) -> Result<Vec<BenchResult>, Stopped> {
    if cfg!(debug_assertions) && !args.quiet {
        output.note("this is a debug build: its speed means nothing; build with --release");
    }
    let mut results = Vec::new();
    for case in cases {
        if !args.quiet {
            let sim_s = f64::from(case.duration_ms) / 1e3;
            output.note(&format!("{}: {} ({sim_s} s simulated)", case.name, case.title()));
        }
        let again = output.again();
        let mut all = (0..args.repeat)
            .map(|_| in_a_process(case, again))
            .collect::<Result<Vec<BenchResult>, Stopped>>()?;
        all.sort_by(|a, b| a.cpu_s.total_cmp(&b.cpu_s));
        let of_all: Vec<f64> = all.iter().map(|result| result.cpu_s).collect();
        // Other programs can only make a process slower, so the fastest process gives a case's
        // result.
        let mut best = all.swap_remove(0);
        best.cpu_s_of_all = if of_all.len() > 1 { of_all } else { Vec::new() };
        results.push(best);
    }
    Ok(results)
}

/// Runs one benchmark case in this process: the hidden command `bench-case`. For each measurement,
/// `bench` and `cargo xtask bench` start `bbrlab bench-case` as a new process.
pub(crate) fn one(args: &BenchCaseArgs, output: &mut Output) -> Verdict {
    let case = bench_case(&args.case)?.with_size(args.flows, args.rate.clone());
    let case = case.with_series(args.sample.clone());
    let result = case.run(args.duration_ms.unwrap_or(case.duration_ms), args.out.as_deref())?;
    output.json(&result)
}

fn describe(results: &[BenchResult]) -> String {
    let mut table = Table::new()
        .column("case", "", Align::Left)
        .column("simulated", "s", Align::Right)
        .column("data packets", "", Align::Right)
        .column("events", "", Align::Right)
        .column("CPU", "s", Align::Right)
        .column("speed", "Mpkt/CPU s", Align::Right)
        .column("noise", "%", Align::Right)
        .column("instructions", "per pkt", Align::Right)
        .column("L1 misses", "per pkt", Align::Right)
        .column("L2 misses", "per pkt", Align::Right)
        .column("memory", "MB", Align::Right)
        .column("digest", "", Align::Left)
        .column("ns-3", "Mpkt/CPU s", Align::Right)
        .column("times ns-3", "", Align::Right);
    for result in results {
        #[expect(clippy::cast_precision_loss, reason = "memory is shown rounded, in MB")]
        let memory = result.peak_rss_bytes.map(|bytes| bytes as f64 / 1e6);
        let ns3 = result.ns3_data_packets_per_cpu_s;
        table.row(vec![
            result.name.clone(),
            figure(result.sim_s),
            count(result.data_packets),
            count(result.events),
            fixed(result.cpu_s, 4),
            fixed(result.data_packets_per_cpu_s / 1e6, 2),
            fixed(result.noise().map(|noise| noise * 100.0), 0),
            fixed(result.instructions_per_packet, 0),
            fixed(result.l1_misses_per_packet, 2),
            fixed(result.l2_misses_per_packet, 2),
            fixed(memory, 1),
            result.digest.clone(),
            fixed(ns3.map(|speed| speed / 1e6), 4),
            fixed(ns3.map(|speed| result.data_packets_per_cpu_s / speed), 0),
        ]);
    }
    table.without_empty_columns().render_in(None)
}

fn describe_ratios(ratios: &[Ratios]) -> String {
    let mut table = Table::new()
        .column("case", "", Align::Left)
        .column("speed", "more is better", Align::Right)
        .column("noise", "%", Align::Right)
        .column("instructions", "less is better", Align::Right)
        .column("L1 misses", "less is better", Align::Right)
        .column("L2 misses", "less is better", Align::Right)
        .column("memory", "less is better", Align::Right)
        .column("digest", "", Align::Left);
    for of in ratios {
        table.row(vec![
            of.name.clone(),
            fixed(of.data_packets_per_cpu_s, 2),
            fixed(of.noise.map(|noise| noise * 100.0), 0),
            fixed(of.instructions_per_packet, 3),
            fixed(of.l1_misses_per_packet, 2),
            fixed(of.l2_misses_per_packet, 2),
            fixed(of.peak_rss_bytes, 2),
            if of.same_digest { "same" } else { "different" }.to_owned(),
        ]);
    }
    table.without_empty_columns().render_in(None)
}

fn in_a_process(case: &BenchCase, again: &[OsString]) -> Result<BenchResult, Stopped> {
    let failed =
        |reason: String| Stopped::Lab(LabError::Failed(format!("case {}: {reason}", case.name)));
    let Some((program, words)) = again.split_first() else {
        return Err(failed("`bench` measures only if it is called from a command line".to_owned()));
    };
    let output = Command::new(program)
        .args(words)
        .args(["bench-case", case.name])
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| failed(bbrlab_lab::plain(&error)))?;
    if !output.status.success() {
        return Err(failed(format!("ended with {}", output.status)));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| failed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::describe;
    use super::document::tests::result;

    #[test]
    fn ns3_has_columns_where_it_was_run() {
        let mut results = [result("a", None, "1"), result("b", None, "2")];
        assert!(!describe(&results).contains("ns-3"));
        results[0].ns3_data_packets_per_cpu_s = Some(40_000.0);
        let text = describe(&results);
        assert!(text.contains("ns-3") && text.contains("0.0400") && text.contains("100"), "{text}");
    }

    #[test]
    fn what_was_not_counted_has_no_columns() {
        let mut results = [result("a", None, "1"), result("b", None, "2")];
        results[0].l2_misses_per_packet = None;
        let text = describe(&results);
        assert!(!text.contains("instructions") && !text.contains("misses"), "{text}");
        results[1].instructions_per_packet = Some(1540.0);
        let text = describe(&results);
        assert!(text.contains("instructions") && text.contains('–'), "{text}");
    }
}
