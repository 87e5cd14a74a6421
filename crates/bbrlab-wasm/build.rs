//! Records the commit and the compiler, as `bbrlab-results` does.

#[path = "../bbrlab-results/build.rs"]
mod results;

fn main() {
    results::main();
}
