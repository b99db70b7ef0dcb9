"""What is to be done (the plan, pure), and doing it."""
