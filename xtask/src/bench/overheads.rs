//! `cargo xtask overheads`: measures the costs of a command besides the simulation of packets: time
//! series, the files of a run, plots, a second worker, the memory of a sweep. Writes
//! `results/overheads.json`, from which `docs/performance.md` is generated.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::valgrind::{self, Measured, Tool};
use super::{baseline, binary};

/// The path of the file with the results, from the project's root.
const KEPT: &str = "results/overheads.json";

const USAGE: &str = "usage: cargo xtask overheads [--binary FILE]
  --binary measures this binary instead of a release build";

/// The benchmark cases whose cost per packet is measured with each value of `sample` in
/// [`SAMPLES`], and the simulated milliseconds of a short run of each case. A long run takes twice
/// this time. The cost per packet is computed from the difference between the two runs.
const CASES: [(&str, u32); 3] = [("a", 10_000), ("b", 1000), ("c", 200)];
const SAMPLES: [&str; 3] = ["off", "10ms", "ack"];

/// A scenario of 100 ms on a slow link, so that a run has little more than the fixed cost per run.
const SHORT_RUN: &str = "duration = \"100ms\"\n[bottleneck]\nrate = \"1Mbit/s\"\nbuffer = \"20packets\"\n\
                         [[flows]]\ncc = \"bbr1\"\nrtt = \"20ms\"\n";
/// Sizes of the measured sweeps of [`SHORT_RUN`]: sweep points, and seeds per point. The largest
/// sweep is last, because the disk remains slow for some time after this sweep.
const SWEEPS: [(u64, u64); 7] =
    [(1, 100), (1, 1000), (1000, 1), (1, 10_000), (1000, 10), (10_000, 1), (1, 100_000)];
/// The numbers of runs in two sweeps of [`SHORT_RUN`]. Callgrind counts the instructions of each
/// sweep, and the difference between the counts is the cost of the additional runs.
const COUNTED: [u64; 2] = [20, 40];

/// A scenario whose run takes at least 0.1 s of CPU time.
const LONG_RUN: &str = "duration = \"10s\"\nsample = \"off\"\n[bottleneck]\nrate = \"1Gbit/s\"\nbuffer = \"4bdp\"\n\
                        [[flows]]\ncc = \"bbr1\"\nrtt = \"10ms\"\ncount = 16\nstart_step = \"625us\"\n";
const LONG_RUNS: u64 = 8;
/// How often [`Lab::workers`] measures each of its three settings. The result is the median of
/// these measurements.
const TIMES: usize = 5;

/// The built-in scenarios, one with a single run and one with a sweep, whose plots are drawn to
/// measure the cost of drawing.
const SEEN_RUN: &str = "examples.dumbbell";
const SEEN_SWEEP: &str = "examples.two-bbr";

pub(crate) fn run(root: &Path, args: &[String]) -> Result<(), String> {
    let binary = match args {
        [] => binary::build(root)?,
        [flag, file] if flag == "--binary" => PathBuf::from(file),
        _ => return Err(USAGE.to_owned()),
    };
    if !valgrind::is_installed() {
        return Err(valgrind::MISSING.to_owned());
    }
    let lab = Lab { binary, folder: root.join("target/overheads") };
    let _ = fs::remove_dir_all(&lab.folder);
    fs::create_dir_all(&lab.folder).map_err(|error| error.to_string())?;
    let document = json!({
        "rustc": baseline::compiler(root)?,
        "processor": baseline::processor(),
        "series": lab.series()?,
        "instructions_per_run": lab.instructions_per_run()?,
        "workers": lab.workers()?,
        "pictures": [lab.picture("run", SEEN_RUN)?, lab.picture("sweep", SEEN_SWEEP)?],
        "sweeps": lab.sweeps()?,
    });
    let _ = fs::remove_dir_all(&lab.folder);
    let text = serde_json::to_string_pretty(&document).expect("plain values") + "\n";
    fs::write(root.join(KEPT), text).map_err(|error| format!("{KEPT}: {error}"))?;
    eprintln!("{KEPT} is written; `cargo xtask bless` updates the page");
    Ok(())
}

/// The measured `bbrlab`, and a folder for the files that it writes.
struct Lab {
    binary: PathBuf,
    folder: PathBuf,
}

impl Lab {
    /// For each case in [`CASES`], returns the instructions per packet with each value of `sample`
    /// in [`SAMPLES`], including the instructions that write the files.
    fn series(&self) -> Result<Vec<Value>, String> {
        let mut rows = Vec::new();
        for (case, short_ms) in CASES {
            eprintln!("== series: case {case}");
            let measured = SAMPLES.map(|sample| Measured {
                arguments: [
                    case,
                    "--sample",
                    sample,
                    "--out",
                    &self.path(&format!("{case}-{sample}")),
                ]
                .map(str::to_owned)
                .to_vec(),
                lengths_ms: [short_ms, 2 * short_ms],
            });
            let costs = valgrind::count(&self.binary, &measured, &[Tool::Callgrind])?;
            let mut row = json!({ "case": case });
            for (sample, costs) in SAMPLES.iter().zip(costs) {
                row[sample] = json!(costs.instructions.map(f64::round));
            }
            rows.push(row);
        }
        Ok(rows)
    }

    /// For each sweep in [`SWEEPS`], returns the CPU time per run, and the process's largest
    /// resident memory while the sweep is run without plots. For a sweep with several points, a
    /// second process draws the sweep's plots, and this function also returns the largest resident
    /// memory of the second process.
    fn sweeps(&self) -> Result<Vec<Value>, String> {
        let mut rows = Vec::new();
        for (points, seeds) in SWEEPS {
            eprintln!("== a sweep of {points} points with {seeds} seeds");
            let rates: Vec<String> =
                (0..points).map(|point| format!("\"{}kbit/s\"", 1000 + point)).collect();
            let text = match points {
                1 => SHORT_RUN.to_owned(),
                _ => format!("{SHORT_RUN}[sweep]\n\"bottleneck.rate\" = [{}]\n", rates.join(", ")),
            };
            let name = format!("short-{points}-{seeds}");
            let scenario = self.scenario(&name, &text)?;
            let run = |command: &mut Command| {
                let child = command.spawn().map_err(|error| self.failed(&error))?;
                cpu_and_peak(|| Ok(vec![child]))
            };
            let (cpu_s, peak) = run(&mut self.sweep(&scenario, &name, seeds, 1))?;
            // All runs are stored now, so the same command only draws the plots.
            let mut draw = Command::new(&self.binary);
            draw.args(["run", &scenario, "--quiet", "--set", &format!("repeat={seeds}")]);
            draw.args(["--jobs", "1", "--out", &self.path(&name)]).stdout(Stdio::null());
            let (_, with_pictures) = run(&mut draw)?;
            let runs = points * seeds;
            #[expect(clippy::cast_precision_loss, reason = "some ten thousand")]
            let ms_per_run = cpu_s * 1e3 / runs as f64;
            rows.push(json!({
                "points": points, "runs": runs, "cpu_ms_per_run": rounded(ms_per_run), "peak_rss_bytes": peak,
                "peak_rss_with_pictures_bytes": (points > 1).then_some(with_pictures),
            }));
        }
        Ok(rows)
    }

    /// Returns the instructions that a short run adds to a sweep.
    fn instructions_per_run(&self) -> Result<u64, String> {
        let scenario = self.scenario("short", SHORT_RUN)?;
        let counted = |runs: u64| {
            self.instructions(self.sweep(&scenario, &format!("counted-{runs}"), runs, 1).get_args())
        };
        let [few, many] = COUNTED;
        Ok((counted(many)?.saturating_sub(counted(few)?)) / (many - few))
    }

    /// Returns the CPU seconds that the same runs take with one worker, with two workers, and in
    /// two parallel processes with one worker each. Separate processes share no memory. If separate
    /// processes also take more CPU seconds than one worker, the cause is the machine and not
    /// bbrlab.
    fn workers(&self) -> Result<Value, String> {
        let scenario = self.scenario("long", LONG_RUN)?;
        let measure = |programs: u64, jobs: u64| {
            let started = || {
                let sweeps = (0..programs).map(|n| {
                    let name = format!("long-{programs}-{jobs}-{n}");
                    self.sweep(&scenario, &name, LONG_RUNS / programs, jobs).spawn()
                });
                sweeps.collect::<Result<Vec<_>, _>>().map_err(|error| self.failed(&error))
            };
            cpu_and_peak(started).map(|(cpu_s, _)| cpu_s)
        };
        let (mut one, mut two, mut apart) = (Vec::new(), Vec::new(), Vec::new());
        for time in 1..=TIMES {
            eprintln!("== workers, {time} of {TIMES}");
            one.push(measure(1, 1)?);
            two.push(measure(1, 2)?);
            apart.push(measure(2, 1)?);
        }
        Ok(json!({
            "runs": LONG_RUNS,
            "one_cpu_s": median(&mut one),
            "two_cpu_s": median(&mut two),
            "apart_cpu_s": median(&mut apart),
        }))
    }

    /// Returns the instructions that drawing the plots of a built-in scenario takes, and the number
    /// of plots.
    fn picture(&self, name: &str, scenario: &str) -> Result<Value, String> {
        eprintln!("== pictures of {scenario}");
        let (data, drawn) = (self.path(name), self.path(&format!("{name}-drawn")));
        self.call(&["run", scenario, "--quiet", "--no-pictures", "--out", &data])?;
        let command = ["plot", &data, "--out", &drawn];
        let instructions = self.instructions(command.iter().map(std::ffi::OsStr::new))?;
        let files = fs::read_dir(&drawn).map_err(|error| self.failed(&error))?.flatten();
        let png = |file: &fs::DirEntry| file.path().extension().is_some_and(|kind| kind == "png");
        Ok(json!({
            "of": scenario, "pictures": files.filter(png).count(), "instructions": instructions,
        }))
    }

    fn path(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    fn scenario(&self, name: &str, text: &str) -> Result<String, String> {
        let path = self.path(&format!("{name}.toml"));
        fs::write(&path, text).map_err(|error| format!("{path}: {error}"))?;
        Ok(path)
    }

    /// Makes the command for a sweep over seeds, without plots.
    fn sweep(&self, scenario: &str, out: &str, runs: u64, jobs: u64) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(["run", scenario, "--quiet", "--no-pictures", "--force"]);
        command.args(["--set", &format!("repeat={runs}"), "--jobs", &jobs.to_string()]);
        command.args(["--out", &self.path(out)]).stdout(Stdio::null());
        command
    }

    fn call(&self, args: &[&str]) -> Result<(), String> {
        let output = Command::new(&self.binary).args(args).output();
        let output = output.map_err(|error| self.failed(&error))?;
        let told = || String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() { Ok(()) } else { Err(self.failed(&told())) }
    }

    /// Returns the number of instructions that callgrind counts while the measured `bbrlab` runs
    /// with these arguments.
    fn instructions<'a>(
        &self,
        args: impl Iterator<Item = &'a std::ffi::OsStr>,
    ) -> Result<u64, String> {
        let mut command = Command::new("valgrind");
        command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
        let output = command.arg(&self.binary).args(args).output();
        let output = output.map_err(|error| format!("cannot run valgrind: {error}"))?;
        let told = String::from_utf8_lossy(&output.stderr);
        valgrind::instructions(&told).ok_or_else(|| self.failed(&told))
    }

    fn failed(&self, reason: &dyn std::fmt::Display) -> String {
        format!("{}: {reason}", self.binary.display())
    }
}

/// Waits until all started processes have ended. Returns the sum of the processes' CPU seconds, and
/// the largest resident memory of any process in bytes. The resident memory is read every 5 ms
/// while the processes run.
fn cpu_and_peak(
    start: impl FnOnce() -> Result<Vec<std::process::Child>, String>,
) -> Result<(f64, u64), String> {
    let before = cpu_s_of_children()?;
    let mut processes = start()?;
    let mut peak = 0;
    while !processes.is_empty() {
        for process in &processes {
            peak = peak.max(peak_rss_bytes(process.id()).unwrap_or(0));
        }
        let mut left = Vec::new();
        for mut process in processes {
            match process.try_wait().map_err(|error| error.to_string())? {
                None => left.push(process),
                Some(status) if status.success() => {}
                Some(status) => return Err(format!("a measured program ended with {status}")),
            }
        }
        processes = left;
        thread::sleep(Duration::from_millis(5));
    }
    Ok((cpu_s_of_children()? - before, peak))
}

/// Returns the CPU seconds of this process's ended children, with a resolution of 0.01 s.
fn cpu_s_of_children() -> Result<f64, String> {
    let stat = fs::read_to_string("/proc/self/stat").map_err(|error| error.to_string())?;
    cpu_s_in(&stat).ok_or_else(|| format!("/proc/self/stat is not as expected: {stat}"))
}

/// Parses the CPU seconds of ended children from `/proc/self/stat`: the sum of `cutime` and
/// `cstime`, the 14th and 15th word after the name in brackets.
fn cpu_s_in(stat: &str) -> Option<f64> {
    let (_, behind) = stat.rsplit_once(')')?;
    let words: Vec<&str> = behind.split_whitespace().collect();
    let ticks = |at: usize| words.get(at)?.parse::<f64>().ok();
    Some((ticks(13)? + ticks(14)?) / 100.0)
}

fn peak_rss_bytes(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    rounded(values[values.len() / 2])
}

/// Rounds a value to hundredths.
fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::{cpu_s_in, median};

    #[test]
    fn the_time_of_children_is_read_behind_a_name_with_blanks() {
        let stat = "71 (a ) b) S 1 71 71 0 -1 4194304 9 9 0 0 5 6 250 25 20 0 1 0 77 0 0";
        assert_eq!(cpu_s_in(stat), Some(2.75));
        assert_eq!(cpu_s_in("71 (a) S 1"), None);
    }

    #[test]
    fn the_median_is_the_one_in_the_middle() {
        assert!((median(&mut [3.0, 1.004, 2.004]) - 2.0).abs() < 1e-9);
    }
}
