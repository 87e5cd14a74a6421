//! `include/bbrlab.h` is the text that `bbrlab-abi` writes, and a C compiler lays out its structs
//! as Rust does.

use std::fs;
use std::process::Command;

use expect_test::expect_file;

use crate::{compiler, output, root};

#[test]
fn the_header_is_up_to_date() {
    expect_file!["../../include/bbrlab.h"].assert_eq(&bbrlab_abi::header());
}

#[test]
fn c_and_rust_lay_out_the_structs_equally() {
    let Some(compiler) = compiler() else { return };
    let folder = std::env::temp_dir().join(format!("bbrlab-header-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let (program, expected) = bbrlab_abi::probe();
    fs::write(folder.join("probe.c"), program).unwrap();
    let include = root().join("crates/bbrlab-ffi/include");
    let mut command = Command::new(compiler);
    command.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-I"]).arg(include);
    command.arg(folder.join("probe.c")).arg("-o").arg(folder.join("probe"));
    output(&mut command);
    assert_eq!(output(&mut Command::new(folder.join("probe"))), expected);
    fs::remove_dir_all(&folder).unwrap();
}
