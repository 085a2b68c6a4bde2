//! Colours for terminals.

use std::borrow::Cow;

/// Role of a piece of text, which determines its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Colour {
    Plain,
    Title,
    BoxPosition,
    Type,
    Wrong,
}

/// Colour setting.
#[derive(Debug, Clone, Copy)]
pub(super) struct Paint {
    pub(super) colours: bool,
}

impl Paint {
    /// Returns text in its colour.
    pub(super) fn paint(self, colour: Colour, text: &str) -> Cow<'_, str> {
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

    /// Formats an offset in a message or file.
    pub(super) fn offset(self, at: usize) -> String {
        self.paint(Colour::BoxPosition, &format!("{at:#06x}"))
            .into_owned()
    }

    /// Returns the number of characters of a formatted offset.
    pub(super) fn width(self, at: usize) -> usize {
        format!("{at:#06x}").len()
    }
}
