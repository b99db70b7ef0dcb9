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
-- One row per group, most expensive first; `by` is provider, day or source.
SELECT
    CASE :by::text
        WHEN 'day' THEN to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD')
        WHEN 'source' THEN coalesce(root, '(none)')
        ELSE provider || '/' || model
    END AS "group",
    sum(requests)::bigint AS requests,
    sum(tokens)::bigint AS tokens,
    sum(output_tokens)::bigint AS output_tokens,
    sum(pages)::bigint AS pages,
    sum(usd)::float8 AS usd,
    count(*) FILTER (WHERE usd IS NULL) AS unpriced
FROM usage
WHERE :since::timestamptz IS NULL OR at >= :since
GROUP BY "group"
ORDER BY CASE WHEN :by = 'day' THEN NULL ELSE sum(usd) END DESC NULLS LAST, "group";
