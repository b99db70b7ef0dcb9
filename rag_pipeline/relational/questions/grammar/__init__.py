"""The grammar: tokens of a question to logical forms."""
