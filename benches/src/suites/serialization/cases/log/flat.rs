//! Case `log` with FlatBuffers.

use flatbuffers::{FlatBufferBuilder, WIPOffset};

use crate::suites::serialization::generated::log_flat::log as flat;
use crate::suites::serialization::subjects::{Flat, Short, walk_accessors};
use crate::suites::serialization::walk::Walk;

impl Flat for super::Logs {
    type Root<'a> = flat::Logs<'a>;

    fn build<'b>(&self, into: &mut FlatBufferBuilder<'b>) -> WIPOffset<flat::Logs<'b>> {
        let logs: Vec<_> = self.logs.iter().map(|log| log.build(into)).collect();
        let logs = Some(into.create_vector(&logs));
        flat::Logs::create(into, &flat::LogsArgs { logs })
    }
}

impl super::Log {
    fn build<'b>(&self, into: &mut FlatBufferBuilder<'b>) -> WIPOffset<flat::Log<'b>> {
        let super::Address { x0, x1, x2, x3 } = self.address;
        let args = flat::LogArgs {
            address: Some(&flat::Address::new(x0, x1, x2, x3)),
            identity: Some(into.create_string(&self.identity)),
            userid: Some(into.create_string(&self.userid)),
            date: Some(into.create_string(&self.date)),
            request: Some(into.create_string(&self.request)),
            code: self.code,
            size: self.size,
        };
        flat::Log::create(into, &args)
    }
}

walk_accessors!(flat::Logs<'_> => logs);
walk_accessors!(flat::Log<'_> => address identity userid date request code size);
walk_accessors!(flat::Address => x0 x1 x2 x3);
walk_accessors!(Short<flat::Log<'_>> => address identity userid date request size);

impl Walk for Short<flat::Logs<'_>> {
    #[inline(always)]
    fn walk(&self) -> u64 {
        let logs = self.logs().iter();
        logs.fold(0, |sum, log| sum.wrapping_add(Short(log).walk()))
    }
}
