-- name: posting_buckets()
-- Some hundred rows at a million chunks.
SELECT bucket, chunk_count, lexeme_total, dead_count FROM posting_bucket ORDER BY bucket;

-- name: document_frequencies(lexemes)
-- Primary key of posting.
SELECT lexeme, sum(chunk_count)::bigint AS document_frequency
FROM posting WHERE lexeme = ANY(:lexemes) GROUP BY lexeme;

-- name: postings(lexemes)
-- Primary key of posting; read in binary.
SELECT lexeme, bucket, postings FROM posting WHERE lexeme = ANY(:lexemes);

-- name: named_documents(lexemes, most)
-- GIN source_name_lexemes, then the keys of document. A word in more names than `most` names no
-- file; names of files that have not landed count, too. What a file held stays its own until its
-- new content has landed.
SELECT f.lexeme, d.source_hash, d.chunk_count
FROM (
    SELECT lexeme, source_hash, count(*) OVER (PARTITION BY lexeme) AS files
    FROM named_sources(:lexemes, :most + 1)
) AS f
CROSS JOIN LATERAL (
    SELECT n.source_hash, n.chunk_count FROM document AS n WHERE n.source_hash = f.source_hash
    UNION
    SELECT n.source_hash, n.chunk_count FROM document AS n WHERE n.superseded_by = f.source_hash
) AS d
WHERE f.files <= :most AND d.chunk_count > 0;

-- name: chunks_of(source_hashes)
-- Key (source_hash, chunk_index) of chunk. Up to 20,000 chunks: an array a document.
SELECT source_hash, array_agg(chunk_id) AS chunk_ids FROM chunk
WHERE source_hash = ANY(:source_hashes)
GROUP BY source_hash;

-- name: ranks_within(chunk_ids, words)
-- For words that too many chunks have: ts_rank of a query of one word, which looks the word up by
-- binary search, tells how often these few chunks have it. The sum with nothing makes a copy, so that
-- a vector is read and unpacked once, not twice a word.
SELECT
    c.chunk_id, w.number, ts_rank('{1, 1, 1, 1}', c.search_vector, w.word) AS rank, c.lexeme_count
FROM (
    SELECT chunk_id, search_vector || ''::tsvector AS search_vector, lexeme_count
    FROM chunk WHERE chunk_id = ANY(:chunk_ids)
    OFFSET 0
) AS c
CROSS JOIN unnest(:words::tsquery[]) WITH ORDINALITY AS w (word, number)
WHERE c.search_vector @@ w.word;

-- name: positions_within(chunk_ids, lexemes, language)
-- Where those of these few chunks that are in a language, or in any, have the lexemes.
SELECT c.chunk_id, u.lexeme, u.positions
FROM chunk AS c
CROSS JOIN LATERAL unnest(c.search_vector) AS u (lexeme, positions, weights)
WHERE
    c.chunk_id = ANY(:chunk_ids)
    AND u.lexeme = ANY(:lexemes)
    AND (:language::text IS NULL OR c.language = :language);

-- name: trails_and_phrases(chunk_ids, phrase)
SELECT
    chunk_id,
    breadcrumb_trail,
    language,
    coalesce(search_vector @@ :phrase::tsquery, false) AS has_phrase
FROM chunk
WHERE chunk_id = ANY(:chunk_ids);

-- name: shared_lexemes(chunk_ids, scores, least)
-- The words of a few chunks that at least so many of them have, with the sum of these chunks'
-- scores, and how many chunks of the corpus have each: as lexeme_frequencies.
WITH shared AS MATERIALIZED (
    SELECT u.lexeme, sum(b.score) AS score
    FROM unnest(:chunk_ids::bigint[], :scores::double precision[]) AS b (chunk_id, score)
    INNER JOIN chunk AS c ON c.chunk_id = b.chunk_id
    CROSS JOIN LATERAL unnest(tsvector_to_array(c.search_vector)) AS u (lexeme)
    GROUP BY u.lexeme
    HAVING count(*) >= :least
)
SELECT k.lexeme, s.score, k.document_frequency
FROM known_lexemes((SELECT array_agg(lexeme) FROM shared)) AS k
INNER JOIN shared AS s ON s.lexeme = k.lexeme;

-- name: lexeme_frequencies(lexemes)
-- Primary key of lexeme; under row-level security, of posting.
SELECT lexeme, document_frequency FROM known_lexemes(:lexemes);

-- name: similar_lexemes(word, shortest, longest)
-- GIN lexeme_trigrams; pg_trgm.similarity_threshold is set by the caller.
SELECT lexeme, document_frequency FROM similar_lexemes(:word, :shortest, :longest);

-- name: lexemes_beginning(low, high)
-- B-tree lexeme_prefix; under row-level security, primary key of posting.
SELECT lexeme, document_frequency FROM lexemes_between(:low, :high, 200);

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

-- name: vector_candidates_filtered(space_id, embedding, source_hashes, first_page, last_page, metadata, language, limit)
-- The same index, scanned on until enough rows pass; each is looked up by its primary key.
SELECT
    e.chunk_id,
    1 - (e.embedding::halfvec({dimensions}) <=> :embedding::halfvec({dimensions})) AS similarity
FROM chunk_embedding AS e
INNER JOIN chunk AS c ON c.chunk_id = e.chunk_id
WHERE e.space_id = :space_id
    AND (
        :source_hashes::text[] IS NULL
        OR c.source_hash IN (SELECT unnest(:source_hashes::text[]))
    )
    AND (:first_page::integer IS NULL OR c.page_end >= :first_page)
    AND (:last_page::integer IS NULL OR c.page_start <= :last_page)
    AND (:metadata::text IS NULL OR c.metadata @@ :metadata::jsonpath)
    AND (:language::text IS NULL OR c.language = :language)
ORDER BY e.embedding::halfvec({dimensions}) <=> :embedding::halfvec({dimensions})
LIMIT :limit;

-- name: vector_exact(space_id, embedding, chunk_ids, language, limit)
-- Primary key of chunk_embedding: every vector is compared. The sum keeps the HNSW index out.
SELECT
    chunk_id,
    1 - (embedding::halfvec({dimensions}) <=> :embedding::halfvec({dimensions})) AS similarity
FROM chunk_embedding AS e
WHERE space_id = :space_id AND chunk_id = ANY(:chunk_ids)
    AND (:language::text IS NULL OR EXISTS (
        SELECT 1 FROM chunk AS c WHERE c.chunk_id = e.chunk_id AND c.language = :language
    ))
ORDER BY (embedding::halfvec({dimensions}) <=> :embedding::halfvec({dimensions})) + 0
LIMIT :limit;

-- name: vector_exact_ranges(space_id, embedding, firsts, lasts, language, limit)
-- Primary key of chunk_embedding, one range after the other: every vector in them is compared.
SELECT
    e.chunk_id,
    1 - (e.embedding::halfvec({dimensions}) <=> :embedding::halfvec({dimensions})) AS similarity
FROM unnest(:firsts::bigint[], :lasts::bigint[]) AS r (first, last)
INNER JOIN chunk_embedding AS e ON e.chunk_id >= r.first AND e.chunk_id <= r.last
WHERE e.space_id = :space_id
    AND (:language::text IS NULL OR EXISTS (
        SELECT 1 FROM chunk AS c WHERE c.chunk_id = e.chunk_id AND c.language = :language
    ))
ORDER BY (e.embedding::halfvec({dimensions}) <=> :embedding::halfvec({dimensions})) + 0
LIMIT :limit;

-- name: chunks_in_languages(chunk_ids)
SELECT chunk_id, language FROM chunk WHERE chunk_id = ANY(:chunk_ids);

-- name: language_centroids(space_id, percent)
-- Whole pages of the table are drawn, the same ones each time.
SELECT c.language, count(*) AS chunk_count, avg(l2_normalize(e.embedding)::vector) AS centroid
FROM chunk AS c TABLESAMPLE SYSTEM (:percent) REPEATABLE (1)
INNER JOIN chunk_embedding AS e ON e.chunk_id = c.chunk_id
WHERE e.space_id = :space_id
GROUP BY c.language;

-- name: estimated_chunks()$
-- As the planner has it, which tells readers of no row that they may not see.
SELECT reltuples::bigint FROM pg_class WHERE oid = 'chunk'::regclass;

-- name: vector_exact_filtered(space_id, embedding, source_hashes, first_page, last_page, metadata, language, limit)
-- For a filter whose chunks all lie far from the query: every vector that passes is compared.
SELECT
    e.chunk_id,
    1 - (e.embedding::halfvec({dimensions}) <=> :embedding::halfvec({dimensions})) AS similarity
FROM chunk_embedding AS e
INNER JOIN chunk AS c ON c.chunk_id = e.chunk_id
WHERE e.space_id = :space_id
    AND (
        :source_hashes::text[] IS NULL
        OR c.source_hash IN (SELECT unnest(:source_hashes::text[]))
    )
    AND (:first_page::integer IS NULL OR c.page_end >= :first_page)
    AND (:last_page::integer IS NULL OR c.page_start <= :last_page)
    AND (:metadata::text IS NULL OR c.metadata @@ :metadata::jsonpath)
    AND (:language::text IS NULL OR c.language = :language)
ORDER BY (e.embedding::halfvec({dimensions}) <=> :embedding::halfvec({dimensions})) + 0
LIMIT :limit;

-- name: passing_documents(source_types, tags, documents, languages, ingested_from, ingested_before)
-- A document belongs to its file, and until its successor has landed to that one's.
WITH file AS MATERIALIZED (
    SELECT DISTINCT source_hash
    FROM source
    WHERE (
        :source_types::text[] IS NULL
        OR lower(substring(uri FROM '\.([A-Za-z0-9]+)$')) = ANY(:source_types)
    )
        AND (:tags::text[] IS NULL OR tags && :tags)
        AND (
            :documents::text[] IS NULL
            OR uri = ANY(:documents)
            OR substring(uri FROM '[^/\\]*$') = ANY(:documents)
            OR EXISTS (
                SELECT 1 FROM unnest(:documents::text[]) AS wanted
                WHERE length(wanted) >= 8 AND starts_with(source_hash, wanted)
            )
        )
),
candidate AS (
    SELECT source_hash FROM file
    UNION
    SELECT d.source_hash FROM document AS d INNER JOIN file AS f ON f.source_hash = d.superseded_by
)
SELECT d.source_hash, d.chunk_count
FROM candidate INNER JOIN document AS d ON d.source_hash = candidate.source_hash
WHERE d.chunk_count > 0
    AND (:languages::text[] IS NULL OR d.language = ANY(:languages))
    AND (:ingested_from::timestamptz IS NULL OR d.created_at >= :ingested_from)
    AND (:ingested_before::timestamptz IS NULL OR d.created_at < :ingested_before);

-- name: passing_chunks(source_hashes, first_page, last_page, metadata, limit)
-- Index (source_hash, chunk_index) or GIN chunk_metadata, whichever leaves fewer.
SELECT chunk_id, true AS passes
FROM chunk
WHERE (:source_hashes::text[] IS NULL OR source_hash = ANY(:source_hashes))
    AND (:first_page::integer IS NULL OR page_end >= :first_page)
    AND (:last_page::integer IS NULL OR page_start <= :last_page)
    AND (:metadata::text IS NULL OR metadata @@ :metadata::jsonpath)
LIMIT :limit;

-- name: passing_visible_chunks(source_hashes, first_page, last_page, metadata, limit)
-- The same under row-level security, for a condition on metadata: GIN chunk_metadata, then the
-- primary key of chunk. All that have the metadata, so that the caller sees whether they were cut.
SELECT
    c.chunk_id,
    (:source_hashes::text[] IS NULL OR c.source_hash = ANY(:source_hashes))
    AND (:first_page::integer IS NULL OR c.page_end >= :first_page)
    AND (:last_page::integer IS NULL OR c.page_start <= :last_page) AS passes
FROM visible_chunks_with(:metadata::jsonpath, :limit) AS v (chunk_id)
INNER JOIN chunk AS c ON c.chunk_id = v.chunk_id;

-- name: passing_of(chunk_ids, source_hashes, first_page, last_page, metadata)
-- Primary key of chunk. Hashes are looked up in a table made once; an array would be weighed
-- against the column's statistics one by one while planning.
SELECT chunk_id
FROM chunk
WHERE chunk_id = ANY(:chunk_ids)
    AND (
        :source_hashes::text[] IS NULL
        OR source_hash IN (SELECT unnest(:source_hashes::text[]))
    )
    AND (:first_page::integer IS NULL OR page_end >= :first_page)
    AND (:last_page::integer IS NULL OR page_start <= :last_page)
    AND (:metadata::text IS NULL OR metadata @@ :metadata::jsonpath);

-- name: found_chunks(chunk_ids)
SELECT
    c.chunk_id, c.source_hash, s.uri AS source_path, d.title, c.chunk_index, c.kind,
    c.breadcrumb_trail, c.content, c.page_start, c.page_end, c.regions, c.language, c.metadata,
    c.parent_index, s.tags, d.updated_at
FROM chunk AS c
INNER JOIN document AS d ON d.source_hash = c.source_hash
INNER JOIN LATERAL (
    SELECT uri, tags FROM source
    WHERE source.source_hash IN (c.source_hash, d.superseded_by)
    ORDER BY uri
    LIMIT 1
) AS s ON true
WHERE c.chunk_id = ANY(:chunk_ids);

-- name: found_vectors(space_id, chunk_ids)
SELECT chunk_id, embedding
FROM chunk_embedding
WHERE space_id = :space_id AND chunk_id = ANY(:chunk_ids);

-- name: found_sections(source_hashes, section_indexes)
-- Primary key of section.
SELECT s.source_hash, s.section_index AS place, s.content
FROM section AS s
INNER JOIN unnest(:source_hashes::text[], :section_indexes::integer[])
    AS w (source_hash, section_index)
    ON w.source_hash = s.source_hash AND w.section_index = s.section_index;

-- name: found_neighbours(source_hashes, chunk_indexes, distance)
-- Key (source_hash, chunk_index) of chunk.
SELECT
    w.source_hash, w.chunk_index AS place,
    string_agg(c.content, E'\n\n' ORDER BY c.chunk_index) AS content
FROM unnest(:source_hashes::text[], :chunk_indexes::integer[]) AS w (source_hash, chunk_index)
INNER JOIN chunk AS c
    ON c.source_hash = w.source_hash
    AND c.chunk_index BETWEEN w.chunk_index - :distance AND w.chunk_index + :distance
GROUP BY w.source_hash, w.chunk_index;

-- name: corpus_languages()
-- Index document_reader_set, one probe a language and set of readers.
WITH RECURSIVE present AS (
    SELECT
        r.reader_set_id,
        (
            SELECT min(d.language) FROM document AS d
            WHERE d.reader_set_id = r.reader_set_id AND d.chunk_count > 0
        ) AS language
    FROM reader_set AS r
    UNION ALL
    SELECT
        p.reader_set_id,
        (
            SELECT min(d.language) FROM document AS d
            WHERE d.reader_set_id = p.reader_set_id AND d.chunk_count > 0
                AND d.language > p.language
        )
    FROM present AS p WHERE p.language IS NOT NULL
)
SELECT DISTINCT language FROM present WHERE language IS NOT NULL ORDER BY language;
