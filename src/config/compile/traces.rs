//! Where traces go, and of which requests.

use super::{Compiler, given};
use crate::config::Collector;
use crate::config::field::Field;
use crate::config::raw;
use crate::config::words::{Filled, OtlpUrl, Share};
use crate::gateway::Sampling;
use crate::lint::Lint;

/// Fields of the POST that are written for every collector.
const OURS: [&str; 4] = ["content-encoding", "content-type", "host", "user-agent"];

impl Compiler<'_> {
    pub(super) fn traces(&mut self, file: &raw::File) -> (Option<Collector>, Sampling) {
        let Field::Given(at, entry) = &file.traces else { return (None, Sampling::Off) };
        let otlp = self.required(&entry.otlp, *at, "otlp", "http://127.0.0.1:4318");
        let sample = self.required(&entry.sample, *at, "sample", "0.01");
        if let (Field::Given(at, Share(0)), None) = (&entry.sample, given(&file.trusted_proxies).next()) {
            self.warn(
                *at,
                Lint::Traces,
                "nothing is recorded: only a proxy in `trusted_proxies` can ask for it, and there is none",
                "name your proxies, or write the share that is recorded, `sample: 0.01`",
            );
        }
        let fields = self.fixed_fields(&entry.headers, &OURS);
        let (Some(OtlpUrl(otlp)), Some(Share(share))) = (otlp, sample) else { return (None, Sampling::Off) };
        let service = entry.service.given().map_or("formgate", |Filled(service)| service);
        let collector = Collector {
            host: otlp.host.clone(),
            port: otlp.port,
            path: otlp.path.clone(),
            fields,
            service: service.to_owned(),
        };
        (Some(collector), Sampling::Share(*share))
    }
}
