-- name: insert_space(provider, model, dimensions, version)!
-- The first space is active at once; later ones are built beside it.
INSERT INTO embedding_space (provider, model, dimensions, version, state)
SELECT :provider, :model, :dimensions, :version,
    CASE WHEN EXISTS (SELECT 1 FROM embedding_space WHERE state = 'active') THEN 'building'
        ELSE 'active' END
ON CONFLICT DO NOTHING;

-- name: find_space(provider, model, dimensions, version)^
SELECT space_id, provider, model, dimensions, state, pinned, version
FROM embedding_space
WHERE provider = :provider AND model = :model AND dimensions = :dimensions
    AND version = :version;

-- name: retire_active_space(space_id)!
UPDATE embedding_space SET state = 'retired' WHERE state = 'active' AND space_id <> :space_id;

-- name: activate_space(space_id)!
UPDATE embedding_space SET state = 'active' WHERE space_id = :space_id;

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
SELECT space_id, provider, model, dimensions, state, pinned, version
FROM embedding_space
ORDER BY state = 'active' DESC, created_at;

-- name: active_space()^
SELECT space_id, provider, model, dimensions, state, pinned, version
FROM embedding_space WHERE state = 'active';

-- name: pin_space(space_id)!
UPDATE embedding_space SET pinned = (space_id IS NOT DISTINCT FROM :space_id::integer)
WHERE pinned OR space_id = :space_id::integer;

-- name: delete_space(space_id)!
DELETE FROM embedding_space WHERE space_id = :space_id;

-- name: count_other_spaces(space_id)$
SELECT count(*) FROM embedding_space WHERE space_id <> :space_id;

-- name: keep_other_vectors(source_hash, space_id)!
-- Vectors of the other spaces, by the text that they were made from, before its chunks are replaced.
CREATE TEMPORARY TABLE kept_vector ON COMMIT DROP AS
SELECT DISTINCT ON (c.content_hash, e.space_id) c.content_hash, e.space_id, e.embedding
FROM chunk AS c
INNER JOIN chunk_embedding AS e ON e.chunk_id = c.chunk_id
WHERE c.source_hash = :source_hash AND e.space_id <> :space_id;

-- name: restore_other_vectors(source_hash, space_id)!
-- From the replaced chunks, or from the cache, whose key is the hash of the same text.
INSERT INTO chunk_embedding (chunk_id, space_id, embedding)
SELECT c.chunk_id, k.space_id, k.embedding
FROM chunk AS c INNER JOIN kept_vector AS k ON k.content_hash = c.content_hash
WHERE c.source_hash = :source_hash
UNION ALL
SELECT c.chunk_id, e.space_id, e.embedding
FROM chunk AS c
INNER JOIN embedding_cache AS e ON e.input_hash = decode(c.content_hash, 'hex')
WHERE c.source_hash = :source_hash AND e.space_id <> :space_id
ON CONFLICT DO NOTHING;

-- name: drop_kept_vectors()!
DROP TABLE kept_vector;

-- name: lacking_vectors(space_id)$
SELECT count(*)
FROM chunk AS c
WHERE NOT EXISTS (
    SELECT 1 FROM chunk_embedding AS e
    WHERE e.chunk_id = c.chunk_id AND e.space_id = :space_id
);
