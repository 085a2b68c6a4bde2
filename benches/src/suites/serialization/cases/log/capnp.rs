//! Case `log` with Cap'n Proto.

use crate::suites::serialization::generated::log_capnp::{log, logs};
use crate::suites::serialization::subjects::{Segmented, Short, Sum, sum_getters};

impl Segmented for super::Logs {
    type Root = logs::Owned;

    fn fill(&self, root: logs::Builder<'_>) {
        let mut logs = root.init_logs(self.logs.len() as u32);
        for (i, log) in (0..).zip(&self.logs) {
            log.fill(logs.reborrow().get(i));
        }
    }

    fn sum(root: logs::Reader<'_>) -> capnp::Result<u64> {
        root.sum()
    }
}

impl super::Log {
    fn fill(&self, mut into: log::Builder<'_>) {
        let mut address = into.reborrow().init_address();
        address.set_x0(self.address.x0);
        address.set_x1(self.address.x1);
        address.set_x2(self.address.x2);
        address.set_x3(self.address.x3);
        into.set_identity(&self.identity);
        into.set_userid(&self.userid);
        into.set_date(&self.date);
        into.set_request(&self.request);
        into.set_code(self.code);
        into.set_size(self.size);
    }
}

sum_getters!(logs::Reader<'_> => ; get_logs);
sum_getters!(log::Reader<'_>
    => get_address get_code get_size; get_identity get_userid get_date get_request);
sum_getters!(log::address::Reader<'_> => get_x0 get_x1 get_x2 get_x3);
sum_getters!(Short<log::Reader<'_>>
    => get_address get_size; get_identity get_userid get_date get_request);

impl Sum for Short<logs::Reader<'_>> {
    #[inline(always)]
    fn sum(self) -> capnp::Result<u64> {
        let logs = self.get_logs()?;
        logs.iter()
            .try_fold(0, |sum: u64, log| Ok(sum.wrapping_add(Short(log).sum()?)))
    }
}
