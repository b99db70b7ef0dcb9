-- The word index of our own: postings per lexeme, and what typo correction and filters look up.
-- Why not GIN: it finds the chunks that hold a word but neither how often nor how long they are, so
-- that ranking has to read every one of them. Here a posting carries all that BM25 needs.

-- Chunks by blocks of 8,192 ids: bucket = chunk_id >> 13. Corpus counts, exact at any moment.
CREATE TABLE IF NOT EXISTS posting_bucket (
    bucket integer PRIMARY KEY,
    chunk_count integer NOT NULL,
    lexeme_total bigint NOT NULL,
    -- chunks that are gone while their postings are still there; an id never comes again
    dead_count integer NOT NULL DEFAULT 0
);

-- postings: four bytes a chunk, a big-endian signed integer of
-- (id within the bucket − 4,096) << 19 | occurrences (at most 127) << 12 | words of the chunk (at
-- most 4,095).
CREATE TABLE IF NOT EXISTS posting (
    lexeme text COLLATE "C" NOT NULL,
    bucket integer NOT NULL,
    chunk_count integer NOT NULL,
    postings bytea NOT NULL,
    PRIMARY KEY (lexeme, bucket)
);
-- Long lists lie outside the row and are not compressed: they hardly shrink, and are read whole.
ALTER TABLE posting ALTER COLUMN postings SET STORAGE EXTERNAL;
CREATE INDEX IF NOT EXISTS posting_bucket_key ON posting (bucket);

-- Both in the order of their keys, so that two landings wait for each other and never deadlock.
CREATE OR REPLACE FUNCTION add_postings(added bigint[]) RETURNS void LANGUAGE sql AS $$
    INSERT INTO posting_bucket AS b (bucket, chunk_count, lexeme_total)
    SELECT (chunk_id >> 13)::integer, count(*), sum(lexeme_count)
    FROM chunk WHERE chunk_id = ANY(added)
    GROUP BY 1 ORDER BY 1
    ON CONFLICT (bucket) DO UPDATE
    SET chunk_count = b.chunk_count + excluded.chunk_count,
        lexeme_total = b.lexeme_total + excluded.lexeme_total;

    INSERT INTO posting AS p (lexeme, bucket, chunk_count, postings)
    SELECT
        u.lexeme,
        (c.chunk_id >> 13)::integer,
        count(*),
        string_agg(
            int4send(
                (((c.chunk_id & 8191)::integer - 4096) << 19)
                | (least(coalesce(cardinality(u.positions), 1), 127) << 12)
                | least(c.lexeme_count, 4095)
            ),
            ''
        )
    FROM chunk AS c CROSS JOIN LATERAL unnest(c.search_vector) AS u
    WHERE c.chunk_id = ANY(added)
    GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (lexeme, bucket) DO UPDATE
    SET chunk_count = p.chunk_count + excluded.chunk_count,
        postings = p.postings || excluded.postings;
$$;

-- In the transaction that writes the chunks, whoever does: the index is never behind.
CREATE OR REPLACE FUNCTION index_new_chunks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM add_postings((SELECT array_agg(chunk_id) FROM new_chunk));
    RETURN NULL;
END
$$;

-- Only counted: the postings go when their bucket is written anew (compact_postings).
CREATE OR REPLACE FUNCTION count_old_chunks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM posting_bucket
    WHERE bucket IN (SELECT (chunk_id >> 13)::integer FROM old_chunk)
    ORDER BY bucket FOR UPDATE;
    UPDATE posting_bucket AS b
    SET chunk_count = b.chunk_count - d.chunk_count,
        lexeme_total = b.lexeme_total - d.lexeme_total,
        dead_count = b.dead_count + d.chunk_count
    FROM (
        SELECT
            (chunk_id >> 13)::integer AS bucket,
            count(*) AS chunk_count,
            sum(lexeme_count) AS lexeme_total
        FROM old_chunk GROUP BY 1
    ) AS d
    WHERE b.bucket = d.bucket;
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER chunk_inserted AFTER INSERT ON chunk
REFERENCING NEW TABLE AS new_chunk FOR EACH STATEMENT EXECUTE FUNCTION index_new_chunks();
CREATE OR REPLACE TRIGGER chunk_deleted AFTER DELETE ON chunk
REFERENCING OLD TABLE AS old_chunk FOR EACH STATEMENT EXECUTE FUNCTION count_old_chunks();

-- Write buckets anew of whose chunks more than one in ten are gone; return how many it wrote.
CREATE OR REPLACE FUNCTION compact_postings() RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    worn integer;
    compacted integer := 0;
BEGIN
    FOR worn IN
        SELECT bucket FROM posting_bucket WHERE dead_count * 10 > chunk_count
        ORDER BY bucket FOR UPDATE
    LOOP
        DELETE FROM posting WHERE bucket = worn;
        DELETE FROM posting_bucket WHERE bucket = worn;
        PERFORM add_postings((
            SELECT array_agg(chunk_id) FROM chunk
            WHERE chunk_id >= worn::bigint << 13 AND chunk_id < (worn + 1)::bigint << 13
        ));
        compacted := compacted + 1;
    END LOOP;
    RETURN compacted;
END
$$;

-- What was stored before this index was there.
DO $$
DECLARE
    missing integer;
BEGIN
    FOR missing IN
        SELECT DISTINCT (chunk_id >> 13)::integer AS bucket FROM chunk
        WHERE NOT EXISTS (SELECT 1 FROM posting_bucket)
        ORDER BY bucket
    LOOP
        PERFORM add_postings((
            SELECT array_agg(chunk_id) FROM chunk
            WHERE chunk_id >= missing::bigint << 13 AND chunk_id < (missing + 1)::bigint << 13
        ));
    END LOOP;
END
$$;

DROP INDEX IF EXISTS chunk_search_vector;

-- Words that differ from a misspelt one by two letters; by one: looked up by the primary key.
CREATE INDEX IF NOT EXISTS lexeme_trigrams ON lexeme USING gin (lexeme gin_trgm_ops)
WHERE length(lexeme) BETWEEN 5 AND 40;
-- Words that begin alike, in the order of code points whatever the database's collation is.
CREATE INDEX IF NOT EXISTS lexeme_prefix ON lexeme (lexeme text_pattern_ops);

-- Filters.
CREATE INDEX IF NOT EXISTS chunk_metadata ON chunk USING gin (metadata jsonb_path_ops);
CREATE INDEX IF NOT EXISTS document_language ON document (language) WHERE chunk_count > 0;
