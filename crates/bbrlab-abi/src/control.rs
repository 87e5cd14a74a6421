//! The check of a control that a plugin returns.

use crate::Control;

/// Returns the control in Rust if all fields are within the bounds of the table.
///
/// # Errors
/// If a field is out of bounds. The text names the field, the bounds and the value found.
pub fn checked(
    returned: &Control,
    before: &bbrlab_cc::Control,
) -> Result<bbrlab_cc::Control, String> {
    let mut control = *before;
    if let Err(field) = returned.store(&mut control) {
        return Err(format!(
            "{field}: expected a state of the table of fields, found another number"
        ));
    }
    for field in bbrlab_cc::Control::FIELDS {
        let about = field.about;
        let Some((least, most)) = about.writable else { continue };
        let value = (field.get)(&control).cast_unsigned();
        // The values of unsigned fields up to 32 bits are below 2^32, so their bits are the value.
        if !(least..=most).contains(&value) {
            let (name, unit) = (about.name, about.unit);
            return Err(format!("{name}: expected {unit} from {least} to {most}, found {value}"));
        }
    }
    Ok(control)
}
