//! `frames`: the frames of a video call or a live stream.

use bbrlab_run::{Frames, KeyFrames};
use bbrlab_units::{Bytes, NS_PER_S, Span};

use crate::keys::traffic::read_frequency;
use crate::language::decimal::Decimal;
use crate::language::document::Node;
use crate::language::key::{Form, needed, optional};
use crate::language::reader::{Keys, Reader};

/// The form of `frames` in a scenario.
pub(super) const FRAMES_FORM: Form = Form::Table(&[
    needed("rate", Form::Frequency),
    needed("bytes", Form::Bytes),
    optional("key_bytes", Form::Bytes),
    optional("key_every", Form::Whole(1, KEY_EVERY_MAX)),
]);

/// The largest number of frames from one key frame to the next.
const KEY_EVERY_MAX: u64 = 1_000_000;

/// The largest frame. A UDP flow sends all datagrams of a frame at one time, so their number needs
/// a limit.
const FRAME_MAX: Bytes = Bytes(100_000_000);

/// `frames` as the scenario writes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct FramesSpec {
    /// Frames per second.
    rate: Decimal,
    bytes: Bytes,
    keys: Option<KeyFrames>,
}

impl FramesSpec {
    pub(super) fn read(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Self> {
        let example = "a table such as { rate = \"30/s\", bytes = \"8KB\" }";
        let table = reader.table(node, name, example)?;
        let mut keys = Keys::new(table, name, node.at);
        let rate = reader.needed(
            &mut keys,
            "rate",
            "the number of frames per second, such as \"30/s\"",
            |reader, node, name| {
                read_frequency(reader, node, name, "a number of frames per second", "\"30/s\"")
            },
        );
        let bytes =
            reader.needed(&mut keys, "bytes", "the bytes of a frame, such as \"8KB\"", read_bytes);
        let key_frames = read_key_frames(reader, &mut keys);
        keys.finish(reader);
        Some(Self { rate: rate?, bytes: bytes?, keys: key_frames.ok()? })
    }

    pub(super) fn frames(self) -> Frames {
        let micro = self.rate.times_over_rounded(1_000_000, 1).expect("the reader bounds the rate");
        let every = (1_000_000 * u128::from(NS_PER_S) + u128::from(micro) / 2) / u128::from(micro);
        let every = Span(u64::try_from(every).expect("frames are at most 12 days apart"));
        Frames { every, bytes: self.bytes, keys: self.keys }
    }

    /// Returns the value of `frames` as a scenario would write it.
    pub(super) fn show(&self) -> String {
        let Self { rate, bytes, keys } = self;
        let keys = keys.map_or_else(String::new, |KeyFrames { bytes, each }| {
            format!(", key_bytes = \"{}B\", key_every = {each}", bytes.0)
        });
        format!("{{ rate = \"{rate}/s\", bytes = \"{}B\"{keys} }}", bytes.0)
    }
}

/// Reads the size of a frame in bytes from the key `name`. Rejects a size above [`FRAME_MAX`].
fn read_bytes(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Bytes> {
    let bytes = reader.positive_bytes(node, name)?;
    if bytes > FRAME_MAX {
        reader.wrong(node, name, "at most \"100MB\"");
        return None;
    }
    Some(bytes)
}

/// Reads `key_bytes` and `key_every`. Returns `Ok(None)` if the scenario sets neither. If the keys
/// are wrong, reports the mistake to the reader and returns `Err`.
fn read_key_frames(reader: &mut Reader<'_>, keys: &mut Keys<'_>) -> Result<Option<KeyFrames>, ()> {
    let (bytes, each) = match (keys.take("key_bytes"), keys.take("key_every")) {
        (Some(bytes), Some(each)) => (bytes, each),
        (None, None) => return Ok(None),
        (Some(_), None) => {
            let expected = "the number of frames from one key frame to the next, such as 60";
            reader.missing(keys, "key_every", expected);
            return Err(());
        }
        (None, Some(_)) => {
            reader.missing(keys, "key_bytes", "the bytes of a key frame, such as \"60KB\"");
            return Err(());
        }
    };
    let bytes = read_bytes(reader, bytes, &keys.name("key_bytes"));
    let each = reader.integer(each, &keys.name("key_every"), 1, KEY_EVERY_MAX);
    let (Some(bytes), Some(each)) = (bytes, each) else { return Err(()) };
    Ok(Some(KeyFrames { bytes, each: u32::try_from(each).expect("at most a million") }))
}
