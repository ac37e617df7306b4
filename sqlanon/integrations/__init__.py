"""Programs that sqlanon works inside of: a folder each."""
