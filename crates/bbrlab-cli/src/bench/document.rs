//! Reads, checks and makes the document of `bench --json`, and compares it with an earlier
//! document.

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

use bbrlab_lab::{
    BENCH_CASES, BenchResult, COMMIT, LabError, RUSTC, VERSION, bench_case, plain, processor,
};
use serde::{Deserialize, Serialize};

/// The JSON document that `bench --json` prints.
#[derive(Serialize, Deserialize)]
pub(super) struct Document {
    #[serde(flatten)]
    pub(super) origin: Origin,
    pub(super) cases: Vec<BenchResult>,
    /// With `--against`: the origin of the earlier document. When a document is read, this field is
    /// ignored.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub(super) against: Option<Origin>,
    /// With `--against`: one ratio per measured value, the new value divided by the old one.
    #[serde(skip_deserializing, skip_serializing_if = "Vec::is_empty")]
    pub(super) ratios: Vec<Ratios>,
    /// With `--against`: the measured benchmark cases that are missing from the earlier document.
    #[serde(skip_deserializing, skip_serializing_if = "Vec::is_empty")]
    pub(super) not_compared: Vec<String>,
}

/// The measured program and the machine on which it ran. Documents of `cargo xtask bench --bless`
/// have only the compiler and the processor.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Origin {
    #[serde(default)]
    version: Option<String>,
    #[serde(default)]
    commit: Option<String>,
    /// The compiler that built the measured program; null if unknown.
    #[serde(default)]
    rustc: Option<String>,
    #[serde(default)]
    processor: Option<String>,
}

impl Document {
    /// Makes a document from the results that this program measured on this machine.
    pub(super) fn of(cases: Vec<BenchResult>) -> Self {
        let told = |text: &str| Some(text.to_owned());
        let origin = Origin {
            version: told(VERSION),
            commit: told(COMMIT),
            rustc: told(RUSTC),
            processor: told(processor()),
        };
        Self { origin, cases, against: None, ratios: Vec::new(), not_compared: Vec::new() }
    }
}

impl Origin {
    /// Returns a text such as `bbrlab 0.1.0 (df93bbe), rustc 1.95.0, AMD EPYC`, without unknown
    /// parts.
    pub(super) fn describe(&self) -> String {
        let short = |commit: &String| format!(" ({})", commit.get(..12).unwrap_or(commit));
        let version = self.version.as_ref().map(|version| {
            format!("bbrlab {version}{}", self.commit.as_ref().map(short).unwrap_or_default())
        });
        let release = |rustc: &String| {
            let release = rustc.split_whitespace().next().unwrap_or_default();
            format!("rustc {release}")
        };
        let parts = [version, self.rustc.as_ref().map(release), self.processor.clone()];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() { "of unknown origin".to_owned() } else { parts.join(", ") }
    }

    /// If the documents name different processors, returns the message that speeds cannot be
    /// compared.
    pub(super) fn other_machine(&self, earlier: &Self) -> Option<String> {
        let (now, then) = self.processor.as_deref().zip(earlier.processor.as_deref())?;
        (now != then).then(|| {
            format!("speeds of different processors cannot be compared: new {now}, old {then}")
        })
    }
}

/// Ratios for one benchmark case: each measured value divided by the value in the document of
/// `--against`.
#[derive(Serialize)]
pub(super) struct Ratios {
    pub(super) name: String,
    pub(super) instructions_per_packet: Option<f64>,
    pub(super) l1_misses_per_packet: Option<f64>,
    pub(super) l2_misses_per_packet: Option<f64>,
    pub(super) data_packets_per_cpu_s: Option<f64>,
    /// The larger of two values: the noise of the case in this document, and in the document of
    /// `--against`. The noise is the share by which the case's median process took longer than its
    /// fastest process. Null if the case had only one process in one of the documents.
    pub(super) noise: Option<f64>,
    pub(super) peak_rss_bytes: Option<f64>,
    /// Whether the case has the same digest in both documents.
    pub(super) same_digest: bool,
    /// The digest of the case in the document of `--against`.
    pub(super) earlier_digest: String,
}

/// Reads a document that `--json` or `cargo xtask bench` has written; `-` is standard input.
pub(super) fn read(path: &Path) -> Result<Document, LabError> {
    let wrong = |reason: String| LabError::Usage(format!("{}: {reason}", path.display()));
    let text = text(path).map_err(|error| {
        let name = path.display().to_string();
        let is_case = BENCH_CASES.iter().any(|case| case.name == name);
        let hint =
            if is_case { "; this is a case: give the file first, then the cases" } else { "" };
        wrong(format!("{}{hint}", plain(&error)))
    })?;
    if text.trim().is_empty() {
        return Err(wrong(
            "expected a document of `bench --json`, found an empty file; `> FILE` empties a file \
             before the command reads it"
                .to_owned(),
        ));
    }
    let document: Document = serde_json::from_str(&text)
        .map_err(|error| wrong(format!("not a document of `bench --json`: {error}")))?;
    check(&document)
        .map_err(|reason| wrong(format!("not a document of `bench --json`: {reason}")))?;
    Ok(document)
}

fn text(path: &Path) -> io::Result<String> {
    if path != Path::new("-") {
        return fs::read_to_string(path);
    }
    let mut text = String::new();
    io::stdin().read_to_string(&mut text)?;
    Ok(text)
}

/// Returns an error if the document has values that `bench` cannot have measured. Without this
/// check, users would believe such values.
fn check(document: &Document) -> Result<(), String> {
    if document.cases.is_empty() {
        return Err("expected a case, found none in `cases`".to_owned());
    }
    for (at, case) in document.cases.iter().enumerate() {
        let name = &case.name;
        bench_case(name).map_err(|error| format!("cases[{at}].name: {error}"))?;
        if document.cases[..at].iter().any(|before| before.name == *name) {
            return Err(format!("cases[{at}].name: expected each case once, found `{name}` again"));
        }
        for (field, value) in [
            ("sim_s", case.sim_s),
            ("cpu_s", case.cpu_s),
            ("data_packets_per_cpu_s", case.data_packets_per_cpu_s),
        ] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(format!(
                    "cases[{at}].{field}: expected a number above zero, found {value}"
                ));
            }
        }
        let all = &case.cpu_s_of_all;
        if !all.is_sorted()
            || all.first().is_some_and(|fastest| fastest.total_cmp(&case.cpu_s).is_ne())
        {
            return Err(format!(
                "cases[{at}].cpu_s_of_all: expected rising numbers from {}, found {all:?}",
                case.cpu_s
            ));
        }
        let peak_rss_bytes = case.peak_rss_bytes.unwrap_or(1);
        for (field, value) in [
            ("data_packets", case.data_packets),
            ("events", case.events),
            ("peak_rss_bytes", peak_rss_bytes),
        ] {
            if value == 0 {
                return Err(format!("cases[{at}].{field}: expected a number above zero, found 0"));
            }
        }
        for (field, value) in [
            ("instructions_per_packet", case.instructions_per_packet),
            ("l1_misses_per_packet", case.l1_misses_per_packet),
            ("l2_misses_per_packet", case.l2_misses_per_packet),
            ("ns3_data_packets_per_cpu_s", case.ns3_data_packets_per_cpu_s),
        ] {
            if let Some(value) = value.filter(|value| !(*value >= 0.0 && value.is_finite())) {
                return Err(format!(
                    "cases[{at}].{field}: expected a number of at least zero, found {value}"
                ));
            }
        }
        #[expect(
            clippy::cast_precision_loss,
            reason = "the speeds are compared with a tolerance of 1 %"
        )]
        let speed = case.data_packets as f64 / case.cpu_s;
        if (case.data_packets_per_cpu_s / speed - 1.0).abs() > 0.01 {
            let (told, packets, cpu_s) =
                (case.data_packets_per_cpu_s, case.data_packets, case.cpu_s);
            return Err(format!(
                "cases[{at}].data_packets_per_cpu_s: expected {speed:.0} ({packets} packets in {cpu_s} s), found {told}"
            ));
        }
        let digest = &case.digest;
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if digest.len() != 16 || !digest.bytes().all(is_digit) {
            return Err(format!(
                "cases[{at}].digest: expected 16 hexadecimal digits, found {digest:?}"
            ));
        }
    }
    Ok(())
}

/// Returns an error if a benchmark case has the same digest in both documents, but another
/// simulated time or other counts of packets or events. Such a difference means that one of the two
/// documents was edited by hand.
pub(super) fn check_counts(
    path: &Path,
    now: &[BenchResult],
    earlier: &Document,
) -> Result<(), LabError> {
    for now in now {
        let same = |then: &&BenchResult| then.name == now.name && then.digest == now.digest;
        let Some(then) = earlier.cases.iter().find(same) else { continue };
        #[expect(
            clippy::float_cmp,
            reason = "`sim_s` is simulated time, which is not measured, and JSON preserves the number exactly"
        )]
        let same_length = now.sim_s == then.sim_s;
        if !same_length || (now.data_packets, now.events) != (then.data_packets, then.events) {
            let told = |of: &BenchResult| {
                format!(
                    "{} data packets and {} events in {} s",
                    of.data_packets, of.events, of.sim_s
                )
            };
            return Err(LabError::Usage(format!(
                "--against {}: {}: the digests are equal, but the counts differ: expected {}, found {}",
                path.display(),
                now.name,
                told(now),
                told(then)
            )));
        }
    }
    Ok(())
}

/// Returns an error if the document of `--against` has none of the benchmark cases in `names`.
pub(super) fn check_shared(
    path: &Path,
    earlier: &Document,
    names: &[&str],
) -> Result<(), LabError> {
    let then: Vec<&str> = earlier.cases.iter().map(|case| case.name.as_str()).collect();
    if names.iter().any(|name| then.contains(name)) {
        return Ok(());
    }
    let (now, then) = (the_cases(names), the_cases(&then));
    let one_of = if names.len() == 1 { "" } else { "one of " };
    Err(LabError::Usage(format!(
        "--against {}: expected {one_of}{now}, found {then}",
        path.display()
    )))
}

/// Returns `the case a` or `the cases a, b`.
pub(super) fn the_cases(names: &[&str]) -> String {
    let noun = if names.len() == 1 { "the case" } else { "the cases" };
    format!("{noun} {}", names.join(", "))
}

/// Returns the ratios of the benchmark cases that both documents have.
pub(super) fn ratios(now: &[BenchResult], earlier: &[BenchResult]) -> Vec<Ratios> {
    #[expect(clippy::cast_precision_loss, reason = "a number of bytes is far below 2^52")]
    let bytes = |result: &BenchResult| result.peak_rss_bytes.map(|bytes| bytes as f64);
    let both = now.iter().filter_map(|now| {
        earlier.iter().find(|then| then.name == now.name).map(|then| (now, then))
    });
    both.map(|(now, then)| Ratios {
        name: now.name.clone(),
        instructions_per_packet: ratio(now.instructions_per_packet, then.instructions_per_packet),
        l1_misses_per_packet: ratio(now.l1_misses_per_packet, then.l1_misses_per_packet),
        l2_misses_per_packet: ratio(now.l2_misses_per_packet, then.l2_misses_per_packet),
        data_packets_per_cpu_s: ratio(
            Some(now.data_packets_per_cpu_s),
            Some(then.data_packets_per_cpu_s),
        ),
        noise: now.noise().zip(then.noise()).map(|(now, then)| now.max(then)),
        peak_rss_bytes: ratio(bytes(now), bytes(then)),
        same_digest: now.digest == then.digest,
        earlier_digest: then.digest.clone(),
    })
    .collect()
}

/// Returns `now / then`; `None` if either value was not measured or `then` is nearly 0.
fn ratio(now: Option<f64>, then: Option<f64>) -> Option<f64> {
    /// If the earlier value is at most this bound, no ratio is computed. The bound is chosen for
    /// cache misses per packet: a ratio to 0.05 misses per packet or fewer has no meaning.
    const NOTHING: f64 = 0.05;
    now.zip(then).filter(|&(_, then)| then > NOTHING).map(|(now, then)| now / then)
}

#[cfg(test)]
pub(super) mod tests {
    use super::{BenchResult, Document, Origin, check, check_counts, check_shared, ratios};
    use std::path::Path;

    pub(crate) fn result(name: &str, instructions: Option<f64>, digest: &str) -> BenchResult {
        BenchResult {
            name: name.to_owned(),
            sim_s: 1.0,
            data_packets: 2_000_000,
            events: 5_000_000,
            cpu_s: 0.5,
            cpu_s_of_all: Vec::new(),
            data_packets_per_cpu_s: 4e6,
            instructions_per_packet: instructions,
            l1_misses_per_packet: None,
            l2_misses_per_packet: instructions.map(|_| 0.01),
            counted_s: None,
            ns3_data_packets_per_cpu_s: None,
            peak_rss_bytes: Some(8_000_000),
            digest: digest.to_owned(),
        }
    }

    #[test]
    fn metrics_are_compared_if_both_documents_have_them() {
        let now = [result("a", Some(1500.0), "1"), result("b", None, "2"), result("c", None, "3")];
        let then = [result("b", Some(9.0), "0"), result("a", Some(2000.0), "1")];
        let ratios = ratios(&now, &then);
        assert_eq!(ratios.len(), 2);
        assert_eq!(ratios[0].instructions_per_packet, Some(0.75));
        assert_eq!(ratios[0].l2_misses_per_packet, None, "too few misses for a ratio");
        assert_eq!((ratios[0].same_digest, ratios[1].same_digest), (true, false));
        let words = super::super::describe_ratios(&ratios);
        assert!(words.contains("0.750"), "{words}");
    }

    #[test]
    fn what_cannot_have_been_measured_is_refused() {
        let right = || result("a", Some(1500.0), "2c67afc55edbf284");
        let told = |cases: Vec<BenchResult>| check(&Document::of(cases));
        assert_eq!(told(vec![right()]), Ok(()));
        let wrong = [
            (vec![], "expected a case, found none"),
            (vec![right(), right()], "cases[1].name: expected each case once, found `a` again"),
            (
                vec![result("nonsense", None, "2c67afc55edbf284")],
                "cases[0].name: `nonsense`: unknown case",
            ),
            (
                vec![result("a", None, "2c67")],
                "cases[0].digest: expected 16 hexadecimal digits, found \"2c67\"",
            ),
            (
                vec![result("a", Some(-1.0), "2c67afc55edbf284")],
                "instructions_per_packet: expected a number of at least zero, found -1",
            ),
            (
                vec![BenchResult { cpu_s: 0.0, ..right() }],
                "cpu_s: expected a number above zero, found 0",
            ),
            (
                vec![BenchResult { cpu_s_of_all: vec![0.5, 0.4], ..right() }],
                "cpu_s_of_all: expected rising numbers from 0.5, found [0.5, 0.4]",
            ),
            (
                vec![BenchResult { cpu_s_of_all: vec![0.6], ..right() }],
                "cpu_s_of_all: expected rising numbers from 0.5, found [0.6]",
            ),
            (
                vec![BenchResult { data_packets: 1, ..right() }],
                "data_packets_per_cpu_s: expected 2 (1 packets in 0.5 s), found 4000000",
            ),
        ];
        for (cases, words) in wrong {
            let reason = told(cases).unwrap_err();
            assert!(reason.contains(words), "{reason}");
        }
    }

    #[test]
    fn speeds_of_two_processors_do_not_compare() {
        let on = |processor: Option<&str>| Origin {
            processor: processor.map(str::to_owned),
            ..Document::of(Vec::new()).origin
        };
        let told = on(Some("one")).other_machine(&on(Some("another"))).unwrap();
        assert!(told.ends_with("new one, old another"), "{told}");
        assert_eq!(on(Some("one")).other_machine(&on(Some("one"))), None);
        assert_eq!(on(Some("one")).other_machine(&on(None)), None);
    }

    #[test]
    fn equal_digests_are_of_equal_counts() {
        let now = [result("a", None, "1"), result("b", None, "2")];
        let path = Path::new("then.json");
        let told = |then: BenchResult| check_counts(path, &now, &Document::of(vec![then]));
        assert!(told(result("a", None, "1")).is_ok());
        assert!(told(BenchResult { events: 1, ..result("a", None, "3") }).is_ok());
        let error = told(BenchResult { events: 1, ..result("a", None, "1") }).unwrap_err();
        assert!(error.to_string().contains("1 events in 1 s"), "{error}");
    }

    #[test]
    fn the_noise_is_that_of_the_median_process() {
        let of = |cpu_s_of_all: &[f64]| {
            BenchResult { cpu_s_of_all: cpu_s_of_all.to_vec(), ..result("a", None, "1") }.noise()
        };
        assert_eq!((of(&[]), of(&[1.0])), (None, None));
        assert_eq!(of(&[1.0, 1.5, 4.0]), Some(0.5));
    }

    #[test]
    fn documents_without_a_case_in_common_are_not_compared() {
        let earlier = Document::of(vec![result("b", None, "1")]);
        let path = Path::new("then.json");
        assert!(check_shared(path, &earlier, &["a", "b"]).is_ok());
        let told = check_shared(path, &earlier, &["a", "a-tso"]).unwrap_err().to_string();
        assert_eq!(
            told,
            "--against then.json: expected one of the cases a, a-tso, found the case b"
        );
    }
}
