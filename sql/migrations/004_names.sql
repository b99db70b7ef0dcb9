-- The words of files' names, so that a question that names a document ranks its chunks higher.

-- As the analyser has them (rag_pipeline/analysis/names.py); NULL: not looked at yet, which the
-- next sync does.
ALTER TABLE source ADD COLUMN IF NOT EXISTS name_lexemes text[];
CREATE INDEX IF NOT EXISTS source_name_lexemes ON source USING gin (name_lexemes);
CREATE INDEX IF NOT EXISTS source_unnamed ON source (uri) WHERE name_lexemes IS NULL;
