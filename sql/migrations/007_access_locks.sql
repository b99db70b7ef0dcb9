-- Landings into the same set of readers wait for each other, but not for the key locks of documents
-- that refer to it: two transactions that each change a document and then land one would deadlock.
CREATE OR REPLACE FUNCTION allocate_chunk_ids(target integer, wanted integer) RETURNS SETOF bigint
LANGUAGE plpgsql AS $$
DECLARE
    bucket_open integer;
    ids_used integer;
    part integer;
BEGIN
    IF target = 1 THEN
        RETURN QUERY SELECT nextval(pg_get_serial_sequence('chunk', 'chunk_id'))
        FROM generate_series(1, wanted);
        RETURN;
    END IF;
    SELECT open_bucket, used INTO bucket_open, ids_used
    FROM reader_set WHERE reader_set_id = target FOR NO KEY UPDATE;
    WHILE wanted > 0 LOOP
        IF bucket_open IS NULL OR ids_used = 8192 THEN
            bucket_open := nextval('restricted_bucket');
            ids_used := 0;
            INSERT INTO posting_bucket (bucket, chunk_count, lexeme_total, reader_set_id)
            VALUES (bucket_open, 0, 0, target);
        END IF;
        part := least(wanted, 8192 - ids_used);
        RETURN QUERY SELECT (bucket_open::bigint << 13) + place
        FROM generate_series(ids_used, ids_used + part - 1) AS place;
        ids_used := ids_used + part;
        wanted := wanted - part;
    END LOOP;
    UPDATE reader_set SET open_bucket = bucket_open, used = ids_used WHERE reader_set_id = target;
END
$$;
