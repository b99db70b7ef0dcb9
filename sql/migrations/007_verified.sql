-- When a file's bytes were last read, in nanoseconds since 1970; 0 = before this column was there.
ALTER TABLE source ADD COLUMN IF NOT EXISTS verified_ns bigint NOT NULL DEFAULT 0;
