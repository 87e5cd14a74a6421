//! The document of `bench --json`: read, checked, compared.

use std::fs;
use std::path::Path;

use bbrlab_lab::{BenchResult, LabError, bench_case};
use serde::{Deserialize, Serialize};

/// `bench --json`.
#[derive(Serialize, Deserialize)]
pub(super) struct Document {
    pub(super) cases: Vec<BenchResult>,
    /// With `--against`: a ratio per figure, now to then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) ratios: Vec<Ratios>,
}

/// The figures of a case, as ratios to those of an earlier document.
#[derive(Serialize, Deserialize)]
pub(super) struct Ratios {
    pub(super) name: String,
    pub(super) instructions_per_packet: Option<f64>,
    pub(super) l1_misses_per_packet: Option<f64>,
    pub(super) l2_misses_per_packet: Option<f64>,
    pub(super) data_packets_per_cpu_s: Option<f64>,
    pub(super) peak_rss_bytes: Option<f64>,
    /// Whether the same was computed.
    pub(super) same_digest: bool,
}

/// A document that `--json` or `cargo xtask bench` has written.
pub(super) fn read(path: &Path) -> Result<Document, LabError> {
    let wrong = |reason: String| LabError::Usage(format!("{}: {reason}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let document: Document = serde_json::from_str(&text)
        .map_err(|error| wrong(format!("not a document of `bench --json`: {error}")))?;
    check(&document)
        .map_err(|reason| wrong(format!("not a document of `bench --json`: {reason}")))?;
    Ok(document)
}

/// Refuses what `bench` cannot have measured: somebody would take it for a measurement.
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
        for (field, value) in [
            ("instructions_per_packet", case.instructions_per_packet),
            ("l1_misses_per_packet", case.l1_misses_per_packet),
            ("l2_misses_per_packet", case.l2_misses_per_packet),
            ("ns3_data_packets_per_cpu_s", case.ns3_data_packets_per_cpu_s),
        ] {
            if let Some(value) = value.filter(|value| !(*value >= 0.0 && value.is_finite())) {
                return Err(format!(
                    "cases[{at}].{field}: expected a number from zero on, found {value}"
                ));
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "compared within a percent")]
        let speed = case.data_packets as f64 / case.cpu_s;
        if (case.data_packets_per_cpu_s / speed - 1.0).abs() > 0.01 {
            let (told, packets, cpu_s) =
                (case.data_packets_per_cpu_s, case.data_packets, case.cpu_s);
            return Err(format!(
                "cases[{at}].data_packets_per_cpu_s: expected {speed:.0}, {packets} packets in {cpu_s} s, found {told}"
            ));
        }
        let digest = &case.digest;
        if digest.len() != 16 || !digest.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(format!(
                "cases[{at}].digest: expected 16 hexadecimal digits, found {digest:?}"
            ));
        }
    }
    Ok(())
}

/// Refuses an earlier document that has none of the cases.
pub(super) fn check_shared(
    path: &Path,
    earlier: &Document,
    names: &[&str],
) -> Result<(), LabError> {
    let then: Vec<&str> = earlier.cases.iter().map(|case| case.name.as_str()).collect();
    if names.iter().any(|name| then.contains(name)) {
        return Ok(());
    }
    let (now, then) = (names.join(", "), then.join(", "));
    Err(LabError::Usage(format!(
        "--against {}: expected one of {now}, found {then}",
        path.display()
    )))
}

/// The cases that both documents have.
pub(super) fn ratios(now: &[BenchResult], earlier: &[BenchResult]) -> Vec<Ratios> {
    #[expect(clippy::cast_precision_loss, reason = "for display")]
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
        peak_rss_bytes: ratio(bytes(now), bytes(then)),
        same_digest: now.digest == then.digest,
    })
    .collect()
}

/// Null where one of both was not measured or the earlier one is next to nothing.
fn ratio(now: Option<f64>, then: Option<f64>) -> Option<f64> {
    /// Misses per packet below which a ratio says nothing.
    const NOTHING: f64 = 0.05;
    now.zip(then).filter(|&(_, then)| then > NOTHING).map(|(now, then)| now / then)
}

#[cfg(test)]
pub(super) mod tests {
    use super::{BenchResult, Document, check, check_shared, ratios};
    use std::path::Path;

    pub(crate) fn result(name: &str, instructions: Option<f64>, digest: &str) -> BenchResult {
        BenchResult {
            name: name.to_owned(),
            sim_s: 1.0,
            data_packets: 2_000_000,
            events: 5_000_000,
            cpu_s: 0.5,
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
    fn figures_are_compared_where_both_documents_have_them() {
        let now = [result("a", Some(1500.0), "1"), result("b", None, "2"), result("c", None, "3")];
        let then = [result("b", Some(9.0), "0"), result("a", Some(2000.0), "1")];
        let ratios = ratios(&now, &then);
        assert_eq!(ratios.len(), 2);
        assert_eq!(ratios[0].instructions_per_packet, Some(0.75));
        assert_eq!(ratios[0].l2_misses_per_packet, None, "next to nothing, then and now");
        assert_eq!((ratios[0].same_digest, ratios[1].same_digest), (true, false));
        let words = super::super::ratio_words(&ratios);
        assert!(words.contains("0.750"), "{words}");
    }

    #[test]
    fn what_cannot_have_been_measured_is_refused() {
        let right = || result("a", Some(1500.0), "2c67afc55edbf284");
        let told = |cases: Vec<BenchResult>| check(&Document { cases, ratios: Vec::new() });
        assert_eq!(told(vec![right()]), Ok(()));
        let wrong = [
            (vec![], "expected a case, found none"),
            (vec![right(), right()], "cases[1].name: expected each case once, found `a` again"),
            (
                vec![result("nonsense", None, "2c67afc55edbf284")],
                "cases[0].name: `nonsense`: no such case",
            ),
            (
                vec![result("a", None, "2c67")],
                "cases[0].digest: expected 16 hexadecimal digits, found \"2c67\"",
            ),
            (
                vec![result("a", Some(-1.0), "2c67afc55edbf284")],
                "instructions_per_packet: expected a number from zero on, found -1",
            ),
            (
                vec![BenchResult { cpu_s: 0.0, ..right() }],
                "cpu_s: expected a number above zero, found 0",
            ),
            (
                vec![BenchResult { data_packets: 1, ..right() }],
                "data_packets_per_cpu_s: expected 2, 1 packets in 0.5 s, found 4000000",
            ),
        ];
        for (cases, words) in wrong {
            let reason = told(cases).unwrap_err();
            assert!(reason.contains(words), "{reason}");
        }
    }

    #[test]
    fn documents_without_a_case_in_common_are_not_compared() {
        let earlier = Document { cases: vec![result("b", None, "1")], ratios: Vec::new() };
        let path = Path::new("then.json");
        assert!(check_shared(path, &earlier, &["a", "b"]).is_ok());
        let told = check_shared(path, &earlier, &["a", "a-tso"]).unwrap_err().to_string();
        assert_eq!(told, "--against then.json: expected one of a, a-tso, found b");
    }
}
