//! Arguments that are invalid or too large.

use std::num::NonZero;
use testing::process::alone;

use super::{CHAIN, Chain, Colour, REPLY, Scene, Square, VALUES, Values, message};

fn values(colour: Colour) -> Vec<u8> {
    let numbers = [1.5, f64::NAN];
    let values = Values {
        flag: true,
        letter: 'ß',
        colour,
        some: NonZero::new(7).unwrap(),
        maybe: Some(3),
        text: "größer",
        units: &[(), (), ()],
        numbers: &numbers,
        shape: &Square { side: 2.0 },
    };
    message(&(&values,))
}

/// Sends messages to a method. Returns the number of results and the number of refused messages.
/// Panics on any other answer.
fn send_all(scene: &Scene, method: u64, messages: impl Iterator<Item = Vec<u8>>) -> [usize; 2] {
    let peer = scene.peer();
    let mut answers = [0; 2];
    for arguments in messages {
        let answer = peer.call(method, &arguments);
        let code = answer.header.words[1];
        assert!(
            answer.header.kind == REPLY && [0, 3].contains(&code),
            "code {code}"
        );
        answers[usize::from(code == 3)] += 1;
    }
    answers
}

#[test]
fn cases_11_to_13_each_byte_damaged() {
    alone(|| {
        for scheme in ["tcp", "shm"] {
            let scene = Scene::new(scheme, |_| {});
            let whole = values(Colour::Green);
            let damaged = (0..whole.len()).flat_map(|at| {
                let whole = &whole;
                [0x00, 0x01, 0x80, 0xd8, 0xff].map(|byte| {
                    let mut bytes = whole.clone();
                    bytes[at] = byte;
                    bytes
                })
            });
            let [_, refused] = send_all(&scene, VALUES, damaged);
            assert!(refused > whole.len(), "{refused} of {}", whole.len());
            let cut = (0..whole.len()).map(|length| whole[..length].to_vec());
            assert_eq!(send_all(&scene, VALUES, cut), [0, whole.len()]);
            let [fine, _] = send_all(&scene, VALUES, std::iter::once(whole.clone()));
            assert_eq!(fine, 1);
            scene.assert_holds_at_most(8 << 20);
            scene.assert_recovers();
        }
    });
}

#[test]
fn cases_9_and_11_each_word_another_length_or_place() {
    alone(|| {
        for scheme in ["tcp", "shm"] {
            let scene = Scene::new(scheme, |_| {});
            let whole = values(Colour::Green);
            let words = whole.len() / 8;
            let original = |at: usize| u64::from_le_bytes(whole[at * 8..][..8].try_into().unwrap());
            let forged = (0..words).flat_map(|at| {
                let own = original(at);
                let set = [
                    1 << 60,
                    u64::MAX,
                    1 << 32,
                    1 << 63,
                    own.wrapping_add(8),
                    own.wrapping_sub(8),
                    own.wrapping_add(1),
                    whole.len() as u64,
                ];
                // Also the lengths and places of the other words.
                let others = (0..words).map(original);
                let whole = &whole;
                set.into_iter().chain(others).map(move |word| {
                    let mut bytes = whole.clone();
                    bytes[at * 8..][..8].copy_from_slice(&word.to_le_bytes());
                    bytes
                })
            });
            let [fine, refused] = send_all(&scene, VALUES, forged);
            assert!(fine > 0 && refused > fine, "{fine} and {refused}");
            scene.assert_holds_at_most(8 << 20);
            scene.assert_recovers();
        }
    });
}

/// Returns the arguments with a chain of `length` links. The chain itself is freed.
fn chain(length: usize) -> Vec<u8> {
    let arena = typed_arena::Arena::with_capacity(length);
    let mut first = arena.alloc(Chain { next: None });
    for _ in 1..length {
        first = arena.alloc(Chain { next: Some(first) });
    }
    message(&(&*first,))
}

#[test]
fn case_10_a_depth_of_a_million() {
    alone(|| {
        for scheme in ["tcp", "shm"] {
            let scene = Scene::new(scheme, |_| {});
            let peer = scene.peer();
            let answer = peer.call(CHAIN, &chain(1_000_000));
            assert_eq!((answer.header.kind, answer.header.words[1]), (REPLY, 3));
            let why = String::from_utf8_lossy(answer.payload.as_bytes()).into_owned();
            assert!(why.len() < 1100, "{why}");
            drop((peer, answer));
            scene.assert_recovers();
            // A server without a depth limit reads the whole chain without recursion.
            let scene = Scene::new(scheme, |options| options.limits.depth = None);
            let peer = scene.peer();
            let answer = peer.call(CHAIN, &chain(1_000_000));
            assert_eq!((answer.header.kind, answer.header.words[1]), (REPLY, 0));
            drop((peer, answer));
            scene.assert_recovers();
        }
    });
}

#[test]
fn case_14_no_address_of_code_travels() {
    alone(|| {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let code: Vec<_> = maps
            .lines()
            .filter(|line| line.contains("r-xp") || line.contains("r--p"))
            .map(|line| {
                let (range, _) = line.split_once(' ').unwrap();
                let (from, to) = range.split_once('-').unwrap();
                let at = |text| u64::from_str_radix(text, 16).unwrap();
                at(from)..at(to)
            })
            .collect();
        assert!(!code.is_empty());
        let scene = Scene::new("tcp", |_| {});
        let arguments = values(Colour::Red);
        let answer = scene.peer().call(VALUES, &arguments);
        for bytes in [&arguments[..], answer.payload.as_bytes()] {
            for window in bytes.windows(8) {
                let word = u64::from_le_bytes(window.try_into().unwrap());
                assert!(!code.iter().any(|range| range.contains(&word)), "{word:#x}");
            }
        }
        drop(answer);
        scene.assert_recovers();
    });
}
