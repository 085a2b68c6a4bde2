//! Collective operations with layouts. Each rank packs and unpacks the elements once.

use jstream_collective::Collective;
use zerocopy::IntoBytes;

use super::scratch::Scratch;
use crate::element::Element;
use crate::error::Error;
use crate::layout::Selection;
use crate::layout::error::LayoutError;
use crate::layout::runs::Runs;
use crate::layout::transfer::Layouts;

/// # Collective operations with layouts
///
/// The elements are packed before they are sent, and unpacked after they were received.
impl Layouts<'_> {
    /// Like [`Rank::broadcast`](crate::Rank::broadcast), for the elements that a layout selects.
    /// The layouts of the ranks may differ, but select the same number of elements.
    ///
    /// # Errors
    ///
    /// [`Error::Layout`] if `elements` is shorter than the layout, or if blocks of the layout
    /// overlap. Otherwise as for [`Rank::broadcast`](crate::Rank::broadcast).
    pub fn broadcast<E: Element, L: Selection<E>>(
        &self,
        root: u32,
        elements: &mut [E],
        layout: &L,
    ) -> Result<(), Error> {
        let runs = layout.runs();
        let is_root = self.rank.rank() == root;
        let checked = if is_root {
            runs.check_send(elements.len())
        } else {
            runs.check_receive(elements.len())
        };
        let length = self.suited(Collective::Broadcast, checked)?;
        let mut packed = zeroed::<L::Item>(length);
        if is_root {
            runs.pack(elements.as_bytes(), packed.as_mut_bytes());
        }
        self.rank.broadcast(root, &mut packed)?;
        if !is_root {
            runs.unpack(packed.as_bytes(), elements.as_mut_bytes());
        }
        Ok(())
    }

    /// Like [`Rank::scatter_v`](crate::Rank::scatter_v), with a layout for each rank: the root
    /// sends to each the elements of `sent` that its layout in `layouts` selects. Each rank
    /// receives into the elements that `layout` selects. Only the root's `sent` and `layouts` are
    /// used.
    ///
    /// # Errors
    ///
    /// [`Error::WrongLength`] if the root has not one layout for each rank. [`Error::Layout`] if a
    /// slice is shorter than a layout, or if blocks of `layout` overlap. Otherwise as for
    /// [`Rank::scatter_v`](crate::Rank::scatter_v).
    pub fn scatter<E: Element, L: Selection<E>>(
        &self,
        root: u32,
        sent: &[E],
        layouts: &[L],
        received: &mut [E],
        layout: &L,
    ) -> Result<(), Error> {
        let collective = Collective::Scatter;
        let own = layout.runs();
        let own_length = self.suited(collective, own.check_receive(received.len()))?;
        let (mut packed, mut counts) = (Scratch::new(), Vec::new());
        if self.rank.rank() == root {
            let check = |runs: &Runs| runs.check_send(sent.len());
            let all = self.runs_of_root(collective, layouts, check)?;
            let total = all
                .iter()
                .try_fold(0usize, |sum, (_, len)| sum.checked_add(*len));
            let total = self.suited(collective, total.ok_or(LayoutError::TooLarge))?;
            packed = zeroed::<L::Item>(total);
            let mut rest = packed.as_mut_bytes();
            for (runs, length) in all {
                counts.push(items::<L::Item>(length));
                let Some((room, behind)) = rest.split_at_mut_checked(length) else {
                    unreachable!("the vector has the length of all messages")
                };
                runs.pack(sent.as_bytes(), room);
                rest = behind;
            }
        }
        let mut block = zeroed::<L::Item>(own_length);
        self.rank.scatter_v(root, &packed, &counts, &mut block)?;
        own.unpack(block.as_bytes(), received.as_mut_bytes());
        Ok(())
    }

    /// Like [`Rank::gather_v`](crate::Rank::gather_v), with a layout for each rank: each rank sends
    /// the elements of `sent` that `layout` selects, and the root receives them into the elements
    /// of `received` that the layout of the rank in `layouts` selects. Only the root's `received`
    /// and `layouts` are used. If two of these layouts overlap, the elements of the later rank
    /// remain.
    ///
    /// # Errors
    ///
    /// [`Error::WrongLength`] if the root has not one layout for each rank. [`Error::Layout`] if a
    /// slice is shorter than a layout, or if blocks of one of the `layouts` overlap. Otherwise as
    /// for [`Rank::gather_v`](crate::Rank::gather_v).
    pub fn gather<E: Element, L: Selection<E>>(
        &self,
        root: u32,
        sent: &[E],
        layout: &L,
        received: &mut [E],
        layouts: &[L],
    ) -> Result<(), Error> {
        let collective = Collective::Gather;
        let own = layout.runs();
        let own_length = self.suited(collective, own.check_send(sent.len()))?;
        let mut block = zeroed::<L::Item>(own_length);
        own.pack(sent.as_bytes(), block.as_mut_bytes());
        // Only the root has layouts of all members to be checked.
        if self.rank.rank() != root {
            return self.rank.gather_v(root, &block, &[], &mut []);
        }
        let check = |runs: &Runs| runs.check_receive(received.len());
        let all = self.runs_of_root(collective, layouts, check)?;
        let total = all
            .iter()
            .try_fold(0usize, |sum, (_, len)| sum.checked_add(*len));
        let total = self.suited(collective, total.ok_or(LayoutError::TooLarge))?;
        let mut packed = zeroed::<L::Item>(total);
        let lengths = all.iter().map(|(_, length)| items::<L::Item>(*length));
        let counts: Vec<_> = lengths.collect();
        self.rank.gather_v(root, &block, &counts, &mut packed)?;
        let mut rest = packed.as_bytes();
        for (runs, length) in all {
            let Some((message, behind)) = rest.split_at_checked(length) else {
                unreachable!("the vector has the length of all messages")
            };
            runs.unpack(message, received.as_mut_bytes());
            rest = behind;
        }
        Ok(())
    }

    /// Returns the layouts of the root, with their lengths in bytes.
    fn runs_of_root<E: Element, L: Selection<E>>(
        &self,
        collective: Collective,
        layouts: &[L],
        check: impl Fn(&Runs) -> Result<usize, LayoutError>,
    ) -> Result<Vec<(Runs, usize)>, Error> {
        let (given, expected) = (layouts.len(), self.rank.size() as usize);
        if given != expected {
            self.rank.refuse(collective);
            return Err(Error::WrongLength {
                collective,
                what: "layouts",
                given,
                expected,
            });
        }
        let all = layouts.iter().map(|layout| {
            let runs = layout.runs();
            let length = check(&runs)?;
            Ok((runs, length))
        });
        self.suited(collective, all.collect())
    }

    /// Converts the error of a layout. The other ranks get an error, too.
    fn suited<T>(
        &self,
        collective: Collective,
        result: Result<T, LayoutError>,
    ) -> Result<T, Error> {
        // The other members wait for this rank, so they are told that it does not take part.
        result.map_err(|error| {
            self.rank.refuse(collective);
            Error::Layout(error)
        })
    }
}

/// Returns the number of elements of a message. Elements without a size are not counted.
fn items<E>(length: usize) -> usize {
    length.checked_div(size_of::<E>()).unwrap_or(0)
}

/// Returns the elements of a message of `length` bytes.
fn zeroed<E: Element>(length: usize) -> Scratch<E> {
    Scratch::zeroed(items::<E>(length))
}
