"""The version of each stage's code: a new value makes what the stage stored stale, everywhere.

They stand here rather than with the stages, so that a plan (`rag status`, a sync with nothing to
do) loads no stage. Raise a stage's number with every change that may change its output.
"""

PARSER_VERSION = "10"
"""Files to blocks."""
STRUCTURE_VERSION = "5"
"""Blocks to roles, levels and trails."""
CHUNKING_VERSION = "3"
"""Structure to chunks."""
PROMPT_VERSION = "1"
"""The wording by which a chat model places chunks in their document; part of its cache's key."""
EMBEDDING_VERSION = "1"
"""Texts to vectors: the same text and settings would give others, whoever computes them."""
ANALYSIS_VERSION = "2"
"""Text to lexemes. File names have none: a migration must set `source.name_lexemes` to NULL."""
