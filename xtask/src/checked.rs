//! The checked build: cargo's settings for the steps of the gate (`cargo xtask check`) that run
//! clippy, the tests and rustdoc.
//!
//! This is the release build with debug assertions and overflow checks in our own crates, which are
//! optimised as in the profile `dev`.
//!
//! Crates of other people have the release's settings. Cargo therefore compiles them once for the
//! checked build, the release and xtask.

use std::fs;
use std::path::Path;

use crate::source;

/// Runs a cargo command with the settings of the checked build.
pub(crate) fn cargo(root: &Path, args: &[&str]) -> Result<(), String> {
    let settings = settings(root)?;
    let settings = settings.each_ref().map(String::as_str);
    let (command, rest) = args.split_at(1);
    super::cargo(&[command, &settings, rest].concat(), &[])
}

/// Writes the checked build's settings to `target/checked.toml`, and returns the arguments that
/// select them. cargo and every command of maturin accept these arguments, while some commands of
/// maturin do not accept `--release`.
pub(crate) fn settings(root: &Path) -> Result<[String; 3], String> {
    let path = root.join("Cargo.toml");
    let manifest: toml::Table =
        source::read(&path)?.parse().map_err(|error| format!("{}: {error}", path.display()))?;
    let names: Vec<String> = source::crates(root)?.into_iter().map(|(name, _)| name).collect();
    let target = crate::target(root);
    let file = target.join("checked.toml");
    fs::create_dir_all(&target)
        .and_then(|()| fs::write(&file, text(&manifest, &names)))
        .map_err(|error| format!("cannot write {}: {error}", file.display()))?;
    Ok(["--profile=release".to_owned(), "--config".to_owned(), file.display().to_string()])
}

/// Returns the settings of the checked build for the named crates.
fn text(manifest: &toml::Table, names: &[String]) -> String {
    let dev = manifest.get("profile").and_then(|profiles| profiles.get("dev"));
    let level = |name: &str| {
        let of_crate = dev.and_then(|dev| dev.get("package")?.get(name)?.get("opt-level"));
        let level = of_crate.or_else(|| dev?.get("opt-level"));
        level.map_or_else(|| "0".to_owned(), ToString::to_string)
    };
    let table = |name: &String| {
        format!(
            "[profile.release.package.{name}]\nopt-level = {}\ncodegen-units = 1\ndebug = false\n\
             overflow-checks = true\ndebug-assertions = true\n",
            level(name)
        )
    };
    names.iter().map(table).collect::<Vec<_>>().join("\n")
}

/// Deletes cargo's fingerprints of the checked libraries for C and Python, so that a release build
/// builds both libraries again. The libraries of both builds have the same file names, and cargo
/// would otherwise treat the checked libraries as the libraries of the release build.
pub(crate) fn forget_libraries(root: &Path) -> Result<(), String> {
    let folder = crate::target(root).join("release/.fingerprint");
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    if !folder.exists() {
        return Ok(());
    }
    for entry in fs::read_dir(&folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if ["bbrlab-ffi-", "bbrlab-python-"].iter().any(|library| name.starts_with(library)) {
            fs::remove_dir_all(&path).map_err(failed)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn our_crates_have_the_levels_of_dev_and_checks() {
        let manifest = "[profile.dev]\nopt-level = 1\n[profile.dev.package.b]\nopt-level = 3\n";
        let text = text(&manifest.parse().unwrap(), &["a".to_owned(), "b".to_owned()]);
        let read: toml::Table = text.parse().unwrap();
        let packages = read["profile"]["release"]["package"].as_table().unwrap();
        for (name, level) in [("a", 1), ("b", 3)] {
            let settings = &packages[name];
            assert_eq!(settings["opt-level"].as_integer(), Some(level), "{name}");
            for check in ["overflow-checks", "debug-assertions"] {
                assert_eq!(settings[check].as_bool(), Some(true), "{name}: {check}");
            }
        }
        assert_eq!(packages.len(), 2);
    }
}
