"""Text to lexemes with positions, for documents and queries alike."""
