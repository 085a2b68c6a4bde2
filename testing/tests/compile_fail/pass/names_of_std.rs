//! Types whose names the derive knows travel where they are what their names say, or where the
//! attribute says what they are.

use jstream::{EmptyBuffer, Reader, Transportable, Writer};

/// A plain value by the name of one.
#[derive(Transportable, Debug, PartialEq, Clone, Copy)]
struct Duration {
    weeks: u32,
}

/// A type by the name of an owner, which is its own form.
mod names {
    #[derive(jstream::Transportable, Debug, PartialEq)]
    pub struct String<'b> {
        pub text: &'b str,
    }
}

#[derive(Transportable, Debug, PartialEq)]
#[transportable(own)]
struct Meeting<'b> {
    length: Duration,
    #[allow(clippy::box_collection)]
    title: names::String<'b>,
}

#[derive(Transportable)]
#[transportable(derive(Debug, PartialEq))]
struct Calendar {
    owner: String,
    #[transportable(form = &'b [Meeting<'b>])]
    meetings: Vec<Meeting<'static>>,
}

fn main() {
    let calendar = Calendar {
        owner: "Ada".to_owned(),
        meetings: vec![Meeting {
            length: Duration { weeks: 1 },
            title: names::String { text: "numbers" },
        }],
    };
    let filled = Writer::new().write(&calendar, EmptyBuffer::heap(512)).unwrap();
    let received = Reader::default().read::<Calendar>(filled).unwrap();
    assert_eq!(received.get().owner, "Ada");
    assert_eq!(received.get().meetings, calendar.meetings);
}
