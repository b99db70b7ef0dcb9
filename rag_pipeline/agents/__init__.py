"""Tools for agents, by the Model Context Protocol and its official SDK."""
