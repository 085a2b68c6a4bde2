//! Frame kinds and the handler table, for raw peers that do not use the library's calls.

/// The kind of the first frame of a side.
pub const HELLO: u32 = 0x6a73_6101;
/// The kind of a request that has a reply.
pub const REQUEST: u32 = 0x6a73_6102;
/// The kind of a request that has no reply.
pub const SEND: u32 = 0x6a73_6103;
/// The kind of a reply.
pub const REPLY: u32 = 0x6a73_6104;
/// The kind of a deferred request that returns to its sender.
pub const RETURN: u32 = 0x6a73_6105;
/// The kind of a cancellation.
pub const CANCEL: u32 = 0x6a73_6108;

/// Returns the handler table of a side.
pub fn table() -> Vec<u8> {
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
