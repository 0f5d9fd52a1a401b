#!/bin/bash
# Becomes a VM: its network, its files, then systemd as its first process. Begun in the namespaces of its network by host.ts.
# Usage: boot-vm.sh begin NAME ADDRESS DEVICE DISK BASE CGROUP NODE
set -eu
stage=$1 name=$2 address=$3 device=$4 disk=$5 base=$6 cgroup=$7 node=$8
# Gateway and metadata server of every VM, whatever its subnet.
gateway=169.254.169.254
next() { exec unshare "${@:2}" -- bash "$0" "$1" "$name" "$address" "$device" "$disk" "$base" "$cgroup" "$node"; }

case $stage in
begin)
  mkdir -p "$cgroup"
  echo 0 > "$cgroup/cgroup.procs"
  next network --net --uts --ipc --cgroup
  ;;

network)
  hostname "$name"
  # The first process here is the network's own: only there may the other end be plugged in.
  nsenter --target 1 --net ip link add "$device" mtu 1460 type veth peer name eth0 mtu 1460 netns $$
  nsenter --target 1 --net ip -batch - <<END
link set $device up
route replace $address/32 dev $device
END
  ip -batch - <<END
link set lo up
address add $address/32 dev eth0
link set eth0 up
route add $gateway dev eth0
route add default via $gateway dev eth0
END
  # What stands for the outside listens on loopback: see the rewriting of addresses in network.ts.
  echo 1 > /proc/sys/net/ipv4/conf/all/route_localnet
  next files --mount --pid --fork --kill-child
  ;;

files)
  root=$disk/root
  mount -t overlay overlay -o "lowerdir=$base,upperdir=$disk/upper,workdir=$disk/work" "$root"
  cd "$root"
  mount -t proc -o nosuid,nodev,noexec proc proc
  mount -t sysfs -o ro,nosuid,nodev,noexec sysfs sys
  mount -t cgroup2 -o nosuid,nodev,noexec cgroup2 sys/fs/cgroup
  mount -t tmpfs -o nosuid,mode=755 tmpfs dev
  for each in null zero full random urandom tty; do : > "dev/$each"; mount --bind "/dev/$each" "dev/$each"; done
  : > dev/console; mount --bind /dev/null dev/console
  mkdir dev/pts dev/shm
  mount -t devpts -o newinstance,nosuid,noexec,ptmxmode=0666,mode=620,gid=5 devpts dev/pts
  mount -t tmpfs -o nosuid,nodev,mode=1777 tmpfs dev/shm
  ln -s pts/ptmx dev/ptmx
  ln -s /proc/self/fd dev/fd
  for each in stdin:0 stdout:1 stderr:2; do ln -s "fd/${each#*:}" "dev/${each%:*}"; done
  mount -t tmpfs -o nosuid,nodev,mode=755 tmpfs run
  # Settings of the kernel belong to this whole computer, but for those of the network. These a VM sets without effect.
  mkdir -m 700 run/kernel
  for each in vm/max_map_count fs/inotify/max_user_watches fs/inotify/max_user_instances; do
    cat "proc/sys/$each" > "run/kernel/${each##*/}"
  done
  # Each start has its own, by which is known that a machine was started anew.
  cat proc/sys/kernel/random/uuid > run/kernel/boot_id
  for each in sys sysrq-trigger; do
    [ -e "proc/$each" ] || continue
    mount --bind "proc/$each" "proc/$each"
    mount -o remount,bind,ro "proc/$each"
  done
  mount --bind proc/sys/net proc/sys/net
  mount -o remount,bind,rw proc/sys/net
  for each in vm/max_map_count fs/inotify/max_user_watches fs/inotify/max_user_instances kernel/random/boot_id; do
    mount --bind "run/kernel/${each##*/}" "proc/sys/$each"
  done
  # Programs that stand for others need it, as in the embedded machines.
  [ -e usr/local/bin/node ] || : > usr/local/bin/node
  mount --bind "$node" usr/local/bin/node
  mkdir run/old
  pivot_root . run/old
  umount --lazy /run/old
  rmdir /run/old
  # Root of a VM is root here, too: what reaches beyond its namespaces is taken from it.
  dropped=-sys_module,-sys_rawio,-sys_time,-syslog,-mknod,-mac_admin,-mac_override,-wake_alarm,-block_suspend,-bpf,-perfmon
  echo up
  exec setpriv --bounding-set "$dropped" --inh-caps "$dropped" -- env -i container=plinth \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --show-status=false >/dev/null 2>&1
  ;;
esac
