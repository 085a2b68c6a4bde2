//! Colours for terminals.

use std::borrow::Cow;

/// What a piece of text is, for its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Colour {
    Plain,
    Title,
    BoxPosition,
    Type,
    Wrong,
}

/// Whether there are colours.
#[derive(Debug, Clone, Copy)]
pub(super) struct Paint {
    pub(super) colours: bool,
}

impl Paint {
    /// A piece of text in its colour.
    pub(super) fn of(self, colour: Colour, text: &str) -> Cow<'_, str> {
        let code = match colour {
            Colour::Plain => return Cow::Borrowed(text),
            Colour::Title => "1",
            Colour::BoxPosition => "2",
            Colour::Type => "36",
            Colour::Wrong => "1;31",
        };
        if self.colours {
            Cow::Owned(format!("\x1b[{code}m{text}\x1b[0m"))
        } else {
            Cow::Borrowed(text)
        }
    }

    /// A place in a message or file.
    pub(super) fn place(self, at: usize) -> String {
        self.of(Colour::BoxPosition, &format!("{at:#06x}"))
            .into_owned()
    }

    /// How many characters a place has.
    pub(super) fn width(self, at: usize) -> usize {
        format!("{at:#06x}").len()
    }
}
