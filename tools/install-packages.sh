#!/bin/sh
# Installs Debian packages without a question, without starting a service and without removing anything. Needs root.
# usage: install-packages.sh PACKAGE...
set -eu

# Some packages start a server when they are installed (opensmtpd does); this file is Debian's way to forbid it.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  trap 'exit 1' INT TERM
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
fi

export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -q -y --no-install-recommends --no-remove -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300 "$@"

# Nor at the next boot.
for package in "$@"; do
  if [ -d /run/systemd/system ] && systemctl --quiet is-enabled "$package" 2>/dev/null; then
    systemctl disable "$package"
  fi
done
