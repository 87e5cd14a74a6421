//! Runs many simulations on all cores, writes folders of results, draws plots, and replays
//! recordings of Linux.
//!
//! The command line and the Python package are built on this crate. The results of runs do not
//! depend on this crate's threads, files, clock and signals.
//!
//! | file | idea |
//! | --- | --- |
//! | `pool.rs` | independent pieces of work on several threads |
//! | `stepped.rs` | one run in the caller's steps |
//! | `batch.rs` | all runs of a scenario, or a part of them, on all cores |
//! | `finish.rs` | the summary of a sweep and its plots |
//! | `merge.rs` | merges the shards of a sweep |
//! | `records.rs` | the records of runs, in memory or in their folders |
//! | `run_folder.rs` | a run's files and the mark of completeness |
//! | `lock.rs` | several processes share the runs of a folder |
//! | `scenario_difference.rs` | the keys in which the scenarios of folders differ |
//! | `scenario_files.rs` | scenarios in files, with the traces that they name |
//! | `named.rs` | scenarios and folders of results that users name |
//! | `export.rs` | Parquet files as CSV |
//! | `atomic_file.rs` | files that are either complete or absent |
//! | `golden.rs` | traces of kernel code, replayed on all cores |
//! | `packets.rs` | packet logs of a real host, replayed on all cores |
//! | `queues.rs` | packet logs of queue disciplines, replayed on all cores |
//! | `bench.rs` | the cases of the speed table |
//! | `limit.rs` | the largest work that a command accepts by default |
//! | `picture_files.rs`, `report_page.rs` | SVG, PNG and an HTML page of the data |
//! | `own_plots.rs` | which plots may be replaced |
//! | `report_files.rs` | files that a user names for reports |
//! | `machine.rs` | memory, processors, date |

mod atomic_file;
#[cfg(test)]
mod backend_tests;
mod batch;
mod bench;
mod chosen_pictures;
mod decided;
mod export;
mod finish;
mod golden;
mod limit;

mod lock;
mod machine;
mod merge;
mod named;
mod overlaid;
mod own_plots;
mod packets;
mod picture_files;
mod picture_names;
mod pool;
mod queues;
mod records;
mod replaced;
mod report_files;
mod report_page;
mod run_folder;
mod scenario_difference;
mod scenario_files;
#[cfg(test)]
mod scratch;
mod seed_plan;
mod stepped;

pub use atomic_file::{Unwritten, write_new, write_new_by};
pub use batch::{
    Batch, BatchOptions, SummaryOf, default_out, heaviest_first, part_of, save_measured, save_run,
};
pub use bbrlab_backends::{
    BACKENDS, Backend, Executed, LabError, Ns3Installation, Refusal, SIMULATOR, Stop, Task, Unable,
    backend, check_backend, check_installed, discipline, execute, kernel_name, no_ns3,
    ns3_installations, percent, plain, switches_linux_lacks, tcp_sysctls,
};
pub use bbrlab_oracle::LogError;
pub use bbrlab_results::{
    COMMIT, DEFAULT_LIMIT, FigureOf, RUSTC, VERSION, figure_of, flow_columns, link_columns,
    of_series, run_columns, swept_columns, write_runs_json,
};
pub use bench::{BENCH_CASES, BenchCase, BenchResult, bench_case};
pub use chosen_pictures::{PlotChoice, plot_as, plot_overlay};
pub use decided::{check_divisible, run_batch};
pub use export::export_csv;
pub use finish::{SweepStatus, finish_if_complete};
pub use golden::{Golden, validate_golden};
pub use limit::check_limit;
pub use machine::{processor, processors};
pub use merge::{Merged, merge};
pub use named::{
    Named, OtherMeaning, builtin_text, open_named, refuse_results, refuse_results_below,
    refuse_second_stdin, runs_below,
};
pub use own_plots::Draw;
pub use packets::{PacketReplays, validate_packets};
pub use picture_files::{
    Opened, Plots, RunFiles, missing_runs, open_results, read_queue, read_results, read_run,
    read_run_files, read_series, write_pictures,
};
pub use pool::{Pool, Progress, Worker};
pub use queues::{QueueReplays, validate_queues};
pub use records::{RECORDS_HELD, Records, folder_of};
pub use report_files::{check_reports, report_file, write_report_text};
pub use report_page::write_report;
pub use run_folder::{ControlTexts, backend_of, path_of_run, read_control_texts};
pub use scenario_difference::{DifferentKey, different_keys};
pub use scenario_files::{files_in, open_scenario};
pub use seed_plan::Undecided;
pub use stepped::SteppedRun;
