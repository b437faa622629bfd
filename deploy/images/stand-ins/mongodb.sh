#!/bin/bash
# FerretDB on PostgreSQL with DocumentDB, in place of mongod, whose arguments mean nothing to it: it is no replica set, so a URL
# names none. Both end together.
set -eu

data=/data/db/postgres
programs=/opt/postgresql/usr/lib/postgresql/18/bin
export HOME=/data/db LC_ALL=C
if [ ! -s "$data/PG_VERSION" ]; then
  "$programs/initdb" -D "$data" --auth=trust -U postgres --locale-provider=builtin --builtin-locale=C.UTF-8 --locale=C --encoding=UTF8
  cat >>"$data/postgresql.conf" <<'SETTINGS'
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
shared_preload_libraries = 'pg_cron,pg_documentdb_core,pg_documentdb'
cron.database_name = 'postgres'
deadlock_timeout = '10ms'
max_connections = 200
SETTINGS
fi
# A container that was killed leaves the number of a process that another one has now.
rm -f "$data/postmaster.pid"
"$programs/postgres" -D "$data" &
postgres=$!
trap 'kill -INT $postgres; wait $postgres' EXIT
trap 'exit 0' TERM INT
until "$programs/psql" -h 127.0.0.1 -U postgres -X -q -c 'create extension if not exists documentdb cascade' 2>/dev/null; do
  kill -0 $postgres
  sleep 0.2
done
/opt/ferretdb/ferretdb --listen-addr=:27017 --postgresql-url=postgres://postgres@127.0.0.1:5432/postgres --state-dir=/tmp \
  --no-auth --telemetry=disable --debug-addr=- --log-level=warn &
until mongosh 2>/dev/null; do
  kill -0 $!
  sleep 0.2
done
echo 'Waiting for connections'
wait -n
