-- name: relational_rows(root, space_id)
-- What is stored of a relational source: one row a root row, by the primary keys of chunk and
-- chunk_embedding. etag: hash of the row with all below it and of what made its chunks.
SELECT
    s.uri,
    s.etag,
    d.status = 'ready'
        AND d.chunk_count = (
            SELECT count(*) FROM chunk AS c
            INNER JOIN chunk_embedding AS e ON e.chunk_id = c.chunk_id AND e.space_id = :space_id
            WHERE c.source_hash = d.source_hash
        ) AS is_intact
FROM source AS s
INNER JOIN document AS d ON d.source_hash = s.source_hash
WHERE s.root = :root;

-- name: own_relational_source(name, project)$
-- Whose source it is from now on: the project's that named it first.
WITH new AS (
    INSERT INTO relational_source (name, project) VALUES (:name, :project)
    ON CONFLICT DO NOTHING
    RETURNING project
)
SELECT project FROM new
UNION ALL
SELECT project FROM relational_source WHERE name = :name
LIMIT 1;

-- name: unconfigured_relational_sources(project, names)
-- Sources that a project's rag.toml no longer names.
SELECT name FROM relational_source WHERE project = :project AND NOT name = ANY(:names::text[]);

-- name: disown_relational_source(name)!
DELETE FROM relational_source WHERE name = :name;

-- name: align_relational_sources(root, tags, readers)!
-- What rag.toml says of a source holds for the rows that stay as they are, too.
UPDATE source
SET tags = :tags, readers = :readers
WHERE root = :root AND (tags, readers) IS DISTINCT FROM (:tags::text[], :readers::text[]);

-- name: set_relational_etags(uris, etags)!
-- Rows that were touched and are as they were. By the unique index over md5(uri).
UPDATE source AS s
SET etag = n.etag
FROM unnest(:uris::text[], :etags::text[]) AS n (uri, etag)
WHERE md5(s.uri) = md5(n.uri);

-- name: relational_texts(root)
-- What the chunks of a source say, as a hash, and whose they are.
SELECT c.source_hash, sha256(convert_to(c.content, 'UTF8'))
FROM source AS s
INNER JOIN chunk AS c ON c.source_hash = s.source_hash
WHERE s.root = :root;

-- name: relational_vectors(root, space_id)
-- The vectors of a source's chunks, and whose they are.
SELECT c.source_hash, e.embedding
FROM source AS s
INNER JOIN chunk AS c ON c.source_hash = s.source_hash
INNER JOIN chunk_embedding AS e ON e.chunk_id = c.chunk_id AND e.space_id = :space_id
WHERE s.root = :root;

-- name: spent_usd(runs)$
-- Estimated cost of some runs; what has no price counts as nothing.
SELECT coalesce(sum(usd), 0)::float8 FROM usage WHERE run = ANY(:runs::text[]);
