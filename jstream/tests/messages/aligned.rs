//! Types whose forms have a larger alignment than the messages of a stream.

use std::rc::Rc;

use jstream::Transportable;

macro_rules! aligned {
    ($($name:ident: $align:literal, $words:literal;)*) => {$(
        #[derive(Transportable, Debug, Clone, Copy, PartialEq, zerocopy::FromZeros)]
        #[repr(C, align($align))]
        pub(crate) struct $name(pub(crate) [u64; $words]);
    )*};
}

aligned! {
    A16: 16, 2;
    A32: 32, 4;
    A128: 128, 16;
}

#[derive(Transportable, Debug, Clone, Copy, PartialEq, zerocopy::FromZeros)]
#[transportable(implements(Shape))]
#[repr(C, align(64))]
pub(crate) struct A64(pub(crate) [u64; 8]);

#[jstream::transportable]
pub(crate) trait Shape {
    fn total(&self) -> u64;
}

impl Shape for A64 {
    fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

/// A type whose only over-aligned part is a slice behind other targets.
#[derive(Transportable, Debug)]
pub(crate) struct Wide {
    pub(crate) name: String,
    pub(crate) values: Vec<A32>,
}

impl Wide {
    pub(crate) fn of(values: &[u8]) -> Self {
        Self {
            name: "wide".to_owned(),
            values: values
                .iter()
                .map(|value| A32([u64::from(*value); 4]))
                .collect(),
        }
    }

    pub(crate) fn assert_read(&self, read: &WideRef<'_>) {
        assert_eq!((read.name, read.values), (&*self.name, &*self.values));
        assert_eq!(read.values.as_ptr().addr() % 32, 0);
    }
}

/// A type whose over-aligned part is in an object that contains text, far from the root.
#[derive(Transportable, Debug)]
pub(crate) struct Deep {
    pub(crate) inner: Vec<Rc<Inner>>,
}

#[derive(Transportable, Debug)]
pub(crate) struct Inner {
    pub(crate) label: String,
    pub(crate) wide: A128,
}

impl Deep {
    pub(crate) fn of(value: u8) -> Self {
        let inner = Rc::new(Inner {
            label: "inner".to_owned(),
            wide: A128([u64::from(value); 16]),
        });
        Self {
            inner: vec![inner.clone(), inner],
        }
    }

    pub(crate) fn assert_read(&self, read: &DeepRef<'_>) {
        assert_eq!(read.inner.len(), 2);
        assert!(std::ptr::eq(&*read.inner[0], &*read.inner[1]));
        assert_eq!(read.inner[0].label, self.inner[0].label);
        assert_eq!(read.inner[0].wide, self.inner[0].wide);
    }
}

/// A type whose over-aligned part is a single value behind a pointer.
#[derive(Transportable, Debug)]
pub(crate) struct Boxed {
    pub(crate) wide: Option<Box<A64>>,
    pub(crate) count: u8,
}

impl Boxed {
    pub(crate) fn of(value: u8) -> Self {
        Self {
            wide: Some(Box::new(A64([u64::from(value); 8]))),
            count: value,
        }
    }

    pub(crate) fn assert_read(&self, read: &BoxedRef<'_>) {
        assert_eq!((read.wide, read.count), (self.wide.as_deref(), self.count));
    }
}
