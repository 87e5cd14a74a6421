//! A real Linux kernel as a back end: a User-Mode Linux in virtual time, called the guest kernel.
//! `ip` and `tc` set up its network.
//!
//! For a run, the back end writes a folder with a set-up script and a scenario for the first
//! program of this kernel; `adapters/linux/README.md` describes the language of this scenario. The
//! kernel boots, reads the folder and writes its measurements there; the back end converts them to
//! a `RunResult`. The same run, seed and kernel give the same measurements, byte for byte.
//!
//! | file | idea |
//! | --- | --- |
//! | `refusals/` | the parts of a run that this back end does not support |
//! | `sizes.rs` | sizes of buffers that the kernel's 32 bits cannot hold |
//! | `network.rs` | the run's network as namespaces and wires |
//! | `impair.rs` | loss and delays between queues |
//! | `tc.rs` | the words of `tc` |
//! | `sysctls.rs`, `switches.rs` | the settings of TCP, and what has no setting |
//! | `script.rs` | the files that the first program of the guest kernel reads |
//! | `series.rs`, `records.rs` | converts the guest kernel's records to time series and metrics |

mod impair;
pub(super) mod network;
pub(super) mod records;
pub(super) mod refusals;
pub(super) mod script;
mod series;
mod sizes;
mod switches;
mod sysctls;
mod tc;

pub use self::script::kernel_name;
pub use self::switches::switches_linux_lacks;
pub use self::sysctls::tcp_sysctls;
pub use self::tc::{Unable, discipline, percent};

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use bbrlab_cost::Estimate;
use bbrlab_kernel::{Kernel, KernelError, Manifest, find_kernel};
use bbrlab_run::Run;

use crate::backend::{Backend, Refusal, Task};
use crate::error::LabError;
use crate::execute::Executed;
#[cfg(target_os = "linux")]
use crate::temporary::Temporary;

use self::network::Network;

/// The back end's name.
const NAME: &str = "linux";

/// CPU seconds of a boot that sets up a dumbbell, and CPU seconds per data packet, its ACK
/// included. Both were measured on the machine of `docs/performance.md`, where a packet took 18 to
/// 31 us.
const BOOT_CPU_S: f64 = 0.4;
const PACKET_CPU_S: f64 = 25e-6;

/// The back end `linux`: a kernel that `bbrlab kernel build` made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Linux;

/// Returns the kernel that this process uses. Only the first call searches for the kernel.
fn kernel() -> Result<&'static Kernel, LabError> {
    static KERNEL: OnceLock<Result<Kernel, String>> = OnceLock::new();
    let found = KERNEL.get_or_init(|| find_kernel(None).map_err(|error| error.to_string()));
    found.as_ref().map_err(|text| LabError::Usage(text.clone()))
}

fn manifest() -> Option<&'static Manifest> {
    kernel().ok().map(|kernel| &kernel.manifest)
}

/// Returns the version of a kernel with the beginning of its hash, such as `6.12.117 (1a2b3c4d)`.
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
        let mut all = refusals::refusals(run, manifest());
        all.extend(sizes::refusals(&run.stack));
        all
    }

    #[expect(clippy::cast_precision_loss, reason = "the CPU time is only an estimate")]
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
        let folder = Temporary::new(NAME)?;
        let network = Network::of(task.run);
        write_files(folder.path(), task.run, &network)?;
        let (cpu_s, is_complete) = boot(kernel, folder.path(), task, watch)?;
        let records = records::Records::read(folder.path(), &network, is_complete)?;
        let version = version_of(&kernel.manifest);
        let end = (cpu_s, is_complete);
        let result = records::result(task.run, &network, &records, &version, end);
        Ok(Executed { result, cpu_s, is_complete })
    }

    #[cfg(not(target_os = "linux"))]
    fn execute(&self, _: &Task<'_>, _: &mut dyn FnMut(f64)) -> Result<Executed, String> {
        Err("a Linux kernel as a program runs only on Linux".to_owned())
    }
}

/// Writes into `folder` the files that the guest kernel reads.
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

/// Boots the kernel. Returns the kernel's CPU seconds, and whether the kernel reached the end of
/// the run.
#[cfg(target_os = "linux")]
fn boot(
    kernel: &Kernel,
    folder: &Path,
    task: &Task<'_>,
    watch: &mut dyn FnMut(f64),
) -> Result<(f64, bool), String> {
    /// A guest kernel is killed after a day, in case its first program never ends.
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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use bbrlab_kernel::kernel_for_test;
    use bbrlab_run::{Controls, RunResult};
    use bbrlab_scenario::Scenario;

    use super::Linux;
    use crate::backend::{Backend, Task};
    use crate::list::SIMULATOR;
    use crate::stop::Stop;

    fn result(on: &dyn Backend, cc: &str) -> RunResult {
        let text = format!(
            "duration = \"10s\"\n[stack]\nclock_step = \"256ns\"\n[bottleneck]\n\
             rate = \"10Mbit/s\"\nbuffer = \"1bdp\"\n[[flows]]\ncc = \"{cc}\"\n\
             rtt = \"30ms\"\nstart = \"0.1s\"\n"
        );
        result_of(on, &text)
    }

    fn result_of(on: &dyn Backend, text: &str) -> RunResult {
        let scenario = Scenario::parse("lone", "lone", text, None, &[]).unwrap();
        let (run, controls, stop) = (scenario.run(0), Controls::none(), Stop::new());
        let task = Task { run: &run, packets: 8000, controls: &controls, stop: &stop };
        on.execute(&task, &mut |_| {}).unwrap().result
    }

    /// For a lone flow without random loss, kernel and simulator give equal counts of segments,
    /// retransmissions and drops.
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

    /// Checks that an application, if it writes in blocks, waits for space in the send buffer only
    /// after a `send()` has failed. If the application waited before each `send()`, the kernel's
    /// send buffer would grow more. In the kernel, the `hybla` flow of this test would then
    /// retransmit 98 packets. In the simulator, this flow retransmits 162 packets.
    #[test]
    fn an_application_that_writes_blocks_waits_only_after_a_failed_send() {
        if kernel_for_test("an_application_that_writes_blocks_waits").is_none() {
            return;
        }
        let text = "duration = \"10s\"\n[stack]\nclock_step = \"256ns\"\nrcvbuf = \"1771466B\"\n\
                    [bottleneck]\nrate = \"14396kbit/s\"\nqueue = { discipline = \"fq_codel\" }\n\
                    buffer = \"68pkt\"\n[[flows]]\ncc = \"veno\"\nrtt = \"4ms\"\n\
                    start = \"388487786ns\"\necn = true\n[[flows]]\ncc = \"hybla\"\n\
                    rtt = \"160ms\"\nstart = \"375822526ns\"\necn = true\n\
                    write = { bytes = \"21539B\", every = \"34ms\" }\n";
        let retransmitted = |on: &dyn Backend| {
            let flows = result_of(on, text).summary.flows;
            flows.iter().map(|flow| flow.retransmitted_packets.unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(retransmitted(&Linux), retransmitted(SIMULATOR));
    }

    /// Requests on a path with an RTT far below 1 ms continue until the run ends.
    #[test]
    fn requests_of_a_short_path_go_on_to_the_end() {
        if kernel_for_test("requests_of_a_short_path_go_on_to_the_end").is_none() {
            return;
        }
        let text = "duration = \"2s\"\n[stack]\nclock_step = \"256ns\"\n[bottleneck]\n\
                    rate = \"1Gbit/s\"\nbuffer = \"100pkt\"\n[[flows]]\ncc = \"cubic\"\n\
                    rtt = \"0.1ms\"\nbytes = \"1000B\"\nrequests = {}\n";
        let number = |on: &dyn Backend| result_of(on, text).summary.flows[0].fct_ms.n.unwrap();
        let (ours, kernel) = (number(SIMULATOR), number(&Linux));
        // A response takes 110 us in the simulator, and slightly longer in the guest kernel: the
        // kernel reads its clock about ten times per response, and every read takes 256 ns.
        assert!((ours * 95 / 100..=ours).contains(&kernel), "{ours} {kernel}");
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
