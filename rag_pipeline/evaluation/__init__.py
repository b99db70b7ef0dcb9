"""How good retrieval and answers are: measures, comparisons, reports."""
