#!/bin/bash
# The first process of a sandbox that unshare made: builds the file system of the VM, goes into it, and runs what is asked for.
# Called by unshare.ts within new namespaces: ROOT HOSTNAME, then mounts by three words each (KIND FROM TO), then -- COMMAND….
# Its first line of output is its number as the system outside counts.
set -e
read -r outside _ </proc/self/stat
echo "$outside"
root=$1 hostname=$2
shift 2

mount -t tmpfs -o mode=755 none "$root"
place() { if [ -d "$1" ]; then mkdir -p "$2"; else mkdir -p "${2%/*}"; [ -e "$2" ] || : >"$2"; fi; }
# A mount of the system's may be nosuid, nodev or noexec, and nobody may take that from it.
read_only() {
  mount --rbind -o ro "$1" "$2" 2>/dev/null && return
  mountpoint -q "$2" || mount --rbind "$1" "$2"
  mount -o "remount,bind,$(findmnt -n -o VFS-OPTIONS "$2" | tail -n 1 | sed 's/^rw/ro/')" "$2"
}
device() { : >"$root/dev/$1" && mount --bind "/dev/$1" "$root/dev/$1"; }

mkdir -p "$root"/{dev,proc,run,.outside}
mount -t tmpfs -o mode=755 none "$root/run"
mkdir "$root/run/lock"
while [ "$1" != -- ]; do
  case $1 in
    read-only) place "$2" "$root$3" && read_only "$2" "$root$3" ;;
    own) place "$2" "$root$3" && mount --rbind "$2" "$root$3" ;;
    link) mkdir -p "${root}${3%/*}" && ln -s "$2" "$root$3" ;;
  esac
  shift 3
done
shift

mount -t tmpfs -o mode=755,nosuid none "$root/dev"
for name in null zero full random urandom tty; do device "$name"; done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts"
mount -t tmpfs -o mode=1777,nosuid,nodev none "$root/dev/shm"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
for fd in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/${fd%:*}" "$root/dev/${fd#*:}"; done
# While the system's own is still seen: without it the kernel allows none.
mount -t proc proc "$root/proc"

hostname "$hostname"
cd "$root"
pivot_root . .outside
cd /
umount -l /.outside
rmdir /.outside
exec "$@"
