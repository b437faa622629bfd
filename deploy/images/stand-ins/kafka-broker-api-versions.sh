#!/bin/bash
# Enough for the question of the health check, `--bootstrap-server HOST:PORT`: a broker that serves listens.
exec 3<>"/dev/tcp/${2%:*}/${2##*:}"
