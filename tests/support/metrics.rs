//! The metrics page as series and values.

use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Metrics {
    /// Name, labels and value of each series.
    pub(crate) series: BTreeMap<(String, BTreeMap<String, String>), f64>,
    pub(crate) text: String,
}

impl Metrics {
    /// Reads the Prometheus text format, version 0.0.4.
    #[track_caller]
    pub(crate) fn parse(text: &str) -> Self {
        let mut series = BTreeMap::new();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (key, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("metrics line {line:?}"));
            let (name, labels) = match key.split_once('{') {
                None => (key, BTreeMap::new()),
                Some((name, labels)) => (name, read_labels(labels.trim_end_matches('}'))),
            };
            let value = value.parse().unwrap_or_else(|_| panic!("metrics line {line:?}"));
            let old = series.insert((name.to_owned(), labels), value);
            assert!(old.is_none(), "series twice: {line:?}");
        }
        Self { series, text: text.to_owned() }
    }

    /// The sum over all series of that name that carry these labels.
    pub(crate) fn sum(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        let carries = |have: &BTreeMap<String, String>| {
            labels.iter().all(|(label, value)| have.get(*label).is_some_and(|have| have == value))
        };
        self.series
            .iter()
            .filter(|((have, all), _)| have == name && carries(all))
            .map(|(_, value)| value)
            .sum()
    }

    /// Whether that sum is so many.
    pub(crate) fn counts(&self, name: &str, labels: &[(&str, &str)], many: usize) -> bool {
        u32::try_from(many).is_ok_and(|many| (self.sum(name, labels) - f64::from(many)).abs() < 0.5)
    }

    /// The labels of each series of that name whose value differs from `before`, with the difference.
    pub(crate) fn changed(&self, before: &Self, name: &str) -> Vec<(BTreeMap<String, String>, f64)> {
        let of_name = self.series.iter().filter(|((have, _), _)| have == name);
        let differences =
            of_name.map(|(key, value)| (key.1.clone(), value - before.series.get(key).unwrap_or(&0.0)));
        differences.filter(|(_, difference)| *difference != 0.0).collect()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.series.keys().any(|(have, _)| have == name)
    }
}

fn read_labels(text: &str) -> BTreeMap<String, String> {
    let mut labels = BTreeMap::new();
    let mut rest = text;
    while let Some((name, after)) = rest.split_once("=\"") {
        let end = after.find('"').unwrap_or(after.len());
        labels.insert(name.trim_start_matches(',').to_owned(), after[..end].to_owned());
        rest = after.get(end + 1..).unwrap_or("");
    }
    labels
}
