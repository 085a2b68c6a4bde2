//! Types of the crate `half`.

use half::{bf16, f16};
use jstream::{Reader, Transportable, Writer};

use crate::common::by_value::travels;
use crate::common::message;

#[derive(Transportable)]
#[transportable(derive(Debug))]
struct Weights {
    name: String,
    scale: bf16,
    all: Vec<f16>,
}

#[test]
fn by_value() {
    travels(&[f16::MIN, f16::from_f32(0.1), f16::INFINITY]);
    travels(&[bf16::MAX, bf16::from_f32(0.1), bf16::NEG_ZERO]);
}

/// All bit patterns are values, and a long vector is sent from where it is.
#[test]
fn any_bits_arrive() {
    let weights = Weights {
        name: "weights".to_owned(),
        scale: bf16::NAN,
        all: (0..=u16::MAX).map(f16::from_bits).collect(),
    };
    let lent = Writer::new().gather(&weights, |segments| {
        let start = weights.all.as_ptr().cast::<u8>();
        segments.iter().any(|segment| segment.as_ptr() == start)
    });
    assert!(lent.unwrap());
    let received = Reader::default()
        .read::<Weights>(message(&weights))
        .unwrap();
    let form = received.get();
    assert_eq!(
        (form.name, form.scale.to_bits()),
        ("weights", bf16::NAN.to_bits())
    );
    assert!((0..=u16::MAX).eq(form.all.iter().map(|half| half.to_bits())));
}
