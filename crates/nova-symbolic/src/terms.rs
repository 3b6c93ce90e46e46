//! Sorted lists of products of variables with coefficients. Nearly all sums have one or two terms of one
//! variable. A single term is stored without an allocation.

use smallvec::SmallVec;
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

/// A product of variables, sorted and with repetition.
#[derive(Clone, Debug)]
pub(crate) enum Product<V> {
    /// The empty product, which is 1.
    Unit,
    /// A variable.
    Variable(V),
    /// Two variables or more.
    Several(Vec<V>),
}

impl<V> Deref for Product<V> {
    type Target = [V];

    fn deref(&self) -> &[V] {
        match self {
            Product::Unit => &[],
            Product::Variable(variable) => std::slice::from_ref(variable),
            Product::Several(variables) => variables,
        }
    }
}

/// Makes a product of variables that are sorted.
impl<V> From<Vec<V>> for Product<V> {
    fn from(mut variables: Vec<V>) -> Self {
        match variables.len() {
            0 => Product::Unit,
            1 => variables.pop().map_or(Product::Unit, Product::Variable),
            _ => Product::Several(variables),
        }
    }
}

impl<V: PartialEq> PartialEq for Product<V> {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}

impl<V: Eq> Eq for Product<V> {}

impl<V: PartialOrd> PartialOrd for Product<V> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self[..].partial_cmp(&other[..])
    }
}

impl<V: Ord> Ord for Product<V> {
    fn cmp(&self, other: &Self) -> Ordering {
        self[..].cmp(&other[..])
    }
}

impl<V: Hash> Hash for Product<V> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self[..].hash(state);
    }
}

/// A map from products to coefficients, in the order of the products.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Terms<V, C>(SmallVec<[(Product<V>, C); 1]>);

impl<V, C> Default for Terms<V, C> {
    fn default() -> Self {
        Terms(SmallVec::new())
    }
}

impl<V: Ord, C> Terms<V, C> {
    fn find(&self, product: &[V]) -> Result<usize, usize> {
        self.0.binary_search_by(|(known, _)| known[..].cmp(product))
    }

    /// Returns the coefficient of a product, if the map has it.
    pub(crate) fn get(&self, product: &[V]) -> Option<&C> {
        let at = self.find(product).ok()?;
        self.0.get(at).map(|(_, coefficient)| coefficient)
    }

    /// Sets the coefficient of a product.
    pub(crate) fn insert(&mut self, product: Product<V>, coefficient: C) {
        match self.find(&product) {
            Ok(at) => {
                if let Some((_, known)) = self.0.get_mut(at) {
                    *known = coefficient;
                }
            }
            Err(at) => self.0.insert(at, (product, coefficient)),
        }
    }

    /// Removes a product, and returns its coefficient.
    pub(crate) fn remove(&mut self, product: &[V]) -> Option<C> {
        let at = self.find(product).ok()?;
        Some(self.0.remove(at).1)
    }

    /// Returns the first product, with its coefficient.
    pub(crate) fn first(&self) -> Option<&(Product<V>, C)> {
        self.0.first()
    }

    /// Returns the number of products.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the products with their coefficients, in order.
    pub(crate) fn iter(&self) -> std::slice::Iter<'_, (Product<V>, C)> {
        self.0.iter()
    }

    /// Returns the map with other coefficients.
    pub(crate) fn map(&self, of: impl Fn(&C) -> C) -> Self
    where
        V: Clone,
    {
        let terms = self.0.iter();
        Terms(terms.map(|(product, c)| (product.clone(), of(c))).collect())
    }
}
