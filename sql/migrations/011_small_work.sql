-- Whether files changed since a scan was last told to Dagster: set in the transaction that writes the
-- files, so that the successor of a killed sync, or of one without Dagster, tells it.
ALTER TABLE corpus_statistics
ADD COLUMN IF NOT EXISTS is_scan_untold boolean NOT NULL DEFAULT true;
