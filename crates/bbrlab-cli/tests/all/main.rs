//! All tests of this crate from outside: one program, because each would be linked with all that
//! the crate uses.

mod again;
mod folders;
mod lists;
mod pages;
mod plot;
mod run;
mod shards;
mod shell;
mod shell_files;
mod stories;
mod texts;
mod validate;
mod validate_linux;
mod wrong_input;
