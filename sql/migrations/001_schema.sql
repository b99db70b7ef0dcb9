-- The knowledge base: sources, documents, chunks, embedding spaces, vectors.
-- Runs in one transaction with its entry in schema_migration; safe to run again.

CREATE EXTENSION IF NOT EXISTS vector;
CREATE EXTENSION IF NOT EXISTS pg_trgm;

-- A folder that is kept in sync. Roots of rag.toml and of `rag sync PATH` alike.
CREATE TABLE IF NOT EXISTS source_root (
    root text NOT NULL,
    include text[] NOT NULL,
    exclude text[] NOT NULL DEFAULT '{}',
    tags text[] NOT NULL DEFAULT '{}',
    readers text[] NOT NULL DEFAULT '{public}',
    -- settings: goes when it is taken out of rag.toml; command: goes by `rag sources remove`
    origin text NOT NULL CHECK (origin IN ('settings', 'command')),
    -- folder of the rag.toml that names it; another project on the same server does not forget it
    project text NOT NULL DEFAULT '',
    added_at timestamptz NOT NULL DEFAULT now()
);
-- md5 because a path may be longer than a btree row (2,704 bytes).
CREATE UNIQUE INDEX IF NOT EXISTS source_root_key ON source_root (md5(root));

-- One row a distinct content, under the SHA-256 of its bytes.
CREATE TABLE IF NOT EXISTS document (
    source_hash text PRIMARY KEY CHECK (source_hash ~ '^[0-9a-f]{64}$'),
    title text,
    page_count integer,
    language text,
    status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'ready', 'failed')),
    -- stage → fingerprint of the code and settings that made what is stored
    fingerprints jsonb NOT NULL DEFAULT '{}',
    chunk_count integer NOT NULL DEFAULT 0,
    warnings text[] NOT NULL DEFAULT '{}',
    failure_stage text,
    failure_reason text,
    failure_permanent boolean,
    -- fingerprint of the failed stage: another one means that trying again may help
    failure_fingerprint text,
    failure_count integer NOT NULL DEFAULT 0,
    -- A changed file's old content stays searchable until its successor has landed.
    superseded_by text CHECK (superseded_by ~ '^[0-9a-f]{64}$'),
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX IF NOT EXISTS document_failed ON document (source_hash) WHERE status = 'failed';
CREATE INDEX IF NOT EXISTS document_superseded ON document (superseded_by)
WHERE superseded_by IS NOT NULL;

-- One row a file. Several files may hold the same bytes: one document.
CREATE TABLE IF NOT EXISTS source (
    uri text NOT NULL,
    root text NOT NULL,
    source_hash text NOT NULL REFERENCES document,
    size bigint NOT NULL,
    modified_ns bigint NOT NULL,
    tags text[] NOT NULL DEFAULT '{}',
    readers text[] NOT NULL DEFAULT '{public}',
    first_seen_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX IF NOT EXISTS source_key ON source (md5(uri));
CREATE INDEX IF NOT EXISTS source_by_hash ON source (source_hash);

CREATE TABLE IF NOT EXISTS chunk (
    chunk_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source_hash text NOT NULL REFERENCES document ON DELETE CASCADE,
    chunk_index integer NOT NULL,
    parent_index integer,
    kind text NOT NULL,
    breadcrumb_trail text NOT NULL,
    content text NOT NULL,
    token_count integer NOT NULL,
    page_start integer NOT NULL,
    page_end integer NOT NULL,
    regions jsonb NOT NULL,
    content_hash text NOT NULL,
    metadata jsonb NOT NULL DEFAULT '{}',
    language text NOT NULL,
    search_vector tsvector NOT NULL,
    lexeme_count integer NOT NULL,
    UNIQUE (source_hash, chunk_index)
);
CREATE INDEX IF NOT EXISTS chunk_search_vector ON chunk USING gin (search_vector);

-- One model with one length of vector. Vectors of different spaces never meet.
CREATE TABLE IF NOT EXISTS embedding_space (
    space_id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provider text NOT NULL,
    model text NOT NULL,
    dimensions integer NOT NULL CHECK (dimensions BETWEEN 1 AND 4000),
    -- of the code that calls the model: vectors of different versions never meet either
    version text NOT NULL,
    state text NOT NULL DEFAULT 'building' CHECK (state IN ('building', 'active', 'retired')),
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (provider, model, dimensions, version)
);
CREATE UNIQUE INDEX IF NOT EXISTS embedding_space_active ON embedding_space (state)
WHERE state = 'active';

-- halfvec: half the space of vector, and HNSW takes up to 4,000 dimensions. The HNSW index of each
-- space is partial, made after the first load (sql/queries/embeddings.sql).
CREATE TABLE IF NOT EXISTS chunk_embedding (
    chunk_id bigint NOT NULL REFERENCES chunk ON DELETE CASCADE,
    space_id integer NOT NULL REFERENCES embedding_space ON DELETE CASCADE,
    embedding halfvec NOT NULL,
    PRIMARY KEY (chunk_id, space_id)
);

-- A text is embedded once: keyed by the SHA-256 of exactly what was sent.
CREATE TABLE IF NOT EXISTS embedding_cache (
    space_id integer NOT NULL REFERENCES embedding_space ON DELETE CASCADE,
    input_hash bytea NOT NULL CHECK (length(input_hash) = 32),
    embedding halfvec NOT NULL,
    PRIMARY KEY (space_id, input_hash)
);

-- Corpus statistics of BM25, refreshed at the end of a sync that changed chunks.
CREATE TABLE IF NOT EXISTS lexeme (
    lexeme text PRIMARY KEY,
    document_frequency integer NOT NULL
);
CREATE TABLE IF NOT EXISTS corpus_statistics (
    one_row boolean PRIMARY KEY DEFAULT true CHECK (one_row),
    chunk_count bigint NOT NULL,
    lexeme_total bigint NOT NULL,
    -- set in the transaction that changes chunks, so that a killed sync's successor knows
    is_stale boolean NOT NULL DEFAULT false,
    refreshed_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO corpus_statistics (chunk_count, lexeme_total) VALUES (0, 0) ON CONFLICT DO NOTHING;

-- The flat shape that other tools expect: one row a chunk, with its file.
CREATE OR REPLACE VIEW rag_documents AS
SELECT
    s.uri AS source_path,
    lower(substring(s.uri FROM '\.([A-Za-z0-9]+)$')) AS source_type,
    c.source_hash,
    c.chunk_index,
    d.chunk_count AS chunk_total,
    c.breadcrumb_trail AS title,
    c.content,
    length(c.content) AS content_length,
    e.model AS embedding_model,
    ce.embedding,
    c.metadata,
    s.tags,
    d.created_at AS ingested_at,
    d.updated_at
FROM chunk AS c
INNER JOIN document AS d ON d.source_hash = c.source_hash
INNER JOIN source AS s ON s.source_hash IN (c.source_hash, d.superseded_by)
LEFT JOIN embedding_space AS e ON e.state = 'active'
LEFT JOIN chunk_embedding AS ce ON ce.chunk_id = c.chunk_id AND ce.space_id = e.space_id;
