"""The query layer: legs, fusion, and where each score came from."""
