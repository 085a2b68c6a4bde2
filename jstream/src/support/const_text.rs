//! Text that is made while the program is compiled, for errors with numbers.

/// Maximum length of a text in bytes.
const LONGEST: usize = 256;

/// A text that constants can extend. What exceeds 256 bytes is left out.
pub(super) struct ConstText {
    bytes: [u8; LONGEST],
    len: usize,
}

impl ConstText {
    pub(super) const fn new() -> Self {
        Self {
            bytes: [0; LONGEST],
            len: 0,
        }
    }

    /// Appends ASCII text.
    pub(super) const fn text(mut self, text: &str) -> Self {
        let mut rest = text.as_bytes();
        while let [first, others @ ..] = rest {
            self = self.byte(*first);
            rest = others;
        }
        self
    }

    /// Appends a number.
    pub(super) const fn number(self, number: usize) -> Self {
        let before = if number > 9 {
            self.number(number / 10)
        } else {
            self
        };
        #[allow(clippy::cast_possible_truncation, reason = "a digit")]
        let digit = (number % 10) as u8;
        before.byte(b'0'.wrapping_add(digit))
    }

    const fn byte(mut self, byte: u8) -> Self {
        let (_, free) = self.bytes.split_at_mut(self.len);
        if let [next, ..] = free {
            *next = byte;
            self.len = self.len.wrapping_add(1);
        }
        self
    }

    /// Returns the text.
    pub(super) const fn as_str(&self) -> &str {
        let (text, _) = self.bytes.split_at(self.len);
        match std::str::from_utf8(text) {
            Ok(text) => text,
            Err(_) => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_text_follow_one_another() {
        const TEXT: ConstText = ConstText::new()
            .text("a ")
            .number(0)
            .text(", ")
            .number(1089);
        assert_eq!(TEXT.as_str(), "a 0, 1089");
        let mut long = ConstText::new();
        for _ in 0..100 {
            long = long.text("12345");
        }
        assert_eq!(long.as_str().len(), LONGEST);
    }
}
