//! Replays a folder of packet logs of queue disciplines: `cargo run --example queues -- DIR`.

use std::path::PathBuf;

use bbrlab_oracle::queues;

fn main() {
    let dir: PathBuf = std::env::args_os().nth(1).expect("a folder").into();
    for episode in queues::episodes(&dir).unwrap() {
        let report = queues::validate_episode(&episode).unwrap();
        println!("{:20} {:6} {:6}", report.name, report.packets, report.mismatches);
        if let Some(first) = report.first {
            println!(
                "    {} {}: expected {}, got {}",
                first.n, first.field, first.expected, first.got
            );
        }
    }
}
