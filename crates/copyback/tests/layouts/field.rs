//! P and Q of a column of bytes (Anvin: The mathematics of RAID-6), and what can be made up from
//! them. The field is that of a crate.

g2p::g2p!(Gf256, 8, modulus: 0b1_0001_1101);

use g2p::GaloisField;

fn sum(values: impl Iterator<Item = Gf256>) -> Gf256 {
    values.fold(Gf256::ZERO, |sum, value| sum + value)
}

fn weight(unit: usize) -> Gf256 {
    Gf256::from(2).pow(unit)
}

/// P and Q of the data.
pub fn parities(data: &[u8]) -> [u8; 2] {
    let p = sum(data.iter().map(|byte| Gf256::from(*byte)));
    let q = sum(data.iter().enumerate().map(|(unit, byte)| weight(unit) * Gf256::from(*byte)));
    [p.into(), q.into()]
}

/// Makes up the data that are not known. None if what is known is not enough.
pub fn solve(data: &[Option<u8>], p: Option<u8>, q: Option<u8>) -> Option<Vec<u8>> {
    let lost: Vec<usize> = (0..data.len()).filter(|unit| data[*unit].is_none()).collect();
    let mut whole: Vec<u8> = data.iter().map(|byte| byte.unwrap_or(0)).collect();
    let [known_p, known_q] = parities(&whole).map(Gf256::from);
    let p = p.map(|p| Gf256::from(p) - known_p);
    let q = q.map(|q| Gf256::from(q) - known_q);
    match (lost.as_slice(), p, q) {
        ([], _, _) => {}
        ([one], Some(p), _) => whole[*one] = p.into(),
        ([one], None, Some(q)) => whole[*one] = (q / weight(*one)).into(),
        ([one, two], Some(p), Some(q)) => {
            let first = (q - weight(*two) * p) / (weight(*one) - weight(*two));
            whole[*one] = first.into();
            whole[*two] = (p - first).into();
        }
        _ => return None,
    }
    Some(whole)
}

#[test]
fn any_two_of_a_column_can_be_made_up() {
    let data = [7, 0, 255, 29, 133];
    let [p, q] = parities(&data);
    let all: Vec<Option<u8>> = data.iter().copied().chain([p, q]).map(Some).collect();
    for one in 0..all.len() {
        for two in 0..all.len() {
            let mut left = all.clone();
            left[one] = None;
            left[two] = None;
            assert_eq!(solve(&left[..5], left[5], left[6]).as_deref(), Some(&data[..]));
        }
    }
    let none = [None, None, None, Some(29), Some(133)];
    assert_eq!(solve(&none, Some(p), Some(q)), None);
}
