#!/bin/bash
# shellcheck disable=SC2086
exec java ${KAFKA_HEAP_OPTS:-} -cp '/opt/kafka/libs/*' org.apache.kafka.tools.BrokerApiVersionsCommand "$@"
