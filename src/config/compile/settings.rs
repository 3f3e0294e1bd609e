//! Process-wide settings.

use super::{Compiler, given};
use crate::config::field::Field;
use crate::config::raw;
use crate::config::tree::Tree;
use crate::config::words::{AccessLogWord, AdminWord, Network, TimeOrOff};
use crate::config::{AccessLog, Collector, OnWidening, Settings};
use ipnet::IpNet;
use std::time::Duration;

impl Compiler<'_> {
    pub(super) fn settings(&mut self, file: &raw::File, traces: Option<Collector>) -> Option<Settings> {
        let listen = self.required(&file.listen, Tree::ROOT, "listen", "[\"127.0.0.1:8080\"]");
        if let Field::Given(at, list) = &file.listen
            && list.is_empty()
        {
            self.fault(*at, "at least one address is needed");
        }
        self.check_addresses(file);
        let store = self.store(&file.store);
        listen?;
        Some(Settings {
            listen: given(&file.listen).map(|(_, address)| address.0).collect(),
            admin: file.admin.given().and_then(|AdminWord(admin)| admin.clone()),
            threads: match file.threads {
                Field::Absent => None,
                Field::Given(..) | Field::Wrong(_) => Some(self.number(&file.threads, 1..=1024, 1) as usize),
            },
            public_url: file.public_url.given().map(|url| url.0.clone()),
            max_connections: self.number(&file.max_connections, 1..=1_000_000, 10_000) as usize,
            inflight_bodies: self.size(&file.inflight_bodies, 64 << 10..=1 << 40, 64 << 20),
            max_head: self.size(&file.max_head, 1 << 10..=1 << 20, 16 << 10),
            head_deadline: self.time(&file.head_deadline, Duration::from_secs(10)),
            keepalive: self.time(&file.keepalive, Duration::from_secs(75)),
            grace: self.time(&file.grace, Duration::from_secs(30)),
            leave: self.time(&file.leave, Duration::ZERO),
            access_log: match file.access_log.given() {
                Some(AccessLogWord(log)) => log.clone(),
                None => AccessLog::Stdout,
            },
            store,
            traces,
            watch: match &file.watch {
                Field::Given(at, TimeOrOff(Some(every))) if *every < Duration::from_millis(50) => {
                    self.fault(*at, "must be at least 50ms, or `off`");
                    None
                }
                Field::Given(_, TimeOrOff(every)) => *every,
                Field::Absent | Field::Wrong(_) => Some(Duration::from_secs(1)),
            },
            on_widening: match file.reload.given().and_then(|reload| reload.widening.given()) {
                None | Some(raw::Widening::Allow) => OnWidening::Allow,
                Some(raw::Widening::Warn) => OnWidening::Warn,
                Some(raw::Widening::Refuse) => OnWidening::Refuse,
            },
        })
    }

    pub(super) fn networks(&self, field: &Field<Vec<Field<Network>>>) -> Vec<IpNet> {
        given(field)
            .map(|(at, Network(net))| {
                if net.prefix_len() == 0 {
                    self.fault_with(
                        at,
                        "trusting every address lets anyone choose the address they are counted under",
                        "name the networks of your proxies",
                    );
                }
                *net
            })
            .collect()
    }
}
