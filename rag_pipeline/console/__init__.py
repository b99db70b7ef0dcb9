"""What the command line shows and checks."""
