//! Two texts line by line, as a failed expectation prints them.

/// Lines that only `expected` has begin with `-`, those that only `found` has with `+`.
pub(crate) fn lines(expected: &str, found: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), found.lines().collect());
    // The length of the longest common part behind each pair of lines.
    let width = new.len() + 1;
    let mut common = vec![0_usize; (old.len() + 1) * width];
    let at = |i: usize, j: usize| i * width + j;
    let get = |common: &[usize], i, j| common.get(at(i, j)).copied().unwrap_or_default();
    for (i, one) in old.iter().enumerate().rev() {
        for (j, other) in new.iter().enumerate().rev() {
            let length = match one == other {
                true => get(&common, i + 1, j + 1) + 1,
                false => get(&common, i + 1, j).max(get(&common, i, j + 1)),
            };
            if let Some(place) = common.get_mut(at(i, j)) {
                *place = length;
            }
        }
    }
    let mut out = String::new();
    let mut put = |mark: char, line: &str| {
        out.push(mark);
        out.push(' ');
        out.push_str(line);
        out.push('\n');
    };
    let (mut i, mut j) = (0, 0);
    loop {
        match (old.get(i), new.get(j)) {
            (None, None) => return out,
            (Some(one), Some(other)) if one == other => {
                put(' ', one);
                (i, j) = (i + 1, j + 1);
            }
            (Some(one), other)
                if other.is_none() || get(&common, i + 1, j) >= get(&common, i, j + 1) =>
            {
                put('-', one);
                i += 1;
            }
            (_, Some(other)) => {
                put('+', other);
                j += 1;
            }
            (Some(one), None) => {
                put('-', one);
                i += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn what_differs_is_marked() {
        assert_eq!(lines("a\nb\nc", "a\nx\nc\nd"), "  a\n- b\n+ x\n  c\n+ d\n");
        assert_eq!(lines("", "a"), "+ a\n");
        assert_eq!(lines("a", ""), "- a\n");
        assert_eq!(lines("same", "same"), "  same\n");
    }
}
