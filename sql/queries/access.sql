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

-- name: set_root_readers(root, readers)!
-- Of a source whose rows are not looked at one by one; nothing is written where nothing differs.
UPDATE source SET readers = :readers
WHERE root = :root AND readers IS DISTINCT FROM :readers;
