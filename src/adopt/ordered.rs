//! Names with what belongs to them: each once, in the order in which they came, and found without looking at the others.
//! Documents may have very many of them.

use std::collections::HashMap;

#[derive(Debug, Clone)]
pub(super) struct Ordered<V> {
    entries: Vec<(String, V)>,
    places: HashMap<String, usize>,
}

impl<V> Default for Ordered<V> {
    fn default() -> Self {
        Self { entries: Vec::new(), places: HashMap::new() }
    }
}

impl<V: Default> Ordered<V> {
    /// What belongs to a name, which is there from now on.
    pub(super) fn entry(&mut self, name: &str) -> &mut V {
        let place = self.places.get(name).copied().unwrap_or_else(|| {
            self.places.insert(name.to_owned(), self.entries.len());
            self.entries.push((name.to_owned(), V::default()));
            self.entries.len() - 1
        });
        &mut self.entries[place].1
    }
}

impl<V> Ordered<V> {
    pub(super) fn get(&self, name: &str) -> Option<&V> {
        self.places.get(name).map(|place| &self.entries[*place].1)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.places.contains_key(name)
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.entries.retain(|(known, _)| known != name);
        self.places = self.entries.iter().map(|(known, _)| known.clone()).zip(0..).collect();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&String, &V)> {
        self.entries.iter().map(|(name, value)| (name, value))
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        self.entries.iter().map(|(name, _)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::Ordered;

    #[test]
    fn names_stay_in_their_order_and_are_there_once() {
        let mut counted: Ordered<u32> = Ordered::default();
        for name in ["b", "a", "c", "a", "b"] {
            *counted.entry(name) += 1;
        }
        counted.remove("c");
        *counted.entry("d") += 7;
        let all: Vec<_> = counted.iter().map(|(name, count)| (name.as_str(), *count)).collect();
        assert_eq!(all, [("b", 2), ("a", 2), ("d", 7)]);
        assert_eq!((counted.get("d"), counted.get("c"), counted.has("a")), (Some(&7), None, true));
    }
}
