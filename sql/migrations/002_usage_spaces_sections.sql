-- What providers were asked for, spaces side by side, and the sections above the chunks.

-- One row for what a document (or a query) asked of one model. Outlives the document: the money
-- was spent.
CREATE TABLE IF NOT EXISTS usage (
    usage_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT now(),
    -- Dagster's run id, or `command`
    run text NOT NULL,
    source_hash text,
    -- folder or URL of the source
    root text,
    provider text NOT NULL,
    model text NOT NULL,
    operation text NOT NULL,
    requests integer NOT NULL DEFAULT 0,
    tokens bigint NOT NULL DEFAULT 0,
    output_tokens bigint NOT NULL DEFAULT 0,
    pages integer NOT NULL DEFAULT 0,
    -- an estimate from the price table; NULL where the price is not known
    usd numeric(14, 8)
);
CREATE INDEX IF NOT EXISTS usage_at ON usage (at);

-- A pinned space stays active although the settings name another one.
ALTER TABLE embedding_space ADD COLUMN IF NOT EXISTS pinned boolean NOT NULL DEFAULT false;

-- One or two sentences by a language model that place the chunk in its document; embedded and
-- searched with it. NULL where contextual retrieval is off.
ALTER TABLE chunk ADD COLUMN IF NOT EXISTS context text;

-- The text of consecutive chunks under one heading: context for an answer, found through its
-- chunks (chunk.parent_index = section.section_index), never searched itself.
CREATE TABLE IF NOT EXISTS section (
    source_hash text NOT NULL REFERENCES document ON DELETE CASCADE,
    section_index integer NOT NULL,
    breadcrumb_trail text NOT NULL,
    content text NOT NULL,
    token_count integer NOT NULL,
    page_start integer NOT NULL,
    page_end integer NOT NULL,
    regions jsonb NOT NULL,
    PRIMARY KEY (source_hash, section_index)
);

-- Of a remote file or a web page: changes when its content does.
ALTER TABLE source ADD COLUMN IF NOT EXISTS etag text NOT NULL DEFAULT '';
