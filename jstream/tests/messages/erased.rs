//! Tests of type-erased received objects.

use std::thread;

use jstream::buffer::{Pool, PoolOptions};
use jstream::{
    Covariant, EmptyBuffer, Erased, Reader, Received, Transportable, WriteError, Writer,
};

#[derive(Transportable, Debug, PartialEq)]
#[repr(align(128))]
struct Wide(u64);

fn received<T>(object: &T::InPlace<'_>) -> Received<T>
where
    T: Transportable + 'static,
    for<'x> T::InPlace<'x>: Transportable,
{
    let message = Writer::new()
        .write(object, EmptyBuffer::heap(4096))
        .unwrap();
    Reader::default().read::<T>(message).unwrap()
}

fn place<T: Covariant + 'static>(received: &Received<T>) -> usize {
    std::ptr::from_ref(received.get()).addr()
}

#[test]
fn it_stays_where_it_is() {
    let one = received::<Wide>(&Wide(7));
    let at = place(&one);
    let erased = Erased::new(one);
    assert!(erased.is::<Wide>() && !erased.is::<u64>());
    assert!(erased.type_name().ends_with("Wide"));
    assert!(format!("{erased:?}").contains("Wide"));
    let erased = erased.downcast::<u64>().unwrap_err();
    let again = thread::spawn(move || erased.downcast::<Wide>().unwrap())
        .join()
        .unwrap();
    assert_eq!((place(&again), at % 128), (at, 0));
    assert_eq!(again.get(), &Wide(7));
}

#[test]
fn dropping_it_gives_the_jbuf_back() {
    let pool = Pool::default();
    let message = Writer::new().write(&vec![1u64; 9], pool.take(4096).unwrap());
    let received = Reader::default()
        .read::<Vec<u64>>(message.unwrap())
        .unwrap();
    let erased = Erased::new(received);
    assert_eq!((pool.stats().in_use, erased.capacity()), (1, 4096));
    drop(erased);
    assert_eq!(pool.stats().in_use, 0);
}

#[test]
fn it_becomes_a_message_in_place_for_who_expects_another_type() {
    let (mut writer, mut reader) = (Writer::new(), Reader::default());
    let pool = Pool::default();
    let texts = vec!["one".to_owned(), "two".to_owned()];
    let message = writer.write(&texts, pool.take(4096).unwrap()).unwrap();
    let at = message.as_bytes().as_ptr().addr();
    let bytes = message.as_bytes().to_vec();
    let erased = Erased::new(reader.read::<Vec<String>>(message).unwrap());
    let forwarded = erased.forward(&mut writer, &pool).unwrap();
    assert!(forwarded.in_place);
    assert_eq!(forwarded.message.as_bytes().as_ptr().addr(), at);
    assert_eq!(forwarded.message.as_bytes(), bytes);
    let read = reader.read::<&[&str]>(forwarded.message).unwrap();
    assert_eq!(*read.get(), &["one", "two"]);
}

#[derive(Transportable)]
struct Column<'b> {
    values: &'b mut [u64],
    more: &'b mut [u64],
}

/// Returns an object whose pointers were swapped, so that forwarding it needs another buffer.
fn swapped(pool: &Pool) -> Erased {
    let column = Column {
        values: &mut [1, 2, 3],
        more: &mut [4],
    };
    let message = Writer::new().write(&column, pool.take(4096).unwrap());
    let mut received = Reader::default()
        .read::<Column<'_>>(message.unwrap())
        .unwrap();
    received.with_mut(|column| std::mem::swap(&mut column.values, &mut column.more));
    Erased::new(received)
}

#[test]
fn it_takes_another_jbuf_where_it_has_to() {
    let pool = Pool::default();
    let forwarded = swapped(&pool).forward(&mut Writer::new(), &pool).unwrap();
    assert!(!forwarded.in_place);
    assert_eq!(pool.stats().in_use, 1);
    let read = Reader::default()
        .read::<Column<'_>>(forwarded.message)
        .unwrap();
    assert_eq!(
        (&*read.get().values, &*read.get().more),
        (&[4][..], &[1, 2, 3][..])
    );
}

#[test]
fn it_comes_back_from_a_pool_without_room() {
    let mut small = PoolOptions::default();
    small.max_mapped = 256 << 10;
    let small = Pool::new(small);
    let held: Vec<_> = std::iter::from_fn(|| small.take(4096).ok()).collect();
    let erased = swapped(&Pool::default());
    let unforwarded = erased.forward(&mut Writer::new(), &small).unwrap_err();
    assert!(
        matches!(unforwarded.error, WriteError::Pool(_)),
        "{unforwarded}"
    );
    let received = unforwarded
        .object
        .unwrap()
        .downcast::<Column<'_>>()
        .unwrap();
    assert_eq!(*received.get().values, [4]);
    drop(held);
}
