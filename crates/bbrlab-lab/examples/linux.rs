//! `validate linux` without the command line: DIR [PART OF A NAME ...]
use bbrlab_lab::linux::{LinuxOptions, validate_linux};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let options = LinuxOptions {
        only: args[1..].to_vec(),
        jobs: 2,
        seeds: std::env::var("SEEDS").ok().and_then(|s| s.parse().ok()),
        ..LinuxOptions::default()
    };
    let report = validate_linux(&[args[0].clone().into()], &options, |_, _| {})
        .unwrap_or_else(|error| panic!("{error}"));
    for point in &report.points {
        for c in &point.comparisons {
            println!(
                "{:40} {:15} {:>2} {:>12.4} {:>12.4} {:>8.4} {}",
                point.scenario,
                c.metric.name(),
                c.flow.map_or("-".into(), |f| f.to_string()),
                c.ours,
                c.linux,
                c.difference,
                if c.passes() { "ok" } else { "MISS" }
            );
        }
    }
    for (s, why) in &report.skipped {
        println!("skipped {s}: {why}");
    }
    for (m, s) in &report.summary {
        println!(
            "{:16} n {:4} median {:.4} p95 {:.4} worst {:.4} within {:.3}",
            m.name(),
            s.n,
            s.median,
            s.p95,
            s.worst,
            s.within
        );
    }
}
