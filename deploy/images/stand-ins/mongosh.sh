#!/bin/bash
# Enough for the question of the health check: whether writes are taken, which FerretDB does once it answers.
exec 3<>/dev/tcp/127.0.0.1/27017
