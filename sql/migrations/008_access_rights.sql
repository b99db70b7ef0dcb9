-- The rights of rag_reader once more: of sets of readers it sees the numbers, not the names.
CREATE OR REPLACE FUNCTION secure_store() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    one text;
    here text := current_schema();
BEGIN
    FOREACH one IN ARRAY ARRAY['rag_reader', 'rag_writer'] LOOP
        IF to_regrole(one) IS NULL THEN
            BEGIN
                EXECUTE format('CREATE ROLE %I NOLOGIN', one);
            EXCEPTION WHEN duplicate_object OR unique_violation THEN
                NULL;  -- made for another database at this moment
            END;
        END IF;
        -- A superuser may take any role; who made the role may not before it is given to him.
        IF NOT pg_has_role(
            current_user, to_regrole(one)::oid,
            CASE WHEN current_setting('server_version_num')::integer < 160000 THEN 'MEMBER'
                ELSE 'SET' END
        ) THEN
            EXECUTE format('GRANT %I TO CURRENT_USER', one);
        END IF;
        EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', here, one);
    END LOOP;
    GRANT SELECT ON source_root, document, source, chunk, embedding_space, chunk_embedding, section,
        posting, posting_bucket, login_principal, rag_documents TO rag_reader;
    -- Not who else may read what one may, nor how many chunks all of them may.
    REVOKE SELECT ON reader_set FROM rag_reader;
    GRANT SELECT (reader_set_id) ON reader_set TO rag_reader;
    IF to_regclass('relational_source') IS NOT NULL THEN
        ALTER TABLE relational_source ENABLE ROW LEVEL SECURITY;
    END IF;
    GRANT USAGE, SELECT ON SEQUENCE restricted_bucket TO rag_writer;
    FOR one IN
        SELECT relname FROM pg_class
        WHERE relnamespace = here::regnamespace AND relkind IN ('r', 'p') AND relrowsecurity
    LOOP
        EXECUTE format('GRANT SELECT ON %I TO rag_writer', one);
        CONTINUE WHEN one IN ('login_principal', 'schema_migration');
        EXECUTE format('GRANT INSERT, UPDATE, DELETE ON %I TO rag_writer', one);
        EXECUTE format('DROP POLICY IF EXISTS writing ON %I', one);
        EXECUTE format(
            'CREATE POLICY writing ON %I TO rag_writer USING (true) WITH CHECK (true)', one
        );
    END LOOP;
    -- Identity columns need no right on their sequence, nextval by name does.
    FOR one IN
        SELECT s.oid::regclass::text FROM pg_class AS s
        INNER JOIN pg_depend AS d ON d.objid = s.oid AND d.deptype = 'i'
        INNER JOIN pg_class AS t ON t.oid = d.refobjid AND t.relrowsecurity
        WHERE s.relkind = 'S' AND t.relnamespace = here::regnamespace
    LOOP
        EXECUTE format('GRANT USAGE, SELECT ON SEQUENCE %s TO rag_writer', one);
    END LOOP;
    GRANT EXECUTE ON FUNCTION rag_principals(), known_lexemes(text[]),
        lexemes_between(text, text, integer), similar_lexemes(text, integer, integer),
        visible_similar_lexemes(text, integer, integer) TO rag_reader, rag_writer;
    GRANT EXECUTE ON FUNCTION normal_readers(text[]), common_readers(text[], text[]),
        wanted_readers(text[]), assign_readers(text[]), move_chunks(text[]),
        allocate_chunk_ids(integer, integer), add_postings(bigint[]), rewrite_bucket(integer),
        compact_postings() TO rag_writer;
END
$$;
