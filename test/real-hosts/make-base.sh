#!/bin/bash
# Makes the files that all real hosts begin with: Debian 12 with systemd, OpenSSH, and what steps and packages use of the
# distribution, as a VM has no way to its mirror. Usage: make-base.sh FOLDER; run by base.ts, which keeps it under this file's hash.
set -eu
base=$1
mirror=http://deb.debian.org/debian

first=(systemd systemd-sysv dbus ca-certificates)
packages=(
  openssh-server sudo procps iproute2 curl python3
  # The registry on the jumpbox, and what fills it.
  docker-registry skopeo apache2-utils openssl
  # What the executable of plinth is linked with.
  libatomic1
  # What the sample package installs.
  postgresql age jq
)
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
debootstrap --variant=minbase --include="$(IFS=,; echo "${first[*]}")" bookworm "$base" "$mirror"

inside() { chroot "$base" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C DEBIAN_FRONTEND=noninteractive "$@"; }

# Nothing is started while it is installed: there is no system yet that it could run in.
printf '#!/bin/sh\nexit 101\n' > "$base/usr/sbin/policy-rc.d"
chmod 755 "$base/usr/sbin/policy-rc.d"
cat /etc/resolv.conf > "$base/etc/resolv.conf"
inside apt-get update -qq
inside apt-get install -y -qq --no-install-recommends "${packages[@]}"
rm "$base/usr/sbin/policy-rc.d"

# As on the cloud's image: one user, who may do everything by sudo, and nobody who logs in with a password.
inside useradd --create-home --shell /bin/bash --uid 1000 ubuntu
echo 'ubuntu ALL=(ALL) NOPASSWD:ALL' > "$base/etc/sudoers.d/90-cloud-init-users"
chmod 440 "$base/etc/sudoers.d/90-cloud-init-users"
echo 'PasswordAuthentication no' > "$base/etc/ssh/sshd_config.d/60-cloudimg-settings.conf"

# A VM has its own identity: host key and machine id come at its first start.
rm -f "$base"/etc/ssh/ssh_host_*
: > "$base/etc/machine-id"
rm -f "$base/etc/hostname" "$base/etc/hosts" "$base/etc/resolv.conf" "$base/var/lib/dbus/machine-id"

# Installed is not running: whoever needs one of these starts it. Nothing fetches or upgrades by itself.
inside systemctl disable docker-registry.service postgresql.service >/dev/null 2>&1
inside systemctl mask apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service \
  fstrim.timer systemd-timesyncd.service getty.target console-getty.service >/dev/null 2>&1
rm -rf "$base"/var/cache/apt/archives/*.deb "$base"/var/lib/apt/lists/*
mkdir -p "$base/var/lib/apt/lists/partial"
