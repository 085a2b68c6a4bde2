//! Constants, statics and unit structs of the program with the names that generated code would give
//! to its variables. A pattern of such a name would compare with the constant instead of binding a
//! variable.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;
use std::marker::PhantomData;

use jstream::{EmptyBuffer, Reader, Transportable, Writer};

use self::types::{Angle, Cells, Choice, Figures, Generic, OptIn, Owner, Plain, Square};

mod types {
    #![allow(
        non_upper_case_globals,
        non_camel_case_types,
        reason = "names of variables"
    )]
    #![allow(dead_code, reason = "only the names matter")]

    use std::borrow::Cow;
    use std::cell::Cell;
    use std::collections::HashMap;
    use std::marker::PhantomData;
    use std::rc::Rc;

    use jstream::{Adapter, Transportable};

    /// Declares constants, statics and unit structs of these names.
    macro_rules! taken {
        ($($name:ident)*; $($global:ident)*; $($unit:ident)*) => {
            $(const $name: () = ();)*
            $(static $global: u8 = 7;)*
            $(struct $unit;)*
        };
    }

    // The names of all variables in the expansions of the derive's golden files, without the
    // underscores with which they begin.
    taken! {
        of both slot draft pass place trace schema tag value start form restoring formatter other owned index
        edge registry one target text taking giving;
        meant long part_0 part_1 part_2 part_0_form part_1_form form_part_0 field_0 field_1;
        part_3 part_4 part_5 part_6 part_7 part_8 argument_0 argument_1 answer arguments call object
    }

    pub(super) struct AsBits;

    impl Adapter<Angle> for AsBits {
        type Wire = u32;
        type Error = &'static str;

        fn to_wire(angle: &Angle) -> u32 {
            angle.0.to_bits()
        }

        fn from_wire(bits: &u32) -> Result<Angle, &'static str> {
            Ok(Angle(f32::from_bits(*bits)))
        }
    }

    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(super) struct Angle(pub(super) f32);

    fn approve<T>(_: &T) -> Result<(), &'static str> {
        Ok(())
    }

    #[derive(Transportable, Debug, PartialEq)]
    #[transportable(compare, verify = approve)]
    pub(super) struct Owner {
        pub(super) number: u64,
        pub(super) text: String,
        #[transportable(skip)]
        pub(super) slot: u8,
        #[transportable(with = AsBits)]
        pub(super) draft: Angle,
        #[transportable(exclusive)]
        pub(super) pass: Vec<u32>,
        pub(super) shared: Rc<str>,
        #[transportable(verify = approve)]
        pub(super) tree: Option<Box<Owner>>,
        pub(super) map: HashMap<String, (u8, Choice)>,
        pub(super) cow: Cow<'static, str>,
    }

    #[derive(Transportable, Debug, PartialEq, Clone)]
    #[transportable(compare)]
    pub(super) enum Choice {
        None,
        One(String, u8),
        Two { of: Vec<u8>, tag: u16 },
    }

    #[derive(Transportable, Debug, PartialEq)]
    #[repr(u8)]
    pub(super) enum Plain<'b, T> {
        Text(&'b str),
        Parts { of: &'b [T], value: u8 },
    }

    #[derive(Transportable, Debug, PartialEq)]
    pub(super) struct Generic<T, U, const N: usize> {
        pub(super) all: [T; N],
        pub(super) of: PhantomData<U>,
    }

    #[derive(Transportable)]
    pub(super) struct Cells<'b> {
        pub(super) number: u8,
        pub(super) next: Cell<Option<&'b Cells<'b>>>,
    }

    #[derive(Transportable)]
    #[transportable(opt_in)]
    pub(super) struct OptIn<'b> {
        pub(super) left: Option<&'b u8>,
        #[transportable(follow, shared)]
        pub(super) right: Option<&'b u8>,
    }

    #[jstream::transportable]
    pub(super) trait Figure {
        fn area(&self) -> f64;
    }

    #[derive(Transportable)]
    #[transportable(implements(Figure))]
    pub(super) struct Square(pub(super) f64);

    impl Figure for Square {
        fn area(&self) -> f64 {
            self.0 * self.0
        }
    }

    #[derive(Transportable)]
    pub(super) struct Figures {
        pub(super) all: Vec<Box<dyn Figure>>,
    }
}

fn round_trip<T: Transportable + 'static, R>(
    value: &T,
    check: impl FnOnce(&T::InPlace<'_>) -> R,
) -> R {
    let message = Writer::new().write(value, EmptyBuffer::heap(4096));
    let received = Reader::default().read::<T>(message.unwrap()).unwrap();
    received.with(|form| check(form))
}

fn owner(tree: Option<Box<Owner>>) -> Owner {
    Owner {
        number: 5,
        text: "text".to_owned(),
        slot: 0,
        draft: Angle(1.5),
        pass: vec![1, 2],
        shared: "shared".into(),
        tree,
        map: HashMap::from([
            ("a".to_owned(), (1, Choice::None)),
            ("b".to_owned(), (2, Choice::One("one".to_owned(), 1))),
            (
                "c".to_owned(),
                (
                    3,
                    Choice::Two {
                        of: vec![4],
                        tag: 5,
                    },
                ),
            ),
        ]),
        cow: Cow::Borrowed("cow"),
    }
}

#[test]
fn constants_of_the_program_do_not_disturb_generated_code() {
    let sent = owner(Some(Box::new(owner(None))));
    round_trip(&sent, |form| {
        assert_eq!(*form, sent);
        assert_eq!(form.to_owned().unwrap(), sent);
        assert!(format!("{form:?}").contains("text"));
    });
    round_trip(&Plain::Text::<u8>("abc"), |form| {
        assert_eq!(*form, Plain::Text("abc"));
    });
    let parts = Plain::Parts {
        of: &[1u16, 2],
        value: 3,
    };
    round_trip(&parts, |form| assert_eq!(*form, parts));
    let generic = Generic {
        all: [1u8, 2],
        of: PhantomData::<fn() -> Angle>,
    };
    round_trip(&generic, |form| assert_eq!(form.all, [1, 2]));
    let last = Cells {
        number: 2,
        next: Cell::new(None),
    };
    let first = Cells {
        number: 1,
        next: Cell::new(Some(&last)),
    };
    let message = Writer::new()
        .write(&first, EmptyBuffer::heap(4096))
        .unwrap();
    let received = Reader::default().read::<Cells<'_>>(message).unwrap();
    received.with(|form| assert_eq!(form.next.get().unwrap().number, 2));
    let opt_in = OptIn {
        left: Some(&1),
        right: Some(&2),
    };
    let message = Writer::new()
        .write(&opt_in, EmptyBuffer::heap(4096))
        .unwrap();
    let received = Reader::default().read::<OptIn<'_>>(message).unwrap();
    assert_eq!(
        (received.get().left, received.get().right),
        (None, Some(&2))
    );
    let figures = Figures {
        all: vec![Box::new(Square(2.0)), Box::new(Square(3.0))],
    };
    round_trip(&figures, |form| {
        let areas = form.all.iter().map(|one| one.area());
        assert_eq!(areas.sum::<f64>(), 13.0);
    });
}
