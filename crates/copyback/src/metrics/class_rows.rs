//! Blocks that each class of a placement holds over time, in the rows of the series.

use std::borrow::Cow;

use crate::checkpoint::Checkpointed;

/// Rows of levels, one for each class; empty if there is no class.
#[derive(Debug, Default, Checkpointed)]
pub struct ClassRows {
    classes: usize,
    /// Row by row.
    held: Vec<u64>,
}

impl ClassRows {
    /// A row has ended, and the classes hold so many blocks. There are always as many classes.
    pub fn close(&mut self, held: &[u64]) {
        self.classes = held.len();
        self.held.extend(held);
    }

    /// Sets the number of blocks that are held at the end of the row that was ended last.
    pub fn close_into_last(&mut self, held: &[u64]) {
        self.held.truncate(self.held.len() - self.classes);
        self.close(held);
    }

    /// Each two rows are one: the level is that at the end.
    pub fn halve(&mut self) {
        if self.classes > 0 {
            let pairs = self.held.chunks(2 * self.classes);
            self.held =
                pairs.flat_map(|pair| &pair[pair.len() - self.classes..]).copied().collect();
        }
    }

    /// A column for each class.
    pub fn columns(&self) -> impl Iterator<Item = (Cow<'static, str>, Vec<f64>)> {
        (0..self.classes).map(|class| {
            let held = self.held.iter().skip(class).step_by(self.classes);
            (format!("class_{class}_blocks").into(), held.map(|blocks| *blocks as f64).collect())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_rows_that_are_joined_the_last_level_counts() {
        let mut rows = ClassRows::default();
        [[1, 5], [2, 6], [3, 7]].iter().for_each(|held| rows.close(held));
        rows.close_into_last(&[4, 8]);
        rows.halve();
        let columns: Vec<_> = rows.columns().collect();
        let named = |name: &'static str, blocks: [f64; 2]| (Cow::from(name), blocks.to_vec());
        assert_eq!(
            columns,
            [named("class_0_blocks", [2.0, 4.0]), named("class_1_blocks", [6.0, 8.0])]
        );
    }

    #[test]
    fn without_classes_there_are_no_columns() {
        let mut rows = ClassRows::default();
        rows.close(&[]);
        rows.close_into_last(&[]);
        rows.halve();
        assert_eq!(rows.columns().count(), 0);
    }
}
