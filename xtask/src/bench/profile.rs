//! `cargo xtask profile CASE`: prints the instructions per packet by group of source files and by
//! file.
//!
//! As in `cargo xtask bench`, callgrind counts the instructions of two runs, the second one twice
//! as long. The difference between the counts is divided by the additional data packets. The
//! instructions of an inlined function count for the file that defines it; but if the standard
//! library defines it, they count for the file into which it was inlined.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::binary;
use super::valgrind;

const USAGE: &str = "usage: cargo xtask profile [CASE] [MS], for example `profile a 10000`\n\
     makes two runs of CASE, one of MS simulated milliseconds and one twice as long";

/// Simulated milliseconds of the shorter of two runs, by the first letter of the benchmark case.
const SHORT_MS: [(char, u32); 4] = [('a', 10_000), ('b', 1000), ('c', 400), ('d', 500)];

/// Number of files in the printed list, which begins with the most expensive file.
const LISTED: usize = 40;

/// Groups of source files, with the beginnings of their paths. In this list, a path begins with the
/// crate's name without `bbrlab-`. A file belongs to the first group that has the beginning of its
/// path.
const GROUPS: &[(&str, &[&str])] = &[
    ("heap, keys, timer table", &["events/src/"]),
    ("lanes, rings, packets", &["net/src/lane.rs", "net/src/chunks.rs", "net/src/packet.rs"]),
    ("digest", &["net/src/digest.rs"]),
    (
        "link: queue length, delay histogram",
        &["net/src/link/queue_length.rs", "net/src/link/delay_histogram.rs"],
    ),
    (
        "link: admission, departure times, counts, forwarding",
        &["net/src/link/", "net/src/accounts.rs"],
    ),
    ("meter", &["sim/src/meter.rs", "sim/src/histogram.rs", "sim/src/series.rs"]),
    (
        "send buffer, application, limits",
        &[
            "sim/src/app.rs",
            "tcp/src/sender/app.rs",
            "tcp/src/sender/sndbuf.rs",
            "tcp/src/sender/limits.rs",
        ],
    ),
    ("dispatch, glue of sim", &["net/src/", "sim/src/", "tcp/src/host.rs", "tcp/src/segment.rs"]),
    ("receiver, delayed ACK, reads", &["tcp/src/receiver/"]),
    ("rate sampler", &["rate/src/"]),
    ("congestion control", &["cc/src/"]),
    ("skbs", &["tcp/src/sender/scoreboard/"]),
    (
        "RTT, RTO, RACK, SACK, recovery",
        &[
            "tcp/src/rtt.rs",
            "tcp/src/prr.rs",
            "tcp/src/sender/rto.rs",
            "tcp/src/sender/rack.rs",
            "tcp/src/sender/sack.rs",
            "tcp/src/sender/recovery.rs",
            "tcp/src/sender/undo.rs",
            "tcp/src/sender/retransmit.rs",
        ],
    ),
    (
        "TLP and RTO timer, wheel",
        &[
            "tcp/src/wheel.rs",
            "tcp/src/sender/tlp.rs",
            "tcp/src/sender/probe.rs",
            "tcp/src/sender/timers.rs",
        ],
    ),
    (
        "output engine, pacing, cwnd validation",
        &[
            "tcp/src/sender/output.rs",
            "tcp/src/sender/tso.rs",
            "tcp/src/pacing.rs",
            "tcp/src/cwnd_validation.rs",
        ],
    ),
    ("ACK path, and the rest of the sender", &["tcp/src/"]),
    ("times and rates", &["units/src/"]),
    ("other code", &[""]),
];

/// Runs the command.
pub(crate) fn run(root: &Path, args: &[String]) -> Result<(), String> {
    let case = args.first().map_or("a", String::as_str);
    let known = SHORT_MS.iter().find(|(letter, _)| case.starts_with(*letter));
    let short_ms = match args {
        [] | [_] => {
            known.map(|&(_, ms)| ms).ok_or_else(|| format!("case {case}: how long?\n{USAGE}"))?
        }
        [_, ms] => {
            ms.parse().map_err(|_| format!("`{ms}`: not a number of milliseconds\n{USAGE}"))?
        }
        _ => return Err(USAGE.to_owned()),
    };
    if !valgrind::is_installed() {
        return Err(valgrind::MISSING.to_owned());
    }
    let binary = binary::build(root)?;
    let mut costs = Vec::new();
    for (name, ms) in [("short", short_ms), ("long", 2 * short_ms)] {
        let out = root.join(format!("target/callgrind.{case}.{name}"));
        let packets = valgrind::record(&binary, case, ms, &out)?;
        let text =
            fs::read_to_string(&out).map_err(|error| format!("{}: {error}", out.display()))?;
        costs.push((packets, by_file(&text)));
    }
    let packets = costs[1].0.checked_sub(costs[0].0).filter(|&more| more > 0);
    let packets = packets.ok_or("the longer run has no more packets")?;
    let files = difference(&costs[1].1, &costs[0].1, packets);
    print!("{}", report(&files));
    Ok(())
}

/// Parses instructions by source file from callgrind's output. The instructions of a function
/// exclude the instructions of the functions that it calls.
fn by_file(text: &str) -> BTreeMap<String, u64> {
    let mut names: BTreeMap<&str, &str> = BTreeMap::new();
    let mut costs: BTreeMap<String, u64> = BTreeMap::new();
    // The file of the current function, and the file of the current lines, which may be inlined
    // from another file.
    let (mut of_function, mut of_lines) = ("", "");
    let mut is_of_call = false;
    for line in text.lines() {
        if let Some((key, value)) = line.split_once('=') {
            // Callgrind writes a name in full only the first time, as `(12) name`, and later as
            // `(12)`.
            let (number, name) = value.split_once(' ').unwrap_or((value, ""));
            let is_file = matches!(key, "fl" | "fi" | "fe" | "cfi" | "cfl");
            if is_file && !name.is_empty() {
                names.insert(number, name);
            }
            let file = names.get(number).copied().unwrap_or_default();
            match key {
                "fl" => (of_function, of_lines) = (file, file),
                "fi" | "fe" => of_lines = file,
                "calls" => is_of_call = true,
                _ => {}
            }
            continue;
        }
        let mut words = line.split(' ');
        let is_place = words.next().is_some_and(|place| {
            place.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '*'))
        });
        let Some(cost) =
            words.next().filter(|_| is_place).and_then(|cost| cost.parse::<u64>().ok())
        else {
            continue;
        };
        // The line after `calls=` has the cost of the called function, which is not counted for the
        // caller.
        if !std::mem::take(&mut is_of_call) {
            let file = ours(of_lines).or_else(|| ours(of_function)).unwrap_or("other");
            *costs.entry(file.to_owned()).or_default() += cost;
        }
    }
    costs
}

/// Returns the part of `path` that begins with the crate's name without "bbrlab-". `None` if the
/// file is in no crate of this project.
fn ours(path: &str) -> Option<&str> {
    path.split_once("crates/bbrlab-").map(|(_, rest)| rest)
}

/// For each source file, returns the difference between the instructions of the longer and the
/// shorter run, divided by the additional packets of the longer run, `packets`.
#[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
fn difference(
    long: &BTreeMap<String, u64>,
    short: &BTreeMap<String, u64>,
    packets: u64,
) -> BTreeMap<String, f64> {
    let each = |(file, &cost): (&String, &u64)| {
        let before = short.get(file).copied().unwrap_or_default();
        (file.clone(), (cost as f64 - before as f64) / packets as f64)
    };
    long.iter().map(each).collect()
}

fn report(files: &BTreeMap<String, f64>) -> String {
    let group_of = |file: &str| {
        let has =
            |(_, starts): &&(&str, &[&str])| starts.iter().any(|start| file.starts_with(start));
        GROUPS.iter().position(|group| has(&group)).expect("the last group accepts every file")
    };
    let mut groups = vec![0.0; GROUPS.len()];
    for (file, cost) in files {
        groups[group_of(file)] += cost;
    }
    let mut text = String::from("| group | instructions per packet |\n| --- | ---: |\n");
    for ((name, _), cost) in GROUPS.iter().zip(&groups) {
        text += &format!("| {name} | {cost:.0} |\n");
    }
    text += &format!("| all | {:.0} |\n\n", groups.iter().sum::<f64>());
    let mut sorted: Vec<(&String, &f64)> = files.iter().collect();
    sorted.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    for (file, cost) in sorted.into_iter().take(LISTED) {
        text += &format!("{cost:8.1}  {file}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use super::{GROUPS, by_file, difference, report};

    const CALLGRIND: &str = "\
events: Ir

ob=(2) /x/bbrlab
fl=(1) /x/crates/bbrlab-events/src/heap.rs
fn=(1) pop
10 5
+2 7
fi=(2) /rustc/5/library/core/src/cmp.rs
30 100
fe=(1)
* 1
cfi=(3) /x/crates/bbrlab-tcp/src/rtt.rs
cfn=(2) sample
calls=3 40
12 900

fl=(3)
fn=(2)
40 900
fl=(4) ./string/memmove.S
fn=(3) memmove
7 50
totals: 1963
";

    #[test]
    fn a_file_has_its_own_cost_and_that_of_what_the_library_inlines() {
        let costs = by_file(CALLGRIND);
        let wanted = [("events/src/heap.rs", 113), ("tcp/src/rtt.rs", 900), ("other", 50)];
        let wanted = wanted.map(|(file, cost)| (file.to_owned(), cost));
        assert_eq!(costs, BTreeMap::from(wanted));
    }

    #[test]
    fn groups_add_up() {
        let long = by_file(CALLGRIND);
        let files = difference(&long, &BTreeMap::from([("other".to_owned(), 10)]), 10);
        let text = report(&files);
        assert!(text.contains("| heap, keys, timer table | 11 |"), "{text}");
        assert!(text.contains("| RTT, RTO, RACK, SACK, recovery | 90 |"), "{text}");
        assert!(text.contains("| other code | 4 |") && text.contains("| all | 105 |"), "{text}");
    }

    #[test]
    fn every_file_of_a_group_is_there() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        for start in GROUPS.iter().flat_map(|(_, starts)| *starts).filter(|start| !start.is_empty())
        {
            let path = root.join(format!("crates/bbrlab-{start}"));
            assert!(path.exists(), "{start}");
        }
    }
}
