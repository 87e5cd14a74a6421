//! A real Linux kernel as a back end: a User-Mode Linux in virtual time, whose network is set up by
//! `ip` and `tc`.
//!
//! A run becomes a folder with a set-up script and a scenario in the language of the guest's first
//! program (`adapters/linux/README.md`). The kernel boots on it, and its records become ours. The
//! same run, seed and kernel give the same bytes.
//!
//! | file | idea |
//! | --- | --- |
//! | `refusals.rs` | what the kernel or the translation cannot do |
//! | `network.rs` | the run's network as namespaces and wires |
//! | `impair.rs` | loss and delays between queues |
//! | `tc.rs` | the words of `tc` |
//! | `script.rs` | the files that the guest reads |
//! | `series.rs`, `records.rs` | the guest's records as ours |

mod impair;
mod network;
mod records;
mod refusals;
mod script;
mod series;
mod tc;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use bbrlab_cost::Estimate;
use bbrlab_kernel::{Kernel, KernelError, Manifest, find_kernel};
use bbrlab_run::Run;

use crate::backend::{Backend, Refusal, Task};
use crate::error::LabError;
use crate::execute::Executed;

use self::network::Network;

/// The back end's name.
const NAME: &str = "linux";

/// CPU seconds of a boot with the set-up of a dumbbell, and of a data packet with its ACK on its
/// way. Measured on the machine of `docs/performance.md`; a packet costs 18 to 31 us.
const BOOT_CPU_S: f64 = 0.4;
const PACKET_CPU_S: f64 = 25e-6;

/// A kernel that `bbrlab kernel build` made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Linux;

/// The kernel of this process: the one that was there when it was first asked for.
fn kernel() -> Result<&'static Kernel, LabError> {
    static KERNEL: OnceLock<Result<Kernel, String>> = OnceLock::new();
    let found = KERNEL.get_or_init(|| find_kernel(None).map_err(|error| error.to_string()));
    found.as_ref().map_err(|text| LabError::Usage(text.clone()))
}

fn manifest() -> Option<&'static Manifest> {
    kernel().ok().map(|kernel| &kernel.manifest)
}

/// Version and build of a kernel, such as `6.12.117 (1a2b3c4d)`.
fn version_of(manifest: &Manifest) -> String {
    let hash: String = manifest.hash.chars().take(8).collect();
    format!("{} ({hash})", manifest.version)
}

impl Backend for Linux {
    fn name(&self) -> &'static str {
        NAME
    }

    fn version(&self) -> String {
        manifest().map_or_else(|| "no kernel".to_owned(), version_of)
    }

    fn refusals(&self, run: &Run) -> Vec<Refusal> {
        refusals::refusals(run, manifest())
    }

    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn cpu_s(&self, estimate: &Estimate) -> Result<f64, LabError> {
        kernel()?;
        Ok(estimate.runs as f64 * BOOT_CPU_S + estimate.data_packets as f64 * PACKET_CPU_S)
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    #[cfg(target_os = "linux")]
    fn execute(&self, task: &Task<'_>, watch: &mut dyn FnMut(f64)) -> Result<Executed, String> {
        let kernel = kernel().map_err(|error| error.to_string())?;
        let scratch = Scratch::new()?;
        let network = Network::of(task.run);
        write_files(scratch.path(), task.run, &network)?;
        let (cpu_s, is_complete) = boot(kernel, scratch.path(), task, watch)?;
        let records = records::Records::read(scratch.path(), &network)?;
        let version = version_of(&kernel.manifest);
        let result = records::result(task.run, &network, &records, &version, cpu_s);
        Ok(Executed { result, cpu_s, is_complete })
    }

    #[cfg(not(target_os = "linux"))]
    fn execute(&self, _: &Task<'_>, _: &mut dyn FnMut(f64)) -> Result<Executed, String> {
        Err("a Linux kernel as a program runs only on Linux".to_owned())
    }
}

/// Writes the files that the guest reads.
fn write_files(folder: &Path, run: &Run, network: &Network) -> Result<(), String> {
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| LabError::io("write", &path, &error).to_string())
    };
    write(script::SETUP, &script::setup(run, network))?;
    write("scenario", &script::scenario(run, network))?;
    for (name, text) in network.tables() {
        write(&format!("{name}.dist"), &text)?;
    }
    Ok(())
}

/// Boots the kernel; returns its CPU seconds, and whether it reached the end of the run.
#[cfg(target_os = "linux")]
fn boot(
    kernel: &Kernel,
    folder: &Path,
    task: &Task<'_>,
    watch: &mut dyn FnMut(f64),
) -> Result<(f64, bool), String> {
    /// A guest whose program would never end is ended after a day.
    const LIMIT: std::time::Duration = std::time::Duration::from_secs(86_400);
    let cpu = bbrlab_kernel::FreeCpu::take();
    let boot = bbrlab_kernel::Boot {
        folder,
        seed: task.run.seed,
        cpu: cpu.as_ref().map(|cpu| cpu.number),
        memory_mib: script::memory_mib(task.run),
        limit: LIMIT,
    };
    match kernel.boot(&boot, &|| task.stop.is_requested(), watch) {
        Ok(booted) => Ok((booted.cpu_s, true)),
        Err(KernelError::Interrupted(_)) => Ok((0.0, false)),
        Err(error) => Err(error.to_string()),
    }
}

/// A folder for one boot, which is removed with this value.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self, String> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("bbrlab-linux-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path)
            .map_err(|error| LabError::io("write", &path, &error).to_string())?;
        Ok(Self(path))
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // `BBRLAB_KEEP_GUEST` keeps the folder, to look at what the guest did.
        if std::env::var_os("BBRLAB_KEEP_GUEST").is_none() {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use bbrlab_kernel::kernel_for_test;
    use bbrlab_run::{Controls, RunResult};
    use bbrlab_scenario::Scenario;

    use super::Linux;
    use crate::backend::{Backend, Task};
    use crate::backends::SIMULATOR;
    use crate::stop::Stop;

    fn result(on: &dyn Backend, cc: &str) -> RunResult {
        let text = format!(
            "duration = \"10s\"\n[stack]\nclock_step = \"256ns\"\n[bottleneck]\n\
             rate = \"10Mbit/s\"\nbuffer = \"1bdp\"\n[[flows]]\ncc = \"{cc}\"\n\
             rtt = \"30ms\"\nstart = \"0.1s\"\n"
        );
        let scenario = Scenario::parse("lone", "lone", &text, None, &[]).unwrap();
        let (run, controls, stop) = (scenario.run(0), Controls::none(), Stop::new());
        let task = Task { run: &run, packets: 8000, controls: &controls, stop: &stop };
        on.execute(&task, &mut |_| {}).unwrap().result
    }

    /// A lone flow without random loss is the same to the segment, retransmission and drop.
    #[test]
    fn lone_flows_are_the_simulators() {
        if kernel_for_test("lone_flows_are_the_simulators").is_none() {
            return;
        }
        for cc in ["cubic", "reno"] {
            let counts = |result: &RunResult| {
                let (flow, link) = (&result.summary.flows[0], &result.summary.links[0]);
                let counts = (flow.sent_packets, flow.retransmitted_packets);
                (counts, link.drops, link.departures, flow.goodput_mbps)
            };
            let (ours, kernel) = (result(SIMULATOR, cc), result(&Linux, cc));
            assert_eq!(counts(&kernel), counts(&ours), "{cc}");
            assert!(kernel.series.len() > 900 && kernel.queue.len() > 900);
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_bytes() {
        if kernel_for_test("the_same_seed_gives_the_same_bytes").is_none() {
            return;
        }
        let digest = || result(&Linux, "bbr1").summary.digest.unwrap();
        assert_eq!(digest(), digest());
    }
}
