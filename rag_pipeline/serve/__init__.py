"""The page and the JSON API of `rag serve`, and what they share with the tools for agents."""
