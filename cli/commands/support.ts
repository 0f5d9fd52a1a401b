/** `plinth support`: one archive with what somebody needs who looks into a bootstrap's trouble, without secrets. */
import { existsSync } from 'node:fs';
import { shellWord } from '../../shared/command-words.js';
import { withoutSuspects } from '../../shared/secret-forms.js';
import { idOf } from '../bootstrap/named.js';
import { placeOf, whyUnwritable } from '../files/files.js';
import { defineCommand } from '../frame/command.js';
import { printable } from '../frame/output.js';
import { archiveOf, standing, unwritable, writeArchive } from '../support/archive.js';
import { gather } from '../support/gather.js';
import { registerKnownSecrets } from '../support/known-secrets.js';

export const support = defineCommand({
  description: [
    'Writes one archive to hand to whoever helps you. It holds what status shows, the events, the machine logs that you may read, the install config, the versions of both sides, and the findings of plinth doctor. It changes nothing.',
    'Secrets that this computer knows are taken out, and everything that looks like a key or a token. Names, e-mail addresses and IP addresses stay, so look through it before you hand it to strangers.',
    'The file is for you alone (mode 0600). One that is there already is not overwritten.',
  ],
  flags: { to: 'File to write. (default: plinth-support-<project>.tar.gz in this folder)' },
  examples: ['plinth support demo', 'plinth support demo --to /tmp/demo.tar.gz'],

  async run(call) {
    const { redact } = call.settings.redactor;
    const project = call.word('project')?.text ?? '';
    const folder = `plinth-support-${project.replaceAll(/[^\w.-]/g, '-').slice(0, 30)}`;
    const path = call.word('to')?.text ?? `${folder}.tar.gz`;
    const place = placeOf(path, call.settings);
    // Gathering takes a while, so it does not begin in vain.
    if (existsSync(place)) throw standing(path);
    const why = whyUnwritable(place);
    if (why !== undefined) throw unwritable(path, why);
    const client = await call.connect();
    const { files, missing } = await gather(call, client, await idOf(call, client));
    await registerKnownSecrets(call.settings);
    const contents = {
      schema: 1,
      project,
      madeAt: new Date().toISOString(),
      files: files.map((file) => file.path),
      missing,
    };
    const all = [{ path: 'contents.json', text: `${JSON.stringify(contents, null, 2)}\n` }, ...files];
    const redactedFiles = all.map((file) => ({ path: file.path, text: withoutSuspects(redact(file.text)) }));
    writeArchive(place, path, archiveOf(folder, redactedFiles, new Date()));
    const paths = redactedFiles.map((file) => file.path);
    return {
      data: { archive: path, files: paths, missing },
      show: (style) =>
        [
          `${style.green('✓')} ${printable(path)} holds:`,
          ...paths.map((each) => `  ${printable(each)}`),
          ...missing.map(({ part, why }) => `${style.yellow('Missing:')} ${printable(`${part}: ${why}`)}`),
          `Secrets are taken out. Names and addresses are in it. To look through it: tar -xzf ${shellWord(path)}`,
        ].join('\n'),
    };
  },
});
