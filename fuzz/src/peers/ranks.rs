//! Frames of ranks in any order, sent to a rank that sends and receives.

use std::io::IoSlice;
use std::sync::LazyLock;

use arbitrary::{Result, Unstructured};
use jstream::EmptyBuffer;
use jstream_transport::rank::{Mesh, Options};
use jstream_transport::{Endpoint, Header, Listener, listen};

use super::{FRAMES, PATIENCE, address, join, options, say};

const HELLO: u32 = 0x6a73_7209;
const KINDS: std::ops::RangeInclusive<u32> = 0x6a73_7201..=0x6a73_720a;

static LISTENER: LazyLock<Listener> =
    LazyLock::new(|| listen(&address("inproc", "ranks"), &options()).expect("it is free"));

fn frames(bare: &Endpoint, input: &mut Unstructured<'_>, mut each: impl FnMut()) -> Result<()> {
    if input.ratio(15, 16)? {
        let hello = Header::new(HELLO, [1, 16, 1 << 16]);
        let _ = bare.send_message(hello, &[IoSlice::new(&[])]);
    }
    for _ in 0..FRAMES {
        let length = 8u64.to_le_bytes();
        if input.is_empty() || !say(bare, input, KINDS, &[&length, &[1; 8], &[1; 300]])? {
            break;
        }
        each();
    }
    Ok(())
}

pub fn run(input: &[u8]) {
    let mut input = Unstructured::new(input);
    let (bare, endpoint) = join(&LISTENER);
    let mut options = Options::default();
    options.eager = Some(256);
    let rank = Mesh::new(0, 2, &options).endpoint(1, endpoint);
    let rank = rank.expect("the endpoint is not shared").build();
    let filled = |length: usize| {
        EmptyBuffer::heap(length)
            .zeroed(length)
            .expect("there is room")
    };
    let mut receives: Vec<_> = (0..4).map(|tag| rank.buffers().irecv(1, tag % 3)).collect();
    receives.push(rank.buffers().irecv_into(1, 3, EmptyBuffer::heap(16)));
    let mut sends = vec![
        rank.buffers().isend(1, 0, filled(10)),
        rank.buffers().isend(1, 1, filled(5000)),
    ];
    sends.push(rank.buffers().issend(1, 2, filled(3)));
    let mut probed = 0u32;
    let _ = frames(&bare, &mut input, || {
        if let Ok(Some(found)) = rank.iprobe(1, 0) {
            probed += 1;
            if probed % 2 == 0 {
                // If the message was only announced, its payload may never arrive, and a blocking
                // receive would wait for ever.
                receives.push(found.irecv());
            }
        }
        if probed % 4 == 3 {
            receives.push(rank.buffers().irecv(1, 2));
        }
    });
    let cancelled = receives.pop().map(|receive| receive.cancel());
    drop(bare);
    for mut receive in receives {
        let ended = receive.wait_timeout(PATIENCE);
        assert!(ended.is_some(), "a receive does not end without its peer");
    }
    for mut send in sends {
        let ended = send.wait_timeout(PATIENCE);
        assert!(ended.is_some(), "a send does not end without its peer");
    }
    drop(cancelled);
}
