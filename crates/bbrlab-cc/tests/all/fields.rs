//! Tests that the page `docs/fields.md` and the stubs of the Python package agree with the core's
//! table of fields.

use std::fmt::Write as _;

use bbrlab_cc::fields::{About, Kind, Rows};
use bbrlab_cc::{AckSample, Conn, Control, LostSkb, RateSample};
use expect_test::expect_file;

/// Returns the structs with their fields, in the order in which `docs/fields.md` and the Python
/// stubs list them.
fn records() -> [Rows; 5] {
    [Conn::rows(), Control::rows(), RateSample::rows(), AckSample::rows(), LostSkb::rows()]
}

/// Compares the page `docs/fields.md` with the table; `cargo xtask bless` rewrites the page.
#[test]
fn the_page_is_the_table() {
    let mut text = String::from(
        "# Fields of a congestion control\n\n\
         The fields of the structs that each congestion control, built-in or [custom](custom-congestion-control.md), receives.\n\
         The test `crates/bbrlab-cc/tests/all/fields.rs` writes this page from the table in `crates/bbrlab-cc/src/fields.rs`.\n\
         The column `trace column` names the field's column in kernel traces. Each row of a trace is one call of a congestion\n\
         control's function, and the column has the field's value before the call. For each writable field, a second column,\n\
         with the prefix `o_`, has the value after the call.\n",
    );
    for rows in records() {
        let Rows { record, meaning, fields, computed } = rows;
        writeln!(text, "\n## {record}\n\n{meaning}.\n").unwrap();
        text += "| name | type | unit | may be set | Linux | trace column | meaning |\n| --- | --- | --- | --- | --- | --- | --- |\n";
        if record == "Conn" {
            text += "| `ctl` | Control | | its fields | | | The fields that a congestion control may write |\n";
        }
        for field in fields.iter().chain(computed) {
            let set = field.writable.map(|(least, most)| format!("{least} to {most}"));
            let column = field.column.map(|column| format!("`{column}`"));
            writeln!(
                text,
                "| `{}` | {} | {} | {} | `{}` | {} | {} |",
                field.name,
                field.kind,
                field.unit,
                set.unwrap_or_default(),
                field.linux,
                column.unwrap_or_default(),
                field.meaning
            )
            .unwrap();
        }
    }
    expect_file!["../../../../docs/fields.md"].assert_eq(&text);
}

const STUBS: &str = include_str!("../../../../python/bbrlab/_bbrlab.pyi");

/// The comments in the stubs before and after the generated classes.
const FROM: &str = "# Written from the core's `fields.rs`; `cargo xtask bless` rewrites it.\n\n";
const TO: &str = "# End of what is written from `fields.rs`.\n";

/// Compares the classes in the stubs with the table; `cargo xtask bless` rewrites the classes.
#[test]
fn the_stubs_are_the_table() {
    let (before, rest) = STUBS.split_once(FROM).expect("the stubs contain the comment `FROM`");
    let (_, after) = rest.split_once(TO).expect("the stubs contain the comment `TO`");
    let classes: String = records().iter().map(class).collect();
    let wanted = format!("{before}{FROM}{classes}{TO}{after}");
    expect_file!["../../../../python/bbrlab/_bbrlab.pyi"].assert_eq(&wanted);
}

/// Attributes of the Python class `Conn` (`OWD_US`) or `Control` (`TIMER_US`) that are not in the
/// table of `fields.rs`, because the structs of `bbrlab-cc` have no such field.
const OWD_US: &str = "    @property\n    def owd_us(self) -> int | None:\n        \
    \"\"\"One-way delay from the sender to the receiver by the timestamps of the latest ACK, in steps of 1000; None without \
    timestamps. Unit: microseconds. Linux: `tcp_lp_owd_calculator`.\"\"\"\n";
const TIMER_US: &str = "    @property\n    def timer_us(self) -> int | None:\n        \
    \"\"\"Time until `on_timer` is called; None if the timer is not set. Unit: microseconds. From 1 to 3600000000.\"\"\"\n    \
    @timer_us.setter\n    def timer_us(self, value: int | None) -> None: ...\n";

/// Returns the text of a struct's class in the Python stubs.
fn class(rows: &Rows) -> String {
    let Rows { record, meaning, fields, computed } = rows;
    let mut text = format!("@final\nclass {record}:\n");
    if *record == "Control" {
        writeln!(
            text,
            "    \"\"\"{meaning}, in the events that return nothing.\n\n    \
             Raises:\n        TypeError: If a value is no whole number.\n        \
             ValueError: If it is out of range.\n        \
             RuntimeError: If no such event is under way.\n    \"\"\"\n"
        )
        .unwrap();
    } else {
        writeln!(text, "    \"\"\"{meaning}.\"\"\"\n").unwrap();
    }
    if *record == "Control" {
        text += TIMER_US;
    }
    if *record == "Conn" {
        text += OWD_US;
        text += "    @property\n    def ctl(self) -> Control:\n        \"\"\"The fields that a congestion control may write.\"\"\"\n";
    }
    for field in fields.iter().chain(*computed) {
        text += &property(field);
    }
    text + "\n"
}

fn property(field: &About) -> String {
    let About { name, unit, linux, meaning, .. } = field;
    let kind = match field.kind {
        Kind::Bool => "bool",
        Kind::CaState => "CaState",
        Kind::PacingStatus => "PacingStatus",
        Kind::U8 | Kind::U32 | Kind::I32 | Kind::U64 | Kind::I64 => "int",
    };
    // The type of a flag or a state (`CaState`, `PacingStatus`) shows its values, so no unit is
    // written.
    let unit = match *unit {
        "flag" | "state" => String::new(),
        unit => format!(" Unit: {unit}."),
    };
    let bounds = field.writable.map(|(least, most)| format!(" From {least} to {most}."));
    let mut text = format!(
        "    @property\n    def {name}(self) -> {kind}:\n        \
         \"\"\"{meaning}.{unit}{} Linux: `{linux}`.\"\"\"\n",
        bounds.unwrap_or_default()
    );
    if field.writable.is_some() {
        writeln!(text, "    @{name}.setter\n    def {name}(self, value: int) -> None: ...")
            .unwrap();
    }
    text
}
