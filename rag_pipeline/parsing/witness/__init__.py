"""A slow, dumb second reading of every format, to notice words that the readers lose."""
