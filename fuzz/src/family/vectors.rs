//! Vectors, bytes and strings of other crates.

use arbitrary::{Result, Unstructured};
use arrayvec::{ArrayString, ArrayVec};
use bytes::{Bytes, BytesMut};
use jstream::testing::Kit;
use jstream::{EmptyBuffer, Reader, Transportable};
use smallvec::SmallVec;

use super::{Family, kit, sent, several};
use crate::touch::touch_fields;

pub struct Vectors;

#[derive(Transportable, Debug)]
#[transportable(derive(Debug))]
pub struct Lists {
    head: Bytes,
    body: BytesMut,
    tail: Option<Bytes>,
    parts: SmallVec<[Bytes; 1]>,
    numbers: SmallVec<[u32; 4]>,
    texts: SmallVec<[String; 2]>,
    flags: Option<SmallVec<[SmallVec<[bool; 1]>; 1]>>,
    wide: ArrayVec<u128, 4>,
    letters: ArrayVec<char, 6>,
    name: ArrayString<8>,
    names: ArrayVec<ArrayString<4>, 3>,
    nothing: ArrayVec<(), 3>,
    inner: SmallVec<[Box<Lists>; 1]>,
}

touch_fields!(ListsRef<'_>: head body tail parts numbers texts flags wide letters name names nothing
    inner);

fn lists(input: &mut Unstructured<'_>, depth: u32) -> Result<Lists> {
    let bytes = |input: &mut Unstructured<'_>| several::<u8>(input, 40).map(Bytes::from);
    let text = |input: &mut Unstructured<'_>, most: usize| {
        let letters = several::<char>(input, most)?;
        Ok(letters.into_iter().collect::<String>())
    };
    Ok(Lists {
        head: bytes(input)?,
        body: BytesMut::from(&*bytes(input)?),
        tail: bool::then(input.arbitrary()?, || bytes(input)).transpose()?,
        parts: (0..input.int_in_range(0..=3)?)
            .map(|_| bytes(input))
            .collect::<Result<_>>()?,
        numbers: several(input, 9)?.into(),
        texts: several(input, 4)?.into(),
        flags: bool::then(input.arbitrary()?, || {
            let all = several::<Vec<bool>>(input, 3)?;
            Ok(all.into_iter().map(SmallVec::from).collect())
        })
        .transpose()?,
        wide: several(input, 4)?.into_iter().collect(),
        letters: several(input, 6)?.into_iter().collect(),
        name: ArrayString::from(&text(input, 2)?).unwrap_or_default(),
        names: (0..input.int_in_range(0..=3)?)
            .map(|_| Ok(ArrayString::from(&text(input, 1)?).unwrap_or_default()))
            .collect::<Result<_>>()?,
        nothing: several(input, 3)?.into_iter().collect(),
        inner: if depth > 0 && input.arbitrary()? {
            std::iter::once(Box::new(lists(input, depth - 1)?)).collect()
        } else {
            SmallVec::new()
        },
    })
}

impl Family for Vectors {
    type Root = Lists;
    const NAME: &'static str = "vectors";

    fn kit() -> &'static Kit<Lists> {
        kit!(Lists)
    }

    fn sample() -> Vec<u8> {
        let bytes: Vec<u8> = (0..=255).rev().collect();
        let mut input = Unstructured::new(&bytes);
        let sample = lists(&mut input, 2).expect("there are enough bytes");
        sent(Self::kit(), &sample)
    }

    fn message(input: &mut Unstructured<'_>) -> Result<Vec<u8>> {
        Ok(sent(Self::kit(), &lists(input, 3)?))
    }

    /// Restoring an owner gives the same value each time, or an error if the content does not fit.
    fn more(message: &[u8]) {
        let Ok(jbuf) = EmptyBuffer::heap(message.len()).copy_from(message) else {
            return;
        };
        let Ok(received) = Reader::default().read::<Lists>(jbuf) else {
            return;
        };
        match received.get().to_owned() {
            Ok(owner) => assert_eq!(
                format!("{owner:?}"),
                format!("{:?}", received.get().to_owned().expect("again"))
            ),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}
