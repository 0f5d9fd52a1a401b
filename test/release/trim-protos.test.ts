/** What a bundle keeps of a client's protos: its services, with all that they need. */
import { expect } from 'chai';
import { type ProtoNode, trimProtos } from '../../tools/bundle/trim-protos.js';

describe('trimmed protos', () => {
  const root: ProtoNode = {
    nested: {
      acme: {
        nested: {
          v1: {
            nested: {
              Disks: { methods: { Get: { requestType: 'GetDisk', responseType: 'Disk' } } },
              Images: { methods: { Get: { requestType: 'GetImage', responseType: 'Image' } } },
              GetDisk: { fields: { name: { type: 'string' }, mask: { type: 'acme.common.Mask' } } },
              Disk: {
                fields: { key: { type: 'Key' }, status: { type: 'Disk.Status' } },
                nested: { Status: { values: {} } },
              },
              Key: { fields: {}, nested: { Inner: { fields: { more: { type: 'common.More' } } } } },
              GetImage: { fields: {} },
              Image: { fields: {} },
            },
          },
          beta: { nested: { Disk: { fields: {} } } },
          common: {
            nested: { Mask: { fields: {} }, More: { values: {} }, Unused: { fields: {} }, http: { extend: 'Options' } },
          },
        },
      },
    },
  };

  it('hold a service with all that its messages lead to, in other packages too, and no more', () => {
    const acme = trimProtos(root, ['acme.v1.Disks']).nested?.['acme']?.nested ?? {};
    const held = Object.entries(acme).map(([name, { nested = {} }]) => [name, Object.keys(nested)]);
    expect(Object.fromEntries(held)).to.deep.equal({
      v1: ['Disks', 'GetDisk', 'Disk', 'Key'],
      common: ['Mask', 'More'],
    });
    expect(acme['v1']?.nested?.['Disk']).to.deep.equal(root.nested?.['acme']?.nested?.['v1']?.nested?.['Disk']);
  });

  it('refuse a service that there is not', () => {
    expect(() => trimProtos(root, ['acme.v1.Nodes'])).to.throw(/no service acme.v1.Nodes/);
  });
});
