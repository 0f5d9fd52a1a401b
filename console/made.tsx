/** What a bootstrap has made, and the config to download. Secrets come by the command line alone. */

import { useState } from 'preact/hooks';
import type { BootstrapView } from '../shared/bootstrap/bootstrap.js';
import { calledBy } from '../shared/command-words.js';
import { path, Refusal, reply } from './calls.js';
import { Command, Problem } from './parts.js';

export function Made({ view }: { view: BootstrapView }) {
  const { vms, addresses, dns, registry, datacenters } = view.result;
  const ready = datacenters.filter((each) => each.ready);
  if (vms.length + addresses.length + ready.length === 0 && dns === undefined) return null;
  return (
    <section>
      <h2>What was made</h2>
      {vms.length > 0 && (
        <table class="made">
          <thead>
            <tr>
              <th scope="col">VM</th>
              <th scope="col">Size</th>
              <th scope="col">Zone</th>
              <th scope="col">Within</th>
              <th scope="col">From outside</th>
            </tr>
          </thead>
          <tbody>
            {vms.map((vm) => (
              <tr key={vm.name}>
                <th scope="row">
                  {vm.name}
                  {vm.stopped && <small>stopped</small>}
                </th>
                <td data-title="Size">
                  {vm.machineType}
                  {vm.provisioning !== 'standard' && <small>{vm.provisioning}</small>}
                </td>
                <td data-title="Zone">{vm.zone}</td>
                <td data-title="Within">
                  <code>{vm.internalIp}</code>
                </td>
                <td data-title="From outside">
                  <code>{vm.externalIp ?? (vm.tunnel ? 'by IAP' : '–')}</code>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <dl class="facts">
        {addresses.map(({ name, address, service }) => (
          <div key={name}>
            <dt>Address {name}</dt>
            <dd>
              <code>{address}</code> {service && <span class="dim">{service}</span>}
            </dd>
          </div>
        ))}
        {dns && (
          <div>
            <dt>DNS zone</dt>
            <dd>
              {dns.zone} in <code>{dns.project}</code>
              <small>{dns.nameServers.join(', ')}</small>
            </dd>
          </div>
        )}
        {registry && (
          <div>
            <dt>Registry</dt>
            <dd>
              <code>{registry}</code>
            </dd>
          </div>
        )}
      </dl>
      {ready.length > 0 && (
        <div class="files">
          {ready.map(({ key, name }) => (
            <Config key={key} id={view.id} datacenter={key} name={name} />
          ))}
          <p class="dim">Secrets come by the command line alone, with your SSH key:</p>
          <Command text={`plinth kubeconfig ${calledBy(view)}`} />
        </div>
      )}
    </section>
  );
}

function Config({ id, datacenter, name }: { id: string; datacenter: string; name: string }) {
  const [refusal, setRefusal] = useState<Refusal>();
  const download = async (): Promise<void> => {
    setRefusal(undefined);
    try {
      const found = await reply('bootstraps', 'GET', `${path`/bootstraps/${id}/config`}?datacenter=${datacenter}`);
      const address = URL.createObjectURL(await found.blob());
      Object.assign(document.createElement('a'), { href: address, download: 'config.yaml' }).click();
      URL.revokeObjectURL(address);
    } catch (error) {
      setRefusal(error instanceof Refusal ? error : new Refusal(0, 'The file could not be saved.'));
    }
  };
  return (
    <>
      <button type="button" onClick={() => void download()}>
        Download config.yaml of {name}
      </button>
      {refusal && <Problem refusal={refusal} />}
    </>
  );
}
