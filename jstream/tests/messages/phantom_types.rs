//! Forms that are different types are never confused.

use std::marker::PhantomData;
use std::rc::Rc;

use jstream::__private::InPlace;
use jstream::{EmptyBuffer, Reader, Transportable, Writer, descriptor};

trait Choice {
    type Of: Default + Copy;
}

struct Number;
struct Text;

/// A number that looks like an address.
#[derive(Clone, Copy)]
struct Address(usize);

impl Default for Address {
    fn default() -> Self {
        Self(0x4141_4140)
    }
}

impl Choice for PhantomData<Number> {
    type Of = (Address, usize);
}

impl Choice for PhantomData<Text> {
    type Of = &'static str;
}

#[derive(Transportable)]
#[transportable(no_to_owned)]
struct Chosen<C>
where
    C: Choice + InPlace + for<'x> Transportable<InPlace<'x> = C> + 'static,
{
    number: u64,
    #[transportable(skip)]
    of: C::Of,
    choice: C,
}

fn chosen<C>() -> Rc<Chosen<C>>
where
    C: Choice + Default + InPlace + for<'x> Transportable<InPlace<'x> = C> + 'static,
{
    Rc::new(Chosen {
        number: 7,
        of: C::Of::default(),
        choice: C::default(),
    })
}

type Both = (
    Rc<Chosen<PhantomData<Number>>>,
    Rc<Chosen<PhantomData<Text>>>,
);
type Twice = (
    Rc<Chosen<PhantomData<Number>>>,
    Rc<Chosen<PhantomData<Number>>>,
);

#[test]
fn a_shared_target_is_not_taken_for_one_of_another_phantom_type() {
    let number = chosen::<PhantomData<Number>>();
    let twice: Twice = (number.clone(), number);
    let twice = Writer::new().write(&twice, EmptyBuffer::heap(512)).unwrap();
    // A hostile peer declares the other type.
    let mut bytes = twice.as_bytes().to_vec();
    bytes[8..16].copy_from_slice(&descriptor::<Both>().to_le_bytes());
    let message = EmptyBuffer::heap(bytes.len()).copy_from(&bytes).unwrap();
    match Reader::default().read::<Both>(message) {
        Err(failure) => assert!(failure.to_string().contains("shared object")),
        Ok(received) => received.with(|(number, text)| {
            assert_eq!(number.of.0.0, 0x4141_4140);
            assert_ne!(
                std::ptr::from_ref(number.get()).addr(),
                std::ptr::from_ref(text.get()).addr(),
                "{:#x} is used as a string",
                text.of.as_ptr().addr(),
            );
        }),
    }
}
