-- name: corpus()^
SELECT chunk_count, lexeme_total FROM corpus_statistics;

-- name: document_frequencies(lexemes)
-- Primary key of lexeme.
SELECT lexeme, document_frequency FROM lexeme WHERE lexeme = ANY(:lexemes);

-- name: text_candidates(query, lexemes, inverse_frequencies, average_length, candidates, limit)
-- BM25 (k1 1.2, b 0.75) over the candidates only. GIN chunk_search_vector gives the candidates that
-- hold one of the rarer words; all the query's words then count.
WITH term AS MATERIALIZED (
    SELECT * FROM unnest(:lexemes::text[], :inverse_frequencies::float8[]) AS t (lexeme, idf)
),
candidate AS MATERIALIZED (
    SELECT chunk_id, search_vector, lexeme_count
    FROM chunk
    WHERE search_vector @@ :query::tsquery
    -- Only a query of nothing but frequent words reaches this bound; their weight is near nothing.
    LIMIT :candidates
)
SELECT
    c.chunk_id,
    sum(
        t.idf * 2.2 * v.frequency
        / (v.frequency + 1.2 * (0.25 + 0.75 * c.lexeme_count / :average_length::float8))
    ) AS score
FROM candidate AS c
CROSS JOIN LATERAL (
    SELECT u.lexeme, cardinality(u.positions) AS frequency
    FROM unnest(c.search_vector) AS u
) AS v
INNER JOIN term AS t ON t.lexeme = v.lexeme
GROUP BY c.chunk_id
ORDER BY score DESC, c.chunk_id
LIMIT :limit;

-- name: vector_candidates(space_id, embedding, limit)
-- The partial HNSW index of the space. {dimensions} is filled in as a literal: an index on an
-- expression is used only by the very same expression.
SELECT
    chunk_id,
    1 - (embedding::halfvec({dimensions}) <=> :embedding::halfvec({dimensions})) AS similarity
FROM chunk_embedding
WHERE space_id = :space_id
ORDER BY embedding::halfvec({dimensions}) <=> :embedding::halfvec({dimensions})
LIMIT :limit;

-- name: found_chunks(chunk_ids)
SELECT
    c.chunk_id, c.source_hash, s.uri, d.title, d.page_count, c.chunk_index, c.kind,
    c.breadcrumb_trail, c.content, c.page_start, c.page_end, c.regions, c.language, c.metadata
FROM chunk AS c
INNER JOIN document AS d ON d.source_hash = c.source_hash
INNER JOIN LATERAL (
    SELECT min(uri) AS uri FROM source
    WHERE source.source_hash IN (c.source_hash, d.superseded_by)
) AS s ON s.uri IS NOT NULL
WHERE c.chunk_id = ANY(:chunk_ids);

-- name: corpus_languages()
SELECT language, count(*) FROM document WHERE chunk_count > 0 GROUP BY language ORDER BY 2 DESC;
