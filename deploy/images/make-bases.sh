#!/bin/sh
# Makes the image that the Dockerfile's FROM names, on a machine that cannot pull it: from Debian's packages, and from the Node and
# npm that the registry has. Needs root, debootstrap, npm, and podman or docker.
#
#   deploy/images/make-bases.sh            tells what it makes, and makes what is not there yet
#   CARILLON_ENGINE=docker deploy/images/make-bases.sh
#
# It stands in for the published image; it is not the same to the byte.
set -eu

engine=${CARILLON_ENGINE:-podman}
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
image=$(sed -n 's/^FROM \(node:[^ ]*\) AS .*/\1/p' "$here/Dockerfile")
version=${image#node:}
version=${version%%-*}
suite=${image#*-}
suite=${suite%-slim}
name=docker.io/library/$image

if "$engine" image inspect "$name" >/dev/null 2>&1; then
  echo "$name is there"
  exit 0
fi

case $(uname -m) in
  x86_64) machine=x64 ;;
  aarch64) machine=arm64 ;;
  *) echo "no Node is published for $(uname -m)" >&2; exit 1 ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
echo "$name: Debian $suite"
debootstrap --variant=minbase --include=ca-certificates,libstdc++6 "$suite" "$work/root" >"$work/log" 2>&1 || { tail "$work/log" >&2; exit 1; }
rm -rf "$work/root/var/cache/apt" "$work/root/var/lib/apt/lists"
echo "$name: Node $version"
cd "$work"
npm pack --silent "node-linux-$machine@$version" npm@11 >/dev/null
mkdir -p root/usr/local/bin root/usr/local/lib/node_modules/npm
tar -xzf node-linux-*.tgz --strip-components=2 -C root/usr/local/bin package/bin/node
tar -xzf npm-*.tgz --strip-components=1 -C root/usr/local/lib/node_modules/npm
ln -s ../lib/node_modules/npm/bin/npm-cli.js root/usr/local/bin/npm
ln -s ../lib/node_modules/npm/bin/npx-cli.js root/usr/local/bin/npx
tar -C root -cf - . | "$engine" import --change 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' - "$name"
