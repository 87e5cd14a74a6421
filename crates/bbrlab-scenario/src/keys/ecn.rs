//! `ecn` of a flow: whether ECN is negotiated, whether the flow's route has the feature `ECN_LOW`
//! of Linux (low latency), and whether packets are sent with ECT(0) or ECT(1).

use bbrlab_stack::EcnMode;

use crate::language::canonical::show_text;
use crate::language::document::Value;
use crate::language::key::KeyInput;

/// Reads `ecn` of a flow with the congestion control `cc`. `"l4s"` requires a congestion control
/// that responds to the share of marked packets, as DCTCP does.
pub(crate) fn read_ecn(
    input: &mut KeyInput<'_, '_>,
    cc: &str,
    answers_share_of_marks: bool,
) -> Option<EcnMode> {
    let ecn = match &input.node.value {
        Value::Bool(false) => EcnMode::Off,
        Value::Bool(true) => EcnMode::On,
        Value::Text(text) if text == "low" => EcnMode::Low,
        Value::Text(text) if text == "l4s" => EcnMode::L4s,
        _ => {
            input.reader.wrong(input.node, input.name, "false, true, \"low\" or \"l4s\"");
            return None;
        }
    };
    if ecn == EcnMode::L4s && !answers_share_of_marks {
        let title =
            format!("`{}`: expected a `cc` that responds to the share of marks", input.name);
        let found = format!("found \"l4s\" with `cc = {cc:?}`");
        let help = "`prague`, `dctcp`, `bbr3`, or `bbr2` with `cc_params = { ecn_enable = true }`; for other algorithms: `ecn = true`";
        input.reader.problem(input.node.at, title, found, vec![help.to_owned()]);
        return None;
    }
    Some(ecn)
}

/// Returns the value of `ecn` as a scenario writes it, in TOML.
pub(crate) fn show_ecn(ecn: EcnMode) -> Option<String> {
    match ecn {
        EcnMode::Off => Some("false".to_owned()),
        EcnMode::On => Some("true".to_owned()),
        EcnMode::Low => show_text("low"),
        EcnMode::L4s => show_text("l4s"),
    }
}
