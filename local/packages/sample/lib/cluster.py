"""Kubernetes of the datacenter, by kubectl on its controller, where the jumpbox logs in as root."""
import json

from component import ROOT, config, run, secrets

# Beneath another root there is no jumpbox, and so no cluster.
HERE = ROOT == '/' and 'kubeConfig' in secrets


def on_controller(command, input=None):
    address = config['kubernetes']['controlPlanes'][0]['ipAddress']
    return run('ssh', '-o', 'BatchMode=yes', '-o', 'StrictHostKeyChecking=yes', f'root@{address}', command, input=input)


def kubectl(*words, objects=None):
    return on_controller(f"/usr/local/bin/k0s kubectl {' '.join(words)}", None if objects is None else manifest(objects))


def manifest(objects):
    return json.dumps({'apiVersion': 'v1', 'kind': 'List', 'items': objects})


def apply(objects):
    kubectl('apply', '--server-side', '--force-conflicts', '--field-manager', 'plinth-sample', '--filename', '-',
            objects=objects)


def delete(objects):
    kubectl('delete', '--ignore-not-found', '--filename', '-', objects=objects)


def standing(kind, namespace):
    found = kubectl('get', kind, '--namespace', namespace, '--output', 'json', '--ignore-not-found')
    return {each['metadata']['name']: each for each in json.loads(found or '{"items": []}')['items']}
