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

-- name: relational_roots()
-- Roots of all relational sources that anything is stored of.
SELECT DISTINCT root FROM source WHERE starts_with(root, 'relational:') ORDER BY root;
