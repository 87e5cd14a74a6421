//! The content security policy of a report's page.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

/// Returns the policy that lets a page use only this style, this script, and images that are
/// embedded in the page or made by the script.
pub(crate) fn policy(style: &str, script: Option<&str>) -> String {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    let script = script.map_or_else(|| "'none'".to_owned(), hash);
    let style = hash(style);
    let rules = [
        "default-src 'none'",
        &format!("script-src {script}"),
        &format!("style-src {style}"),
        "img-src data: blob:",
        "base-uri 'none'",
        "form-action 'none'",
    ];
    rules.join("; ")
}
