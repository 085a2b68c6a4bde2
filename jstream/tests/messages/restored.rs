//! Slices and arrays that are restored: copied as a whole, or value by value.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use jstream::{Adapter, Reader, Restore, RestoreError, Restoring, Transportable, restore};

use crate::common::message;

/// Restores `value` after it was read.
fn round<T: Restore + 'static>(value: &T) -> Result<T, RestoreError> {
    let received = Reader::default().read::<T>(message(value)).unwrap();
    received.with(|form| restore::<T>(form))
}

#[derive(Transportable, Debug, Clone, PartialEq)]
struct Vector {
    x: f32,
    y: f32,
    tag: [u16; 4],
}

#[derive(Transportable, Debug, Clone, PartialEq)]
struct Padded {
    small: u8,
    large: u64,
}

const _: () = {
    assert!(<[(Vector, u8); 2]>::IS_COPY && Padded::IS_COPY);
    assert!(!<Vec<Vector>>::IS_COPY && !Even::IS_COPY && !<(u8, Pair)>::IS_COPY);
};

/// A number that is refused if it is odd.
#[derive(Transportable, Debug, Clone, Copy, PartialEq)]
#[transportable(no_to_owned)]
struct Even(u32);

impl Restore for Even {
    fn restore<'b>(form: &Self, _: &mut Restoring) -> Result<Self, RestoreError>
    where
        Self: 'b,
    {
        match form.0 % 2 {
            0 => Ok(*form),
            _ => Err(RestoreError::Adapter(format!("{} is odd", form.0))),
        }
    }
}

#[derive(Transportable, Debug, Clone, Copy, PartialEq)]
struct Pair {
    first: Even,
    second: u32,
}

#[test]
fn plain_slices_are_copied() {
    let vectors: Vec<Vector> = (0u16..100)
        .map(|i| Vector {
            x: f32::from(i),
            y: -1.0,
            tag: [i, 0, 1, 2],
        })
        .collect();
    assert_eq!(round(&vectors).unwrap(), vectors);
    assert_eq!(round(&Vec::<Vector>::new()).unwrap(), []);
    let nested = vec![vectors; 3];
    assert_eq!(round(&nested).unwrap(), nested);
    let padded = vec![Padded { small: 1, large: 2 }; 9];
    assert_eq!(round(&padded).unwrap(), padded);
    let boxed: Box<[u8]> = (0..=255).collect();
    assert_eq!(round(&boxed).unwrap(), boxed);
    assert_eq!(round(&vec![(); 5]).unwrap().len(), 5);
}

#[test]
fn a_restore_of_the_program_is_called_for_each_value() {
    let pair = |first| Pair {
        first: Even(first),
        second: 1,
    };
    assert_eq!(round(&vec![Even(2), Even(4)]).unwrap(), [Even(2), Even(4)]);
    let odd = |why: &str| RestoreError::Adapter(why.to_owned());
    assert_eq!(
        round(&vec![Even(2), Even(3), Even(5)]),
        Err(odd("3 is odd"))
    );
    assert_eq!(round(&vec![pair(2), pair(7)]), Err(odd("7 is odd")));
    assert_eq!(round(&[Even(2), Even(9)]), Err(odd("9 is odd")));
}

thread_local! {
    /// Number of values of [`Counted`] that were not dropped.
    static ALIVE: Cell<usize> = const { Cell::new(0) };
}

/// A value on the heap that is counted.
struct Counted(Box<u32>);

impl Counted {
    fn new(value: u32) -> Self {
        ALIVE.set(ALIVE.get() + 1);
        Self(Box::new(value))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        ALIVE.set(ALIVE.get() - 1);
    }
}

/// Sends a [`Counted`] as its number, and refuses to restore numbers over 9.
struct AsNumber;

impl Adapter<Counted> for AsNumber {
    type Wire = u32;
    type Error = String;

    fn to_wire(value: &Counted) -> u32 {
        *value.0
    }

    fn from_wire(wire: &u32) -> Result<Counted, String> {
        match wire {
            0..=9 => Ok(Counted::new(*wire)),
            _ => Err(format!("{wire} is over 9")),
        }
    }
}

#[derive(Transportable)]
struct Holder {
    name: String,
    #[transportable(with = AsNumber, form = u32)]
    counted: Counted,
}

#[test]
fn values_before_one_that_fails_are_dropped() {
    let holders = |numbers: [u32; 4]| {
        numbers.map(|number| Holder {
            name: number.to_string(),
            counted: Counted::new(number),
        })
    };
    let numbers = |holders: &[Holder]| -> Vec<u32> {
        holders.iter().map(|holder| *holder.counted.0).collect()
    };
    assert_eq!(
        numbers(&round(&holders([1, 2, 3, 4])).unwrap()),
        [1, 2, 3, 4]
    );
    let vector = Vec::from(holders([1, 2, 3, 4]));
    assert_eq!(numbers(&round(&vector).unwrap()), [1, 2, 3, 4]);
    for failing in [[10, 0, 0, 0], [1, 2, 10, 3], [1, 2, 3, 11]] {
        assert!(round(&holders(failing)).is_err());
        assert!(round(&Vec::from(holders(failing))).is_err());
    }
    drop(vector);
    assert_eq!(ALIVE.get(), 0);
}

type Slices = (Rc<[u8]>, Rc<[u8]>, Arc<str>, Arc<str>);

#[test]
fn an_empty_slice_is_not_taken_for_the_next_one() {
    let slices: Slices = (Rc::new([]), Rc::new([1, 2]), "".into(), "text".into());
    assert_eq!(round(&slices).unwrap(), slices);
}
