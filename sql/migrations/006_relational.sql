-- Which project's rag.toml names a database as a source. Its rows are deleted once that project no
-- longer does; those of other projects in the same store stay.
CREATE TABLE IF NOT EXISTS relational_source (
    name text PRIMARY KEY,
    project text NOT NULL
);
ALTER TABLE relational_source ENABLE ROW LEVEL SECURITY;
