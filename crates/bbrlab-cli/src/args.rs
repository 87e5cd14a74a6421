//! The command line: subcommands, flags and their help texts.

use std::path::PathBuf;

use bbrlab_exchange::CaptureSide;
use bbrlab_lab::{BENCH_CASES, Backend, backend};
use bbrlab_papers::papers;
use clap::{Args, Parser, Subcommand, ValueHint};

use crate::builtin_id::BuiltinId;

/// A laboratory for TCP congestion control.
#[derive(Debug, Parser)]
#[command(
    name = "bbrlab",
    version = concat!(env!("CARGO_PKG_VERSION")),
    about = "A laboratory for TCP congestion control",
    long_about = "A laboratory for TCP congestion control: simulates scenario files; writes tables, plots and data.",
    arg_required_else_help = true,
    subcommand_required = true,
    max_term_width = 100,
    after_help = "Example: bbrlab run examples.dumbbell"
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Run scenario files, or built-in scenarios by their ids
    #[command(after_help = "Examples:
  bbrlab run examples.two-bbr
  bbrlab run my.toml --set bottleneck.buffer=2bdp --set 'flows[1].cc=cubic' --out results
  bbrlab run queues.vs-cubic --jobs 2 --json > vs-cubic.json
  bbrlab show examples.dumbbell | bbrlab run -
  bbrlab run bbrlab-runs/examples.two-bbr-0a1b2c3d4e5f")]
    Run(RunArgs),
    /// Join the parts of a sweep that `run --shard` computed; simulates nothing
    #[command(after_help = "Examples:
  bbrlab run sweep.toml --shard 1/2 --out part1
  bbrlab run sweep.toml --shard 2/2 --out part2
  bbrlab merge part1 part2 --out sweep")]
    Merge(MergeArgs),
    /// Run the papers' experiments; print the published values next to the measured values, and a
    /// verdict on every claim
    #[command(after_help = examples_of_reproduce())]
    Reproduce(ReproduceArgs),
    /// List algorithms, queue disciplines, scenarios, papers and metrics
    #[command(after_help = "Examples:
  bbrlab list
  bbrlab list algorithms bbr3
  bbrlab list scenarios examples
  bbrlab list algorithms --json")]
    List(ListArgs),
    /// Print a built-in scenario as text, with its comments, or the JSON Schema of scenario files
    #[command(after_help = "Examples:
  bbrlab show examples.two-bbr > my.toml
  bbrlab show --schema > bbrlab.schema.json")]
    Show(ShowArgs),
    /// Write a commented scenario as a starting point
    #[command(after_help = "Example: bbrlab new my.toml")]
    New(NewArgs),
    /// Validate scenario files and estimate what a run would cost; runs nothing
    #[command(after_help = "Examples:
  bbrlab check my.toml examples.rate-drop
  bbrlab show examples.two-bbr | bbrlab check -")]
    Check(CheckArgs),
    /// Compare bbrlab with recordings of real kernel code and real Linux hosts
    #[command(after_help = "Example: bbrlab validate golden reference/golden/bbr1")]
    Validate(ValidateArgs),
    /// Draw plots from folders of results
    #[command(after_help = "Examples:
  bbrlab plot bbrlab-runs/examples.two-bbr-0a1b2c3d4e5f
  bbrlab plot RUN --panels rtt,cwnd --from 5s --to 20s --size 84x60mm --format pdf
  bbrlab plot SWEEP --metric share --x bottleneck.buffer --by cc
  bbrlab plot SWEEP --metric share --against queue_delay_ms.mean --x bottleneck.rate
  bbrlab plot SWEEP --heatmap share --group bbr1 --x bottleneck.buffer --by flows.rtt
  bbrlab plot SWEEP --cdf queue
  bbrlab plot SWEEP --metric share --group bbr1 --ylabel 'Share, %' --legend 'bbr1=BBRv1' --size 84x60mm
  bbrlab plot RUN RUN --overlay --panels rtt,queue")]
    Plot(Box<PlotArgs>),
    /// Print the table of a folder of results, or the comparison of several, also for a paper or a
    /// spreadsheet
    #[command(after_help = "Examples:
  bbrlab table bbrlab-runs/examples.two-bbr-0a1b2c3d4e5f
  bbrlab table SWEEP --latex > table.tex
  bbrlab table SWEEP --metric share,rtt_ms.mean --legend bbr1=BBRv1 --legend 'RTT mean=RTT'
  bbrlab table SWEEP --paired flows.cc --against cubic --metric share --latex
  bbrlab table before after --csv > compared.csv")]
    Table(TableArgs),
    /// Compare the metrics of several folders of results, or of the values of a swept key, with
    /// differences and intervals
    #[command(after_help = "Examples:
  bbrlab compare bbrlab-runs/examples.dumbbell-0a1b2c3d4e5f bbrlab-runs/examples.dumbbell-5f4e3d2c1b0a
  bbrlab compare SWEEP --paired flows.cc --metric goodput_mbps,share
  bbrlab compare --on sim,linux examples.two-bbr --seeds 3
  bbrlab compare --on sim,linux --random 20 --seed 1
  bbrlab compare before after --json")]
    Compare(CompareArgs),
    /// Put folders of results on one self-contained HTML page
    #[command(
        after_help = "Example: bbrlab report bbrlab-runs/examples.two-bbr-0a1b2c3d4e5f --out two-bbr.html"
    )]
    Report(ReportArgs),
    /// Serve the lab, a web page for editing scenarios in a form or as text, running them, and
    /// watching their time series and packets; the page also shows folders of results
    #[command(
        after_help = "A program that was built without the page says so. `cargo xtask web` in a clone builds the page.

Examples:
  bbrlab lab --open
  bbrlab lab bbrlab-runs --port 8080"
    )]
    Lab(LabArgs),
    /// Import measurements of a testbed or of ns-3 as a run: pcap, pcapng, CSV, Flent's data,
    /// iperf3's JSON, logs of ss, XML of ns-3's `FlowMonitor`
    #[command(after_help = "Examples:
  bbrlab import client.json --out measured
  bbrlab import sender.pcap --cc bbr3,cubic --out measured
  bbrlab plot SIMULATED measured --overlay")]
    Import(ImportArgs),
    /// Convert results to CSV, pcap or qlog, or a scenario to a script for a testbed
    #[command(after_help = "Examples:
  bbrlab export bbrlab-runs/examples.two-bbr-0a1b2c3d4e5f --csv
  bbrlab export bbrlab-runs/examples.two-bbr-0a1b2c3d4e5f --pcap
  bbrlab export examples.dumbbell --script > dumbbell.sh
  bbrlab export bbrlab-runs --csv --out tables")]
    Export(ExportArgs),
    /// Measure the speed of this build of bbrlab on this machine
    #[command(
        long_about = BENCH_ABOUT,
        after_help = "Examples:
  bbrlab bench a b c
  bbrlab bench --json > before.json
  bbrlab bench --against before.json
  bbrlab bench a --show before.json"
    )]
    Bench(BenchArgs),
    /// Build a real Linux kernel that runs as a program, and manage the built ones
    #[command(
        long_about = KERNEL_ABOUT,
        after_help = "Examples:
  bbrlab kernel build
  bbrlab kernel list
  bbrlab kernel remove 0a1b"
    )]
    Kernel(KernelArgs),
    /// List the installed releases of ns-3, on which --on ns3 runs scenarios
    #[command(
        long_about = NS3_ABOUT,
        after_help = "Example: bbrlab ns3 list"
    )]
    Ns3(Ns3Args),
    /// Evaluate the claims and calculations in papers' data files with the papers' own numbers
    #[command(hide = true, after_help = "Example: bbrlab evaluate papers/*.toml")]
    Evaluate(EvaluateArgs),
    /// Run one case of `bench` in this process, and print its result as JSON
    #[command(hide = true, after_help = "Example: bbrlab bench-case a")]
    BenchCase(BenchCaseArgs),
    /// Print a completion script for a shell
    #[command(
        after_help = "Example: bbrlab completions bash > ~/.local/share/bash-completion/completions/bbrlab"
    )]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

fn examples_of_reproduce() -> String {
    let experiment = &papers()[0].experiments[0].id;
    let paper = &papers()[1].key;
    format!(
        "Examples:
  bbrlab reproduce {experiment}
  bbrlab reproduce --quick --html report.html
  bbrlab reproduce {paper} --seeds 20 --json"
    )
}

/// The flags that all commands that run scenarios have.
#[derive(Args, Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Running {
    /// First seed, instead of the scenario's
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = seed)]
    pub(crate) seed: Option<u64>,
    /// Runs in parallel [default: one per processor]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) jobs: Option<u32>,
    /// Folder for the results; `reproduce` and several scenarios write to subfolders of it
    /// [default: bbrlab-runs/NAME-HASH; for a folder of results, this folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Recompute and overwrite existing results
    #[arg(long)]
    pub(crate) force: bool,
    /// Draw no plots
    #[arg(long)]
    pub(crate) no_pictures: bool,
    /// Refuse runs of more than this many data packets (a row of the time series counts as 100
    /// packets, a byte of memory as 1)
    #[arg(long, value_name = "PACKETS", allow_negative_numbers = true, default_value = "1e10", value_parser = packets)]
    pub(crate) limit: u64,
    /// Print results only: no progress bar, no notes
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct RunArgs {
    /// Scenario files, ids of built-in scenarios (see `bbrlab list scenarios`), - for standard
    /// input, or folders of results to continue
    #[arg(required = true, value_name = "SCENARIO", value_hint = ValueHint::AnyPath)]
    pub(crate) scenarios: Vec<String>,
    /// Set a key of the scenario, such as bottleneck.rate=20Mbit/s; can be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Load a congestion control from a shared object, for cc = "plugin:NAME"; can be repeated
    #[arg(long, value_name = "LIB", value_hint = ValueHint::FilePath)]
    pub(crate) plugin: Vec<PathBuf>,
    /// If a folder has no results itself, continue all results in the folders below it
    #[arg(long)]
    pub(crate) recursive: bool,
    /// Show all columns, even if the table is wider than the terminal; files and pipes always get
    /// all
    #[arg(long)]
    pub(crate) wide: bool,
    /// Run only part K of N of each scenario's runs; `bbrlab merge` joins the parts
    #[arg(long, value_name = "K/N", value_parser = shard, allow_hyphen_values = true)]
    pub(crate) shard: Option<Shard>,
    /// Back end that computes the runs; `sim` is the simulator [default: sim; for a folder of
    /// results, the back end that computed them]
    #[arg(long, value_name = "BACKEND", value_parser = backend)]
    pub(crate) on: Option<&'static dyn Backend>,
    #[command(flatten)]
    pub(crate) running: Running,
}

/// One of the shards into which the runs of a scenario are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shard {
    /// The number of this shard, from 1.
    pub(crate) number: u64,
    pub(crate) of: u64,
}

fn shard(words: &str) -> Result<Shard, String> {
    let parts = words.split_once('/').and_then(|(number, of)| {
        Some(Shard { number: number.parse().ok()?, of: of.parse().ok()? })
    });
    let is_one = |shard: &Shard| (1..=shard.of).contains(&shard.number);
    parts.filter(is_one).ok_or_else(|| "expected K/N with K from 1 to N, such as 2/8".to_owned())
}

#[derive(Args, Debug)]
pub(crate) struct MergeArgs {
    /// Folders with parts of one sweep, written by `bbrlab run --shard`
    #[arg(required = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) folders: Vec<PathBuf>,
    /// Folder for the whole sweep; it may be the folder of a part
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) out: PathBuf,
    /// Draw no plots
    #[arg(long)]
    pub(crate) no_pictures: bool,
    /// Print results only: no progress bar, no notes
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ReproduceArgs {
    /// Papers or experiments (see `bbrlab list papers`) [default: all]
    #[arg(value_name = "PAPER[.EXPERIMENT]")]
    pub(crate) names: Vec<String>,
    /// Seeds per point [default: 5, or 1 at 1 Gbit/s and above]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = seeds)]
    pub(crate) seeds: Option<u64>,
    /// Run one seed, no points at 1 Gbit/s or more, and only 30 s where metrics settle early;
    /// claims that need more get no verdict
    #[arg(long, conflicts_with = "seeds")]
    pub(crate) quick: bool,
    /// Also show values of this back end, next to the published and the simulated ones. Runs one
    /// seed unless --seeds is given, and only the points below 1 Gbit/s that the back end supports;
    /// judges no claims
    #[arg(long, value_name = "BACKEND", value_parser = backend, conflicts_with_all = ["explain", "sensitivity", "html", "markdown"])]
    pub(crate) on: Option<&'static dyn Backend>,
    /// For each claim that bbrlab's data files expect to be an artifact of the paper's simulator or
    /// method, find the difference from the `linux` profile, or the pair of differences, that makes
    /// the claim true. Runs only the first seed
    #[arg(long, conflicts_with = "quick")]
    pub(crate) explain: bool,
    /// Find the verdicts that depend on parameters that the papers do not state. Runs only the
    /// first seed unless --seeds is given
    #[arg(long, conflicts_with = "quick")]
    pub(crate) sensitivity: bool,
    /// Accepted only so that the error message can recommend `run --set`
    #[arg(long, value_name = "KEY=VALUE", hide = true)]
    pub(crate) set: Vec<String>,
    /// Write the report as one self-contained HTML page with plots
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) html: Option<PathBuf>,
    /// Write the report as Markdown
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) markdown: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) running: Running,
}

#[derive(Args, Debug)]
pub(crate) struct ShowArgs {
    /// Id of a built-in scenario (see `bbrlab list scenarios`)
    #[arg(
        value_name = "ID",
        required_unless_present = "schema",
        hide_possible_values = true,
        value_parser = BuiltinId
    )]
    pub(crate) id: Option<String>,
    /// Print the JSON Schema of scenario files, for editors
    #[arg(long, conflicts_with = "id")]
    pub(crate) schema: bool,
}

#[derive(Args, Debug)]
pub(crate) struct NewArgs {
    /// File to write, or - for standard output
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// Overwrite an existing file
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    /// Scenario files, ids of built-in scenarios, - for standard input, or folders of results
    #[arg(required = true, value_name = "SCENARIO", value_hint = ValueHint::AnyPath)]
    pub(crate) scenarios: Vec<String>,
    /// Set a key of the scenario, such as bottleneck.rate=20Mbit/s; can be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Load a congestion control from a shared object, for cc = "plugin:NAME"; can be repeated
    #[arg(long, value_name = "LIB", value_hint = ValueHint::FilePath)]
    pub(crate) plugin: Vec<PathBuf>,
    /// Back end that would compute the runs; `sim` is the simulator [default: sim; for a folder of
    /// results, the back end that computed them]
    #[arg(long, value_name = "BACKEND", value_parser = backend)]
    pub(crate) on: Option<&'static dyn Backend>,
    /// First seed, instead of the scenario's
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = seed)]
    pub(crate) seed: Option<u64>,
    /// Runs in parallel [default: one per processor]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) jobs: Option<u32>,
    /// Report whether `run --limit PACKETS` would refuse the runs
    #[arg(long, value_name = "PACKETS", allow_negative_numbers = true, default_value = "1e10", value_parser = packets)]
    pub(crate) limit: u64,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// Kind of entries to list [default: the names of all kinds]
    #[arg(value_enum, value_name = "WHAT")]
    pub(crate) what: Option<What>,
    /// Names of entries, or the parts in front of their dots: `bbr3`, `examples`, `links`
    #[arg(value_name = "NAME", requires = "what")]
    pub(crate) names: Vec<String>,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// A list that `bbrlab list` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum What {
    Algorithms,
    Queues,
    Scenarios,
    Papers,
    Metrics,
}

#[derive(Args, Debug)]
pub(crate) struct ValidateArgs {
    #[command(subcommand)]
    pub(crate) against: Against,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Against {
    /// Replay call-by-call traces of kernel code; every integer must be equal
    #[command(after_help = "Examples:
  bbrlab validate golden reference/golden --only bbr1 cubic prr
  bbrlab validate golden reference/golden/bbr1 --json")]
    Golden {
        /// Folders with traces; each folder or one of its parents must contain MANIFEST.csv
        #[arg(required = true, value_name = "DIR")]
        dirs: Vec<PathBuf>,
        /// Replay only the traces of these algorithms or parts of the kernel's TCP code, such as
        /// `cubic` or `prr`
        #[arg(long, value_name = "NAME", num_args = 1..)]
        only: Vec<String>,
        /// Print one JSON document instead of text
        #[arg(long)]
        json: bool,
    },
    /// Run every scenario of a reference folder and compare the results with a real Linux stack
    #[command(after_help = "Examples:
  bbrlab validate linux reference/linux-reference --only 1_cubic 8_ecn
  bbrlab validate linux reference/linux-reference --seeds 3 --out pictures")]
    Linux(crate::validate_linux::LinuxArgs),
    /// Feed bbrlab's sender and receiver the packets that Linux hosts received; compare the packets
    /// that they send with those that the Linux hosts sent
    #[command(after_help = "Example: bbrlab validate packets reference/linux-reference/packets")]
    Packets {
        /// Folders with packet logs
        #[arg(required = true, value_name = "DIR")]
        dirs: Vec<PathBuf>,
        /// Print one JSON document instead of text
        #[arg(long)]
        json: bool,
    },
    /// Replay packet logs of Linux's queue disciplines; each packet must leave, be dropped or be
    /// marked as in the log
    #[command(after_help = "Example: bbrlab validate queues reference/linux-aqm/packets")]
    Queues {
        /// Folders with packet logs
        #[arg(required = true, value_name = "DIR")]
        dirs: Vec<PathBuf>,
        /// Print one JSON document instead of text
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct PlotArgs {
    /// Folders of runs or sweeps, or folders that contain such folders
    #[arg(required = true, value_name = "RUN", value_hint = ValueHint::DirPath)]
    pub(crate) folders: Vec<PathBuf>,
    /// Folder for the plots [default: the folders of the results]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) out: Option<PathBuf>,
    /// Overwrite files that bbrlab did not draw
    #[arg(long)]
    pub(crate) force: bool,
    /// If a folder has no results itself, write next to all results in the folders below it
    #[arg(long)]
    pub(crate) recursive: bool,
    /// Panels of a run's plot: state, throughput, rtt, cwnd, queue, bw, pacing
    #[arg(long, value_name = "PANEL", value_delimiter = ',')]
    pub(crate) panels: Vec<String>,
    /// Metrics of a sweep (see `bbrlab list metrics`), such as `share` or `fct_ms.p95`
    #[arg(long, value_name = "METRIC", value_delimiter = ',')]
    pub(crate) metric: Vec<String>,
    /// Metric on the x axis of a sweep's plot instead of a swept key, such as
    /// `queue_delay_ms.mean`
    #[arg(long, value_name = "METRIC")]
    pub(crate) against: Option<String>,
    /// Draw a heat map of these metrics over two swept keys: --x across, --by up
    #[arg(long, value_name = "METRIC", value_delimiter = ',', conflicts_with_all = ["panels", "metric", "against", "cdf", "dot_labels"])]
    pub(crate) heatmap: Vec<String>,
    /// Swept key on the x axis; with --against, the key along which points are joined by lines
    #[arg(long, value_name = "KEY")]
    pub(crate) x: Option<String>,
    /// Swept key whose values have different colours; with --heatmap, the key of the y axis
    #[arg(long, value_name = "KEY")]
    pub(crate) by: Option<String>,
    /// Use only runs of a sweep with this value of a swept key; may be repeated
    #[arg(long = "where", value_name = "KEY=VALUE")]
    pub(crate) only: Vec<String>,
    /// Start of a run's time axis
    #[arg(long, value_name = "TIME")]
    pub(crate) from: Option<String>,
    /// End of a run's time axis
    #[arg(long, value_name = "TIME")]
    pub(crate) to: Option<String>,
    /// Draw distributions instead: fct (completion times), rtt (RTTs of data packets), queue
    /// (delays of packets at the bottleneck), delay (one-way delays of messages),
    /// `path_queue_delay` (delays of packets in all queues of their path)
    #[arg(long, value_name = "KIND", value_delimiter = ',', conflicts_with_all = ["panels", "metric", "against", "x"])]
    pub(crate) cdf: Vec<String>,
    /// Draw two runs in one plot, the second on top of the first
    #[arg(long)]
    pub(crate) overlay: bool,
    /// Only these groups of flows
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) group: Vec<String>,
    /// Label each dot of a scatter plot with the value of the key along which lines join the dots
    #[arg(long)]
    pub(crate) dot_labels: bool,
    /// Title of the plot, also on narrow plots; "" for none
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Label of the x axis
    #[arg(long, value_name = "TEXT")]
    pub(crate) xlabel: Option<String>,
    /// Label of the y axis: above the panel; in a heat map, along the axis
    #[arg(long, value_name = "TEXT")]
    pub(crate) ylabel: Option<String>,
    /// Text of the legend's entry NAME; may be repeated
    #[arg(long, value_name = "NAME=TEXT", value_parser = entry)]
    pub(crate) legend: Vec<String>,
    /// Leave out the line under the title
    #[arg(long)]
    pub(crate) no_caption: bool,
    /// Width and height, such as 1600x900px, or 84x60mm for paper (smallest text: 7 points)
    #[arg(long, value_name = "SIZE")]
    pub(crate) size: Option<String>,
    /// File formats: svg, png, pdf [default: svg,png]
    #[arg(long, value_name = "FORMAT", value_delimiter = ',')]
    pub(crate) format: Vec<String>,
    /// Print no notes
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct TableArgs {
    /// Folders of runs or sweeps; with several, differences are to the first folder
    #[arg(required = true, value_name = "RUN", value_hint = ValueHint::DirPath)]
    pub(crate) folders: Vec<PathBuf>,
    /// Print LaTeX, with the horizontal lines of the package booktabs
    #[arg(long, group = "format")]
    pub(crate) latex: bool,
    /// Print Markdown
    #[arg(long, group = "format")]
    pub(crate) markdown: bool,
    /// Print only the tables, as CSV with rounded numbers and with one line of names and units
    /// above the rows. `summary.json` has all digits
    #[arg(long, group = "format")]
    pub(crate) csv: bool,
    /// Only these metrics, by their names in `list metrics`, such as `share,queue_delay_ms.mean`
    #[arg(long, value_name = "METRIC", value_delimiter = ',')]
    pub(crate) metric: Vec<String>,
    /// Text that replaces a heading, a part of a heading or a name in a column; may be repeated
    #[arg(long, value_name = "NAME=TEXT", value_parser = heading)]
    pub(crate) legend: Vec<String>,
    /// Compare one value of this swept key with each of the others, seed by seed, as `compare`
    /// does, in one table
    #[arg(long, value_name = "KEY")]
    pub(crate) paired: Option<String>,
    /// With --paired, the value with which the others are compared [default: the first]
    #[arg(long, value_name = "VALUE", requires = "paired")]
    pub(crate) against: Option<String>,
    /// Use only runs of a sweep with this value of a swept key; may be repeated
    #[arg(long = "where", value_name = "KEY=VALUE")]
    pub(crate) only: Vec<String>,
    /// Only these groups of flows of a sweep
    #[arg(long, value_name = "NAME", value_delimiter = ',', conflicts_with = "paired")]
    pub(crate) group: Vec<String>,
    /// Leave out the columns with this heading, such as `seeds`, or with this metric
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) omit: Vec<String>,
    /// Show all columns, even if the table is wider than the terminal. With --latex, --markdown or
    /// --csv, tables always have all columns
    #[arg(long, conflicts_with = "format")]
    pub(crate) wide: bool,
}

#[derive(Args, Debug)]
pub(crate) struct CompareArgs {
    /// Folders of runs or sweeps; differences are to the first folder. With --paired, one sweep.
    /// With --on, one scenario
    #[arg(required_unless_present = "random", value_name = "RUN", value_hint = ValueHint::AnyPath)]
    pub(crate) folders: Vec<PathBuf>,
    /// Run a scenario on these two back ends, except runs that are already complete, and compare
    /// the results
    #[arg(long, value_name = "A,B", value_delimiter = ',', value_parser = backend, conflicts_with = "paired")]
    pub(crate) on: Vec<&'static dyn Backend>,
    /// Load a congestion control from a shared object, for cc = "plugin:NAME"; can be repeated
    #[arg(long, value_name = "LIB", requires = "on", value_hint = ValueHint::FilePath)]
    pub(crate) plugin: Vec<PathBuf>,
    /// Number of seeds of the scenario, instead of its `repeat`; with --random, of each random
    /// scenario [default with --random: 10 on the simulator, 3 on other back ends]
    #[arg(long, value_name = "N", requires = "on", value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) seeds: Option<u64>,
    /// Compare this number of random scenarios instead, and list those that differ
    #[arg(long, value_name = "N", requires = "on", conflicts_with = "folders", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub(crate) random: Option<u64>,
    /// First seed of the scenario; with --random, the seed from which the scenarios are drawn
    #[arg(long, value_name = "N", requires = "on", value_parser = seed)]
    pub(crate) seed: Option<u64>,
    /// Folder for the results of --on [default: bbrlab-runs]
    #[arg(long, value_name = "DIR", requires = "on", value_hint = ValueHint::DirPath)]
    pub(crate) out: Option<PathBuf>,
    /// Runs in parallel [default: one per processor]
    #[arg(long, value_name = "N", requires = "on", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) jobs: Option<u32>,
    /// Print results only: no progress bar, no notes
    #[arg(long, short, requires = "on")]
    pub(crate) quiet: bool,
    /// Compare the first value of this swept key with each of the others, seed by seed, at each
    /// point of the other keys
    #[arg(long, value_name = "KEY")]
    pub(crate) paired: Option<String>,
    /// With --paired, the value with which the others are compared, instead of the first
    #[arg(long, value_name = "VALUE", requires = "paired")]
    pub(crate) against: Option<String>,
    /// Only these metrics, by their names in `list metrics`, such as `share,fct_ms.p95`
    #[arg(long, value_name = "METRIC", value_delimiter = ',')]
    pub(crate) metric: Vec<String>,
    /// Show all columns, even if the table is wider than the terminal
    #[arg(long)]
    pub(crate) wide: bool,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ReportArgs {
    /// Folders of runs or sweeps, or folders that contain such folders
    #[arg(required = true, value_name = "RUN", value_hint = ValueHint::DirPath)]
    pub(crate) folders: Vec<PathBuf>,
    /// HTML file to write [default: report.html in the first folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct ImportArgs {
    /// Files of one test. The command infers the format of each file from its content. Every flow
    /// in every file becomes a flow of the run
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,
    /// Folder for the run's records
    #[arg(long, required = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) out: PathBuf,
    /// Name of the run in tables and plots [default: the first file's name without its ending]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Names of the flows' congestion controls, instead of the names in the files: one for all
    /// flows, or one per flow
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) cc: Vec<String>,
    /// Host at which captures were taken: sender or receiver [default: inferred from the RTTs]
    #[arg(long, value_name = "SIDE", value_parser = side)]
    pub(crate) side: Option<CaptureSide>,
    /// Overwrite other results in the folder
    #[arg(long)]
    pub(crate) force: bool,
    /// Print results only: no notes
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

fn side(text: &str) -> Result<CaptureSide, String> {
    let known = [CaptureSide::Sender, CaptureSide::Receiver];
    let found = known.into_iter().find(|side| side.name() == text);
    found.ok_or_else(|| "expected sender or receiver".to_owned())
}

#[derive(Args, Debug)]
pub(crate) struct LabArgs {
    /// Folder of a run or a sweep to show, or a folder that contains such folders
    #[arg(value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) folder: Option<PathBuf>,
    /// Port on this machine; 0 for a free one
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) port: u16,
    /// Start the browser
    #[arg(long)]
    pub(crate) open: bool,
}

#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct ExportArgs {
    /// Folders of runs or sweeps, or folders that contain such folders; for --script and --mininet,
    /// one scenario: a file or the id of a built-in scenario
    #[arg(required = true, value_name = "RUN", value_hint = ValueHint::AnyPath)]
    pub(crate) folders: Vec<PathBuf>,
    /// Write every Parquet file as CSV with a header line; nulls are empty, numbers read back
    /// exactly
    #[arg(long, required_unless_present_any = ["pcap", "qlog", "script", "mininet"])]
    pub(crate) csv: bool,
    /// Write the headers of all packets at the sending hosts as run.pcap; simulates the run again
    #[arg(long, conflicts_with = "csv")]
    pub(crate) pcap: bool,
    /// Write the time series of each flow as qlog (JSON-SEQ, draft-ietf-quic-qlog-main-schema-13)
    #[arg(long, conflicts_with_all = ["csv", "pcap"])]
    pub(crate) qlog: bool,
    /// Print a shell script that runs the scenario on Linux, with ip, tc, sysctl and iperf3
    #[arg(long, conflicts_with_all = ["csv", "pcap", "qlog", "out", "force", "recursive"])]
    pub(crate) script: bool,
    /// Print a Python program that runs the scenario in Mininet
    #[arg(long, conflicts_with_all = ["csv", "pcap", "out", "force", "qlog", "recursive", "script"])]
    pub(crate) mininet: bool,
    /// Set a key of the scenario, such as bottleneck.rate=20Mbit/s; for --script and --mininet
    #[arg(long, value_name = "KEY=VALUE", conflicts_with_all = ["csv", "pcap", "qlog"])]
    pub(crate) set: Vec<String>,
    /// Overwrite existing files
    #[arg(long)]
    pub(crate) force: bool,
    /// Folder for the files [default: the folders of the results]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) out: Option<PathBuf>,
    /// If a folder has no results itself, write next to all results in the folders below it
    #[arg(long)]
    pub(crate) recursive: bool,
}

#[derive(Args, Debug)]
pub(crate) struct BenchArgs {
    /// Cases of the table.
    #[arg(value_name = "CASE", help = cases_help())]
    pub(crate) cases: Vec<String>,
    /// Processes per case; the process with the fewest CPU seconds counts
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) repeat: u32,
    /// Also print ratios to an earlier document: the new value divided by the old one. The exit
    /// status is 1 if a digest differs. FILE was written by --json; - is standard input
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) against: Option<PathBuf>,
    /// Print the values of an earlier document instead of measuring: all cases, or the named ones
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "repeat")]
    pub(crate) show: Option<PathBuf>,
    /// Print no notes
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct KernelArgs {
    #[command(subcommand)]
    pub(crate) verb: KernelVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KernelVerb {
    /// Build a kernel from the distribution's source package, in about five minutes
    #[command(after_help = "Examples:
  bbrlab kernel build
  bbrlab kernel build --yes
  bbrlab kernel build --patch 0002-bbr3.patch")]
    Build(KernelBuildArgs),
    /// List the built kernels, the newest first
    #[command(after_help = "Example: bbrlab kernel list --json")]
    List {
        /// Print one JSON document instead of text
        #[arg(long)]
        json: bool,
    },
    /// Remove built kernels
    #[command(after_help = "Example: bbrlab kernel remove 0a1b")]
    Remove {
        /// First digits of the kernels' hashes
        #[arg(required = true, value_name = "HASH")]
        hashes: Vec<String>,
    },
}

#[derive(Args, Debug)]
pub(crate) struct Ns3Args {
    #[command(subcommand)]
    pub(crate) verb: Ns3Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Ns3Verb {
    /// List the installed releases, with the congestion controls of the release that --on ns3 uses
    #[command(after_help = "Example: bbrlab ns3 list --json")]
    List {
        /// Print one JSON document instead of text
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args, Debug)]
pub(crate) struct KernelBuildArgs {
    /// Patch of the kernel's sources, applied with `patch -p1`; can be repeated
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, num_args = 1..)]
    pub(crate) patch: Vec<PathBuf>,
    /// Version of the source package: VERSION in Debian's linux-source-VERSION
    #[arg(long, value_name = "VERSION", default_value = "6.12", value_parser = source)]
    pub(crate) source: String,
    /// Timer ticks per second
    #[arg(long, value_name = "HZ", default_value = "1000", value_parser = ["100", "250", "300", "1000"])]
    pub(crate) hz: String,
    /// Install missing Debian packages with apt-get
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Compilers in parallel [default: one per processor]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) jobs: Option<u32>,
    /// Print no progress, only the line about the built kernel
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Returns the text if it has the form of a kernel version, such as `6.12`; otherwise an error.
fn source(text: &str) -> Result<String, String> {
    let parts = text.split_once('.');
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if parts.is_some_and(|(major, minor)| is_number(major) && is_number(minor)) {
        return Ok(text.to_owned());
    }
    Err("expected a version such as 6.12".to_owned())
}

#[derive(Args, Debug)]
pub(crate) struct EvaluateArgs {
    /// Papers' data files
    #[arg(required = true, value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct BenchCaseArgs {
    /// The case
    pub(crate) case: String,
    /// Simulated time
    #[arg(long, value_name = "MS")]
    pub(crate) duration_ms: Option<u32>,
    /// Number of flows, instead of the case's
    #[arg(long, value_name = "N")]
    pub(crate) flows: Option<u32>,
    /// Rate of the bottleneck, instead of the case's
    #[arg(long, value_name = "RATE")]
    pub(crate) rate: Option<String>,
    /// Sampling period of the time series of flows and queues, instead of the case's
    #[arg(long, value_name = "PERIOD")]
    pub(crate) sample: Option<String>,
    /// Folder for the files of the run
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// Checks a value of `table --legend` as [`entry`] does; the error also names the flag that leaves
/// a column out.
fn heading(text: &str) -> Result<String, String> {
    entry(text).map_err(|wrong| format!("{wrong}; `--omit NAME` leaves a column out"))
}

/// Checks that a value of `--legend` has the form `NAME=TEXT`.
fn entry(text: &str) -> Result<String, String> {
    let parts = text.split_once('=').filter(|(name, text)| !name.is_empty() && !text.is_empty());
    let wrong = || "expected NAME=TEXT, such as bbr1=BBRv1".to_owned();
    parts.map(|_| text.to_owned()).ok_or_else(wrong)
}

fn seed(text: &str) -> Result<u64, String> {
    let seed = text.parse::<i64>().ok().and_then(|seed| u64::try_from(seed).ok());
    seed.ok_or_else(|| format!("expected a whole number from 0 to {}", i64::MAX))
}

/// Parses a number of seeds.
fn seeds(text: &str) -> Result<u64, String> {
    let seeds = text.parse().ok().filter(|seeds| (1..=100_000).contains(seeds));
    seeds.ok_or_else(|| "expected a whole number from 1 to 100000".to_owned())
}

/// Parses a count of packets: `5000000`, `1e11`, `2.5e9`.
fn packets(text: &str) -> Result<u64, String> {
    let wrong = || "expected a number of packets such as 1e11".to_owned();
    if let Ok(count) = text.parse::<u64>() {
        return Ok(count);
    }
    let value: f64 = text.parse().map_err(|_| wrong())?;
    if !value.is_finite() || value < 0.0 || value.fract() != 0.0 {
        return Err(wrong());
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    Ok(value as u64)
}

/// The help text of `bench`.
const BENCH_ABOUT: &str = "Measure the speed of this build of bbrlab on this machine

Each case is a fixed simulation that writes no files. Case a has one flow at 50 Mbit/s, b 16 flows at 1 Gbit/s, and c \
1,000 flows at 10 Gbit/s. Case d has 100,000 flows at 100 Gbit/s, d-tenth 10,000 flows at 10 Gbit/s. These cases use \
bbr1, a buffer of 4 BDP, pacing of single packets, and no delay before the bottleneck. A suffix names the difference to \
the case without it. Case wide has one flow that only the link limits.

docs/performance.md describes all cases and lists the values of one machine. If no case is named, all cases except d and \
wide run, each in as many processes as --repeat says; with the default of five, this takes about 40 s of CPU time. If \
case d is named, each of its processes takes about 8 s.

Speed is the number of data packets that leave the bottleneck per second of CPU time, set-up included. Noise is how much \
longer the median process took than the fastest, in percent. In the table of ratios that --against prints, the noise of \
a case is the larger of two values: the noise in this call, and the noise in the document that --against names. A \
difference of two speeds below the noise means nothing.

Memory is the largest resident memory that the process had at any time, with about 5 MB for the program itself; this value \
varies by about 1 MB between calls. The digest is a hash of what happened to every packet: equal digests \
mean equal results. `cargo xtask bench` counts instructions and cache misses with valgrind.";

/// The help text of `ns3`.
const NS3_ABOUT: &str = "List the installed releases of ns-3, on which --on ns3 runs scenarios

An installation is Debian's libns3-dev (3.37) or the Python package ns3 (3.42 to 3.44), whose wheel has the headers and \
libraries. The search for installations covers the folder that BBRLAB_NS3 names or, without this variable, the active \
environment, ~/.local and the system. The first run compiles a small program with g++, and keeps the program in \
bbrlab/ns3 in the folder that BBRLAB_CACHE names, else in XDG_CACHE_HOME, else in ~/.cache. The page \
docs/ns3-backend.md describes the back end.";

/// The help text of `kernel`.
const KERNEL_ABOUT: &str = "Build a real Linux kernel that runs as a program, and manage the built ones

The kernel is User-Mode Linux, built from the distribution's source package (Debian's linux-source-6.12). A build \
needs x86-64, and root rights only to install packages. The build takes about 5 minutes of CPU time and, while it runs, \
2.5 GB of disk; a kernel has 6 MB. Kernels are in bbrlab/kernels in the folder that BBRLAB_CACHE names, else in \
XDG_CACHE_HOME, else in ~/.cache. docs/linux.md describes what they are for.";

/// Returns the line in the help of `bench` that lists the benchmark cases.
fn cases_help() -> String {
    let all: Vec<&str> = BENCH_CASES.iter().map(|case| case.name).collect();
    let others: Vec<&str> =
        BENCH_CASES.iter().filter(|case| !case.is_default).map(|case| case.name).collect();
    format!("Cases: {} [default: all but {}]", all.join(", "), others.join(" and "))
}

#[cfg(test)]
mod tests {
    use super::{Cli, cases_help, packets};
    use bbrlab_lab::BENCH_CASES;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_verb_shows_an_example_in_its_help() {
        for verb in Cli::command().get_subcommands() {
            let help = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains("bbrlab "), "{} has no example", verb.get_name());
        }
    }

    #[test]
    fn counts_of_packets_may_have_an_exponent() {
        assert_eq!(packets("1e10"), Ok(10_000_000_000));
        assert_eq!(packets("2.5e3"), Ok(2500));
        assert_eq!(packets("18446744073709551615"), Ok(u64::MAX));
        assert!(packets("many").is_err() && packets("-1").is_err() && packets("0.5").is_err());
        assert!(packets("NaN").is_err());
    }

    #[test]
    fn the_help_names_every_case() {
        let help = cases_help();
        let words: Vec<&str> = help.split([' ', ',', '[', ']']).collect();
        for case in BENCH_CASES {
            assert!(words.contains(&case.name), "{}: {help}", case.name);
        }
        assert!(help.ends_with("[default: all but d and wide]"), "{help}");
    }
}
