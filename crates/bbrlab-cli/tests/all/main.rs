//! All integration tests of this crate, in one program to save linking time: each test program is
//! linked with everything that the crate uses.

mod again;
mod compare;
mod folders;
mod kernel;
mod lab;
mod lists;
mod pages;
mod plot;
#[cfg(target_os = "linux")]
mod plugins;
mod run;
mod shards;
mod shell;
mod shell_files;
mod stories;
mod table;
mod texts;
mod tutorials;
mod until;
mod validate;
mod validate_linux;
mod wrong_input;
