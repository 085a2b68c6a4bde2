//! Layouts: the elements of a slice that a message consists of.

pub(crate) mod error;
mod field;
pub(crate) mod runs;
mod shape;
pub(crate) mod transfer;

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use self::error::LayoutError;
pub use self::field::{Field, Packed, Record};
use self::runs::Part;
use self::shape::{Block, Shape};
use super::element::Element;

/// Blocks of elements that are sent or received as one message, such as a column of a matrix.
///
/// A layout is independent of the element type and of the slice. All its lengths and distances are
/// numbers of elements. The message consists of the selected elements, in the order of the blocks,
/// without gaps. So a message that is sent with a layout can be received into a plain slice, with
/// [`recv`](crate::Rank::recv), and the reverse. The layouts of sender and receiver may differ.
///
/// A clone is cheap. Use a layout again rather than create it for each message.
///
/// ```
/// use jstream_transport::rank::{self, Layout};
///
/// # fn main() -> Result<(), rank::Error> {
/// let ranks = rank::threads(2, &rank::Options::default());
/// // The left column of a matrix with two rows of three elements.
/// let column = Layout::strided(2, 1, 3)?;
/// ranks[1].layouts().send(0, 7, &[1, 2, 3, 4, 5, 6], &column)?;
/// let mut received = [0; 2];
/// ranks[0].recv(1, 7, &mut received)?;
/// assert_eq!(received, [1, 4]);
///
/// // The slice of a receive begins at the right column.
/// ranks[1].send(0, 7, &received)?;
/// let mut matrix = [0; 6];
/// ranks[0].layouts().recv(1, 7, &mut matrix[2..], &column)?;
/// assert_eq!(matrix, [0, 0, 1, 0, 0, 4]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Layout {
    shape: Arc<Shape>,
}

impl Layout {
    /// Selects the first `length` elements.
    ///
    /// # Errors
    ///
    /// [`LayoutError::TooLarge`], which no slice is long enough for.
    pub fn contiguous(length: usize) -> Result<Self, LayoutError> {
        Self::indexed([(0, length)])
    }

    /// Selects `count` blocks of `length` elements. Each begins `stride` elements behind the
    /// beginning of the one before. If the stride is shorter than a block, the blocks overlap, and
    /// the layout can only be sent from.
    ///
    /// # Errors
    ///
    /// [`LayoutError::TooLarge`] if the last block ends beyond the largest index.
    pub fn strided(count: usize, length: usize, stride: usize) -> Result<Self, LayoutError> {
        Self::contiguous(length)?.repeat(count, stride)
    }

    /// Selects blocks, each given by the index of its first element and its number of elements. The
    /// message has them in the given order. If blocks overlap, the layout can only be sent from.
    ///
    /// ```
    /// use jstream_transport::rank::{Layout, LayoutError};
    ///
    /// # fn main() -> Result<(), LayoutError> {
    /// // The upper triangle of a matrix of 8 x 8 elements.
    /// let triangle = Layout::indexed((0..8).map(|row| (9 * row, 8 - row)))?;
    /// assert_eq!((triangle.len(), triangle.span()), (36, 64));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`LayoutError::TooLarge`] if a block ends beyond the largest index, or if there are more
    /// than `usize::MAX` elements.
    pub fn indexed(blocks: impl IntoIterator<Item = (usize, usize)>) -> Result<Self, LayoutError> {
        let blocks = blocks.into_iter().map(|(start, len)| Block { start, len });
        Shape::from_blocks(blocks).map(Self::new)
    }

    /// Selects a part of an array in row-major order. Each dimension has its length in the array
    /// and the range that is selected, and the last one varies fastest.
    ///
    /// ```
    /// use jstream_transport::rank::{Layout, LayoutError};
    ///
    /// # fn main() -> Result<(), LayoutError> {
    /// // Rows 1 and 2, and columns 2 to 4, of a matrix of 8 x 8 elements.
    /// let tile = Layout::subarray([(8, 1..3), (8, 2..5)])?;
    /// // As `Layout::indexed([(10, 3), (18, 3)])`.
    /// assert_eq!((tile.len(), tile.blocks(), tile.span()), (6, 2, 21));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`LayoutError::OutsideArray`] if a range ends behind its dimension.
    /// [`LayoutError::TooLarge`] if the array has more than `usize::MAX` elements.
    pub fn subarray(
        dimensions: impl IntoIterator<Item = (usize, Range<usize>)>,
    ) -> Result<Self, LayoutError> {
        let dimensions: Vec<_> = dimensions.into_iter().collect();
        // The distance between neighbours in the dimension, and the index of the first element.
        let (mut stride, mut first) = (1usize, 0usize);
        let mut loops = Vec::with_capacity(dimensions.len());
        for (dimension, (length, range)) in dimensions.iter().enumerate().rev() {
            let (length, end) = (*length, range.end);
            if end > length {
                return Err(LayoutError::OutsideArray {
                    dimension,
                    end,
                    length,
                });
            }
            loops.push((range.len(), stride));
            let start = range.start.checked_mul(stride);
            first = start
                .and_then(|start| start.checked_add(first))
                .ok_or(LayoutError::TooLarge)?;
            stride = stride.checked_mul(length).ok_or(LayoutError::TooLarge)?;
        }
        let element = Self::indexed([(first, 1)]);
        let mut loops = loops.into_iter();
        loops.try_fold(element?, |layout, (count, extent)| {
            layout.repeat(count, extent)
        })
    }

    /// Returns a layout that repeats this one `count` times. Each repetition begins `extent`
    /// elements behind the beginning of the one before. Repetitions may be interleaved:
    ///
    /// ```
    /// use jstream_transport::rank::{self, Layout};
    ///
    /// # fn main() -> Result<(), rank::Error> {
    /// // All columns of a matrix with two rows of three elements, one after the other.
    /// let transposed = Layout::strided(2, 1, 3)?.repeat(3, 1)?;
    /// let ranks = rank::threads(2, &rank::Options::default());
    /// ranks[1].layouts().send(0, 7, &[1, 2, 3, 4, 5, 6], &transposed)?;
    /// let (received, _) = ranks[0].recv_vec::<i32>(1, 7)?;
    /// assert_eq!(received, [1, 4, 2, 5, 3, 6]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`LayoutError::TooLarge`] if the last repetition ends beyond the largest index, or if there
    /// are more than `usize::MAX` elements.
    pub fn repeat(&self, count: usize, extent: usize) -> Result<Self, LayoutError> {
        self.shape.repeated(count, extent).map(Self::new)
    }

    fn new(shape: Shape) -> Self {
        let shape = Arc::new(shape);
        Self { shape }
    }

    /// Returns the number of selected elements, which is the length of a message.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shape.len
    }

    /// Returns true if no element is selected.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.shape.len == 0
    }

    /// Returns the number of elements that a slice must have at least: the end of the last block.
    #[must_use]
    pub fn span(&self) -> usize {
        self.shape.span
    }

    /// Returns the number of blocks after neighbouring blocks were merged, or `usize::MAX` if there
    /// are more.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.shape.count()
    }

    /// Checks that a message can be received into the layout.
    ///
    /// # Errors
    ///
    /// [`LayoutError::Overlap`] if blocks overlap. [`LayoutError::Unchecked`] if the blocks are
    /// interleaved and too many to be compared.
    pub fn check_receive(&self) -> Result<(), LayoutError> {
        self.shape.send_only.map_or(Ok(()), Err)
    }

    /// Selects one field of each selected element. The message consists of the values of the field.
    #[must_use]
    pub fn field<S: Element, F: Element>(&self, field: Field<S, F>) -> FieldLayout<S, F> {
        self.fields(&[field])
    }

    /// Selects fields of the same type of each selected element. The message has the fields of the
    /// first element in the given order, then those of the second, and so on. If a field is given
    /// twice, the layout can only be sent from.
    #[must_use]
    pub fn fields<S: Element, F: Element>(&self, fields: &[Field<S, F>]) -> FieldLayout<S, F> {
        self.parts(fields.len(), fields.iter().map(|field| field.part()))
    }

    /// Selects fields of different types of each selected element, as MPI's struct types do. The
    /// message has one [`Packed`] value for each element: the fields of the record, in the order of
    /// the record and without gaps. If fields overlap, the layout can only be sent from.
    ///
    /// A record of a struct that consists of all its fields in their order is received in place.
    #[must_use]
    pub fn record<S: Element, I: Element>(&self, record: &Record<S, I>) -> FieldLayout<S, I> {
        self.parts(1, record.parts.iter().copied())
    }

    /// Selects parts of each selected element, which are `items` elements of the message.
    fn parts<S: Element, F>(
        &self,
        items: usize,
        parts: impl Iterator<Item = Part>,
    ) -> FieldLayout<S, F> {
        let parts = Part::merged(parts);
        // All fields of an element are the element itself, which takes the path without parts.
        let is_whole = matches!(parts[..], [only] if only == Part::whole::<S>());
        FieldLayout {
            layout: self.clone(),
            items,
            parts: (!is_whole).then(|| parts.into()),
            types: PhantomData,
        }
    }
}

impl fmt::Debug for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Layout")
            .field("len", &self.len())
            .field("span", &self.span())
            .field("blocks", &self.blocks())
            .finish_non_exhaustive()
    }
}

/// Fields of the structs `S` that a layout selects; see [`Layout::field`] and [`Layout::record`].
/// The elements of the message have the type `F`: that of a field, or [`Packed`] fields of
/// different types.
pub struct FieldLayout<S, F> {
    layout: Layout,
    /// Number of elements of the message for each struct.
    items: usize,
    /// The selected parts of each struct, or `None` for whole structs.
    parts: Option<Arc<[Part]>>,
    types: PhantomData<fn(&S) -> F>,
}

impl<S, F> FieldLayout<S, F> {
    /// Returns the number of selected fields or records, which is the length of a message, or
    /// `usize::MAX` if there are more.
    #[must_use]
    pub fn len(&self) -> usize {
        self.layout.len().saturating_mul(self.items)
    }

    /// Returns true if no field is selected.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of structs that a slice must have at least.
    #[must_use]
    pub fn span(&self) -> usize {
        self.layout.span()
    }
}

impl<S, F> Clone for FieldLayout<S, F> {
    fn clone(&self) -> Self {
        Self {
            layout: self.layout.clone(),
            items: self.items,
            parts: self.parts.clone(),
            types: PhantomData,
        }
    }
}

impl<S, F> fmt::Debug for FieldLayout<S, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FieldLayout")
            .field("layout", &self.layout)
            .field("parts", &self.parts)
            .finish_non_exhaustive()
    }
}

/// A [`Layout`], or a [`FieldLayout`] of structs `E`: the parts of a slice of `E` that a message
/// consists of.
pub trait Selection<E: Element>: sealed::Sealed<E> {
    /// The type of the elements of the message.
    type Item: Element;
}

impl<E: Element> Selection<E> for Layout {
    type Item = E;
}

impl<S: Element, F: Element> Selection<S> for FieldLayout<S, F> {
    type Item = F;
}

mod sealed {
    use super::runs::Runs;
    use super::{Element, FieldLayout, Layout};

    pub trait Sealed<E> {
        /// Returns the selected bytes of a slice.
        fn runs(&self) -> Runs;
    }

    impl<E: Element> Sealed<E> for Layout {
        fn runs(&self) -> Runs {
            Runs {
                shape: self.shape.clone(),
                element: size_of::<E>(),
                parts: None,
            }
        }
    }

    impl<S: Element, F: Element> Sealed<S> for FieldLayout<S, F> {
        fn runs(&self) -> Runs {
            Runs {
                shape: self.layout.shape.clone(),
                element: size_of::<S>(),
                parts: self.parts.clone(),
            }
        }
    }
}
