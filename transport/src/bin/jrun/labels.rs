//! Division of output into labelled lines, with bounded memory.

/// Maximum length in bytes of a line. A longer one is broken.
pub(crate) const LONGEST: usize = 64 << 10;

/// The output of one process to one of its streams.
pub(crate) struct Lines {
    /// Text in front of each line. `None` passes all bytes unchanged.
    label: Option<String>,
    /// The begun line.
    begun: Vec<u8>,
}

impl Lines {
    pub(crate) fn new(label: Option<String>) -> Self {
        Self {
            label,
            begun: Vec::new(),
        }
    }

    /// Adds output, and returns the bytes to be written.
    pub(crate) fn push(&mut self, mut bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len());
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let (line, rest) = bytes
                .split_at_checked(end.saturating_add(1))
                .unwrap_or_default();
            self.begun.extend_from_slice(line);
            self.flush(&mut out);
            bytes = rest;
        }
        self.begun.extend_from_slice(bytes);
        while self.begun.len() > LONGEST {
            let rest = self.begun.split_off(LONGEST);
            self.flush(&mut out);
            self.begun = rest;
        }
        out
    }

    /// Returns the rest, when the stream has ended.
    pub(crate) fn end(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        if !self.begun.is_empty() {
            self.flush(&mut out);
        }
        out
    }

    /// Writes the begun line, with the label and the end of a line if there is a label.
    fn flush(&mut self, out: &mut Vec<u8>) {
        let Some(label) = &self.label else {
            out.append(&mut self.begun);
            return;
        };
        out.extend_from_slice(label.as_bytes());
        out.append(&mut self.begun);
        if out.last() != Some(&b'\n') {
            out.push(b'\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labelled() -> Lines {
        Lines::new(Some("[3] ".to_owned()))
    }

    #[test]
    fn lines_are_labelled() {
        let mut lines = labelled();
        assert_eq!(lines.push(b"one\ntw"), b"[3] one\n");
        assert_eq!(lines.push(b""), b"");
        assert_eq!(lines.push(b"o\n\nthree"), b"[3] two\n[3] \n");
        assert_eq!(lines.end(), b"[3] three\n");
        assert_eq!(lines.end(), b"");
    }

    #[test]
    fn long_lines_are_broken() {
        let mut lines = labelled();
        let mut out = Vec::new();
        for _ in 0..3 {
            out.extend(lines.push(&vec![b'x'; LONGEST]));
            assert!(lines.begun.len() <= LONGEST);
        }
        out.extend(lines.end());
        let broken: Vec<_> = out.split(|byte| *byte == b'\n').map(<[u8]>::len).collect();
        assert_eq!(broken, [LONGEST + 4, LONGEST + 4, LONGEST + 4, 0]);
    }

    proptest! {
        #[test]
        fn without_a_label_all_bytes_pass(parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..100), 0..20)) {
            let mut lines = Lines::new(None);
            let mut out = Vec::new();
            for part in &parts {
                out.extend(lines.push(part));
            }
            out.extend(lines.end());
            prop_assert_eq!(out, parts.concat());
        }
    }
}
