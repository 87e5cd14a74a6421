//! A paper's experiment, with its printed rows and our scenarios for it.

use toml::Table;

/// An experiment of a paper, in one of its forms (see [`FORMS`]).
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The id, such as `lanigan2020.single-flow`. For a form other than the first, a dot and the
    /// form's name follow.
    pub id: String,
    /// The form, one of [`FORMS`]; `None` for the first form, on which the paper's claims are
    /// judged.
    pub form: Option<&'static str>,
    /// The experiment's title.
    pub title: String,
    /// The tables and figures of the paper that show the experiment.
    pub source: Vec<String>,
    /// The metrics that the paper reports for the experiment.
    pub metrics: Vec<String>,
    /// The printed rows.
    pub rows: Vec<Table>,
    /// Rows of the data file that the paper does not print: we computed them from printed rows.
    pub derived_rows: Vec<Table>,
    /// The ids of the built-in scenarios from whose runs the measured values are computed.
    pub scenarios: Vec<String>,
}

/// Forms (variants with other settings) that an experiment may have in addition to its first. If
/// the first form follows the paper's text, the other form follows the authors' programs
/// (`as-run`), and vice versa (`as-described`).
pub const FORMS: [&str; 2] = ["as-run", "as-described"];

impl Experiment {
    /// Returns the experiment's id without the name of the form.
    #[must_use]
    pub fn of(&self) -> &str {
        let form = self.form.and_then(|form| self.id.strip_suffix(form)?.strip_suffix('.'));
        form.unwrap_or(&self.id)
    }
}
