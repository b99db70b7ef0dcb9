-- Small work in small time: what one edited page writes, and whether Dagster knows of a scan.

-- Whether files changed since a scan was last told to Dagster: set in the transaction that writes the
-- files, so that the successor of a killed sync, or of one without Dagster, tells it.
ALTER TABLE corpus_statistics
ADD COLUMN IF NOT EXISTS is_scan_untold boolean NOT NULL DEFAULT true;

-- A posting list without some of its postings, each four bytes (003_search.sql).
CREATE OR REPLACE FUNCTION without_postings(list bytea, gone bytea[]) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    one bytea;
    found integer;
    place integer;
BEGIN
    FOREACH one IN ARRAY gone LOOP
        place := 0;
        LOOP
            found := position(one IN substring(list FROM place + 1));
            EXIT WHEN found = 0;
            place := place + found;
            IF place % 4 = 1 THEN  -- not across two postings
                list := substring(list FOR place - 1) || substring(list FROM place + 4);
                EXIT;
            END IF;
        END LOOP;
    END LOOP;
    RETURN list;
END
$$;

-- Postings of few gone chunks go at once, as those of new ones come: word by word. Where more than one
-- chunk in ten of a bucket goes, they are only counted, and go when the bucket is written anew
-- (compact_postings). Rows are locked in the order of their keys, as by add_postings.
CREATE OR REPLACE FUNCTION count_old_chunks() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    one record;
    entry record;
BEGIN
    FOR one IN
        SELECT
            b.bucket, b.chunk_count, d.gone, d.lexemes,
            d.gone * 10 <= b.chunk_count AS is_little
        FROM posting_bucket AS b
        INNER JOIN (
            SELECT
                (chunk_id >> 13)::integer AS bucket,
                count(*) AS gone,
                sum(lexeme_count) AS lexemes
            FROM old_chunk GROUP BY 1
        ) AS d ON d.bucket = b.bucket
        ORDER BY b.bucket FOR UPDATE OF b
    LOOP
        UPDATE posting_bucket
        SET chunk_count = chunk_count - one.gone, lexeme_total = lexeme_total - one.lexemes,
            dead_count = dead_count + CASE WHEN one.is_little THEN 0 ELSE one.gone END
        WHERE bucket = one.bucket;
        CONTINUE WHEN NOT one.is_little;
        FOR entry IN
            SELECT
                u.lexeme,
                array_agg(
                    int4send(
                        (((c.chunk_id & 8191)::integer - 4096) << 19)
                        | (least(coalesce(cardinality(u.positions), 1), 127) << 12)
                        | least(c.lexeme_count, 4095)
                    )
                ) AS postings
            FROM old_chunk AS c CROSS JOIN LATERAL unnest(c.search_vector) AS u
            WHERE (c.chunk_id >> 13)::integer = one.bucket
            GROUP BY u.lexeme ORDER BY u.lexeme COLLATE "C"
        LOOP
            DELETE FROM posting
            WHERE lexeme = entry.lexeme AND bucket = one.bucket
                AND chunk_count = cardinality(entry.postings);
            CONTINUE WHEN FOUND;
            UPDATE posting
            SET chunk_count = chunk_count - cardinality(entry.postings),
                postings = without_postings(postings, entry.postings)
            WHERE lexeme = entry.lexeme AND bucket = one.bucket;
        END LOOP;
    END LOOP;
    RETURN NULL;
END
$$;

-- The documents whose chunks a landing replaces: itself, and those that waited for it without a file
-- of their own.
CREATE OR REPLACE FUNCTION replaced_documents(landing text) RETURNS TABLE (source_hash text)
LANGUAGE sql STABLE AS $$
    SELECT landing
    UNION ALL
    SELECT d.source_hash FROM document AS d
    WHERE d.superseded_by = landing AND d.source_hash <> landing
        AND NOT EXISTS (SELECT 1 FROM source AS s WHERE s.source_hash = d.source_hash)
$$;

-- Readers call neither; whoever writes does.
REVOKE EXECUTE ON FUNCTION replaced_documents(text), without_postings(bytea, bytea[]) FROM PUBLIC;
DO $$
BEGIN
    IF to_regprocedure('secure_tables()') IS NULL THEN
        ALTER FUNCTION secure_store() RENAME TO secure_tables;
    END IF;
END
$$;
CREATE OR REPLACE FUNCTION secure_store() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM secure_tables();
    GRANT EXECUTE ON FUNCTION replaced_documents(text), without_postings(bytea, bytea[])
        TO rag_writer;
END
$$;
REVOKE EXECUTE ON FUNCTION secure_store(), secure_tables() FROM PUBLIC;
