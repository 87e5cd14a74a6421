//! Replays a folder of packet logs of queue disciplines: `cargo run --example queues -- DIR`.

use std::path::PathBuf;

use bbrlab_oracle::queues;

fn main() {
    let dir: PathBuf = std::env::args_os().nth(1).expect("a folder").into();
    for episode in queues::episodes(&dir).unwrap() {
        let packets = queues::validate_episode(&episode).unwrap();
        let states = queues::validate_states(&episode).unwrap();
        for (what, report) in [("packets", packets), ("states", states)] {
            let (name, count, differ) = (report.name, report.packets, report.mismatches);
            println!("{name:20} {count:6} {what:7} {differ:6} differ");
            if let Some(first) = report.first {
                println!(
                    "    {} {}: expected {}, got {}",
                    first.n, first.field, first.expected, first.got
                );
            }
        }
    }
}
