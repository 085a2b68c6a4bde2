//! Descriptions of faults.

use std::any::type_name;

use super::fault::{Fault, FaultKind};

/// The type found in the slot at fault.
#[derive(Debug, Clone, Copy)]
pub(super) struct SlotType {
    pub(super) type_name: &'static str,
    pub(super) size: usize,
}

impl SlotType {
    pub(super) fn new<T>() -> Self {
        Self {
            type_name: type_name::<T>(),
            size: size_of::<T>(),
        }
    }
}

/// Describes the error in the slot at fault.
///
/// # Safety
///
/// `found.size` initialised bytes must be at the slot at fault.
pub(super) unsafe fn describe(
    fault: Fault,
    found: SlotType,
    adapter_error: Option<&str>,
) -> String {
    let name = short(found.type_name);
    match fault.kind {
        FaultKind::Invalid => {
            let mut bytes = [0u8; 8];
            match bytes.get_mut(..found.size) {
                Some(shown) => {
                    for (i, byte) in shown.iter_mut().enumerate() {
                        // SAFETY: the caller vouches for `size` bytes from the slot on.
                        *byte = unsafe { fault.slot.as_ptr().wrapping_add(i).read() };
                    }
                    let value = u64::from_le_bytes(bytes);
                    if found.size == 1 {
                        format!("byte {value} is not {}", with_article(&name))
                    } else {
                        format!("{value:#x} is not {}", with_article(&name))
                    }
                }
                None => format!("the bytes are not {}", with_article(&name)),
            }
        }
        FaultKind::Tag => format!("the tag of the {name} in the text segment is neither 0 nor 1"),
        FaultKind::Misplaced => {
            format!("the {name} does not point to the next free place of its segment")
        }
        FaultKind::PastEnd => format!("the {name} reaches past the end of its segment"),
        FaultKind::SplitCharacter => "the string ends inside a UTF-8 character".to_owned(),
        FaultKind::ZeroSized => {
            format!("the {name} has more elements without size than Limits::zero_sized allows")
        }
        FaultKind::Pending => {
            format!("the {name} queues more runs than Limits::pending allows")
        }
        FaultKind::Shared => format!(
            "the {name} exceeds the number of shared objects, or of pointers to them, that Limits::shared allows"
        ),
        FaultKind::Depth => format!("the {name} leads deeper than Limits::depth allows"),
        FaultKind::NotShared => format!(
            "the {name} names a shared object of its type that was not met before, or an object of another type"
        ),
        FaultKind::Cycle => format!(
            "{} is reached from itself although no Cell is on the way",
            with_article(&name)
        ),
        FaultKind::DeepOnOtherPath => format!(
            "the {name}, or what it leads to, is deeper than Limits::depth allows on another way"
        ),
        FaultKind::Adapter => adapter_error.unwrap_or("the adapter rejects it").to_owned(),
        FaultKind::Class => {
            let mut class = [0u8; 8];
            for (i, byte) in (8usize..).zip(&mut class) {
                // SAFETY: a pointer to a trait object has two words, the second of which is the
                // class.
                *byte = unsafe { fault.slot.as_ptr().wrapping_add(i).read() };
            }
            let class = u64::from_le_bytes(class);
            // The name of the trait object without the pointer around it.
            let of = name.find("dyn ").and_then(|at| name.get(at..));
            format!(
                "class {class:#018x} is no registered implementation of {}; if it should be one, \
                 make sure that the crate that registers it is linked: `use that_crate as _;`",
                of.unwrap_or(&name).trim_end_matches('>')
            )
        }
    }
}

/// Returns a type's name after its indefinite article.
fn with_article(name: &str) -> String {
    let vowel = name.starts_with(['A', 'E', 'I', 'O', 'a', 'e', 'i', 'o']);
    format!("{} {name}", if vowel { "an" } else { "a" })
}

/// Returns a type's name without module paths and without lifetimes, which only some compilers
/// print.
pub(crate) fn short(name: &str) -> String {
    let mut out = String::new();
    let mut rest = name;
    while let Some(end) = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')) {
        let (token, tail) = rest.split_at(end);
        out.push_str(token.rsplit("::").next().unwrap_or(token));
        let mut chars = tail.chars();
        out.extend(chars.next());
        rest = chars.as_str();
    }
    out.push_str(rest.rsplit("::").next().unwrap_or(rest));
    out.replace("<'_>", "")
        .replace("'_, ", "")
        .replace("&'_ ", "&")
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn names_lose_their_modules() {
        assert_eq!(short("a::b::Side"), "Side");
        assert_eq!(short("u8"), "u8");
        assert_eq!(short("a::Order<'_>"), "Order");
        assert_eq!(short("&'_ a::Pair<'_, u8>"), "&Pair<u8>");
        assert_eq!(
            short("core::option::Option<(&[a::Leg], x::y::Z)>"),
            "Option<(&[Leg], Z)>"
        );
    }
}
