//! Case `plans`: schemas of 50 types, which a reader learns, plans or refuses.

use std::hint::black_box;
use std::time::Instant;

use jstream::schema::Schema;
use jstream::{EmptyBuffer, MessageBuffer, ReadError, Reader, to_vec};

use crate::Failure;
use crate::measure::{self, since};
use crate::suites::Bench;

/// Number of the types.
const TYPES: usize = 50;

/// An old version of a type, and the new version that a reader makes of its messages.
struct Pair {
    /// Schema of the old version, as a peer sends it.
    snapshot: Vec<u8>,
    /// Message of the old version.
    message: Vec<u8>,
    /// Reads a message as the new version. Returns false if the versions are not compatible.
    read: fn(&mut Reader, MessageBuffer) -> Result<bool, Failure>,
}

/// Defines pairs of types, of which each has a field with a name of its own, so that the types
/// differ. `old` and `new` are the fields that the versions do not have in common.
macro_rules! pairs {
    ($(
        {
            old { $($(#[$old_option:meta])* $old:ident: $old_type:ty,)* }
            new { $($(#[$new_option:meta])* $new:ident: $new_type:ty,)* }
            $($name:ident)+
        }
    )+) => {
        $(pairs!(@types $($name)+;
            { $($(#[$old_option])* $old: $old_type,)* }
            { $($(#[$new_option])* $new: $new_type,)* });)+

        fn pairs() -> Result<Vec<Pair>, Failure> {
            Ok(vec![$($($name::pair()?,)+)+])
        }
    };
    (@types $first:ident $($rest:ident)*; $old:tt $new:tt) => {
        pairs!(@type $first $old $new);
        pairs!(@types $($rest)*; $old $new);
    };
    (@types ; $old:tt $new:tt) => {};
    (@type $name:ident
        { $($(#[$old_option:meta])* $old:ident: $old_type:ty,)* }
        { $($(#[$new_option:meta])* $new:ident: $new_type:ty,)* }
    ) => {
        mod $name {
            use super::{Pair, pair_of};
            use crate::Failure;

            #[derive(jstream::Transportable, Default)]
            #[transportable(no_to_owned)]
            struct Old {
                $name: u64,
                title: String,
                place: Position,
                parts: Vec<Position>,
                note: Option<String>,
                weight: f64,
                $($(#[$old_option])* $old: $old_type,)*
            }

            #[derive(jstream::Transportable)]
            #[transportable(no_to_owned)]
            struct New {
                $name: u64,
                title: String,
                place: Position,
                parts: Vec<Position>,
                note: Option<String>,
                weight: f64,
                $($(#[$new_option])* $new: $new_type,)*
            }

            #[derive(jstream::Transportable, Default, Clone, Copy)]
            struct Position {
                x: f32,
                y: f32,
                layer: u16,
            }

            pub(super) fn pair() -> Result<Pair, Failure> {
                pair_of::<Old, New>()
            }
        }
    };
}

pairs! {
    {
        old {}
        new { #[transportable(default)] count: u32, }
        added_0 added_1 added_2 added_3 added_4 added_5 added_6 added_7 added_8 added_9
    }
    {
        old { count: u32, }
        new {}
        removed_0 removed_1 removed_2 removed_3 removed_4 removed_5 removed_6 removed_7 removed_8
        removed_9
    }
    {
        old { count: u16, }
        new { count: u32, }
        widened_0 widened_1 widened_2 widened_3 widened_4 widened_5 widened_6 widened_7 widened_8
        widened_9
    }
    {
        old { count: u32, }
        new { #[transportable(renamed_from = "count")] amount: u32, }
        renamed_0 renamed_1 renamed_2 renamed_3 renamed_4 renamed_5 renamed_6 renamed_7 renamed_8
        renamed_9
    }
    {
        old { count: u32, }
        new { count: String, }
        refused_0 refused_1 refused_2 refused_3 refused_4 refused_5 refused_6 refused_7 refused_8
        refused_9
    }
}

fn pair_of<Old, New>() -> Result<Pair, Failure>
where
    Old: jstream::Transportable + Default + 'static,
    New: jstream::Transportable + 'static,
{
    let (schema, root) = Schema::of::<Old>();
    Ok(Pair {
        snapshot: schema.to_snapshot(root)?,
        message: to_vec(&Old::default())?,
        read: |reader, message| match reader.read::<New>(message) {
            Ok(received) => {
                black_box(&received);
                Ok(true)
            }
            Err(failure) => match failure.error {
                ReadError::Incompatible { .. } => Ok(false),
                error => Err(error.into()),
            },
        },
    })
}

/// The pairs, with a reader that has the plans of all of them.
struct Plans {
    name: &'static str,
    pairs: Vec<Pair>,
    planned: Option<Reader>,
    messages: Vec<MessageBuffer>,
}

impl Plans {
    fn new(name: &'static str, is_planned: bool) -> Result<Box<Self>, Failure> {
        let mut plans = Self {
            name,
            pairs: pairs()?,
            planned: None,
            messages: Vec::new(),
        };
        let mut reader = Reader::default();
        plans.prepare()?;
        let accepted = plans.learn_and_read(&mut reader)?;
        if (plans.pairs.len(), accepted) != (TYPES, TYPES * 4 / 5) {
            return Err(format!("{accepted} of {} types are accepted", plans.pairs.len()).into());
        }
        plans.planned = is_planned.then_some(reader);
        Ok(Box::new(plans))
    }

    /// Makes a message of each type.
    fn prepare(&mut self) -> Result<(), Failure> {
        for pair in &self.pairs {
            let empty = EmptyBuffer::heap(pair.message.len());
            self.messages.push(empty.copy_from(&pair.message)?);
        }
        Ok(())
    }

    /// Learns all schemas, and reads a message of each.
    fn learn_and_read(&mut self, reader: &mut Reader) -> Result<usize, Failure> {
        for pair in &self.pairs {
            reader.learn_bytes(&pair.snapshot)?;
        }
        self.read(reader)
    }

    /// Reads a message of each type. Returns the number of those that were converted.
    fn read(&mut self, reader: &mut Reader) -> Result<usize, Failure> {
        let mut accepted = 0;
        for (pair, message) in self.pairs.iter().zip(self.messages.drain(..)) {
            accepted += usize::from((pair.read)(reader, message)?);
        }
        Ok(accepted)
    }

    /// Returns the time for all types in nanoseconds.
    fn round(&mut self) -> Result<f64, Failure> {
        self.prepare()?;
        if let Some(mut reader) = self.planned.take() {
            let start = Instant::now();
            self.read(&mut reader)?;
            let time = since(start, 1);
            self.planned = Some(reader);
            return Ok(time);
        }
        let mut reader = Reader::default();
        let start = Instant::now();
        self.learn_and_read(&mut reader)?;
        Ok(since(start, 1))
    }
}

/// Measures learning, planning and reading a first message of each type, and reading further
/// messages.
pub(super) fn run(bench: &mut Bench<'_>, case: &str) -> Result<(), Failure> {
    let mut subjects = vec![
        Plans::new("jstream", false)?,
        Plans::new("jstream-planned", true)?,
    ];
    bench.progress.step(&format!("evolution / {case}"));
    let times = measure::interleave(&mut subjects, &bench.effort, Plans::round)?;
    for (subject, times) in subjects.iter().zip(times) {
        bench.time(case, subject.name, "plan", times);
    }
    let text = "50 types of 7 fields, in 2 structs each: 40 whose messages are converted, and 10 that \
                are refused; learning their schemas, planning, and reading a small message of each. \
                A reader that has planned only reads";
    bench.note(case, text.to_owned());
    Ok(())
}
