-- name: lock_sync()$
SELECT pg_try_advisory_lock(hashtextextended('rag_pipeline sync', 0));

-- name: compact_postings()$
SELECT compact_postings();

-- name: fill_lexemes()!
-- Rows that stayed the same are not written again: the trigram index is dear to keep.
INSERT INTO lexeme AS l (lexeme, document_frequency)
SELECT lexeme, sum(chunk_count) FROM posting GROUP BY lexeme
ON CONFLICT (lexeme) DO UPDATE SET document_frequency = excluded.document_frequency
WHERE l.document_frequency <> excluded.document_frequency;

-- name: drop_lexemes()!
DELETE FROM lexeme AS l WHERE NOT EXISTS (SELECT 1 FROM posting AS p WHERE p.lexeme = l.lexeme);

-- name: refresh_corpus_statistics()!
INSERT INTO corpus_statistics (one_row, chunk_count, lexeme_total, refreshed_at)
SELECT true, coalesce(sum(chunk_count), 0), coalesce(sum(lexeme_total), 0), now()
FROM posting_bucket
ON CONFLICT (one_row) DO UPDATE
SET is_stale = false, chunk_count = excluded.chunk_count, lexeme_total = excluded.lexeme_total,
    refreshed_at = excluded.refreshed_at;

-- name: mark_statistics_stale()!
UPDATE corpus_statistics SET is_stale = true WHERE NOT is_stale;

-- name: are_statistics_stale()$
SELECT is_stale FROM corpus_statistics;

-- name: count_everything()^
SELECT
    (SELECT count(*) FROM source) AS files,
    (SELECT count(*) FROM document AS d WHERE EXISTS (
        SELECT 1 FROM source AS s WHERE s.source_hash = d.source_hash
    )) AS documents,
    (SELECT count(*) FROM document WHERE status = 'ready' AND superseded_by IS NULL) AS ready,
    (SELECT count(*) FROM document WHERE status = 'failed') AS failed,
    (
        SELECT coalesce(sum(page_count), 0)::bigint FROM document
        WHERE status = 'ready' AND superseded_by IS NULL
    ) AS pages,
    (SELECT count(*) FROM chunk) AS chunks,
    -- Of one space, as a chunk has a vector in each: the active one, before it is there the newest.
    (SELECT count(*) FROM chunk_embedding WHERE space_id = (
        SELECT space_id FROM embedding_space ORDER BY state = 'active' DESC, space_id DESC LIMIT 1
    )) AS vectors,
    -- Of everybody's rows: readers are not told.
    CASE WHEN row_security_active('document') THEN 0
        ELSE pg_database_size(current_database()) END AS database_bytes;
