//! Case `log`: entries of the log of a web server.

use rand::Rng;

use super::draw::{Draw, Random, exactly, one, one_name, random};
use super::{Case, forever, values};
use crate::Failure;
use crate::suites::serialization::walk::walk_fields;
use crate::table::number;

values! {
    #[cfg_attr(feature = "peers", derive(fory::ForyStruct))]
    pub(in crate::suites) struct Logs {
        logs: Vec<Log>,
    }

    #[cfg_attr(feature = "peers", derive(fory::ForyStruct))]
    struct Log {
        address: Address,
        identity: String,
        userid: String,
        date: String,
        #[transportable(renamed_from = "uri")]
        #[cfg_attr(feature = "peers", fory(id = 1))]
        request: String,
        #[transportable(default)]
        code: u16,
        size: u64,
    }

    #[derive(Clone, Copy)]
    #[cfg_attr(feature = "peers", derive(epserde::Epserde), epserde(deep_copy))]
    #[cfg_attr(feature = "peers", derive(fory::ForyStruct))]
    struct Address {
        x0: u8,
        x1: u8,
        x2: u8,
        x3: u8,
    }
}

walk_fields!(Logs, LogsRef<'_>, ArchivedLogs => logs);
walk_fields!(Log, LogRef<'_>, ArchivedLog => address identity userid date request code size);
walk_fields!(Address, ArchivedAddress => x0 x1 x2 x3);

impl Draw for Address {
    fn draw(random: &mut Random) -> Self {
        let [x0, x1, x2, x3] = std::array::from_fn(|_| random.gen_range(0..=255));
        Self { x0, x1, x2, x3 }
    }
}

const USERS: [&str; 9] = [
    "-", "alice", "bob", "carmen", "david", "eric", "frank", "george", "harry",
];
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];
const METHODS: [&str; 5] = ["GET", "POST", "PUT", "UPDATE", "DELETE"];
const ROUTES: [&str; 7] = [
    "/favicon.ico",
    "/css/index.css",
    "/css/font-awsome.min.css",
    "/img/logo-full.svg",
    "/img/splash.jpg",
    "/api/login",
    "/api/logout",
];
const PROTOCOLS: [&str; 4] = ["HTTP/1.0", "HTTP/1.1", "HTTP/2", "HTTP/3"];
const CODES: [u16; 63] = [
    100, 101, 102, 103, 200, 201, 202, 203, 204, 205, 206, 207, 208, 226, 300, 301, 302, 303, 304,
    305, 306, 307, 308, 400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414,
    415, 416, 417, 418, 421, 422, 423, 424, 425, 426, 428, 429, 431, 451, 500, 501, 502, 503, 504,
    505, 506, 507, 508, 510, 511,
];

impl Draw for Log {
    fn draw(random: &mut Random) -> Self {
        let date = format!(
            "{}/{}/{}:{}:{}:{} {}",
            random.gen_range(1..=28),
            one(random, &MONTHS),
            random.gen_range(1970..=2021),
            random.gen_range(0..24),
            random.gen_range(0..60),
            random.gen_range(0..60),
            // Whole hours from -1200 to +1200.
            format_args!("{:+05}", 100 * (random.gen_range(0..25usize) as i32 - 12)),
        );
        let request = format!(
            "{} {} {}",
            one(random, &METHODS),
            one(random, &ROUTES),
            one(random, &PROTOCOLS),
        );
        Self {
            address: Address::draw(random),
            identity: "-".to_owned(),
            userid: one_name(random, &USERS),
            date,
            request,
            code: one(random, &CODES),
            size: random.gen_range(0..100_000_000),
        }
    }
}

/// Returns the data set with `size` entries.
pub(in crate::suites) fn value(size: usize) -> Logs {
    Logs {
        logs: exactly(&mut random(), size),
    }
}

pub(super) fn case(size: usize) -> Result<Case, Failure> {
    let value = forever(value(size));
    let size = number(size as f64);
    let about = format!("{size} log entries: 4 x u8, 4 strings, u16, u64");
    let case = Case::new(about, value)?.and_restored(value)?;
    #[cfg(feature = "peers")]
    let case = case
        .and_peers(value)?
        .and_borrow(value)?
        .and_schemas(value)?
        .and_twin::<_, twin::Of<String>>(value)?;
    Ok(case)
}

#[cfg(feature = "peers")]
mod capnp;
#[cfg(feature = "peers")]
mod flat;
#[cfg(feature = "peers")]
mod protobuf;
#[cfg(feature = "peers")]
mod twin;
mod versions;

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(feature = "peers")]
    use crate::suites::serialization::walk::Walk;

    #[test]
    fn it_is_the_data_set_that_others_measure() {
        let logs = value(10_000).logs;
        assert_eq!(logs.len(), 10_000);
        let strings = logs
            .iter()
            .flat_map(|log| [&log.identity, &log.userid, &log.date, &log.request]);
        assert_eq!(strings.clone().count(), 40_000);
        assert_eq!(strings.map(String::len).sum::<usize>(), 585_776);
    }
    #[cfg(feature = "peers")]
    #[test]
    fn what_is_no_utf_8_is_noticed_where_a_note_says_so() {
        use rkyv::util::AlignedVec;

        use crate::suites::serialization::subjects::{Capnp, Codec, Flatbuffers, Rkyv};

        /// Returns the sums of the value that was read, before and after a byte of a string is
        /// corrupted.
        fn read<C: Codec<Logs>>(mut codec: C, logs: &Logs) -> [Result<u64, Failure>; 2] {
            let mut message = AlignedVec::<16>::new();
            message.extend_from_slice(codec.write(logs).unwrap());
            let whole = codec.read(&mut message).map(|read| read.walk());
            let at = message.windows(4).position(|part| part == b"HTTP");
            message[at.unwrap()] = 0xff;
            [whole, codec.read(&mut message).map(|read| read.walk())]
        }

        let logs = value(3);
        let [whole, broken] = read(<Rkyv>::new(&logs).unwrap(), &logs);
        assert!(whole.unwrap() == logs.walk() && broken.is_err());
        let [whole, broken] = read(Flatbuffers::default(), &logs);
        assert!(whole.unwrap() == logs.walk() && broken.is_err());
        // Cap'n Proto reads the corrupted message, and fails when it is walked.
        let [whole, broken] = read(Capnp::new(&logs), &logs);
        assert_eq!((whole.unwrap(), broken.unwrap()), (logs.walk(), 0));
    }
}
