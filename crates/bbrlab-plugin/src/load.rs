//! Loads a shared object and checks what it exports.
#![expect(
    unsafe_code,
    reason = "loading a library runs its code, and the exported struct is read through a pointer"
)]

use std::ffi::c_char;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use bbrlab_abi::{Plugin as Exported, VERSION, plugin_flags};
use libloading::Library;
use sha2::{Digest as _, Sha256};

use crate::functions::Functions;
use crate::{PREFIX, Plugin};

/// The function that a shared object must define.
const ENTRY: &str = "bbrlab_plugin_entry";

/// The largest accepted size of a shared object, in bytes.
const FILE_MAX: u64 = 1 << 30;

/// The longest name of a congestion control, in bytes.
const NAME_MAX: usize = 32;

/// The longest file name that results contain as the origin of a congestion control, in bytes.
const SOURCE_MAX: usize = 200;

pub(crate) fn load(path: &Path) -> Result<Plugin, String> {
    let full = fs::canonicalize(path).map_err(|error| error.to_string())?;
    let about = fs::metadata(&full).map_err(|error| error.to_string())?;
    if !about.is_file() {
        return Err("expected a shared object, found no regular file".to_owned());
    }
    if about.len() > FILE_MAX {
        return Err(format!(
            "expected a shared object of at most 1 GiB, found {} bytes",
            about.len()
        ));
    }
    let bytes = fs::read(&full).map_err(|error| error.to_string())?;
    let sha256 = format!("{:x}", Sha256::digest(&bytes));
    drop(bytes);
    let identity = identity(&full, &about);
    let mut loaded = LOADED.lock().expect("no thread panics while holding the lock");
    refuse_changed(&loaded, &identity, &sha256)?;
    let library = open(&full)
        .map_err(|error| format!("expected a shared object that this machine can load: {error}"))?;
    let exported = exported(&library)?;
    let functions = Functions(exported);
    let own = name(exported.name)?;
    if !functions.has_any() {
        return Err(format!(
            "expected at least one function in the struct of `{own}`, found none; ACKs call cong_control or cong_avoid"
        ));
    }
    // A library with threads or handlers, such as one in Go, must not be unloaded.
    std::mem::forget(library);
    loaded.push((identity, sha256.clone()));
    let file = full.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let source = file.chars().take(SOURCE_MAX / 4).collect();
    Ok(Plugin { name: format!("{PREFIX}{own}"), source, sha256, functions })
}

/// The files that this process has loaded, each with its hash. A refused file is not in this list:
/// its user can rebuild it, and this process can then load it under the same name.
static LOADED: Mutex<Vec<(Identity, String)>> = Mutex::new(Vec::new());

/// Refuses a file that this process has loaded with another content: the system would return the
/// library that is already loaded, but results would contain the hash of the new file.
fn refuse_changed(
    loaded: &[(Identity, String)],
    identity: &Identity,
    sha256: &str,
) -> Result<(), String> {
    if loaded.iter().all(|(other, before)| other != identity || before == sha256) {
        return Ok(());
    }
    Err("this process has loaded the file with another content; restart the process, or give the \
         new library another name"
        .to_owned())
}

/// The identity by which the system's loader recognises a file: device and inode on Unix, elsewhere
/// the path.
type Identity = (PathBuf, u64, u64);

#[cfg(unix)]
fn identity(_full: &Path, about: &fs::Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt as _;
    (PathBuf::new(), about.dev(), about.ino())
}

#[cfg(not(unix))]
fn identity(full: &Path, _about: &fs::Metadata) -> Identity {
    (full.to_owned(), 0, 0)
}

/// Loads a library. Resolves all symbols that the library needs, so that a missing symbol is an
/// error of this function and not a crash during a run.
#[cfg(unix)]
fn open(full: &Path) -> Result<Library, libloading::Error> {
    use libloading::os::unix::{Library as Unix, RTLD_LOCAL, RTLD_NOW};
    // SAFETY: loading runs the library's initialisers. The user named this file to run its code.
    unsafe { Unix::open(Some(full), RTLD_NOW | RTLD_LOCAL) }.map(Library::from)
}

#[cfg(not(unix))]
fn open(full: &Path) -> Result<Library, libloading::Error> {
    // SAFETY: loading runs the library's initialisers. The user named this file to run its code.
    unsafe { Library::new(full) }
}

/// Returns a copy of the struct that a library exports, if this version of the interface can use
/// it.
fn exported(library: &Library) -> Result<Exported, String> {
    // SAFETY: the header declares that this function has no arguments and returns this pointer.
    let entry =
        unsafe { library.get::<unsafe extern "C" fn() -> *const Exported>(ENTRY.as_bytes()) };
    let entry = entry.map_err(|_| {
        format!("expected the function `{ENTRY}`, found none; `bbrlab.h` declares it, and C++ needs `extern \"C\"`")
    })?;
    // SAFETY: the function has the declared type, and only returns a pointer.
    let exported = unsafe { entry() };
    if exported.is_null() || !exported.is_aligned() {
        return Err(format!("`{ENTRY}` returned no pointer to a struct"));
    }
    // SAFETY: in every version, the struct begins with two 32-bit numbers.
    let [size, version] = unsafe { exported.cast::<[u32; 2]>().read() };
    if version != VERSION {
        return Err(format!(
            "expected version {VERSION} of the interface, found version {version}; build the library with the `bbrlab.h` of this bbrlab"
        ));
    }
    if size < Exported::SIZE {
        return Err(format!(
            "expected a struct of at least {} bytes, found {size}; set `size` to sizeof(bbrlab_plugin)",
            Exported::SIZE
        ));
    }
    // SAFETY: the struct has at least this size, and a library's constants do not change.
    let exported = unsafe { exported.read() };
    let known = plugin_flags::NEEDS_ECN
        | plugin_flags::NOTES_IN_FLIGHT
        | plugin_flags::ANSWERS_SHARE_OF_MARKS;
    if exported.flags & !known != 0 {
        return Err(format!("flags: expected bits of {known:#x}, found {:#x}", exported.flags));
    }
    if exported.create.is_some() != exported.destroy.is_some() {
        return Err(
            "expected both `create` and `destroy`, or neither, found one of them".to_owned()
        );
    }
    Ok(exported)
}

/// Reads a congestion control's name, and checks its length and characters.
fn name(from: *const c_char) -> Result<String, String> {
    let expected = || format!("expected a name of 1 to {NAME_MAX} letters, digits, `-` and `_`");
    if from.is_null() {
        return Err(format!("{}, found a null pointer", expected()));
    }
    let mut name = String::new();
    for at in 0..=NAME_MAX {
        // SAFETY: none of the bytes before this one is 0, so this one belongs to the text.
        let byte = unsafe { from.add(at).read() }.cast_unsigned_byte();
        if byte == 0 && !name.is_empty() {
            return Ok(name);
        }
        if !(byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_') {
            break;
        }
        name.push(byte.into());
    }
    Err(format!("{}, found one that begins with {name:?}", expected()))
}

/// A `char` of C, which is signed on some machines.
trait Char {
    fn cast_unsigned_byte(self) -> u8;
}

impl Char for c_char {
    fn cast_unsigned_byte(self) -> u8 {
        self.to_ne_bytes()[0]
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::io::Write as _;
    use std::path::Path;
    use std::process::Command;

    use super::load;

    const GOOD: &str = "
        #include \"bbrlab.h\"
        static int32_t init(void *cc, const bbrlab_conn *conn, bbrlab_control *ctl,
                            bbrlab_host *host) { return 0; }
        static bbrlab_plugin plugin = { .size = sizeof(bbrlab_plugin),
            .abi_version = BBRLAB_ABI_VERSION, .name = \"rebuilt\", .init = init };
        const bbrlab_plugin *bbrlab_plugin_entry(void) { return &plugin; }";

    /// Compiles a shared object again and overwrites the existing file, as some linkers do instead
    /// of replacing the file.
    fn build(folder: &Path, text: &str) {
        let (source, made) = (folder.join("plugin.c"), folder.join("made.so"));
        fs::write(&source, text).unwrap();
        let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bbrlab-ffi/include");
        let mut command = Command::new("cc");
        command.args(["-w", "-fPIC", "-shared", "-I"]).arg(include).arg(source);
        let done = command.arg("-o").arg(&made).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let mut file = fs::File::options()
            .create(true)
            .truncate(true)
            .write(true)
            .open(folder.join("plugin.so"))
            .unwrap();
        file.write_all(&fs::read(made).unwrap()).unwrap();
    }

    #[test]
    fn a_file_that_was_refused_can_be_built_again() {
        if Command::new("cc").arg("--version").output().is_err() {
            let _ = writeln!(std::io::stderr(), "skipped: no C compiler (bbrlab-plugin)");
            return;
        }
        let folder = std::env::temp_dir().join(format!("bbrlab-load-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join("plugin.so");
        for (from, to, reason) in [
            ("return &plugin", "return &plugin + none", "that this machine can load: "),
            ("BBRLAB_ABI_VERSION", "77", "found version 77"),
            (".init = init", ".init = 0", "expected at least one function"),
        ] {
            let text = format!("extern int none;{}", GOOD.replace(from, to));
            build(&folder, &text);
            let error = load(&file).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
        build(&folder, GOOD);
        assert_eq!(load(&file).unwrap().name, "plugin:rebuilt");
        assert_eq!(load(&file).unwrap().name, "plugin:rebuilt");
        // The added byte is after the part of the file that the system has mapped, so the loaded
        // code stays unchanged.
        fs::File::options().append(true).open(&file).unwrap().write_all(&[0]).unwrap();
        let error = load(&file).unwrap_err();
        assert!(error.contains("has loaded the file with another content"), "{error}");
        fs::remove_dir_all(&folder).unwrap();
    }
}
