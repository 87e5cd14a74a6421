//! Checks the fields of a `bbrlab_control` after a function of a plugin has changed the struct.

use crate::Control;

/// Returns the Rust struct of a `bbrlab_control` that a plugin has changed, if each field is within
/// the bounds that `fields.rs` of `bbrlab-cc` states for it.
///
/// # Errors
/// Fails if a field is out of bounds. The text names the field and, for numbers, the bounds and the
/// value found.
pub fn checked(
    returned: &Control,
    before: &bbrlab_cc::Control,
) -> Result<bbrlab_cc::Control, String> {
    let mut control = *before;
    if let Err(field) = returned.store(&mut control) {
        return Err(format!(
            "{field}: expected a number that `bbrlab.h` defines for it, found another"
        ));
    }
    for field in bbrlab_cc::Control::FIELDS {
        let about = field.about;
        let Some((least, most)) = about.writable else { continue };
        let value = (field.get)(&control).cast_unsigned();
        // `get` returns the bits of a field as an `i64`. All writable fields are unsigned, so the
        // cast gives their value.
        if !(least..=most).contains(&value) {
            let (name, unit) = (about.name, about.unit);
            return Err(format!("{name}: expected {unit} from {least} to {most}, found {value}"));
        }
    }
    Ok(control)
}
