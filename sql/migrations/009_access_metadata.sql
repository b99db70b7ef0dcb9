-- Chunks by metadata under row-level security, which allows no index for such a condition: with the
-- owner's rights, and the same condition as the policies' inside. `@@` raises no error on a row.
CREATE OR REPLACE FUNCTION visible_chunks_with(condition jsonpath, at_most integer)
RETURNS SETOF bigint LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
BEGIN
    RETURN QUERY
    SELECT c.chunk_id FROM chunk AS c
    WHERE c.metadata @@ condition
        AND (c.chunk_id >> 13)::integer IN (
            SELECT b.bucket FROM posting_bucket AS b
            INNER JOIN reader_set AS r ON r.reader_set_id = b.reader_set_id
            WHERE r.readers && (SELECT rag_principals())
        )
    LIMIT at_most;
END
$$;

-- Temporary tables come last: nobody can put one in the place of ours.
DO $$
BEGIN
    EXECUTE format(
        'ALTER FUNCTION visible_chunks_with(jsonpath, integer) SET search_path = %I, pg_temp',
        current_schema()
    );
END
$$;
