//! Case `log` in other versions.

use super::{Address, AddressRef, Log, Logs, value, walk_fields};
use crate::suites::serialization::cases::versions::{Versions, Widened, version_types};
#[cfg(feature = "peers")]
use crate::suites::serialization::subjects::registered;

/// Defines versions by the names of their types, the fields that not all have, and the type of the
/// size.
macro_rules! logs {
    ($($logs:ident $log:ident { $request:ident $($code:ident)?, $size:ty })*) => {$(
        version_types! {
            pub(in crate::suites) struct $logs {
                logs: Vec<$log>,
            }

            struct $log {
                address: Address,
                identity: String,
                userid: String,
                date: String,
                #[cfg_attr(feature = "peers", fory(id = 1))]
                $request: String,
                $($code: u16,)?
                size: $size,
            }
        }

        #[cfg(feature = "peers")]
        registered!($logs: $log Address;);

        impl From<Logs> for $logs {
            fn from(of: Logs) -> Self {
                Self {
                    logs: of.logs.into_iter().map($log::from).collect(),
                }
            }
        }

        impl From<Log> for $log {
            fn from(of: Log) -> Self {
                Self {
                    address: of.address,
                    identity: of.identity,
                    userid: of.userid,
                    date: of.date,
                    $request: of.request,
                    $($code: of.code,)?
                    size: of.size as $size,
                }
            }
        }
    )*};
}

logs! {
    LogsWithout LogWithout { request, u64 }
    LogsNarrow LogNarrow { request code, u32 }
    LogsRenamed LogRenamed { uri code, u64 }
}

#[cfg(feature = "peers")]
registered!(Logs: Log Address;);

walk_fields!(LogsWithout, LogsWithoutRef<'_> => logs);
walk_fields!(LogWithout, LogWithoutRef<'_> => address identity userid date request size);

impl Versions for Logs {
    type Without = LogsWithout;
    type Renamed = LogsRenamed;

    const ABOUT: &'static str = "log entries";
    const FIELD: &'static str = "u16";

    fn draw(size: usize) -> Self {
        value(size)
    }

    fn reset(&mut self) {
        for log in &mut self.logs {
            log.code = 0;
        }
    }
}

impl Widened for Logs {
    type Narrow = LogsNarrow;

    fn narrow(&mut self) {
        for log in &mut self.logs {
            log.size = u64::from(log.size as u32);
        }
    }
}
