"""A slow, dumb second reading of every format but PDF, to notice words that the readers lose."""
