//! Decimals in JSON, which Python's dictionaries come as.

use copyback_config::Loader;

#[test]
fn a_share_is_the_same_in_toml_and_in_json() {
    let mut share = 0.1_f64;
    for _ in 0..2_000 {
        share = (share * 1.618_033_988_749_895 + 0.000_123).fract();
        let toml = format!("[precondition]\nfill = {share:?}\n");
        let json = format!("{{\"precondition\": {{\"fill\": {share:?}}}}}");
        let [toml, json] =
            [Loader::new().toml(&toml, "drive.toml", None), Loader::new().json(&json)];
        let [toml, json] =
            [toml, json].map(|loader| loader.load().expect("a share").precondition.fill.0);
        assert!(toml == share && json == share, "{share:?} is {toml:?} in TOML, {json:?} in JSON");
    }
}
