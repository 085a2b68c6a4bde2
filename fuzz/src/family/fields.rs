//! Fields with options: sent as another value, skipped, verified, or changed in place.

use arbitrary::{Arbitrary, Result, Unstructured};
use jstream::testing::Kit;
use jstream::{Adapter, EmptyBuffer, Reader, Transportable};

use super::{Family, kit, sent};
use crate::touch::{Seen, Touch, touch_fields};

pub struct Fields;

/// A number of at most 100.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Percent(u8);

impl<'a> Arbitrary<'a> for Percent {
    fn arbitrary(input: &mut Unstructured<'a>) -> Result<Self> {
        Ok(Self(input.int_in_range(0..=100)?))
    }
}

pub struct AsByte;

impl Adapter<Percent> for AsByte {
    type Wire = u8;
    type Error = String;

    fn to_wire(value: &Percent) -> u8 {
        value.0
    }

    fn from_wire(wire: &u8) -> std::result::Result<Percent, String> {
        match *wire {
            wire @ 0..=100 => Ok(Percent(wire)),
            wire => Err(format!("{wire} % is more than all")),
        }
    }
}

pub struct AsText;

impl Adapter<Vec<u32>> for AsText {
    type Wire = Vec<String>;
    type Error = std::num::ParseIntError;

    fn to_wire(value: &Vec<u32>) -> Vec<String> {
        value.iter().map(ToString::to_string).collect()
    }

    fn from_wire(wire: &&[&str]) -> std::result::Result<Vec<u32>, Self::Error> {
        wire.iter().map(|number| number.parse()).collect()
    }
}

#[derive(Transportable, Arbitrary, Debug, Clone, Copy, PartialEq)]
pub struct Gauge {
    #[transportable(with = AsByte)]
    level: Percent,
    #[transportable(skip)]
    cache: u64,
    id: u16,
}

#[derive(Transportable, Arbitrary, Debug, Clone, Copy)]
#[transportable(verify = Span::ordered)]
pub struct Span {
    start: u32,
    #[arbitrary(value = u32::MAX)]
    end: u32,
}

impl Span {
    fn ordered(&self) -> std::result::Result<(), &'static str> {
        if self.start <= self.end {
            Ok(())
        } else {
            Err("the start is after the end")
        }
    }
}

#[derive(Transportable, Arbitrary, Debug)]
#[transportable(derive(Debug))]
pub struct Record {
    #[transportable(with = AsText, form = &'b [&'b str])]
    numbers: Vec<u32>,
    #[transportable(with = AsByte)]
    quota: Percent,
    gauges: Vec<Gauge>,
    maybe: Option<Gauge>,
    spans: Vec<Span>,
    span: Option<Box<Span>>,
    #[transportable(skip)]
    label: String,
    #[transportable(exclusive)]
    samples: Vec<i16>,
    #[transportable(exclusive)]
    pairs: Vec<(u8, u32)>,
    inner: Option<Box<Inner>>,
}

#[derive(Transportable, Arbitrary, Debug)]
#[transportable(derive(Debug), verify = Inner::short)]
pub struct Inner {
    #[arbitrary(value = "short".to_owned())]
    text: String,
    gauge: std::result::Result<Gauge, Span>,
}

impl Inner {
    fn short(inner: &InnerRef<'_>) -> std::result::Result<(), String> {
        let len = inner.text.len();
        if len <= 5 {
            Ok(())
        } else {
            Err(format!("{len} bytes are too long"))
        }
    }
}

impl Touch for Percent {
    fn touch(&self, _: &mut Seen) {
        assert!(std::hint::black_box(self.0) <= 100, "no Percent");
    }
}

impl Touch for Gauge {
    fn touch(&self, seen: &mut Seen) {
        self.level.touch(seen);
        assert_eq!(self.cache, 0, "it was skipped");
        self.id.touch(seen);
    }
}

impl Touch for Span {
    fn touch(&self, _: &mut Seen) {
        assert!(self.start <= self.end, "it was verified");
    }
}

impl Touch for InnerRef<'_> {
    fn touch(&self, seen: &mut Seen) {
        assert!(self.text.len() <= 5, "it was verified");
        self.text.touch(seen);
        self.gauge.touch(seen);
    }
}

touch_fields!(RecordRef<'_>: numbers quota gauges maybe spans span label samples pairs inner);

fn sample() -> Record {
    let gauge = Gauge {
        level: Percent(99),
        cache: 0,
        id: 5,
    };
    let span = Span { start: 1, end: 2 };
    Record {
        numbers: vec![1, 22, 333],
        quota: Percent(50),
        gauges: vec![gauge, gauge],
        maybe: Some(gauge),
        spans: vec![span, span],
        span: Some(Box::new(span)),
        label: "left out".to_owned(),
        samples: vec![-1, 2],
        pairs: vec![(1, 2), (3, 4)],
        inner: Some(Box::new(Inner {
            text: "süß".to_owned(),
            gauge: Ok(gauge),
        })),
    }
}

impl Family for Fields {
    type Root = Record;
    const NAME: &'static str = "fields";

    fn kit() -> &'static Kit<Record> {
        kit!(Record)
    }

    fn sample() -> Vec<u8> {
        sent(Self::kit(), &sample())
    }

    fn message(input: &mut Unstructured<'_>) -> Result<Vec<u8>> {
        Ok(sent(Self::kit(), &Record::arbitrary(input)?))
    }

    /// Changes the received object, detaches it, restores an owner from it, and shares it.
    fn more(message: &[u8]) {
        let jbuf = EmptyBuffer::heap(message.len()).copy_from(message);
        let read = Reader::default().read::<Record>(jbuf.expect("it has the capacity"));
        let Ok(mut received) = read else {
            return;
        };
        received.with_mut(|record| {
            record
                .samples
                .iter_mut()
                .for_each(|sample| *sample = !*sample);
            record.pairs.reverse();
            record.quota = Percent(1);
        });
        let samples = received.get().samples.to_vec();
        let (received, _) = received.detach().expect("it was accepted before");
        Seen::all_of(received.get());
        assert_eq!(received.get().samples, samples);
        // The values of a field with its own form are checked only now.
        if let Ok(owned) = received.get().to_owned() {
            assert_eq!(owned.samples, samples);
            assert!(owned.label.is_empty());
            sent(Self::kit(), &owned);
        }
        let whole = received.share();
        let gauges = whole.clone().map::<Vec<Gauge>>(|record| &record.gauges);
        drop(whole);
        gauges
            .get()
            .iter()
            .for_each(|gauge| assert_eq!(gauge.cache, 0));
    }
}
