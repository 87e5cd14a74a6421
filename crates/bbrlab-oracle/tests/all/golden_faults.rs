//! Tests of faulty folders of traces. For each fault, the error must describe exactly this fault,
//! and a faulty trace must never count as a pass.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use bbrlab_oracle::golden::{self, GoldenError};
use expect_test::{Expect, expect};
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};

const HEADER: &str =
    "file,kind,algorithm,source_version,trace_id,driver,scenario,seed,hz,params,rows,bytes,sha256";
const RENO: &str = "event,arg,cwnd,cwnd_clamp,cwnd_cnt,ssthresh,prior_cwnd,is_cwnd_limited,max_packets_out,ca_ack+,ca_acked,ret,o_cwnd,o_cwnd_cnt,o_ssthresh,warn
1,0,10,4294967295,0,2147483647,0,0,0,0,0,0,10,0,2147483647,0
8,,,,,,,1,10,2448,1,,11,,,
5,,11,,,,,,,,,5,,,,
";

/// A new folder for one test, with one trace and the manifest's line for this trace.
struct Folder {
    root: PathBuf,
    line: Vec<String>,
}

impl Folder {
    /// Creates a folder with a correct trace of Reno.
    fn new(test: &str) -> Self {
        Self::with(test, "reno", RENO)
    }

    fn with(test: &str, algorithm: &str, text: &str) -> Self {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(root.join(algorithm)).unwrap();
        let rows = text.lines().count() - 1;
        let file = format!("{algorithm}/t.csv.gz");
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        let line = format!("{file},cc,{algorithm},Linux,t,closed,none,1,1000,,{rows},0,0");
        let mut folder = Self { root, line: line.split(',').map(str::to_owned).collect() };
        folder.put(&encoder.finish().unwrap());
        folder
    }

    /// Writes `packed` as the trace, and lists its length and checksum in the manifest.
    fn put(&mut self, packed: &[u8]) {
        fs::write(self.trace(), packed).unwrap();
        let digest: Vec<String> =
            Sha256::digest(packed).iter().map(|byte| format!("{byte:02x}")).collect();
        self.list(11, &packed.len().to_string());
        self.list(12, &digest.concat());
    }

    /// Writes `value` to column `at` of the manifest's line.
    fn list(&mut self, at: usize, value: &str) {
        value.clone_into(&mut self.line[at]);
        let manifest = format!("{HEADER}\n{}\n", self.line.join(","));
        fs::write(self.root.join("MANIFEST.csv"), manifest).unwrap();
    }

    fn trace(&self) -> PathBuf {
        self.root.join(&self.line[0])
    }

    fn replay(&self) -> Result<u64, GoldenError> {
        let mut mismatches = 0;
        for trace in golden::plan(&self.root, &[])? {
            let outcome = golden::replay(&trace)?;
            mismatches += golden::Report::from_outcomes([outcome]).mismatches;
        }
        Ok(mismatches)
    }

    /// Replays the folder, and compares the error message, without the build's path, with
    /// `expected`.
    fn check(&self, expected: &Expect) {
        let message = self.replay().expect_err("the fault is seen").to_string();
        expected.assert_eq(&self.without_root(&message));
    }

    fn without_root(&self, message: &str) -> String {
        let root = fs::canonicalize(&self.root).unwrap();
        message.replace(root.to_str().unwrap(), "DIR")
    }
}

#[test]
fn good_trace_has_no_mismatch() {
    assert_eq!(Folder::new("good").replay(), Ok(0));
}

#[test]
fn missing_file_is_reported() {
    let folder = Folder::new("missing");
    fs::remove_file(folder.trace()).unwrap();
    folder.check(&expect!["reno/t.csv.gz: listed in the manifest, but missing"]);
}

#[test]
fn truncated_file_is_reported() {
    let folder = Folder::new("truncated");
    let packed = fs::read(folder.trace()).unwrap();
    fs::write(folder.trace(), &packed[..packed.len() - 9]).unwrap();
    folder.check(&expect!["reno/t.csv.gz: truncated: 155 bytes, the manifest says 164"]);
}

#[test]
fn altered_file_is_reported() {
    let folder = Folder::new("altered");
    let mut packed = fs::read(folder.trace()).unwrap();
    packed[20] ^= 1;
    fs::write(folder.trace(), &packed).unwrap();
    let message = folder.replay().unwrap_err().to_string();
    assert!(message.starts_with("reno/t.csv.gz: altered: sha256 is "), "{message}");
    assert!(message.ends_with(&format!(", the manifest says {}", folder.line[12])), "{message}");
}

#[test]
fn damaged_gzip_with_the_right_checksum_is_reported() {
    let mut folder = Folder::new("damaged");
    let packed = fs::read(folder.trace()).unwrap();
    folder.put(&packed[..packed.len() - 12]);
    folder.check(&expect!["reno/t.csv.gz: damaged gzip: incomplete deflate stream"]);
}

#[test]
fn wrong_number_of_rows_is_reported() {
    let mut folder = Folder::new("rows");
    folder.list(10, "4");
    folder.check(&expect!["reno/t.csv.gz: 3 rows, the manifest says 4"]);
}

#[test]
fn unknown_column_is_reported() {
    let text = RENO.replace("ca_acked", "ca_bytes");
    Folder::with("column", "reno", &text)
        .check(&expect!["reno/t.csv.gz: column `ca_bytes`: unknown input"]);
}

#[test]
fn state_that_we_do_not_have_is_reported() {
    let text = RENO.replace(",warn", ",s_cnt");
    Folder::with("state", "reno", &text)
        .check(&expect!["reno/t.csv.gz: column `s_cnt`: our algorithm has no such field"]);
}

#[test]
fn unknown_event_is_reported() {
    let text = RENO.replace("\n5,", "\n99,");
    Folder::with("event", "reno", &text)
        .check(&expect!["reno/t.csv.gz: row 3: event 99 is not known"]);
}

#[test]
fn refused_parameter_is_reported() {
    let mut folder = Folder::new("params");
    folder.list(9, "beta=3");
    folder.check(&expect!["reno/t.csv.gz: parameter `beta`: `reno` has no parameters"]);
}

#[test]
fn folder_without_traces_is_reported() {
    let folder = Folder::new("nothing");
    let empty = folder.root.join("empty");
    fs::create_dir_all(&empty).unwrap();
    let message = golden::plan(&empty, &[]).unwrap_err().to_string();
    expect!["DIR/empty: DIR/MANIFEST.csv lists no file under it"]
        .assert_eq(&folder.without_root(&message));
}

#[test]
fn name_that_the_manifest_does_not_know_is_reported() {
    let folder = Folder::new("only");
    let message = golden::plan(&folder.root, &["ren".to_owned()]).unwrap_err().to_string();
    expect!["`ren`: the manifest has no such name; it has reno"].assert_eq(&message);
}

#[test]
fn manifest_with_another_header_is_reported() {
    let folder = Folder::new("header");
    fs::write(folder.root.join("MANIFEST.csv"), "file,rows\n").unwrap();
    folder.check(&expect!["DIR/MANIFEST.csv:1: found `file,rows`, expected `file,kind,algorithm,source_version,trace_id,driver,scenario,seed,hz,params,rows,bytes,sha256`"]);
}

#[test]
fn manifest_line_that_is_cut_short_is_reported() {
    let folder = Folder::new("cut");
    fs::write(folder.root.join("MANIFEST.csv"), format!("{HEADER}\nreno/t.csv.gz,cc\n")).unwrap();
    folder.check(&expect!["DIR/MANIFEST.csv:2: 2 cells, expected 13"]);
}

#[test]
fn manifest_of_a_folder_above_is_used() {
    let folder = Folder::new("above");
    let traces = golden::plan(&folder.root.join("reno"), &[]).unwrap();
    assert_eq!(traces.len(), 1);
}

#[test]
fn algorithm_that_is_not_built_is_unsupported_and_not_a_pass() {
    let folder = Folder::with("unknown_algorithm", "lola", RENO);
    let traces = golden::plan(&folder.root, &[]).unwrap();
    let report = golden::Report::from_outcomes([golden::replay(&traces[0]).unwrap()]);
    assert_eq!((report.traces, report.rows, report.unsupported), (0, 0, vec!["lola".to_owned()]));
}
