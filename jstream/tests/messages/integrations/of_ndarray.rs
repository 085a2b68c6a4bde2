//! Types of the crate `ndarray`.

use jstream::{EmptyBuffer, MessageBuffer, Reader, Transportable};
use ndarray::{
    Array, Array0, Array1, Array2, Array3, ArrayD, ArrayView2, Axis, Dimension, Ix6, IxDyn, arr0, s,
};

use crate::common::message;

fn counted<D: Dimension>(shape: D) -> Array<u32, D> {
    let count = u32::try_from(shape.size()).unwrap();
    Array::from_shape_vec(shape, (0..count).collect()).unwrap()
}

/// Sends an array, compares it with the received view, and sends the received form again.
macro_rules! travels {
    ($of:ty, $array:expr) => {{
        let array: $of = $array;
        let received = Reader::default().read::<$of>(message(&array)).unwrap();
        let form = received.get();
        assert_eq!(form.view().unwrap(), array);
        assert_eq!(&form.shape[..], array.shape());
        assert_eq!(message(form).as_bytes(), message(&array).as_bytes());
    }};
}

#[test]
fn shapes() {
    travels!(Array0<f64>, arr0(1.5));
    travels!(Array1<u8>, Array1::from_vec(vec![]));
    travels!(Array1<u8>, Array1::from_vec((0..=255).collect()));
    travels!(Array2<f32>, Array2::zeros((0, 7)));
    travels!(Array2<f32>, Array2::from_elem((100, 30), 0.5));
    travels!(Array3<u32>, counted(ndarray::Ix3(2, 3, 4)));
    travels!(Array<u32, Ix6>, counted(ndarray::Ix6(1, 2, 1, 3, 2, 2)));
    travels!(ArrayD<u32>, counted(IxDyn(&[])));
    travels!(ArrayD<u32>, counted(IxDyn(&[3, 0, 2])));
    travels!(ArrayD<u32>, counted(IxDyn(&[2, 1, 3, 1, 2, 1, 2, 1])));
    travels!(Array1<char>, Array1::from_vec(vec!['a', 'ß', char::MAX]));
}

#[test]
fn elements_go_in_logical_order_however_they_lie() {
    let of = || counted(ndarray::Ix3(4, 5, 6));
    travels!(Array3<u32>, of().reversed_axes());
    travels!(Array3<u32>, of().permuted_axes([1, 0, 2]));
    travels!(Array3<u32>, of().slice_move(s![1.., ..;2, 1..4]));
    travels!(Array3<u32>, of().slice_move(s![..;-1, .., ..;-3]));
    travels!(ArrayD<u32>, of().into_dyn().reversed_axes());
    travels!(Array1<u32>, of().slice_move(s![.., 2, 3]));
    travels!(Array0<u32>, of().slice_move(s![1, 2, 3]));
    let wide = counted(ndarray::Ix2(3, 2000));
    travels!(Array2<u32>, wide.clone().slice_move(s![.., 1..]));
    let mut broken = wide;
    broken.invert_axis(Axis(0));
    travels!(Array2<u32>, broken);
}

#[test]
fn equal_arrays_give_equal_bytes() {
    let rows = counted(ndarray::Ix2(30, 40));
    let mut columns = Array2::zeros((40, 30)).reversed_axes();
    columns.assign(&rows);
    assert!(!columns.is_standard_layout());
    assert_eq!(message(&columns).as_bytes(), message(&rows).as_bytes());
    let view: ArrayView2<'_, u32> = rows.view();
    assert_eq!(message(&view).as_bytes(), message(&rows).as_bytes());
}

/// Arrays of elements with text are read correctly among other targets with text.
#[test]
fn of_strings_among_others() {
    type Value = (String, Array2<String>, Vec<String>, ArrayD<Option<u16>>);
    let names = Array2::from_shape_fn((3, 4), |(row, column)| format!("{row} {column}"));
    let tail = vec!["tail".to_owned(), "end".to_owned()];
    let numbers = ArrayD::from_shape_fn(IxDyn(&[2, 3]), |at| (at[0] > 0).then_some(7));
    let numbers = numbers.reversed_axes();
    for names in [names.clone(), names.reversed_axes()] {
        let value: Value = ("head".to_owned(), names, tail.clone(), numbers.clone());
        let received = Reader::default().read::<Value>(message(&value)).unwrap();
        let (head, names, tail, numbers) = received.get();
        assert_eq!(*head, "head");
        assert_eq!(
            names.view().unwrap().map(|name| (*name).to_owned()),
            value.1
        );
        assert_eq!(*tail, value.2.as_slice());
        assert_eq!(numbers.view().unwrap(), value.3);
    }
}

/// Replaces the word of the shape that has the value `was`.
fn with_axis<T: Transportable>(value: &T, was: u64, is: u64) -> MessageBuffer {
    let mut bytes = message(value).as_bytes().to_vec();
    let word = |at: &usize| bytes[*at..*at + 8] == was.to_le_bytes();
    let at = (40..bytes.len() - 7).step_by(8).find(word).unwrap();
    bytes[at..at + 8].copy_from_slice(&is.to_le_bytes());
    EmptyBuffer::heap(bytes.len()).copy_from(&bytes).unwrap()
}

#[test]
fn a_shape_that_lies_is_found() {
    let array = Array2::<u8>::zeros((3, 0x55));
    let dynamic = array.clone().into_dyn();
    for axis in [0, 1, 0x54, 0x56, 1 << 32, 1 << 63, u64::MAX / 3, u64::MAX] {
        for was in [3, 0x55] {
            if axis == was {
                continue;
            }
            let lie = with_axis(&array, was, axis);
            let received = Reader::default().read::<Array2<u8>>(lie).unwrap();
            assert!(received.get().view().is_err(), "{axis}");
            let lie = with_axis(&dynamic, was, axis);
            let received = Reader::default().read::<ArrayD<u8>>(lie).unwrap();
            assert!(received.get().view().is_err(), "{axis}");
        }
    }
}

#[test]
fn a_huge_shape_without_elements_is_empty_or_an_error() {
    let array = Array2::<u64>::zeros((0, 7));
    for (axis, valid) in [(1 << 60, true), (1 << 63, false), (u64::MAX, false)] {
        let lie = with_axis(&array, 7, axis);
        let received = Reader::default().read::<Array2<u64>>(lie).unwrap();
        let view = received.get().view();
        assert_eq!(view.is_ok(), valid, "{axis}");
        assert!(view.is_err() || view.unwrap().is_empty());
    }
}
