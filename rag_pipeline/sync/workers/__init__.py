"""Worker processes: a crash, an endless loop or a memory bomb costs one task, not the sync."""
