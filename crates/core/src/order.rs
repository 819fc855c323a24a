//! Sorting, compiled once: every other kind of list that the standard library sorts takes five kilobytes of the binary.

use std::cmp::Ordering;

/// The items in order; those that are equal stay as they were.
pub fn sorted<T>(items: Vec<T>, compare: impl Fn(&T, &T) -> Ordering) -> Vec<T> {
    let order = order_of(items.len(), &|one, other| match (items.get(one), items.get(other)) {
        (Some(one), Some(other)) => compare(one, other),
        _ => Ordering::Equal,
    });
    in_order(items, &order)
}

/// The numbers up to this one, in the order of what they stand for.
pub fn order_of(count: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|one, other| compare(*one, *other));
    order
}

/// The items as an order names them.
pub fn in_order<T>(items: Vec<T>, order: &[usize]) -> Vec<T> {
    let mut items: Vec<Option<T>> = items.into_iter().map(Some).collect();
    order.iter().filter_map(|at| items.get_mut(*at)?.take()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_items_stay_as_they_were() {
        let items = vec![(2, 'a'), (1, 'b'), (2, 'c'), (1, 'd')];
        let found = sorted(items, |one, other| one.0.cmp(&other.0));
        assert_eq!(found, [(1, 'b'), (1, 'd'), (2, 'a'), (2, 'c')]);
    }
}
