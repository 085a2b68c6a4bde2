//! Runs the check of import cycles over the crates of the repository.
#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use tidy::Finding;
use tidy::cycles::{AllowedCycle, forbidden_cycles};
use tidy::sources;

/// Roots of the crates whose files must not import one another.
const ROOTS: [&str; 13] = [
    "derive/src/lib.rs",
    "jstream/src/bin/jstream-inspect/main.rs",
    "jstream/src/lib.rs",
    "rmi/src/lib.rs",
    "sync/src/lib.rs",
    "transport/active/src/lib.rs",
    "transport/base/src/lib.rs",
    "transport/channel/src/lib.rs",
    "transport/collective/src/lib.rs",
    "transport/device/src/lib.rs",
    "transport/endpoint/src/lib.rs",
    "transport/matching/src/lib.rs",
    "transport/rank/src/lib.rs",
];

/// The cycles that may exist.
const ALLOWED: [AllowedCycle; 6] = [
    AllowedCycle {
        root: "jstream/src/lib.rs",
        files: &[
            "class.rs",
            "read/lists.rs",
            "read/pass.rs",
            "read/queue.rs",
            "read/trace.rs",
        ],
        reason: "a pass holds runs and classes, whose functions take the pass or a trace of it",
    },
    AllowedCycle {
        root: "jstream/src/lib.rs",
        files: &[
            "buffer/jbuf.rs",
            "buffer/pool/lease.rs",
            "buffer/pool/options.rs",
            "buffer/pool/state.rs",
            "buffer/slot.rs",
        ],
        reason: "a slot holds its lease, which leads to the options of the pool, one of which is a \
                 function that takes a buffer, and so a slot",
    },
    AllowedCycle {
        root: "transport/endpoint/src/lib.rs",
        files: &["carrier.rs", "receiving.rs", "shared.rs"],
        reason: "the state of a connection holds its receive direction, which sends answers, and its \
                 background driver, and both refer back to the connection weakly",
    },
    AllowedCycle {
        root: "transport/endpoint/src/lib.rs",
        files: &["queue/hub.rs", "queue/member.rs"],
        reason: "a hub schedules its members, and a member reports its wake-ups and completions to \
                 its hub",
    },
    AllowedCycle {
        root: "transport/active/src/lib.rs",
        files: &[
            "handlers.rs",
            "hello.rs",
            "link/deferred.rs",
            "link/membership.rs",
            "link.rs",
            "poll_loop/deferred.rs",
            "poll_loop/members.rs",
            "poll_loop.rs",
            "request.rs",
        ],
        reason: "a connection holds its handlers, those of the peer, its deferred requests and its \
                 group, a group holds its connections, and a handler takes a request, which holds \
                 its connection",
    },
    AllowedCycle {
        root: "transport/rank/src/lib.rs",
        files: &["arrivals.rs", "inbox.rs", "state.rs", "transfer/letter.rs"],
        reason: "the state of an inbox holds messages, and a message of a thread holds the inbox \
                 of its sender",
    },
];

#[test]
fn files_do_not_import_one_another() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut lines = Vec::new();
    for root in ROOTS {
        let path = repository.join(root);
        let sources = sources(path.parent().unwrap()).unwrap();
        let allowed = ALLOWED.into_iter().filter(|allowed| allowed.root == root);
        let found = forbidden_cycles(&sources, &path, &allowed.collect::<Vec<_>>());
        lines.extend(found.iter().map(Finding::to_string));
    }
    assert!(lines.is_empty(), "{}", lines.join("\n"));
}
