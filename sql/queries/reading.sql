-- name: find_documents(wanted)
-- A document by its whole hash (primary key), by the beginning of its hash, by a path or by a
-- file's name. Relational rows have no pages to look at, but chunks to read. At most a few rows:
-- the caller says which ones are meant where there are several.
SELECT
    d.source_hash, f.uris, f.roots, f.tags, d.title, d.page_count, d.language, d.status,
    d.chunk_count, d.fingerprints
FROM document AS d
INNER JOIN LATERAL (
    SELECT
        array_agg(s.uri ORDER BY s.uri) AS uris,
        array_agg(s.root ORDER BY s.uri) AS roots,
        (array_agg(to_jsonb(s.tags) ORDER BY s.uri))[1] AS tags
    FROM source AS s
    WHERE s.source_hash IN (d.source_hash, d.superseded_by)
) AS f ON f.uris IS NOT NULL
WHERE d.source_hash IN (
    SELECT s.source_hash FROM source AS s
    WHERE s.uri = :wanted OR substring(s.uri FROM '[^/\\]*$') = :wanted
    UNION
    SELECT e.source_hash FROM document AS e
    WHERE length(:wanted) >= 8 AND starts_with(e.source_hash, :wanted)
)
ORDER BY f.uris[1], d.source_hash
LIMIT 20;

-- name: read_chunks(source_hash, first, last)
-- Key (source_hash, chunk_index) of chunk.
SELECT
    chunk_id, chunk_index, kind, breadcrumb_trail, content, page_start, page_end, regions
FROM chunk
WHERE source_hash = :source_hash AND chunk_index BETWEEN :first AND :last
ORDER BY chunk_index;

-- name: list_trails(source_hash)
-- Key (source_hash, chunk_index) of chunk.
SELECT chunk_index, breadcrumb_trail, page_start
FROM chunk
WHERE source_hash = :source_hash
ORDER BY chunk_index;

-- name: locate_chunk(source_hash, chunk_id)$
-- Primary key of chunk.
SELECT chunk_index FROM chunk WHERE chunk_id = :chunk_id AND source_hash = :source_hash;

-- name: chunks_saying(source_hash, words)
-- A heading whose section was merged with its neighbours: the chunk that shows it.
SELECT chunk_index
FROM chunk
WHERE source_hash = :source_hash AND position(:words IN content) > 0
ORDER BY chunk_index
LIMIT 1;

-- name: document_tags()
-- For the list of sources; a document has the tags of all its files.
SELECT s.source_hash, array_agg(DISTINCT tag ORDER BY tag) AS tags
FROM source AS s CROSS JOIN LATERAL unnest(s.tags) AS tag
GROUP BY s.source_hash;
