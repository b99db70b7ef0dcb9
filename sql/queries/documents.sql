-- name: document_states(space_id, source_hashes)
-- What the store really holds: counted, not remembered. Index-only over chunk (source_hash, …) and
-- the primary key of chunk_embedding. source_hashes NULL = all.
SELECT
    d.source_hash,
    d.status,
    d.fingerprints,
    d.failure_stage,
    d.failure_reason,
    d.failure_permanent,
    d.failure_fingerprint,
    d.failure_count,
    d.chunk_count = coalesce(h.chunks, 0) AS has_chunks,
    coalesce(h.chunks, 0) = coalesce(h.vectors, 0) AS has_vectors,
    d.chunk_count,
    f.uris,
    f.roots,
    d.page_count,
    f.size
FROM document AS d
INNER JOIN (
    SELECT
        s.source_hash,
        array_agg(s.uri ORDER BY s.uri) AS uris,
        array_agg(s.root ORDER BY s.uri) AS roots,
        max(s.size) AS size
    FROM source AS s
    WHERE NOT starts_with(s.root, 'relational:')
        AND (:source_hashes::text[] IS NULL OR s.source_hash = ANY(:source_hashes))
    GROUP BY s.source_hash
) AS f ON f.source_hash = d.source_hash
LEFT JOIN (
    SELECT c.source_hash, count(*) AS chunks, count(ce.chunk_id) AS vectors
    FROM chunk AS c
    LEFT JOIN chunk_embedding AS ce ON ce.chunk_id = c.chunk_id AND ce.space_id = :space_id
    WHERE :source_hashes::text[] IS NULL OR c.source_hash = ANY(:source_hashes)
    GROUP BY c.source_hash
) AS h ON h.source_hash = d.source_hash
WHERE :source_hashes::text[] IS NULL OR d.source_hash = ANY(:source_hashes);

-- name: lock_documents(source_hashes)
-- Serialises landings of a document; no row means that its file is gone. In the order of the keys, so
-- that two landings of several documents wait for each other and never deadlock.
SELECT
    d.source_hash,
    d.reader_set_id,
    EXISTS (
        SELECT 1 FROM replaced_documents(d.source_hash) AS r
        INNER JOIN chunk AS c ON c.source_hash = r.source_hash
    ) AS is_stored
FROM document AS d
WHERE d.source_hash = ANY(:source_hashes::text[])
    AND EXISTS (SELECT 1 FROM source AS s WHERE s.source_hash = d.source_hash)
ORDER BY d.source_hash
FOR UPDATE OF d;

-- name: delete_superseded(source_hashes)!
-- In the transaction in which the successor lands: readers see the old or the new.
DELETE FROM document AS d
USING unnest(:source_hashes::text[]) AS n (source_hash)
CROSS JOIN LATERAL replaced_documents(n.source_hash) AS r
WHERE d.source_hash = r.source_hash AND d.source_hash <> n.source_hash;

-- name: create_chunk_load()#
-- New chunks of documents that are stored already, each of which is a stored one or a new one.
CREATE TEMPORARY TABLE IF NOT EXISTS chunk_load (
    source_hash text, chunk_index integer, parent_index integer, kind text, breadcrumb_trail text,
    content text, token_count integer, page_start integer, page_end integer, regions jsonb,
    content_hash text, metadata jsonb, context text, language text, search_vector tsvector,
    lexeme_count integer, chunk_id bigint, is_kept boolean NOT NULL DEFAULT false
) ON COMMIT DELETE ROWS;

-- name: copy_chunk_load()#
COPY chunk_load (
    chunk_id, source_hash, chunk_index, parent_index, kind, breadcrumb_trail, content, token_count,
    page_start, page_end, regions, content_hash, metadata, context, language, search_vector,
    lexeme_count
) FROM STDIN;

-- name: match_chunks()!
-- A stored chunk with the same text and words stays, with its id, in a bucket of the same readers.
WITH stored AS (
    SELECT
        n.source_hash AS wanted, c.chunk_id, c.content_hash, c.content, c.language,
        c.search_vector, c.lexeme_count,
        row_number() OVER (
            PARTITION BY
                n.source_hash, c.content_hash, c.content, c.language, c.search_vector,
                c.lexeme_count
            ORDER BY c.source_hash <> n.source_hash, c.chunk_index
        ) AS nth
    FROM document AS n
    CROSS JOIN LATERAL replaced_documents(n.source_hash) AS r
    INNER JOIN chunk AS c ON c.source_hash = r.source_hash
    INNER JOIN posting_bucket AS b
        ON b.bucket = (c.chunk_id >> 13)::integer AND b.reader_set_id = n.reader_set_id
    WHERE n.source_hash IN (SELECT l.source_hash FROM chunk_load AS l)
),
wanted AS (
    SELECT
        l.ctid AS place, l.*,
        row_number() OVER (
            PARTITION BY
                l.source_hash, l.content_hash, l.content, l.language, l.search_vector,
                l.lexeme_count
            ORDER BY l.chunk_index
        ) AS nth
    FROM chunk_load AS l
)
UPDATE chunk_load AS l SET chunk_id = s.chunk_id, is_kept = true
FROM wanted AS w
INNER JOIN stored AS s
    ON s.wanted = w.source_hash AND s.nth = w.nth AND s.content_hash = w.content_hash
        AND s.content = w.content AND s.language = w.language
        AND s.search_vector = w.search_vector AND s.lexeme_count = w.lexeme_count
WHERE l.ctid = w.place;

-- name: compared_chunks()
SELECT
    l.source_hash,
    count(*) FILTER (WHERE l.is_kept) AS kept,
    count(*) FILTER (WHERE NOT l.is_kept) AS made,
    count(*) FILTER (
        WHERE NOT l.is_kept AND EXISTS (
            SELECT 1 FROM replaced_documents(l.source_hash) AS r
            INNER JOIN chunk AS c ON c.source_hash = r.source_hash
            WHERE c.content = l.content AND c.breadcrumb_trail <> l.breadcrumb_trail
        )
    ) AS moved
FROM chunk_load AS l
GROUP BY l.source_hash;

-- name: give_chunk_ids(source_hash, chunk_ids)!
UPDATE chunk_load AS l SET chunk_id = (:chunk_ids::bigint[])[w.nth]
FROM (
    SELECT ctid AS place, row_number() OVER (ORDER BY chunk_index) AS nth
    FROM chunk_load WHERE source_hash = :source_hash AND NOT is_kept
) AS w
WHERE l.ctid = w.place;

-- name: loaded_chunk_ids(source_hash)
SELECT chunk_id FROM chunk_load WHERE source_hash = :source_hash ORDER BY chunk_index;

-- name: delete_replaced_chunks(source_hashes)!
DELETE FROM chunk AS c
USING unnest(:source_hashes::text[]) AS n (source_hash)
CROSS JOIN LATERAL replaced_documents(n.source_hash) AS r
WHERE c.source_hash = r.source_hash
    AND NOT EXISTS (SELECT 1 FROM chunk_load AS l WHERE l.chunk_id = c.chunk_id);

-- name: free_chunk_indexes()!
-- Of chunks that move within their document: two have the same index in no moment.
UPDATE chunk AS c SET chunk_index = -1 - c.chunk_index
FROM chunk_load AS l
WHERE l.is_kept AND c.chunk_id = l.chunk_id AND c.source_hash = l.source_hash
    AND c.chunk_index <> l.chunk_index;

-- name: place_kept_chunks()!
UPDATE chunk AS c
SET source_hash = l.source_hash, chunk_index = l.chunk_index, parent_index = l.parent_index,
    kind = l.kind, breadcrumb_trail = l.breadcrumb_trail, token_count = l.token_count,
    page_start = l.page_start, page_end = l.page_end, regions = l.regions,
    metadata = l.metadata, context = l.context
FROM chunk_load AS l
WHERE l.is_kept AND c.chunk_id = l.chunk_id
    AND (
        c.source_hash, c.chunk_index, c.parent_index, c.kind, c.breadcrumb_trail, c.token_count,
        c.page_start, c.page_end, c.regions, c.metadata, c.context
    ) IS DISTINCT FROM (
        l.source_hash, l.chunk_index, l.parent_index, l.kind, l.breadcrumb_trail, l.token_count,
        l.page_start, l.page_end, l.regions, l.metadata, l.context
    );

-- name: insert_new_chunks()!
INSERT INTO chunk (
    chunk_id, source_hash, chunk_index, parent_index, kind, breadcrumb_trail, content, token_count,
    page_start, page_end, regions, content_hash, metadata, context, language, search_vector,
    lexeme_count
)
SELECT
    chunk_id, source_hash, chunk_index, parent_index, kind, breadcrumb_trail, content, token_count,
    page_start, page_end, regions, content_hash, metadata, context, language, search_vector,
    lexeme_count
FROM chunk_load WHERE NOT is_kept ORDER BY source_hash, chunk_index;

-- name: delete_sections_of(source_hashes)!
DELETE FROM section WHERE source_hash = ANY(:source_hashes::text[]);

-- name: copy_sections()#
COPY section (
    source_hash, section_index, breadcrumb_trail, content, token_count, page_start, page_end, regions
) FROM STDIN;

-- name: copy_chunks()#
COPY chunk (
    chunk_id, source_hash, chunk_index, parent_index, kind, breadcrumb_trail, content, token_count,
    page_start, page_end, regions, content_hash, metadata, context, language, search_vector,
    lexeme_count
) FROM STDIN;

-- name: allocate_chunk_ids(reader_set_id, count)
-- Before anything else of a landing is locked (sql/migrations/005_access.sql).
SELECT allocate_chunk_ids(:reader_set_id, :count);

-- name: copy_chunk_embeddings()#
COPY chunk_embedding (chunk_id, space_id, embedding) FROM STDIN (FORMAT binary);

-- name: mark_ready(title, page_count, language, fingerprints, chunk_count, warnings, source_hash)!
UPDATE document
SET status = 'ready', title = :title, page_count = :page_count, language = :language,
    fingerprints = :fingerprints, chunk_count = :chunk_count, warnings = :warnings,
    failure_stage = NULL, failure_reason = NULL, failure_permanent = NULL,
    failure_fingerprint = NULL, failure_count = 0, superseded_by = NULL, updated_at = now()
WHERE source_hash = :source_hash;

-- name: mark_embedded(source_hashes)!
-- Their chunks had landed before, and then their vectors failed.
UPDATE document
SET status = 'ready', failure_stage = NULL, failure_reason = NULL, failure_permanent = NULL,
    failure_fingerprint = NULL, failure_count = 0, updated_at = now()
WHERE source_hash = ANY(:source_hashes) AND status <> 'ready';

-- name: merge_fingerprints(fingerprints, source_hash)!
-- Some of the stages only: what is searchable stays as it is. A failure of a stage that is now done
-- is forgotten.
UPDATE document
SET fingerprints = fingerprints || :fingerprints,
    status = CASE WHEN :fingerprints::jsonb ? failure_stage THEN 'pending' ELSE status END,
    failure_reason = CASE
        WHEN :fingerprints::jsonb ? failure_stage THEN NULL ELSE failure_reason
    END,
    failure_stage = CASE WHEN :fingerprints::jsonb ? failure_stage THEN NULL ELSE failure_stage END,
    updated_at = now()
WHERE source_hash = :source_hash;

-- name: mark_failed(stage, reason, permanent, fingerprint, source_hash)!
UPDATE document
SET status = 'failed', failure_stage = :stage, failure_reason = :reason,
    failure_permanent = :permanent, failure_fingerprint = :fingerprint,
    failure_count = CASE
        WHEN failure_fingerprint = :fingerprint THEN failure_count + 1 ELSE 1
    END,
    updated_at = now()
WHERE source_hash = :source_hash;

-- name: forget_failures(source_hashes)
-- For `rag retry`: the next sync tries these documents again. source_hashes NULL = all.
UPDATE document
SET status = 'pending', failure_stage = NULL, failure_reason = NULL, failure_permanent = NULL,
    failure_fingerprint = NULL, failure_count = 0
WHERE status = 'failed'
    AND (:source_hashes::text[] IS NULL OR source_hash = ANY(:source_hashes))
RETURNING source_hash;

-- name: list_documents()
SELECT
    d.source_hash, s.uris, d.title, d.page_count, d.language, d.status, d.chunk_count, d.warnings,
    d.failure_stage, d.failure_reason, d.failure_permanent, d.failure_count, d.updated_at
FROM document AS d
INNER JOIN (
    SELECT source_hash, array_agg(uri ORDER BY uri) AS uris FROM source GROUP BY source_hash
) AS s ON s.source_hash = d.source_hash
ORDER BY s.uris[1];

-- name: token_counts(space_id, source_hashes)
-- Texts are cached by the hash of trail, context and content; contextual models by their group,
-- which counts as missing here.
SELECT
    c.source_hash,
    sum(c.token_count)::bigint AS total,
    coalesce(sum(c.token_count) FILTER (WHERE e.input_hash IS NULL), 0)::bigint AS missing
FROM chunk AS c
LEFT JOIN embedding_cache AS e
    ON e.space_id = :space_id AND e.input_hash = decode(c.content_hash, 'hex')
WHERE c.source_hash = ANY(:source_hashes)
GROUP BY c.source_hash;

-- name: tokens_per_page()$
SELECT sum(c.tokens) / nullif(sum(d.page_count), 0)
FROM (SELECT source_hash, sum(token_count) AS tokens FROM chunk GROUP BY source_hash) AS c
INNER JOIN document AS d ON d.source_hash = c.source_hash
WHERE d.status = 'ready';
