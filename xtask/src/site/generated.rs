//! Writes the pages that are generated from the program: help of the commands, the JSON Schema, the
//! Python API and the gallery of plots.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{copy, write};
use crate::{python, source};

/// The paths, in the book, of the pages that this file generates. `docs/SUMMARY.md` lists them.
pub(crate) const GENERATED: [&str; 4] = [
    "generated/commands.md",
    "generated/schema.md",
    "generated/python-api.md",
    "generated/gallery.md",
];

/// Writes the help of each command, as the program prints it.
pub(super) fn commands(root: &Path, src: &Path) -> Result<(), String> {
    let help = bbrlab(root, &["--help"])?;
    let mut page = format!(
        "# Commands\n\nThe help of each command, as `bbrlab help COMMAND` prints it.\n\n\
         ## bbrlab\n\n```text\n{}```\n",
        help.replace("\n\n\n", "\n\n")
    );
    for command in names_of_commands(&help) {
        let text = bbrlab(root, &["help", command])?;
        let _ = write!(page, "\n## bbrlab {command}\n\n```text\n{text}```\n");
    }
    write(&src.join(GENERATED[0]), page)
}

/// Returns the names in the list of commands that `bbrlab --help` prints, except `help`.
fn names_of_commands(help: &str) -> impl Iterator<Item = &str> {
    let list = help.split("Commands:\n").nth(1).unwrap_or_default();
    let list = list.split("\n\n").next().unwrap_or_default();
    list.lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|&name| name != "help")
}

/// Writes the JSON Schema of scenario files, as a page of the site and as a file.
pub(super) fn schema(root: &Path, src: &Path) -> Result<(), String> {
    let schema = bbrlab(root, &["show", "--schema"])?;
    write(&src.join("generated/scenario.schema.json"), &schema)?;
    let page = format!(
        "# JSON Schema of scenario files\n\n`bbrlab show --schema` prints this schema. The schema is also [a file](scenario.schema.json).\n\
         Editors complete and check scenario files with it.\n\n```json\n{schema}```\n"
    );
    write(&src.join(GENERATED[1]), page)
}

/// Writes the Python API from the docstrings of the package. The Python API's page needs the
/// package, so this task builds the package first.
pub(super) fn python_api(root: &Path, src: &Path, is_wanted: bool) -> Result<(), String> {
    let page = src.join(GENERATED[2]);
    if !is_wanted {
        return write(
            &page,
            "# Python API\n\nThis build of the site has no Python API (`--no-python`).\n",
        );
    }
    let Some(text) = python::output(root, &["python", "tools/api_reference.py"])? else {
        return Err("the page on the Python API needs Python 3.10 with venv; \
                    `cargo xtask site --no-python` leaves out the page"
            .to_owned());
    };
    write(&page, text)
}

/// Which of the papers' figures the site includes.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Figures {
    None,
    /// The figures of the named papers or experiments, or all figures if the list is empty.
    Of(Vec<String>),
}

/// Writes the gallery: a page with the papers' figures, if they are wanted, and with all pictures
/// of the pages in `docs/`. The pictures of one page are in one section, which has a link to this
/// page.
pub(super) fn gallery(root: &Path, site: &Path, figures: &Figures) -> Result<(), String> {
    let docs = root.join("docs");
    let src = site.join("src");
    let mut page = "# Gallery\n\n## Figures of the papers\n\n".to_owned();
    match figures {
        Figures::None => {
            page += "This build of the site leaves out the figures. `cargo xtask site --figures` \
                     adds them, and the following command writes them as one page:\n\n\
                     ```sh\nbbrlab reproduce --quick --html report.html\n```\n";
        }
        Figures::Of(names) => page += &reproduced(root, site, names)?,
    }
    page += "\nEach section below shows all pictures of one page of the documentation.\n";
    for path in source::files(&docs, "md")? {
        let text = source::read(&path)?;
        let name = path.strip_prefix(&docs).unwrap_or(&path);
        let title = text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or_default();
        let mut is_first = true;
        for (alt, target) in pictures(&text) {
            let Some(picture) = picture(&path, target) else { continue };
            if is_first {
                let _ = write!(page, "\n## {title}\n\nFrom [{title}](../{}).\n", name.display());
                is_first = false;
            }
            let place = picture.strip_prefix(root).unwrap_or(&picture);
            let place = Path::new("files").join(place);
            copy(&picture, &src.join(&place))?;
            let _ = write!(page, "\n![{alt}](../{})\n\n{alt}\n", place.display());
        }
    }
    write(&src.join(GENERATED[3]), page)
}

/// Runs the papers' experiments with one seed, and returns their part of the gallery.
fn reproduced(root: &Path, site: &Path, names: &[String]) -> Result<String, String> {
    let folder = site.join("src/generated");
    let [html, markdown] = ["reproduced.html", "reproduced.md"].map(|name| folder.join(name));
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let results = site.join("results").display().to_string();
    let [html, to] = [&html, &markdown].map(|path| path.display().to_string());
    let mut args = vec!["reproduce", "--quick", "--quiet", "--out", &results];
    args.extend(["--html", &html, "--markdown", &to]);
    args.extend(names.iter().map(String::as_str));
    bbrlab(root, &args)?;
    let report = source::read(&markdown)?;
    // The site contains the report as one HTML page, so its Markdown must not become a page of the
    // book.
    fs::remove_file(&markdown).map_err(|error| format!("{}: {error}", markdown.display()))?;
    let mut page =
        "Each figure is from runs with one seed. The command above a figure computes its \
                    runs. [The report](reproduced.html) has the tables and verdicts too.\n"
            .to_owned();
    if !names.is_empty() {
        let _ = write!(
            page,
            "\nThis build of the site has only the figures of {}; `cargo xtask site --figures` \
             adds the others.\n",
            names.join(", ")
        );
    }
    Ok(page + &of_report(&report))
}

/// Extracts the figures of a Markdown report. For each experiment with figures, the returned text
/// has the command that computes the experiment, and then the figures. At the end, the text lists
/// the tables and figures that the report does not show, because their runs were not computed.
fn of_report(report: &str) -> String {
    let mut page = String::new();
    let mut missing = Vec::new();
    for section in report.split("\n## ").skip(1) {
        let (title, body) = section.split_once('\n').unwrap_or((section, ""));
        let mut caption = "";
        for paragraph in body.split("\n\n").map(str::trim) {
            if let Some(rest) = paragraph.strip_prefix("**") {
                caption = rest.split("**").next().unwrap_or_default();
            } else if let Some(command) = paragraph.strip_prefix("Not run here: ") {
                missing.push(format!("- {caption}: {command}"));
            }
        }
        if title.contains("not run") {
            missing.extend(body.lines().filter(|line| line.starts_with("- ")).map(str::to_owned));
            continue;
        }
        let command = body.split("To compute this again: `").nth(1);
        let command = command.and_then(|rest| rest.split('`').next());
        let mut figures = pictures(body).peekable();
        let (Some(command), Some(_)) = (command, figures.peek()) else { continue };
        let _ = write!(page, "\n### {title}\n\n```sh\n{command}\n```\n");
        for (alt, target) in figures {
            let _ = write!(page, "\n{alt}\n\n![{alt}]({target})\n");
        }
    }
    if !missing.is_empty() {
        let _ = write!(page, "\n### Tables and figures that were not run here\n\n");
        let _ = writeln!(page, "{}", missing.join("\n"));
    }
    page
}

/// Returns the images of a page, each with its description and its link target.
fn pictures(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split("![").skip(1).filter_map(|rest| {
        let (alt, rest) = rest.split_once("](")?;
        Some((alt, rest.split(')').next()?))
    })
}

/// Returns the path of an image's file, or `None` if the file does not exist.
fn picture(page: &Path, target: &str) -> Option<PathBuf> {
    let path = page.with_file_name(target);
    fs::canonicalize(path).ok().filter(|path| path.is_file())
}

/// Runs `bbrlab` with these arguments, and returns its output.
fn bbrlab(root: &Path, args: &[&str]) -> Result<String, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let out = Command::new(cargo)
        .args(["run", "--release", "--quiet", "--package", "bbrlab-cli", "--"])
        .args(args)
        .env("COLUMNS", "100")
        .current_dir(root)
        .output()
        .map_err(|error| format!("cannot run cargo: {error}"))?;
    if !out.status.success() {
        return Err(format!("bbrlab {}: {}", args.join(" "), String::from_utf8_lossy(&out.stderr)));
    }
    String::from_utf8(out.stdout).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_those_of_the_list() {
        let help = "A laboratory\n\nCommands:\n  run    Run it\n         for long\n  help   Print\n\nOptions:\n  -h\n";
        assert_eq!(names_of_commands(help).collect::<Vec<_>>(), ["run"]);
    }

    #[test]
    fn the_gallery_has_each_figure_after_its_command() {
        let report = "# Report\n\n## a.b: One flow\n\nTo compute this again: `bbrlab reproduce a.b`\n\n\
                      **Figure 1. Rate**\n\n![Figure 1. Rate](x/f.svg)\n\n## a.c: At 1 Gbit/s\n\n\
                      To compute this again: `c`\n\n**Figure 2. RTT** Note\n\n\
                      Not run here: `bbrlab reproduce a.c`\n\n\
                      ## Tables and figures that were not run here\n\n- Figure 3\n";
        assert_eq!(
            of_report(report),
            "\n### a.b: One flow\n\n```sh\nbbrlab reproduce a.b\n```\n\nFigure 1. Rate\n\n\
             ![Figure 1. Rate](x/f.svg)\n\n### Tables and figures that were not run here\n\n\
             - Figure 2. RTT: `bbrlab reproduce a.c`\n- Figure 3\n"
        );
    }

    #[test]
    fn a_page_has_its_pictures() {
        let found: Vec<_> = pictures("a ![two flows](img/a.png) b ![x](y.svg)").collect();
        assert_eq!(found, [("two flows", "img/a.png"), ("x", "y.svg")]);
    }
}
