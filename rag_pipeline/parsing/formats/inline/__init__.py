"""What stands inside lines beside plain letters: formulas and the signs of symbol fonts."""
