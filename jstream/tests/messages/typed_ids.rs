//! Types with a parameter that `PhantomData` alone names.

use std::marker::PhantomData;

use jstream::{EmptyBuffer, Reader, Transportable, Writer};

/// A mark that is not transportable.
#[derive(Debug, PartialEq)]
struct Mark;

trait Entity {}

impl Entity for Mark {}

#[derive(Transportable, Debug, PartialEq)]
struct Id<T: ?Sized> {
    number: u64,
    of: PhantomData<fn() -> T>,
}

impl<T: ?Sized> Id<T> {
    fn new(number: u64) -> Self {
        let of = PhantomData;
        Self { number, of }
    }
}

/// A mark with a bound beside a parameter with values.
#[derive(Transportable, Debug, PartialEq)]
struct Tagged<T: Entity, U> {
    value: U,
    of: PhantomData<T>,
}

/// A mark with a where clause, which the proof of covariance repeats.
#[derive(Transportable, Debug, PartialEq)]
struct Checked<T>
where
    T: Entity,
{
    value: u8,
    of: PhantomData<T>,
}

/// A mark in an owner, whose form has it, too.
#[derive(Transportable, Debug, PartialEq)]
struct Named<T: ?Sized> {
    name: String,
    of: PhantomData<T>,
}

/// A mark whose bound names the lifetime of the type: no proof of covariance is attempted.
#[derive(Transportable)]
#[allow(
    explicit_outlives_requirements,
    reason = "the derive has to cope with the bound"
)]
struct Lent<'b, T: 'b> {
    text: &'b str,
    of: PhantomData<&'b T>,
}

/// As [`Lent`], with a where clause.
#[derive(Transportable)]
struct LentWhere<'b, T>
where
    T: 'b,
{
    text: &'b str,
    of: PhantomData<T>,
}

#[derive(Transportable, Debug, PartialEq)]
#[repr(u8)]
enum Event<T> {
    Created(u64),
    Other(PhantomData<T>),
}

#[derive(Transportable, Debug, PartialEq)]
#[transportable(owned)]
struct All {
    #[transportable(form = Id<Mark>)]
    id: Id<Mark>,
    text: Id<str>,
    #[transportable(form = Tagged<Mark, u8>)]
    tagged: Tagged<Mark, u8>,
    #[transportable(form = Checked<Mark>)]
    checked: Checked<Mark>,
    name: Named<str>,
    #[transportable(form = [Event<Mark>; 2])]
    events: [Event<Mark>; 2],
}

fn all() -> All {
    All {
        id: Id::new(1),
        text: Id::new(2),
        tagged: Tagged {
            value: 3,
            of: PhantomData,
        },
        checked: Checked {
            value: 4,
            of: PhantomData,
        },
        name: Named {
            name: "five".to_owned(),
            of: PhantomData,
        },
        events: [Event::Created(6), Event::Other(PhantomData)],
    }
}

#[test]
fn marks_need_not_be_transportable() {
    let message = Writer::new().write(&all(), EmptyBuffer::heap(512)).unwrap();
    let received = Reader::default().read::<All>(message).unwrap();
    let form: &AllRef<'_> = received.get();
    assert_eq!(form.id, Id::new(1));
    assert_eq!(form.text.number, 2);
    assert_eq!((form.tagged.value, form.checked.value), (3, 4));
    assert_eq!(form.name.name, "five");
    assert_eq!(form.events, all().events);
    assert_eq!(form.to_owned().unwrap(), all());
}

#[test]
fn marks_may_borrow() {
    let lent = Lent {
        text: "lent",
        of: PhantomData::<&Mark>,
    };
    let message = Writer::new().write(&lent, EmptyBuffer::heap(256)).unwrap();
    let received = Reader::default()
        .read::<Lent<'static, Mark>>(message)
        .unwrap();
    received.with(|form| assert_eq!(form.text, "lent"));
    let lent = LentWhere {
        text: "also",
        of: PhantomData::<Mark>,
    };
    let message = Writer::new().write(&lent, EmptyBuffer::heap(256)).unwrap();
    let received = Reader::default()
        .read::<LentWhere<'static, Mark>>(message)
        .unwrap();
    received.with(|form| assert_eq!(form.text, "also"));
}
