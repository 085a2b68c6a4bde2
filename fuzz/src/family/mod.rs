//! Families of types, and the attacks on their messages.

pub mod archives;
pub mod dynamic;
pub mod fields;
pub mod maps;
pub mod options;
pub mod shared;
pub mod strings;
pub mod vectors;

use arbitrary::{Arbitrary, Result, Unstructured};
use jstream::Transportable;
use jstream::testing::Kit;

/// A type with all features of a family.
pub trait Family {
    /// The type of the root.
    type Root: Transportable + 'static;
    /// The name of the fuzz target.
    const NAME: &'static str;

    /// Returns this thread's kit, which visits every byte of a received object.
    fn kit() -> &'static Kit<Self::Root>;

    /// Returns the message of a sample value that uses every feature.
    fn sample() -> Vec<u8>;

    /// Generates a value from `input`, checks that it arrives, and returns its message.
    fn message(input: &mut Unstructured<'_>) -> Result<Vec<u8>>;

    /// Performs additional operations on a damaged message.
    fn more(_message: &[u8]) {}
}

/// The maximum number of steps of a script.
const STEPS: usize = 8;

/// Runs [`Kit::fuzz`] on `input`. In script mode, the script follows its number of steps, and the
/// bytes from which the message is generated follow the script. Without such bytes, the sample is
/// used.
pub fn run<F: Family>(input: &[u8]) {
    let kit = F::kit();
    let (sound, input) = match input {
        [first, steps, rest @ ..] if first % 4 >= 2 => {
            let script = 4 * (usize::from(*steps) % (STEPS + 1));
            let (script, value) = rest.split_at(rest.len().min(script));
            let sound = if value.is_empty() {
                F::sample()
            } else {
                let Ok(sound) = F::message(&mut Unstructured::new(value)) else {
                    return;
                };
                sound
            };
            (sound, [&[*first], script].concat())
        }
        _ => (Vec::new(), input.to_vec()),
    };
    kit.fuzz_message(&sound, &input)
        .unwrap_or_else(|finding| panic!("{finding}"));
    F::more(&kit.damaged(&sound, &input));
}

/// Generates a value of some family and damages its message by structure and by bytes.
pub fn structure(input: &[u8]) {
    let mut input = Unstructured::new(input);
    let Ok(which) = u8::arbitrary(&mut input) else {
        return;
    };
    let attack = match which % 6 {
        0 => attack::<strings::Strings>,
        1 => attack::<options::Options>,
        2 => attack::<maps::Maps>,
        3 => attack::<shared::SharedGraph>,
        4 => attack::<dynamic::Dynamic>,
        _ => attack::<fields::Fields>,
    };
    // Bytes that do not make a value are ignored.
    let _ = attack(&mut input);
}

fn attack<F: Family>(input: &mut Unstructured<'_>) -> Result<()> {
    let sound = F::message(input)?;
    let kit = F::kit();
    let result = kit
        .structure(&sound)
        .and_then(|_| kit.bytes(&sound))
        .and_then(|_| kit.lengths(&sound))
        .and_then(|_| kit.lowered_limits(&sound));
    result.unwrap_or_else(|finding| panic!("{finding}"));
    let places = jstream::testing::places::<F::Root>(&sound);
    assert!(
        places.complete,
        "the schema does not cover the whole message"
    );
    Ok(())
}

/// The maximum number of messages for each kind of damage.
const MOST: usize = 96;

/// Returns this thread's kit, which visits all of a received object.
macro_rules! kit {
    ($root:ty) => {{
        thread_local! {
            static KIT: &'static ::jstream::testing::Kit<$root> = ::std::boxed::Box::leak(
                ::std::boxed::Box::new(
                    ::jstream::testing::Kit::visiting(|form| $crate::touch::Seen::all_of(form))
                        .most($crate::family::MOST),
                ),
            );
        }
        KIT.with(|kit| *kit)
    }};
}
use kit;

/// Generates at most `most` values.
fn several<'a, T: Arbitrary<'a>>(input: &mut Unstructured<'a>, most: usize) -> Result<Vec<T>> {
    let count = input.int_in_range(0..=most)?;
    (0..count).map(|_| input.arbitrary()).collect()
}

/// Checks that a value arrives, and returns its message.
fn sent<T: Transportable + 'static, V: Transportable>(kit: &Kit<T>, value: &V) -> Vec<u8> {
    kit.round_trip(value)
        .unwrap_or_else(|finding| panic!("{finding}"))
}
