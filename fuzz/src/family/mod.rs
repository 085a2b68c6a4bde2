//! Families of types, and what is done to messages of each.

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

/// A type that has everything of a family.
pub trait Family {
    /// The type, for all time.
    type Root: Transportable + 'static;
    /// The name of its target.
    const NAME: &'static str;

    /// The checks, with a walk over every byte of what is handed out. There is one for each thread.
    fn kit() -> &'static Kit<Self::Root>;

    /// The message of a value with something of everything.
    fn sample() -> Vec<u8>;

    /// The message of a value made of `input`, which must arrive.
    fn message(input: &mut Unstructured<'_>) -> Result<Vec<u8>>;

    /// More to do with a damaged message than the kit does.
    fn more(_message: &[u8]) {}
}

/// The most steps of a script.
const STEPS: usize = 8;

/// Does what `input` says: [`Kit::fuzz`], but that the damage of a script, which comes after its
/// number of steps, is followed by what the message is made of. Nothing stands for the sample.
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

/// Makes a value of some family, and has the kit damage its message by structure and by bytes.
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
    // Bytes that make no value say nothing.
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
        "the schema does not lead through a message"
    );
    Ok(())
}

/// How many messages are made in each way of damaging.
const MOST: usize = 96;

/// A thread's kit, which looks at everything.
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

/// A few values.
fn several<'a, T: Arbitrary<'a>>(input: &mut Unstructured<'a>, most: usize) -> Result<Vec<T>> {
    let count = input.int_in_range(0..=most)?;
    (0..count).map(|_| input.arbitrary()).collect()
}

/// Checks that a value arrives; gives its message.
fn sent<T: Transportable + 'static, V: Transportable>(kit: &Kit<T>, value: &V) -> Vec<u8> {
    kit.round_trip(value)
        .unwrap_or_else(|finding| panic!("{finding}"))
}
