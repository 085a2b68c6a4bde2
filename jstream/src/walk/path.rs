//! Paths of fields from the root to an offset.

use std::fmt::Write;

use super::{Fault, Of, Visitor, Walk};
use crate::schema::Kind;

/// Maximum number of pointers in a path; longer paths are shown by their end.
const SHOWN: usize = 12;

impl<V: Visitor> Walk<'_, V> {
    /// Returns the path of a fault in the current run.
    #[cold]
    pub(super) fn path_of(&self, fault: &Fault) -> String {
        let Some(root) = self.plans.first() else {
            return String::new();
        };
        if self.runs.is_empty() {
            return String::new();
        }
        let mut path = root.name().to_string();
        let mut pieces = vec![
            fault
                .steps
                .iter()
                .rev()
                .map(String::as_str)
                .collect::<String>(),
        ];
        let mut hidden = 0usize;
        let mut now = self.now;
        while let Some(run) = self.runs.get(now).filter(|_| now > 0) {
            now = run.from;
            if pieces.len() < SHOWN {
                pieces.push(self.piece(now, run.slot));
            } else {
                hidden = hidden.saturating_add(1);
            }
        }
        if hidden > 0 {
            // Writing to a string does not fail.
            let _ = write!(path, "…({hidden} more)…");
        }
        path.extend(pieces.iter().rev().map(String::as_str));
        path
    }

    /// Returns the part of a path from a run to a pointer in it.
    fn piece(&self, run: usize, slot: usize) -> String {
        let mut piece = String::new();
        let Some(run) = self.runs.get(run) else {
            return piece;
        };
        let Ok((size, _)) = self.layout(run.of) else {
            return piece;
        };
        let index = slot.saturating_sub(run.at).checked_div(size).unwrap_or(0);
        if run.many {
            let _ = write!(piece, "[{index}]");
        }
        let start = run.at.saturating_add(index.saturating_mul(size));
        self.descend(run.of, start, slot, &mut piece);
        piece
    }

    /// Appends the path from a value to the pointer at offset `slot` inside it.
    fn descend(&self, mut of: Of, mut start: usize, slot: usize, piece: &mut String) {
        let Some(plan) = self.plans.get(of.plan) else {
            return;
        };
        while let Some(info) = plan.info(of.index) {
            let fields = match &info.kind {
                Kind::Struct(fields) => fields,
                Kind::Enum { tag, variants } => {
                    match self.variant_at((plan, of.index), *tag, variants, start) {
                        Some((_, Some(variant))) => &variant.fields,
                        _ => return,
                    }
                }
                Kind::Optional(payload) => {
                    of.index = *payload;
                    continue;
                }
                Kind::Outcome(ok, err) => {
                    // The choice affects only the names. If `slot` lies beyond the size of `Ok`,
                    // there is no pointer of `Ok` at it.
                    of.index = if self.is_ok(of, start, (*ok, *err)) {
                        *ok
                    } else {
                        *err
                    };
                    continue;
                }
                Kind::Array(element, _) => {
                    let size = plan.info(*element).map_or(0, |info| info.size);
                    let index = slot.saturating_sub(start).checked_div(size).unwrap_or(0);
                    let _ = write!(piece, "[{index}]");
                    of.index = *element;
                    start = start.saturating_add(index.saturating_mul(size));
                    continue;
                }
                _ => return,
            };
            let holds = fields.iter().find(|field| {
                let at = start.saturating_add(field.offset);
                let size = plan.info(field.of).map_or(0, |info| info.size);
                (at..at.saturating_add(size)).contains(&slot)
            });
            let Some(field) = holds else {
                return;
            };
            let _ = write!(piece, ".{}", field.name);
            of.index = field.of;
            start = start.saturating_add(field.offset);
        }
    }
}
