//! Tests of `bbrlab lab`. A program that was built without the lab's page names the command that
//! builds the page. A program with the page serves it and the runs of a folder.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use crate::shell::Shell;

/// A running `bbrlab lab`, which is killed when this value is dropped.
struct Served {
    child: Child,
    /// The server's host name and port, joined by a colon.
    host: String,
}

impl Served {
    fn start(shell: &Shell, args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_bbrlab"))
            .arg("lab")
            .args(args)
            .current_dir(shell.folder())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        let host = address.trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
        Self { child, host }
    }

    /// Returns the status and the body of the answer to a request.
    fn ask(&self, method: &str, path: &str, host: &str) -> (u32, Vec<u8>) {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        write!(stream, "{method} {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let head = answer.windows(4).position(|end| end == b"\r\n\r\n").unwrap();
        let status = String::from_utf8_lossy(&answer[9..12]).parse().unwrap();
        (status, answer[head + 4..].to_vec())
    }

    fn get(&self, path: &str) -> (u32, Vec<u8>) {
        self.ask("GET", path, &self.host)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn the_page_and_the_runs_of_a_folder_are_served_to_this_machine_only() {
    let shell = Shell::new("lab");
    if !bbrlab_page::is_built() {
        let output = shell.output(&["lab"]);
        assert_eq!(output.status.code(), Some(2));
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(told.contains("cargo xtask web"), "{told}");
        println!("skipped: no page of the lab; `cargo xtask web` builds it");
        return;
    }
    let run = ["run", "examples.dumbbell", "--set", "duration=2s", "--out", "runs/a", "--quiet"];
    assert!(shell.output(&run).status.success());
    let served = Served::start(&shell, &["runs"]);
    let (status, page) = served.get("/");
    assert!(status == 200 && String::from_utf8(page).unwrap().contains("<script"));
    assert_eq!(served.get("/bbrlab.wasm").1[..4], *b"\0asm");
    let (_, runs) = served.get("/data/runs.json");
    let runs: serde_json::Value = serde_json::from_slice(&runs).unwrap();
    assert_eq!(runs["runs"][0]["scenario"], "examples.dumbbell");
    // To show a sweep, the lab's page needs the metrics' names and units and the swept values.
    let metric = |name: &str| {
        let metrics = runs["metrics"].as_array().unwrap();
        metrics.iter().find(|metric| metric["name"] == name).cloned().unwrap_or_default()
    };
    assert_eq!(metric("goodput_mbps")["unit"], "Mbit/s");
    assert_eq!(metric("links.queue_delay_ms.mean")["unit"], "ms");
    assert_eq!(metric("flow_groups.share")["unit"], "share");
    assert!(metric("seed").is_null() && metric("scenario").is_null());
    assert!(runs["runs"][0]["point_values"].is_object());
    let (_, record) = served.get("/data/runs/0/summary.json");
    assert!(
        String::from_utf8(record).unwrap().contains(runs["runs"][0]["digest"].as_str().unwrap())
    );
    let (status, rows) = served.get("/data/runs/0/rows");
    assert!(status == 200 && rows.len() > 200 * 4 * 16);
    // The server rejects requests with the name of another host, with methods other than GET, and
    // with paths outside the page and the folder of runs.
    assert_eq!(served.ask("GET", "/", "evil.example").0, 403);
    assert_eq!(served.ask("POST", "/", &served.host).0, 405);
    for path in ["/data/runs/1/rows", "/data/runs/0/run.json", "/../Cargo.toml", "//etc/passwd"] {
        assert_eq!(served.get(path).0, 404, "{path}");
    }
}

#[test]
fn a_wrong_folder_or_a_taken_port_is_an_error() {
    if !bbrlab_page::is_built() {
        println!("skipped: no page of the lab; `cargo xtask web` builds it");
        return;
    }
    let shell = Shell::new("lab-wrong");
    assert_eq!(shell.output(&["lab", "nowhere"]).status.code(), Some(2));
    let served = Served::start(&shell, &[]);
    let port = served.host.rsplit_once(':').unwrap().1;
    let output = shell.output(&["lab", "--port", port]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot listen on port"));
}
