//! Builds a kernel, in a scratch folder in the folder of kernels. After two boots have checked the
//! built kernel, its folder gets its final name. A killed build leaves a folder whose name starts
//! with a dot, and the next build removes this folder.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use crate::cache::{Kernel, kernels_folder, kernels_in};
use crate::check::check;
use crate::error::KernelError;
use crate::manifest::{MANIFEST, Manifest};
use crate::packages;
use crate::recipe::{CONFIG, EDITS, GUEST, Order, Recipe, SERIAL, sha256_of};
use crate::steps::{Steps, Work};
use crate::variants;

/// Free disk space that a build needs, in bytes. The unpacked sources alone take 1.7 GB.
const SPACE: u64 = 2_500_000_000;

/// Free disk space, in bytes, for a build that compiles only bbrlab's programs for the guest
/// kernel.
const SPACE_OF_GUEST: u64 = 50_000_000;

/// Approximate number of the kernel's source files that are compiled. Only the progress display
/// uses the number of files.
const FILES: usize = 600;

/// The files of a built kernel that are made from the distribution's source package, not from the
/// sources of bbrlab's programs for the guest kernel. Together they are called the image.
const IMAGE: [&str; 2] = ["linux", "config"];

/// The result of a build.
#[derive(Clone, Debug)]
pub struct Built {
    /// The kernel.
    pub kernel: Kernel,
    /// Whether this call built the kernel. If false, the same kernel was already in the cache.
    pub is_new: bool,
}

/// Builds a kernel in the user's cache, unless the cache already has the same kernel.
///
/// # Errors
/// Fails if packages are missing (the text names them and the command that installs them), the
/// machine cannot run the kernel, there is not enough space, a step fails, or `work.stop` returns
/// true.
pub fn build_kernel(order: &Order, work: &mut Work<'_>) -> Result<Built, KernelError> {
    refuse_machine()?;
    refuse_patches(&order.patches)?;
    let missing = packages::missing(order);
    if !missing.is_empty() {
        if !order.install {
            return Err(KernelError::Usage(packages::message(&missing)));
        }
        packages::install(&missing, work.quiet)?;
        let left = packages::missing(order);
        if !left.is_empty() {
            return Err(KernelError::Failed(format!(
                "apt-get succeeded, but these packages are still missing: {}",
                left.join(" ")
            )));
        }
    }
    let recipe = Recipe::of(order, work.stop)?;
    let folder = kernels_folder()?;
    let target = folder.join(&recipe.hash);
    if let Ok(kernel) = Kernel::open(&target) {
        return Ok(Built { kernel, is_new: false });
    }
    refuse_path(&folder)?;
    fs::create_dir_all(&folder)
        .map_err(|error| KernelError::io("make the folder", &folder, &error))?;
    let _lock = lock(&folder)?;
    let image = image_there(&folder, &recipe.image);
    remove_leftovers(&folder);
    refuse_little_space(&folder, if image.is_some() { SPACE_OF_GUEST } else { SPACE })?;
    let scratch = Scratch(folder.join(format!(".{}.building", recipe.hash)));
    let built = build_in(&scratch.0, order, &recipe, image.as_ref(), work);
    if matches!(built, Err(KernelError::Interrupted(_))) {
        // Removing many files takes seconds, so leave the removal to the next build.
        std::mem::forget(scratch);
    }
    built
}

/// Builds a kernel in the empty folder `scratch`, which is in the folder of kernels.
fn build_in(
    scratch: &Path,
    order: &Order,
    recipe: &Recipe,
    image: Option<&Kernel>,
    work: &mut Work<'_>,
) -> Result<Built, KernelError> {
    let folder = scratch.parent().unwrap_or(scratch);
    let target = folder.join(&recipe.hash);
    let result = scratch.join("result");
    make_folder(&result)?;
    make_folder(&scratch.join("tmp"))?;
    let mut steps = Steps::new(work, scratch, if image.is_some() { 2 } else { 5 });
    let manifest = match image {
        Some(image) => take_image(image, &result)?,
        None => Manifest { source: source(order), ..compile_kernel(order, scratch, &mut steps)? },
    };
    compile_guest(scratch, &mut steps)?;
    let manifest = Manifest {
        hash: recipe.hash.clone(),
        image: recipe.image.clone(),
        source_sha256: recipe.source_sha256.clone(),
        hz: order.hz,
        patches: recipe.patches.clone(),
        files: files(&result)?,
        built: crate::date::now(),
        ..manifest
    };
    let kernel = Kernel { folder: result.clone(), manifest };
    let checked = check(&kernel, scratch, &mut steps);
    let (controls, kernel) = match checked {
        Ok(controls) => (controls, kernel),
        Err(error) => {
            if let KernelError::Failed(_) = &error {
                keep_image(&kernel, folder);
            }
            return Err(error);
        }
    };
    let cpu_s = kernel.manifest.cpu_s + steps.cpu_s;
    let manifest = Manifest { controls, cpu_s, ..kernel.manifest };
    publish(&manifest, &result, &target)?;
    remove_unchecked(folder, &recipe.image);
    Ok(Built { kernel: Kernel { folder: target, manifest }, is_new: true })
}

fn refuse_machine() -> Result<(), KernelError> {
    if std::env::consts::ARCH == "x86_64" {
        return Ok(());
    }
    Err(KernelError::Usage(format!(
        "a Linux kernel can run as a program only on x86-64, and this machine is {}; `bbrlab run` \
         without --on needs no kernel",
        std::env::consts::ARCH
    )))
}

fn refuse_patches(patches: &[PathBuf]) -> Result<(), KernelError> {
    for path in patches {
        File::open(path)
            .and_then(|file| file.metadata())
            .map_err(|error| crate::error::plain(&error))
            .and_then(|meta| if meta.is_file() { Ok(()) } else { Err("not a file".to_owned()) })
            .map_err(|reason| {
                KernelError::Usage(format!("cannot read the patch {}: {reason}", path.display()))
            })?;
    }
    Ok(())
}

/// Returns an error for a path in which make cannot build. Such a path is relative, or has white
/// space, quotes or one of the characters `:`, `$`, `#` and `\`.
fn refuse_path(folder: &Path) -> Result<(), KernelError> {
    let text = folder.display().to_string();
    if folder.is_absolute() && !text.contains([' ', ':', '\'', '"', '$', '#', '\\', '\t', '\n']) {
        return Ok(());
    }
    Err(KernelError::Usage(format!(
        "kernels cannot be built in {text}: make needs an absolute path without white space, \
         quotes and the characters `:`, `$`, `#` and `\\`; set BBRLAB_CACHE to another folder"
    )))
}

fn refuse_little_space(folder: &Path, needed: u64) -> Result<(), KernelError> {
    let stat = rustix::fs::statvfs(folder)
        .map_err(|error| KernelError::io("find the free space in", folder, &error.into()))?;
    let free = stat.f_bavail.saturating_mul(stat.f_frsize);
    if free >= needed {
        return Ok(());
    }
    #[expect(clippy::cast_precision_loss, reason = "the size is shown in GB with two decimals")]
    let gb = |bytes: u64| bytes as f64 / 1e9;
    Err(KernelError::Failed(format!(
        "a build needs {:.2} GB in {} while it works, and {:.2} GB are free; set BBRLAB_CACHE to a \
         folder on another disk",
        gb(needed),
        folder.display(),
        gb(free)
    )))
}

/// Takes the lock that all builds share. The lock is released when the file is closed, at the
/// latest when this process ends.
fn lock(folder: &Path) -> Result<File, KernelError> {
    let path = folder.join(".lock");
    let file = File::options().create(true).truncate(false).write(true).open(&path);
    let file = file.map_err(|error| KernelError::io("write", &path, &error))?;
    match file.try_lock() {
        // A file system without locks is accepted, although two builds at the same time can then
        // disturb each other.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(KernelError::Failed(
            "another `bbrlab kernel build` is at work; wait for its end".to_owned(),
        )),
    }
}

/// The folder in which a kernel is built. Dropping this value removes the folder.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        // If the removal fails, the next build removes the folder.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Removes the folders that killed builds and interrupted removals have left. The caller must hold
/// the lock of all builds.
fn remove_leftovers(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_left = name.starts_with('.') && name.ends_with(".building");
        let is_half = name.len() == 16
            && name.bytes().all(|byte| byte.is_ascii_hexdigit())
            && !entry.path().join(MANIFEST).exists();
        if is_left || is_half {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// The folder of a compiled kernel whose check failed. Commands do not run this kernel; the next
/// build can copy its image.
const UNCHECKED: &str = ".unchecked";

/// Removes the kernel in `.unchecked`, which did not pass its check, if its image (the files of
/// [`IMAGE`]) has the hash `image`. The caller has now built another kernel with the same image,
/// and that kernel has passed the check.
fn remove_unchecked(folder: &Path, image: &str) {
    let kept = folder.join(UNCHECKED);
    if Kernel::open(&kept).is_ok_and(|kernel| kernel.manifest.image == image) {
        let _ = fs::remove_dir_all(kept);
    }
}

/// Returns a built kernel whose image a new build can copy, so that only bbrlab's programs for the
/// guest kernel must be compiled; `None` if there is none. The kernel's image has the hash `image`,
/// and the files of the image are undamaged. The kernel in `.unchecked` is returned only if no
/// other kernel fits.
fn image_there(folder: &Path, image: &str) -> Option<Kernel> {
    let unchecked = Kernel::open(&folder.join(UNCHECKED)).ok();
    let all = kernels_in(folder).whole;
    let mut all = all.into_iter().chain(unchecked);
    all.find(|kernel| {
        let is_whole = |name: &str| {
            let sha256 = sha256_of(&kernel.folder.join(name)).ok();
            sha256.is_some() && sha256.as_ref() == kernel.manifest.files.get(name)
        };
        kernel.manifest.image == image && IMAGE.iter().all(|name| is_whole(name))
    })
}

fn take_image(from: &Kernel, result: &Path) -> Result<Manifest, KernelError> {
    for name in IMAGE {
        let file = from.folder.join(name);
        fs::copy(&file, result.join(name))
            .map_err(|error| KernelError::io("copy", &file, &error))?;
    }
    Ok(Manifest { cpu_s: 0.0, ..from.manifest.clone() })
}

/// Moves a compiled kernel that did not pass its check to the folder `.unchecked`. The next build
/// of the same image copies the image from there, compiles only bbrlab's programs for the guest
/// kernel, and makes the check again. Commands do not take this folder for a kernel, because its
/// name starts with a dot.
fn keep_image(kernel: &Kernel, folder: &Path) {
    let kept = folder.join(UNCHECKED);
    let _ = fs::remove_dir_all(&kept);
    if fs::write(kernel.folder.join(MANIFEST), kernel.manifest.text()).is_ok() {
        let _ = fs::rename(&kernel.folder, kept);
    }
}

fn source(order: &Order) -> String {
    let package = order.package();
    let versions = packages::versions(std::slice::from_ref(&package));
    versions.get(&package).map_or(package.clone(), |version| format!("{package} {version}"))
}

/// Compiles the kernel. Returns a manifest in which only the version, the compiler and the packages
/// are set.
fn compile_kernel(
    order: &Order,
    scratch: &Path,
    steps: &mut Steps<'_, '_>,
) -> Result<Manifest, KernelError> {
    let (src, obj) = (scratch.join("src"), scratch.join("obj"));
    make_folder(&src)?;
    make_folder(&obj)?;
    steps.begin("unpack the sources");
    let mut tar = steps.program("tar");
    tar.args(["--extract", "--strip-components=1", "--checkpoint=2000"])
        .args(["--checkpoint-action=echo=unpacked", "--file"])
        .arg(order.archive())
        .arg("--directory")
        .arg(&src);
    // tar prints a line per checkpoint, which is 2000 records of 10 KB, so 20 MB.
    steps.run(tar, &|log| {
        let count = log.matches("unpacked").count();
        (share(count, 80), format!("{} MB", 20 * count))
    })?;
    steps.begin("configure");
    let v1 = fs::read_to_string(src.join(variants::BBR)).unwrap_or_default();
    for path in &order.patches {
        let mut patch = steps.program("patch");
        patch.args(["--strip=1", "--batch", "--forward", "--directory"]).arg(&src);
        patch.arg("--input").arg(absolute(path)?);
        steps.run(patch, &|_| (0.0, String::new())).map_err(|error| match error {
            KernelError::Failed(text) => KernelError::Failed(format!(
                "{} does not apply to {}: {text}",
                path.display(),
                order.package()
            )),
            other => other,
        })?;
    }
    let more = variants::prepare(&src, &v1)?;
    edit_sources(&src, order)?;
    let config = format!("{CONFIG}{more}");
    write(&scratch.join("kernel.config"), &config)?;
    let mut allnoconfig = steps.make(&src, &obj);
    allnoconfig.env("KCONFIG_ALLCONFIG", scratch.join("kernel.config")).arg("allnoconfig");
    steps.run(allnoconfig, &|_| (0.5, String::new()))?;
    check_config(&obj.join(".config"), &config)?;
    steps.begin("compile the kernel");
    let mut linux = steps.make(&src, &obj);
    linux.arg(format!("-j{}", order.jobs.max(1))).arg("linux");
    steps.run(linux, &|log| {
        let files = log.matches("\n  CC ").count();
        (share(files, FILES), format!("{files} files"))
    })?;
    let mut strip = steps.program("strip");
    let result = scratch.join("result");
    strip.arg("-o").arg(result.join("linux")).arg(obj.join("linux"));
    steps.run(strip, &|_| (1.0, String::new()))?;
    fs::copy(obj.join(".config"), result.join("config"))
        .map_err(|error| KernelError::io("copy", &obj.join(".config"), &error))?;
    let version = version(&src)?;
    // Remove the sources now to free disk space. The caller checks the new kernel later. This check
    // boots the kernel, whose memory is a file, and this file may be on the same disk.
    let _ = fs::remove_dir_all(&src);
    let _ = fs::remove_dir_all(&obj);
    Ok(Manifest {
        version,
        compiler: packages::compiler(),
        packages: packages::versions(&packages::needed(order)),
        ..Manifest::default()
    })
}

#[expect(clippy::cast_precision_loss, reason = "counts of files and lines are far below 2^52")]
fn share(done: usize, all: usize) -> f64 {
    done as f64 / all as f64
}

fn edit_sources(src: &Path, order: &Order) -> Result<(), KernelError> {
    for (file, from, to) in EDITS {
        let path = src.join(file);
        let text =
            fs::read_to_string(&path).map_err(|error| KernelError::io("read", &path, &error))?;
        if text.matches(from).count() != 1 {
            return Err(KernelError::Failed(format!(
                "{file} of {} lacks the line to be changed ({from:?}); kernels are built from \
                 linux-source-6.12 or linux-source-6.1",
                order.package()
            )));
        }
        write(
            &path,
            &text.replace(from, &to.replace("default HZ", &format!("default {}", order.hz))),
        )?;
    }
    write(&src.join("net/sched/sch_serial.c"), SERIAL)?;
    let makefile = src.join("net/sched/Makefile");
    let text = fs::read_to_string(&makefile)
        .map_err(|error| KernelError::io("read", &makefile, &error))?;
    write(&makefile, &format!("{text}obj-y += sch_serial.o\n"))
}

/// Checks that the kernel's configuration has every line in `wanted`. `make` removes lines with
/// unknown options, and lines whose dependencies are missing.
fn check_config(path: &Path, wanted: &str) -> Result<(), KernelError> {
    let text = fs::read_to_string(path).map_err(|error| KernelError::io("read", path, &error))?;
    let lines: Vec<&str> = text.lines().collect();
    let lost = wanted.lines().filter(|line| line.starts_with("CONFIG_"));
    let lost: Vec<&str> = lost.filter(|line| !lines.contains(line)).collect();
    if lost.is_empty() {
        return Ok(());
    }
    Err(KernelError::Failed(format!("this kernel has no {}", lost.join(", "))))
}

/// Returns the kernel's version from the first lines of its Makefile.
fn version(src: &Path) -> Result<String, KernelError> {
    let path = src.join("Makefile");
    let text = fs::read_to_string(&path).map_err(|error| KernelError::io("read", &path, &error))?;
    let number = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name} = ")));
        line.map(str::trim).unwrap_or_default().to_owned()
    };
    Ok(["VERSION", "PATCHLEVEL", "SUBLEVEL"].map(number).join("."))
}

/// Compiles the guest's programs: `lab`, which the guest kernel starts as its init process, and
/// `shim.so`, a library that is preloaded into the guest kernel. (The guest kernel is itself a
/// process of the host.)
fn compile_guest(scratch: &Path, steps: &mut Steps<'_, '_>) -> Result<(), KernelError> {
    steps.begin("compile the guest's programs");
    let guest = scratch.join("guest");
    make_folder(&guest)?;
    for (name, text) in GUEST {
        write(&guest.join(name), text)?;
    }
    let result = scratch.join("result");
    let is_part = |name: &str| name != "shim.c" && name != "lab.h";
    let sources = GUEST.iter().map(|(name, _)| *name).filter(|name| is_part(name));
    let mut lab = steps.program("gcc");
    lab.current_dir(&guest).args(["-O2", "-Wall", "-Wextra", "-Werror", "-static", "-s", "-o"]);
    lab.arg(result.join("lab")).args(sources);
    steps.run(lab, &|_| (0.0, String::new()))?;
    let mut shim = steps.program("gcc");
    shim.current_dir(&guest).args(["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-s"]);
    shim.arg("-o").arg(result.join("shim.so")).arg("shim.c");
    steps.run(shim, &|_| (0.9, String::new()))
}

fn files(result: &Path) -> Result<BTreeMap<String, String>, KernelError> {
    let names = ["linux", "config", "lab", "shim.so"];
    let pairs = names.into_iter().map(|name| {
        let path = result.join(name);
        let sha256 = sha256_of(&path).map_err(|error| KernelError::io("read", &path, &error))?;
        Ok((name.to_owned(), sha256))
    });
    pairs.collect()
}

/// Moves a complete kernel to its final folder `target`.
fn publish(manifest: &Manifest, result: &Path, target: &Path) -> Result<(), KernelError> {
    write(&result.join(MANIFEST), &manifest.text())?;
    let synced = (|| {
        for entry in fs::read_dir(result)? {
            File::open(entry?.path())?.sync_all()?;
        }
        File::open(result)?.sync_all()
    })();
    synced.map_err(|error| KernelError::io("write", result, &error))?;
    let _ = fs::remove_dir_all(target);
    fs::rename(result, target).map_err(|error| KernelError::io("write", target, &error))
}

fn absolute(path: &Path) -> Result<PathBuf, KernelError> {
    fs::canonicalize(path).map_err(|error| KernelError::io("open", path, &error))
}

fn make_folder(folder: &Path) -> Result<(), KernelError> {
    fs::create_dir_all(folder).map_err(|error| KernelError::io("make the folder", folder, &error))
}

fn write(path: &Path, text: &str) -> Result<(), KernelError> {
    fs::write(path, text).map_err(|error| KernelError::io("write", path, &error))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{IMAGE, UNCHECKED, image_there, keep_image, remove_unchecked};
    use crate::cache::Kernel;
    use crate::manifest::{MANIFEST, Manifest};
    use crate::recipe::hex;
    use crate::scratch::Scratch;

    /// If the folder has a kernel with the same sources, configuration and patches, a build takes
    /// this kernel's image and compiles only bbrlab's programs for it.
    #[test]
    fn a_whole_image_of_another_guest_is_taken() {
        let scratch = Scratch::new("image");
        let folder = scratch.path().join("0123456789abcdef");
        fs::create_dir(&folder).unwrap();
        for name in IMAGE {
            fs::write(folder.join(name), name).unwrap();
        }
        let files = IMAGE.map(|name| (name.to_owned(), hex(name.as_bytes())));
        let manifest =
            Manifest { image: "aa11".to_owned(), files: files.into(), ..Manifest::default() };
        fs::write(folder.join(MANIFEST), manifest.text()).unwrap();
        assert_eq!(image_there(scratch.path(), "aa11").unwrap().folder, folder);
        assert!(image_there(scratch.path(), "bb22").is_none());
        fs::write(folder.join("linux"), "damaged").unwrap();
        assert!(image_there(scratch.path(), "aa11").is_none());
    }

    #[test]
    fn an_unchecked_kernel_is_kept_until_one_with_its_image_passes() {
        let scratch = Scratch::new("unchecked");
        let folder = scratch.path().join("result");
        fs::create_dir(&folder).unwrap();
        let manifest = Manifest { image: "aa11".to_owned(), ..Manifest::default() };
        keep_image(&Kernel { folder, manifest }, scratch.path());
        let kept = scratch.path().join(UNCHECKED);
        remove_unchecked(scratch.path(), "bb22");
        assert!(kept.exists());
        remove_unchecked(scratch.path(), "aa11");
        assert!(!kept.exists());
    }
}
