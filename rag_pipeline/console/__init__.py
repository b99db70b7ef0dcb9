"""Output and checks of the command line."""
