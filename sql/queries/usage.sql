-- name: insert_usage(rows)!
INSERT INTO usage (
    run, source_hash, root, provider, model, operation, requests, tokens, output_tokens, pages, usd
)
SELECT
    run, source_hash, root, provider, model, operation, requests, tokens, output_tokens, pages, usd
FROM jsonb_to_recordset(:rows::jsonb) AS r (
    run text, source_hash text, root text, provider text, model text, operation text,
    requests integer, tokens bigint, output_tokens bigint, pages integer, usd numeric
);

-- name: usage_totals(by, since)
-- One row a group, dearest first; `by` is provider, day or source.
SELECT
    CASE :by::text
        WHEN 'day' THEN to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD')
        WHEN 'source' THEN coalesce(root, '(none)')
        ELSE provider || '/' || model
    END AS grouped,
    sum(requests)::bigint, sum(tokens)::bigint, sum(output_tokens)::bigint, sum(pages)::bigint,
    sum(usd)::float8, count(*) FILTER (WHERE usd IS NULL)
FROM usage
WHERE :since::timestamptz IS NULL OR at >= :since
GROUP BY grouped
ORDER BY CASE WHEN :by = 'day' THEN NULL ELSE sum(usd) END DESC NULLS LAST, grouped;
