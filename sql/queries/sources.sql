-- name: upsert_source_root(root, include, exclude, tags, readers, origin, project)!
-- A folder of rag.toml that is also named on the command line stays one of rag.toml. Nothing is
-- written where nothing differs.
INSERT INTO source_root (root, include, exclude, tags, readers, origin, project)
VALUES (:root, :include, :exclude, :tags, :readers, :origin, :project)
ON CONFLICT (md5(root)) DO UPDATE
SET include = excluded.include, exclude = excluded.exclude, tags = excluded.tags,
    readers = excluded.readers, origin = excluded.origin,
    project = excluded.project
WHERE (excluded.origin = 'settings' OR source_root.origin = 'command')
    AND (
        source_root.include, source_root.exclude, source_root.tags, source_root.readers,
        source_root.origin, source_root.project
    ) IS DISTINCT FROM (
        excluded.include, excluded.exclude, excluded.tags, excluded.readers, excluded.origin,
        excluded.project
    );

-- name: delete_unconfigured_roots(roots, project)!
DELETE FROM source_root
WHERE origin = 'settings' AND project = :project AND NOT root = ANY(:roots);

-- name: list_source_roots()
SELECT root, include, exclude, tags, readers, origin, project
FROM source_root
ORDER BY added_at, root;

-- name: delete_source_root(root)$
-- Its files go with the next sync's plan.
WITH gone AS (DELETE FROM source_root WHERE md5(root) = md5(:root) RETURNING 1)
SELECT count(*) FROM gone;

-- name: list_sources()
-- Files: rows of databases (sql/queries/relational.sql) are kept in sync on their own.
SELECT uri, root, source_hash, size, modified_ns, tags, readers, etag, verified_ns
FROM source
WHERE NOT starts_with(root, 'relational:');

-- name: insert_documents(source_hashes)!
-- One round trip for all new hashes.
INSERT INTO document (source_hash)
SELECT unnest(:source_hashes::text[])
ON CONFLICT DO NOTHING;

-- name: upsert_sources(rows)!
-- Rows of databases have no files' names.
INSERT INTO source (
    uri, root, source_hash, size, modified_ns, tags, readers, etag, verified_ns, name_lexemes
)
SELECT
    row ->> 'uri', row ->> 'root', row ->> 'source_hash', (row ->> 'size')::bigint,
    (row ->> 'modified_ns')::bigint,
    ARRAY(SELECT jsonb_array_elements_text(row -> 'tags')),
    ARRAY(SELECT jsonb_array_elements_text(row -> 'readers')),
    row ->> 'etag', (row ->> 'verified_ns')::bigint,
    CASE WHEN starts_with(row ->> 'root', 'relational:') THEN '{}'::text[] END
FROM jsonb_array_elements(:rows) AS row
ON CONFLICT (md5(uri)) DO UPDATE
SET root = excluded.root, source_hash = excluded.source_hash, size = excluded.size,
    modified_ns = excluded.modified_ns, tags = excluded.tags, readers = excluded.readers,
    etag = excluded.etag, verified_ns = excluded.verified_ns;

-- name: note_verified(uris, verified_ns)!
UPDATE source SET verified_ns = :verified_ns
WHERE md5(uri) IN (SELECT md5(u) FROM unnest(:uris::text[]) AS u);

-- name: source_hashes()
SELECT DISTINCT source_hash FROM source WHERE NOT starts_with(root, 'relational:');

-- name: has_sources()$
SELECT EXISTS (SELECT 1 FROM source);

-- name: unnamed_sources()
-- Index source_unnamed.
SELECT uri FROM source WHERE name_lexemes IS NULL;

-- name: name_sources(rows)!
UPDATE source AS s
SET name_lexemes = ARRAY(SELECT jsonb_array_elements_text(row -> 'lexemes'))
FROM jsonb_array_elements(:rows) AS row
WHERE md5(s.uri) = md5(row ->> 'uri');

-- name: delete_sources(uris)!
DELETE FROM source
WHERE md5(uri) IN (SELECT md5(u) FROM unnest(:uris::text[]) AS u);

-- name: supersede_documents(old_hashes, new_hashes)!
-- What a changed file held, and what that had superseded, waits for the file's new content.
UPDATE document AS d
SET superseded_by = c.new_hash
FROM unnest(:old_hashes::text[], :new_hashes::text[]) AS c (old_hash, new_hash)
WHERE c.old_hash IN (d.source_hash, d.superseded_by)
    AND NOT EXISTS (SELECT 1 FROM source AS s WHERE s.source_hash = d.source_hash);

-- name: restore_documents()!
-- A file got its old content back.
UPDATE document AS d
SET superseded_by = NULL
WHERE d.superseded_by IS NOT NULL
    AND EXISTS (SELECT 1 FROM source AS s WHERE s.source_hash = d.source_hash);

-- name: delete_orphaned_documents()
-- Documents that no file holds any more, neither themselves nor by a successor that has not landed;
-- chunks and vectors go with them (cascade). A document that is no file's but has chunks stays while
-- it is superseded by one that is not ready.
DELETE FROM document AS d
WHERE NOT EXISTS (SELECT 1 FROM source AS s WHERE s.source_hash = d.source_hash)
    AND NOT (
        d.chunk_count > 0
        AND EXISTS (
            SELECT 1 FROM source AS s
            INNER JOIN document AS n ON n.source_hash = s.source_hash
            WHERE s.source_hash = d.superseded_by AND n.status <> 'ready'
        )
    )
RETURNING d.source_hash;

-- name: note_scan(is_untold)!
UPDATE corpus_statistics SET is_scan_untold = :is_untold WHERE is_scan_untold <> :is_untold;

-- name: is_scan_untold()$
SELECT is_scan_untold FROM corpus_statistics;
