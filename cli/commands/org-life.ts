/** `plinth org rename|delete|restore`: the life of an organization. */

import { defineCommand } from '../frame/command.js';
import { unasked } from '../frame/confirm.js';
import { printable } from '../frame/output.js';
import { agreeToDelete, deletedText } from '../organizations/deletion.js';
import { organizationIdOf, readInput } from '../organizations/input.js';

export const orgRename = defineCommand({
  description: ['Renames an organization. For admins of the organization. Its id stays.'],
  examples: ['plinth org rename acme acme-europe'],

  async run(call) {
    const { organization: said, name } = readInput(call, ['organization', 'name']);
    const client = await call.connectOrganizations();
    const organization = await organizationIdOf(client, said).then((id) => client.renameOrganization(id, name));
    return { data: { organization }, show: () => `It is named ${printable(organization.name)} now.` };
  },
});

export const orgDelete = defineCommand({
  description: [
    'Deletes an organization. For admins of the organization. It refuses one that still has teams. Within 30 days, “org restore” takes it back, with all its members.',
  ],
  flags: { yes: 'Do not ask first. Needed where there is no terminal to ask on.' },
  examples: ['plinth org delete acme'],

  async run(call) {
    const { organization: said } = readInput(call, ['organization'], [], unasked(call));
    const client = await call.connectOrganizations();
    const id = await organizationIdOf(client, said);
    await agreeToDelete(call, `organization ${said}`);
    const organization = await client.deleteOrganization(id);
    return {
      data: { deleted: id, organization },
      show: () => deletedText(`Organization ${said}`, `plinth org restore ${id}`),
    };
  },
});

export const orgRestore = defineCommand({
  description: [
    'Takes back that an organization was deleted, within 30 days. For those who were its admins. It has its members again. plinth org list --deleted shows which there are.',
  ],
  examples: ['plinth org restore acme'],

  async run(call) {
    const { organization: said } = readInput(call, ['organization']);
    const client = await call.connectOrganizations();
    const organization = await organizationIdOf(client, said, true).then((id) => client.restoreOrganization(id));
    return {
      data: { organization },
      show: () => `Organization ${printable(organization.name)} is there again: ${organization.id}`,
    };
  },
});
