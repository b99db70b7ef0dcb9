"""All SQL: `migrations/NNN_name.sql`, applied in order, once; `queries/*.sql`, loaded by aiosql."""
