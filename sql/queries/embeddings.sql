-- name: insert_space(provider, model, dimensions, version)!
-- The first space is active at once; later ones are built beside it.
INSERT INTO embedding_space (provider, model, dimensions, version, state)
SELECT :provider, :model, :dimensions, :version,
    CASE WHEN EXISTS (SELECT 1 FROM embedding_space WHERE state = 'active') THEN 'building'
        ELSE 'active' END
ON CONFLICT DO NOTHING;

-- name: find_space(provider, model, dimensions, version)^
SELECT space_id, provider, model, dimensions, state, pinned, version, is_filling
FROM embedding_space
WHERE provider = :provider AND model = :model AND dimensions = :dimensions
    AND version = :version;

-- name: retire_active_space(space_id)!
-- Nobody keeps count of a retired space.
UPDATE embedding_space SET state = 'retired', is_filling = true
WHERE state = 'active' AND space_id <> :space_id;

-- name: activate_space(space_id)!
UPDATE embedding_space SET state = 'active' WHERE space_id = :space_id;

-- name: note_filling(source_hashes)!
-- In the transaction that lands documents: spaces in which their chunks lack a vector.
UPDATE embedding_space AS s SET is_filling = true
WHERE NOT s.is_filling AND s.state <> 'retired'
    AND EXISTS (
        SELECT 1 FROM chunk AS c
        WHERE c.source_hash = ANY(:source_hashes::text[]) AND NOT EXISTS (
            SELECT 1 FROM chunk_embedding AS e
            WHERE e.chunk_id = c.chunk_id AND e.space_id = s.space_id
        )
    );

-- name: end_filling()!
UPDATE embedding_space AS s SET is_filling = false
WHERE s.is_filling AND s.state <> 'retired'
    AND NOT EXISTS (
        SELECT 1 FROM chunk AS c WHERE NOT EXISTS (
            SELECT 1 FROM chunk_embedding AS e
            WHERE e.chunk_id = c.chunk_id AND e.space_id = s.space_id
        )
    );

-- name: cached_embeddings(space_id, input_hashes)
SELECT input_hash, embedding
FROM embedding_cache
WHERE space_id = :space_id AND input_hash = ANY(:input_hashes);

-- name: create_cache_load()#
CREATE TEMPORARY TABLE IF NOT EXISTS embedding_cache_load (
    space_id integer, input_hash bytea, embedding halfvec
) ON COMMIT DELETE ROWS;

-- name: copy_cache_load()#
COPY embedding_cache_load (space_id, input_hash, embedding) FROM STDIN (FORMAT binary);

-- name: merge_cache_load()!
INSERT INTO embedding_cache SELECT * FROM embedding_cache_load ON CONFLICT DO NOTHING;

-- name: has_index(index_name)$
SELECT EXISTS (
    SELECT 1 FROM pg_index AS i INNER JOIN pg_class AS c ON c.oid = i.indexrelid
    WHERE c.relname = :index_name AND i.indisvalid
);

-- name: count_space_vectors(space_id)$
SELECT count(*) FROM chunk_embedding WHERE space_id = :space_id;

-- name: count_spaces()
SELECT
    s.space_id,
    (SELECT count(*) FROM chunk_embedding AS e WHERE e.space_id = s.space_id) AS vectors,
    (SELECT count(*) FROM embedding_cache AS c WHERE c.space_id = s.space_id) AS cached,
    (SELECT count(*) FROM chunk) AS chunks
FROM embedding_space AS s;

-- name: known_spaces()
SELECT space_id, provider, model, dimensions, state, pinned, version, is_filling
FROM embedding_space
ORDER BY state = 'active' DESC, created_at;

-- name: active_space()^
SELECT space_id, provider, model, dimensions, state, pinned, version, is_filling
FROM embedding_space WHERE state = 'active';

-- name: pin_space(space_id)!
UPDATE embedding_space SET pinned = (space_id IS NOT DISTINCT FROM :space_id::integer)
WHERE pinned OR space_id = :space_id::integer;

-- name: delete_space(space_id)!
DELETE FROM embedding_space WHERE space_id = :space_id;

-- name: count_other_spaces(space_id)$
SELECT count(*) FROM embedding_space WHERE space_id <> :space_id;

-- name: keep_other_vectors(source_hashes, space_id)!
-- Vectors of the other spaces, by the text that they were made from, before chunks are replaced.
CREATE TEMPORARY TABLE kept_vector ON COMMIT DROP AS
SELECT DISTINCT ON (n.source_hash, c.content_hash, e.space_id)
    n.source_hash, c.content_hash, e.space_id, e.embedding
FROM unnest(:source_hashes::text[]) AS n (source_hash)
CROSS JOIN LATERAL replaced_documents(n.source_hash) AS r
INNER JOIN chunk AS c ON c.source_hash = r.source_hash
INNER JOIN chunk_embedding AS e ON e.chunk_id = c.chunk_id
WHERE e.space_id <> :space_id;

-- name: restore_other_vectors()!
INSERT INTO chunk_embedding (chunk_id, space_id, embedding)
SELECT c.chunk_id, k.space_id, k.embedding
FROM kept_vector AS k
INNER JOIN chunk AS c ON c.source_hash = k.source_hash AND c.content_hash = k.content_hash
ON CONFLICT DO NOTHING;

-- name: forget_kept_vectors(space_id, source_hashes)!
-- Of a model that reads chunks in context: those of chunks that stayed are others as well.
DELETE FROM chunk_embedding AS e
USING chunk_load AS l
WHERE l.is_kept AND l.source_hash = ANY(:source_hashes::text[])
    AND e.chunk_id = l.chunk_id AND e.space_id = :space_id;

-- name: take_cached_vectors(source_hashes, besides)!
-- Of every space but one (NULL = of all): the cache's key is the hash of the same text. The key of a
-- model that reads chunks in context is another, so nothing is found for it.
INSERT INTO chunk_embedding (chunk_id, space_id, embedding)
SELECT c.chunk_id, s.space_id, e.embedding
FROM embedding_space AS s
CROSS JOIN chunk AS c
CROSS JOIN LATERAL (
    SELECT one.embedding FROM embedding_cache AS one
    WHERE one.space_id = s.space_id AND one.input_hash = decode(c.content_hash, 'hex')
    LIMIT 1
) AS e
WHERE c.source_hash = ANY(:source_hashes::text[])
    AND s.space_id IS DISTINCT FROM :besides::integer
    AND NOT EXISTS (
        SELECT 1 FROM chunk_embedding AS there
        WHERE there.chunk_id = c.chunk_id AND there.space_id = s.space_id
    )
ON CONFLICT DO NOTHING;

-- name: drop_kept_vectors()!
DROP TABLE kept_vector;

-- name: vector_coverage(space_id)^
SELECT count(*) AS chunks, count(e.chunk_id) AS vectors
FROM chunk AS c
LEFT JOIN chunk_embedding AS e ON e.chunk_id = c.chunk_id AND e.space_id = :space_id;

-- name: unembedded_tokens(source_hashes, space_id)$
SELECT coalesce(sum(c.token_count), 0)
FROM chunk AS c
LEFT JOIN chunk_embedding AS e ON e.chunk_id = c.chunk_id AND e.space_id = :space_id
WHERE c.source_hash = ANY(:source_hashes) AND e.chunk_id IS NULL;

-- name: chunks_to_embed(source_hashes, space_id)
SELECT
    c.source_hash, c.chunk_id, c.breadcrumb_trail, c.context, c.content, c.token_count,
    e.chunk_id IS NOT NULL AS has_vector
FROM chunk AS c
LEFT JOIN chunk_embedding AS e ON e.chunk_id = c.chunk_id AND e.space_id = :space_id
WHERE c.source_hash = ANY(:source_hashes::text[])
ORDER BY c.source_hash, c.chunk_index;

-- name: create_vector_load()#
CREATE TEMPORARY TABLE IF NOT EXISTS vector_load (
    chunk_id bigint, embedding halfvec
) ON COMMIT DELETE ROWS;

-- name: copy_vector_load()#
COPY vector_load (chunk_id, embedding) FROM STDIN (FORMAT binary);

-- name: merge_vector_load(space_id)!
-- Locked, so that a chunk that is deleted meanwhile is left out.
INSERT INTO chunk_embedding (chunk_id, space_id, embedding)
SELECT l.chunk_id, :space_id, l.embedding
FROM vector_load AS l INNER JOIN chunk AS c ON c.chunk_id = l.chunk_id
FOR KEY SHARE OF c
ON CONFLICT DO NOTHING;
