//! Case `log` with Protocol Buffers.

use super::walk_fields;
use crate::suites::serialization::subjects::Protobuf;

/// Defines the types of a version.
macro_rules! logs {
    ($($logs:ident $log:ident $($code:ident)?;)*) => {$(
        #[derive(Clone, PartialEq, prost::Message)]
        pub(in crate::suites) struct $logs {
            #[prost(message, repeated, tag = "1")]
            logs: Vec<$log>,
        }

        #[derive(Clone, PartialEq, prost::Message)]
        struct $log {
            #[prost(message, required, tag = "1")]
            address: Address,
            #[prost(string, tag = "2")]
            identity: String,
            #[prost(string, tag = "3")]
            userid: String,
            #[prost(string, tag = "4")]
            date: String,
            #[prost(string, tag = "5")]
            request: String,
            $(#[prost(uint32, tag = "6")]
            $code: u32,)?
            #[prost(uint64, tag = "7")]
            size: u64,
        }

        walk_fields!($logs => logs);
        walk_fields!($log => address identity userid date request $($code)? size);
    )*};
}

logs! {
    Logs Log code;
    LogsShort LogShort;
}

#[derive(Clone, PartialEq, prost::Message)]
struct Address {
    #[prost(uint32, tag = "1")]
    x0: u32,
    #[prost(uint32, tag = "2")]
    x1: u32,
    #[prost(uint32, tag = "3")]
    x2: u32,
    #[prost(uint32, tag = "4")]
    x3: u32,
}

walk_fields!(Address => x0 x1 x2 x3);

impl Protobuf for super::Logs {
    type Message = Logs;
    type Short = LogsShort;

    fn message(&self) -> Logs {
        Logs {
            logs: self.logs.iter().map(Log::from).collect(),
        }
    }
}

impl From<&super::Log> for Log {
    fn from(of: &super::Log) -> Self {
        let super::Address { x0, x1, x2, x3 } = of.address;
        let [x0, x1, x2, x3] = [x0, x1, x2, x3].map(u32::from);
        Self {
            address: Address { x0, x1, x2, x3 },
            identity: of.identity.clone(),
            userid: of.userid.clone(),
            date: of.date.clone(),
            request: of.request.clone(),
            code: u32::from(of.code),
            size: of.size,
        }
    }
}
