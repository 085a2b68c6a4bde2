//! A chain of 120 types, each of which also leads back to the first, needs no higher
//! `recursion_limit`: writing, reading, restoring and describing a type instantiate each generic
//! function once for each type on the way.

use jstream::{EmptyBuffer, Reader, Transportable, Writer};

macro_rules! chain {
    ($one:ident $next:ident $($more:ident)*) => {
        #[derive(Transportable)]
        struct $one {
            value: u32,
            next: Box<$next>,
            first: Vec<T0>,
        }

        impl Default for $one {
            fn default() -> Self {
                Self {
                    value: 7,
                    next: Box::default(),
                    first: Vec::new(),
                }
            }
        }

        chain!($next $($more)*);
    };
    ($last:ident) => {
        #[derive(Transportable, Default)]
        struct $last {
            value: u32,
        }
    };
}

chain! {
    T0 T1 T2 T3 T4 T5 T6 T7 T8 T9 T10 T11 T12 T13 T14 T15 T16 T17 T18 T19 T20 T21 T22 T23
    T24 T25 T26 T27 T28 T29 T30 T31 T32 T33 T34 T35 T36 T37 T38 T39 T40 T41 T42 T43 T44
    T45 T46 T47 T48 T49 T50 T51 T52 T53 T54 T55 T56 T57 T58 T59 T60 T61 T62 T63 T64 T65
    T66 T67 T68 T69 T70 T71 T72 T73 T74 T75 T76 T77 T78 T79 T80 T81 T82 T83 T84 T85 T86
    T87 T88 T89 T90 T91 T92 T93 T94 T95 T96 T97 T98 T99 T100 T101 T102 T103 T104 T105 T106
    T107 T108 T109 T110 T111 T112 T113 T114 T115 T116 T117 T118 T119
}

fn main() {
    let mut writer = Writer::new();
    let message = writer.write(&T0::default(), EmptyBuffer::heap(8192)).unwrap();
    let received = Reader::default().read::<T0>(message).unwrap();
    assert_eq!(received.get().next.next.value, 7);
    assert_eq!(received.to_owned().unwrap().next.next.value, 7);
    assert!(writer.forward(received).unwrap().in_place);
}
