//! Frame kinds and the handler table, for raw peers that do not use the library's calls.
#![allow(dead_code, reason = "few tests say all of it")]

pub(crate) const HELLO: u32 = 0x6a73_6101;
pub(crate) const REQUEST: u32 = 0x6a73_6102;
pub(crate) const SEND: u32 = 0x6a73_6103;
pub(crate) const REPLY: u32 = 0x6a73_6104;
pub(crate) const RETURN: u32 = 0x6a73_6105;
pub(crate) const CANCEL: u32 = 0x6a73_6108;

/// Returns the handler table of a side.
pub(crate) fn table() -> Vec<u8> {
    let mut table = Vec::new();
    for name in ["jstream.calls", "jstream.streams", "jstream.references"] {
        let types = "bytes -> bytes";
        table.extend([0; 16]);
        table.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
        table.extend(u16::try_from(types.len()).unwrap().to_le_bytes());
        table.extend(name.as_bytes());
        table.extend(types.as_bytes());
    }
    table
}
