-- Whether chunks lack a vector in the space: set in the transaction that lands them, unset by the end
-- of a sync that finds none. Searches then count only while it is set.
ALTER TABLE embedding_space ADD COLUMN IF NOT EXISTS is_filling boolean NOT NULL DEFAULT true;
ALTER TABLE embedding_space ALTER COLUMN is_filling SET DEFAULT false;
