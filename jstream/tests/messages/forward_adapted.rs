//! Adapters see the forwarded fields themselves, not bitwise copies of them.

use std::cell::RefCell;
use std::mem;
use std::sync::Mutex;

use jstream::{Adapter, EmptyBuffer, Reader, Transportable, Writer};

thread_local! {
    /// Addresses of numbers that were moved out of an object and that no adapter may see.
    static TAKEN: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// A leaked allocation for numbers, which this static keeps reachable for leak detectors.
static ROOM: Mutex<&mut [u32]> = Mutex::new(&mut []);

/// An exclusive reference to a number.
type Only = &'static mut u32;

fn only(number: u32) -> Only {
    let mut room = ROOM.lock().unwrap();
    if room.is_empty() {
        *room = Box::leak(Box::new([0; 100]));
    }
    // Taken from the end, so that the rest still begins at the start of the allocation.
    let (last, rest) = mem::take(&mut *room).split_last_mut().unwrap();
    *room = rest;
    *last = number;
    last
}

struct AsNumber;

impl Adapter<Only> for AsNumber {
    type Wire = u32;
    type Error = &'static str;

    fn to_wire(only: &Only) -> u32 {
        let address = std::ptr::from_ref::<u32>(only).addr();
        TAKEN.with_borrow(|taken| assert!(!taken.contains(&address), "it was taken"));
        **only
    }

    fn from_wire(number: &u32) -> Result<Only, &'static str> {
        Ok(only(*number))
    }
}

#[derive(Transportable)]
#[transportable(own)]
struct Owner<'b> {
    name: &'b str,
    #[transportable(with = AsNumber)]
    number: Only,
}

#[test]
fn no_adapter_sees_what_was_taken_out_of_a_root() {
    for slack in [0, 1024] {
        let owner = Owner {
            name: "owner",
            number: only(5),
        };
        let message = Writer::new().write(&owner, EmptyBuffer::heap(256)).unwrap();
        let jbuf = EmptyBuffer::heap(message.len() + slack);
        let message = jbuf.copy_from(message.as_bytes()).unwrap();
        let mut object = Reader::default().read::<Owner<'_>>(message).unwrap();
        let mut taken = None;
        object.with_mut(|owner| {
            taken = Some(mem::replace(&mut owner.number, only(6)));
        });
        let taken = taken.unwrap();
        let address = std::ptr::from_ref::<u32>(taken).addr();
        TAKEN.with_borrow_mut(|all| all.push(address));
        let mut writer = Writer::new();
        let forwarded = writer.forward(object).unwrap();
        *taken += 1;
        assert!(forwarded.in_place);
        let again = Reader::default().read::<Owner<'_>>(forwarded.message);
        let again = again.unwrap();
        assert_eq!((again.get().name, &*again.get().number), ("owner", &6));
        let message = writer.write(&owner, EmptyBuffer::heap(256)).unwrap();
        let again = Reader::default().read::<Owner<'_>>(message).unwrap();
        assert_eq!(*again.get().number, 5);
    }
}
