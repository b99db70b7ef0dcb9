-- name: insert_space(provider, model, dimensions, version)!
-- The first space is active at once; later ones are built beside it.
INSERT INTO embedding_space (provider, model, dimensions, version, state)
SELECT :provider, :model, :dimensions, :version,
    CASE WHEN EXISTS (SELECT 1 FROM embedding_space WHERE state = 'active') THEN 'building'
        ELSE 'active' END
ON CONFLICT DO NOTHING;

-- name: find_space(provider, model, dimensions, version)^
SELECT space_id, provider, model, dimensions, state
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
