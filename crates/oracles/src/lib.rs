//! Tests only: other parsers of the shell, and a validator of JSON schemas, are oracles for ours.
