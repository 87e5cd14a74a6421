//! Congestion controls in shared objects. A shared object exports one function,
//! `bbrlab_plugin_entry`, which returns a struct with the congestion control's functions;
//! `bbrlab.h` of `bbrlab-ffi` declares the function and the struct. A flow uses this control with
//! `cc = "plugin:NAME"`.
//!
//! A shared object has all rights of the process: its functions can crash or block the process.
//! `bbrlab-plugin` refuses whatever it can recognise as wrong: a library that cannot be loaded, a
//! library for another version of the interface, and values out of bounds.
//!
//! | file | content |
//! | --- | --- |
//! | `load.rs` | the loading and checking of a shared object |
//! | `functions.rs` | the functions of a shared object, which any thread may call |
//! | `instance.rs` | calls with the state of one connection |
//! | `control.rs` | a connection's control |
//! | `failure.rs` | the first failure of a call, which ends the run |

mod control;
mod failure;
mod functions;
mod instance;
mod load;

use std::path::Path;
use std::sync::Arc;

use bbrlab_cc::{Controls, Maker};

use control::OfLibrary;
use failure::Failure;
use functions::Functions;

/// The first characters of the name of every congestion control in a shared object.
pub const PREFIX: &str = "plugin:";

/// A loaded shared object with a congestion control. The object stays loaded until the process
/// ends.
#[derive(Clone, Debug)]
pub struct Plugin {
    name: String,
    source: String,
    sha256: String,
    functions: Functions,
}

impl Plugin {
    /// Loads a shared object.
    ///
    /// # Errors
    /// Fails if the file is not a shared object with a congestion control for this version of the
    /// interface. The text begins with the path.
    pub fn load(path: &Path) -> Result<Self, String> {
        load::load(path).map_err(|reason| format!("{}: {reason}", path.display()))
    }

    /// Returns the name in scenarios: `plugin:NAME`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the SHA-256 of the file.
    #[must_use]
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Returns a maker of congestion controls for the runs of one call of bbrlab. A failure of any
    /// of these controls ends all these runs.
    #[must_use]
    pub fn maker(&self) -> Arc<dyn Maker> {
        Arc::new(OfLibrary {
            name: self.name.clone().into(),
            functions: self.functions,
            failure: Arc::new(Failure::default()),
        })
    }

    /// Returns the congestion control's declaration in a scenario, as an inline table.
    #[must_use]
    pub fn declaration(&self) -> String {
        let mut table = toml::Table::new();
        table.insert("source".to_owned(), self.source.clone().into());
        table.insert("sha256".to_owned(), self.sha256.clone().into());
        if self.functions.answers_share_of_marks() {
            table.insert("answers_share_of_marks".to_owned(), true.into());
        }
        toml::Value::Table(table).to_string()
    }
}

/// The shared objects that a call of bbrlab has loaded.
#[derive(Clone, Debug, Default)]
pub struct Plugins(Vec<Plugin>);

impl Plugins {
    /// Loads the shared objects in the files `paths`.
    ///
    /// # Errors
    /// Fails like [`Plugin::load`], and if two congestion controls have the same name.
    pub fn load(paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Result<Self, String> {
        let mut plugins: Vec<Plugin> = Vec::new();
        for path in paths {
            let path = path.as_ref();
            let plugin = Plugin::load(path)?;
            match plugins.iter().find(|other| other.name == plugin.name) {
                Some(other) if other.sha256 == plugin.sha256 => {}
                Some(other) => {
                    return Err(format!(
                        "{}: expected controls with different names, found two `{}`, also in {}",
                        path.display(),
                        plugin.name,
                        other.source
                    ));
                }
                None => plugins.push(plugin),
            }
        }
        Ok(Self(plugins))
    }

    /// Returns the loaded shared objects.
    pub fn iter(&self) -> impl Iterator<Item = &Plugin> {
        self.0.iter()
    }

    /// Returns whether no shared object was loaded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the `--set` arguments that declare the congestion controls.
    pub fn declarations(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|plugin| format!("controls.{}={}", plugin.name, plugin.declaration()))
    }

    /// Checks that the congestion control `name`, which a scenario's file declares with the hash
    /// `sha256`, has the hash of the loaded control of this name. Succeeds if no control of this
    /// name is loaded.
    ///
    /// # Errors
    /// Fails if the loaded shared object with a control of this name has another SHA-256.
    pub fn check(&self, name: &str, sha256: Option<&str>) -> Result<(), String> {
        let Some(plugin) = self.0.iter().find(|plugin| plugin.name == name) else { return Ok(()) };
        if sha256 == Some(plugin.sha256.as_str()) {
            return Ok(());
        }
        Err(format!(
            "`{name}`: expected the shared object with the SHA-256 {}, found {} with the SHA-256 {}; to run with the shared object found, choose another folder for the results",
            sha256.unwrap_or("(none declared)"),
            plugin.source,
            plugin.sha256
        ))
    }

    /// Returns the congestion controls for the runs of one call of bbrlab. A failure of one control
    /// ends all runs that use these controls.
    #[must_use]
    pub fn controls(&self) -> Controls {
        let named = self.0.iter().map(|plugin| (plugin.name.clone(), plugin.maker()));
        Controls::of(named.collect())
    }
}
