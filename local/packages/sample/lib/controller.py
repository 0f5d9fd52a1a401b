"""The cloud controller of the datacenter's cluster: a service of systemd on its control plane."""
import hashlib

import cluster
from component import packed

UNIT = 'plinth-sample-cloud-controller.service'
PROGRAM = '/opt/plinth-sample/cloud-controller'
FILES = {
    PROGRAM: (packed('payload/cloud-controller').decode(), '755'),
    f'/etc/systemd/system/{UNIT}': (f"""[Unit]
Description=Cloud controller of the sample
Wants=network-online.target
After=network-online.target k0scontroller.service

[Service]
# The way out of the network, and where Compute is, if that is not at Google's own address.
EnvironmentFile=-/etc/environment
ExecStart=/usr/bin/python3 {PROGRAM}
Restart=always
RestartSec=2

[Install]
WantedBy=multi-user.target
""", '644'),
}


def stands():
    said = cluster.on_controller(f"sha256sum {' '.join(FILES)} 2>/dev/null; systemctl is-active {UNIT} || true")
    wanted = [f'{hashlib.sha256(text.encode()).hexdigest()}  {path}' for path, (text, _) in FILES.items()]
    return said.split('\n')[:3] == [*wanted, 'active']


def install():
    if stands():
        return
    for path, (text, mode) in FILES.items():
        write = f'mkdir -p "$(dirname {path})" && cat > {path}.new && chmod {mode} {path}.new && mv -f {path}.new {path}'
        cluster.on_controller(f'umask 022; {write}', text)
    cluster.on_controller(f'systemctl daemon-reload && systemctl enable {UNIT} && systemctl restart {UNIT}')


def remove():
    stop = f'if [ -e /etc/systemd/system/{UNIT} ]; then systemctl disable --now {UNIT}; fi'
    cluster.on_controller(f"{stop}; rm -f {' '.join(FILES)}; systemctl daemon-reload")
