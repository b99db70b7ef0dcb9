-- name: has_roles()$
-- Whether both roles are there, and may what they must.
SELECT coalesce(
    has_table_privilege(to_regrole('rag_reader')::oid, 'posting', 'SELECT')
    AND has_table_privilege(to_regrole('rag_writer')::oid, 'posting', 'INSERT'),
    false
);

-- name: secure_store()$
SELECT secure_store()::text;

-- name: misplaced_chunks()$
-- Chunks among those of other readers than their document's: there are none, or something wrote
-- past the triggers.
SELECT count(*)
FROM chunk AS c
INNER JOIN document AS d ON d.source_hash = c.source_hash
LEFT JOIN posting_bucket AS b ON b.bucket = (c.chunk_id >> 13)::integer
WHERE b.reader_set_id IS DISTINCT FROM d.reader_set_id;
