"""Reads the state of a coolant pump."""

import json
from pathlib import Path

LIMIT = 95


# Degrees above which the pump stops.
def is_hot(degrees: float) -> bool:
    """Tell whether the coolant is too hot.

A line at the margin within a text.
    """
    if degrees > LIMIT:
        return True

    return False


class Pump:
	"""Tabs stay tabs."""

	def read(self, path: Path) -> dict:
		return json.loads(path.read_text())
