//! Inferring: what bodies have in common, one after the other taken into a [`Shape`].

use crate::form::{Node, Tree};
use std::collections::BTreeMap;

/// Distinct texts that are remembered; beyond it they are many.
pub(super) const FEW: usize = 32;
/// Distinct names of members; beyond it they are data, not names.
pub(super) const NAMES: usize = 64;

/// What was seen at one place of the bodies.
#[derive(Debug, Clone, Default)]
pub(super) struct Shape {
    pub(super) seen: usize,
    pub(super) nulls: usize,
    pub(super) booleans: usize,
    pub(super) numbers: Numbers,
    pub(super) texts: Texts,
    pub(super) arrays: Arrays,
    pub(super) objects: Objects,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Numbers {
    pub(super) seen: usize,
    /// As written, distinct ones, for bounds and to tell integers.
    pub(super) values: Vec<String>,
    /// The lowest and the highest, where all could be compared.
    pub(super) fractions: bool,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Texts {
    pub(super) seen: usize,
    pub(super) longest: u64,
    /// How often each was seen; `None` once there are more than [`FEW`].
    pub(super) values: Option<BTreeMap<String, usize>>,
    pub(super) many: bool,
    /// Formats that all of them have.
    pub(super) formats: Option<Vec<&'static str>>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Arrays {
    pub(super) seen: usize,
    pub(super) longest: u64,
    pub(super) element: Option<Box<Shape>>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Objects {
    pub(super) seen: usize,
    pub(super) largest: u64,
    /// In the order in which they came.
    pub(super) members: Vec<(String, Shape)>,
    pub(super) longest_name: u64,
    /// All values together, once the names are too many.
    pub(super) any: Option<Box<Shape>>,
}

/// Formats that texts are held against, the narrowest first, and whether a text has one.
pub(super) struct Formats<'f>(pub(super) &'f dyn Fn(&'static str, &str) -> bool);

pub(super) const FORMATS: &[&str] = &["uuid", "date-time", "date", "email", "ipv4", "ipv6", "uri"];

impl Shape {
    /// Takes one value in.
    pub(super) fn take(&mut self, value: &Node, formats: &Formats<'_>) {
        self.seen += 1;
        match &value.tree {
            Tree::Null => self.nulls += 1,
            Tree::Boolean(_) => self.booleans += 1,
            Tree::Number(text) => self.numbers.take(text),
            Tree::Text(text) => self.texts.take(text, formats),
            Tree::Array(elements) => {
                self.arrays.seen += 1;
                self.arrays.longest = self.arrays.longest.max(elements.len() as u64);
                let shape = self.arrays.element.get_or_insert_default();
                for element in elements {
                    shape.take(element, formats);
                }
            }
            Tree::Object(members) => self.objects.take(members, formats),
        }
    }
}

impl Numbers {
    fn take(&mut self, text: &str) {
        use crate::json::Decimal;
        self.seen += 1;
        self.fractions |= !Decimal::read(text).is_some_and(|number| number.is_integer());
        let Some(number) = Decimal::read(text) else { return };
        // Only the ends matter.
        let lower = self.values.first().and_then(|low| Decimal::read(low)).is_none_or(|low| number < low);
        let higher = self.values.last().and_then(|high| Decimal::read(high)).is_none_or(|high| number > high);
        match (self.values.len(), lower, higher) {
            (0, ..) => self.values = vec![text.to_owned(), text.to_owned()],
            (_, true, _) => text.clone_into(&mut self.values[0]),
            (_, _, true) => text.clone_into(&mut self.values[1]),
            _ => {}
        }
    }
}

impl Texts {
    fn take(&mut self, text: &str, formats: &Formats<'_>) {
        self.seen += 1;
        self.longest = self.longest.max(text.chars().count() as u64);
        let known = self.formats.get_or_insert_with(|| FORMATS.to_vec());
        known.retain(|format| formats.0(format, text));
        if self.many {
            return;
        }
        let values = self.values.get_or_insert_default();
        *values.entry(text.to_owned()).or_default() += 1;
        if values.len() > FEW {
            self.many = true;
            self.values = None;
        }
    }
}

impl Objects {
    fn take(&mut self, members: &[(String, Node)], formats: &Formats<'_>) {
        self.seen += 1;
        self.largest = self.largest.max(members.len() as u64);
        for (name, value) in members {
            self.longest_name = self.longest_name.max(name.chars().count() as u64);
            self.any.get_or_insert_default().take(value, formats);
            if let Some((_, shape)) = self.members.iter_mut().find(|(known, _)| known == name) {
                shape.take(value, formats);
            } else if self.members.len() <= NAMES {
                let mut shape = Shape::default();
                shape.take(value, formats);
                self.members.push((name.clone(), shape));
            }
        }
    }

    /// Whether the names are data: too many of them.
    pub(super) fn is_map(&self) -> bool {
        self.members.len() > NAMES
    }
}
