#!/bin/bash
# Run once, when the primary's data is made. What is set here counts from its next start, which follows at once: commits
# that waited for a standby now would wait for ever.
set -euo pipefail
echo "host replication rowkey all scram-sha-256" >> "$PGDATA/pg_hba.conf"
psql --username rowkey --dbname rowkey --set ON_ERROR_STOP=1 <<'SQL'
ALTER SYSTEM SET synchronous_commit = 'on';
ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (*)';
ALTER SYSTEM SET wal_keep_size = '1GB';
SQL
