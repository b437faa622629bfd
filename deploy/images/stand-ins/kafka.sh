#!/bin/bash
# As the published image of Apache Kafka does: KAFKA_LOG_DIRS becomes log.dirs, and a folder that is new is formatted.
set -eu

properties=/tmp/server.properties
env | sed -n 's/^KAFKA_\([A-Z0-9_]*\)=\(.*\)$/\1 \2/p' | while read -r name value; do
  case $name in HEAP_OPTS | OPTS) continue ;; esac
  echo "$(echo "$name" | tr 'A-Z_' 'a-z.')=$value"
done >"$properties"
grep -q '^log.dirs=' "$properties" || echo 'log.dirs=/var/lib/kafka/data' >>"$properties"

classes='/opt/kafka/libs/*'
logging=-Dlog4j2.configurationFile=/opt/kafka/log4j2.properties
java -Xmx64m "$logging" -cp "$classes" kafka.tools.StorageTool format --ignore-formatted \
  --cluster-id "${CLUSTER_ID:-Y2FyaWxsb24tc3RhbmRpbg}" --config "$properties"
# shellcheck disable=SC2086
exec java ${KAFKA_HEAP_OPTS:--Xmx512m} -XX:+UseSerialGC "$logging" -cp "$classes" kafka.Kafka "$properties"
