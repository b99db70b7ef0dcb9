//! Reads the state of a coolant pump.

use std::fs;

/// Degrees above which the pump stops.
const LIMIT: f64 = 95.0;

fn is_hot(degrees: f64) -> bool {
    let hot = degrees > LIMIT;

    hot
}

impl Pump {
    fn read(&self) -> String {
        fs::read_to_string("pump.json").unwrap()
    }
}
