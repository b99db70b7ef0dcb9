-- name: chunks_to_ask_about(count, seed)
-- Chunks of some length, as many from each document as from any other, the same ones for the same
-- seed. Reads all chunks once: for drafting questions, not for searches.
WITH candidate AS (
    SELECT
        c.chunk_id, c.source_hash, c.breadcrumb_trail, c.content, c.page_start, c.page_end,
        c.language,
        row_number() OVER (
            PARTITION BY c.source_hash ORDER BY md5(c.chunk_id::text || :seed::text)
        ) AS place
    FROM chunk AS c
    WHERE length(c.content) >= 80
)
SELECT
    s.uri, c.breadcrumb_trail, c.content, c.page_start, c.page_end, c.language
FROM candidate AS c
INNER JOIN LATERAL (
    SELECT min(uri) AS uri FROM source WHERE source.source_hash = c.source_hash
) AS s ON s.uri IS NOT NULL
ORDER BY c.place, md5(c.source_hash || :seed::text)
LIMIT :count;
