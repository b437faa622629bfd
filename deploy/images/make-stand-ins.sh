#!/bin/sh
# Makes images that stand in for those of Kafka, MongoDB and the registry, on a machine that can pull none: from Debian's packages
# and from what `npm run services -- fetch` put into the cache. Needs root, debootstrap, and podman or docker.
#
#   deploy/images/make-stand-ins.sh        makes carillon-stand-in-kafka, -mongodb, -registry and -prometheus
#   CARILLON_TEST_IMAGES=kafka=localhost/carillon-stand-in-kafka,mongodb=localhost/carillon-stand-in-mongodb,registry=localhost/carillon-stand-in-registry
#
# Kafka and the registry are the programs that are published; MongoDB is FerretDB on PostgreSQL, which speaks its protocol, and
# Prometheus is Debian's.
set -eu

engine=${CARILLON_ENGINE:-podman}
cache=${CARILLON_CACHE:-/var/cache/carillon}
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
base=carillon-stand-in-base
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

newest() { # newest NAME: the folder of the cache that begins so and holds programs
  for folder in "$cache/$1"*; do case $folder in *-classes) ;; *) found=$folder ;; esac; done
  [ -d "${found:-}" ] || { echo "$cache has no $1: npm run services -- fetch" >&2; exit 1; }
  echo "$found"
}
kafka=$(newest kafka-4) postgresql=$(newest postgresql-18-) ferretdb=$(newest ferretdb-) registry=$(newest apicurio-registry-)

if ! "$engine" image inspect "$base" >/dev/null 2>&1; then
  echo "$base: Debian bookworm with Java 17 and Prometheus"
  debootstrap --variant=minbase --include=ca-certificates,openjdk-17-jre-headless,prometheus bookworm "$work/root" >"$work/log" 2>&1 ||
    { tail "$work/log" >&2; exit 1; }
  rm -rf "$work/root/var/cache/apt" "$work/root/var/lib/apt/lists"
  tar -C "$work/root" -cf - . | "$engine" import - "$base"
fi

cp -r "$here/stand-ins" "$work/context"
cd "$work/context"
chmod 755 ./*.sh
mkdir kafka registry
cp -r "$kafka/lib" "$kafka/log4j2.properties" kafka/
cp -r "$postgresql" postgresql
cp -r "$ferretdb" ferretdb
cp -r "$registry/." registry/
mv registry/*-runner.jar registry/registry.jar
for target in kafka mongodb registry prometheus; do
  echo "carillon-stand-in-$target"
  "$engine" build --quiet --target "$target" --tag "carillon-stand-in-$target" .
done
