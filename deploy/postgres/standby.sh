#!/bin/bash
# A standby of db1: a copy of its data at the first start, and what it writes from then on.
set -euo pipefail
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    until pg_basebackup --host db1 --username rowkey --pgdata "$PGDATA" --wal-method stream --checkpoint fast \
        --write-recovery-conf; do
        rm -rf "${PGDATA:?}"/*
        sleep 1
    done
    chmod 700 "$PGDATA"
fi
exec postgres -c "cluster_name=$STANDBY_NAME"
