/** Files of age identities as people leave them, and whether age and sops open a secret for `own` with them. */
import { generateX25519Identity } from 'age-encryption';

export interface IdentityFile {
  readonly name: string;
  readonly text: string;
  /** The damaged lines as plinth names them. Undefined: it opens. */
  readonly damaged?: string;
}

export async function identityFilesFor(own: string): Promise<IdentityFile[]> {
  const other = await generateX25519Identity();
  const changed = own.replace(/.$/, (last) => (last === 'Q' ? 'P' : 'Q'));
  return [
    { name: 'CRLF, comments and blank lines', text: `# created\r\n\r\n# public key: age1\r\n${own}\r\n\r\n` },
    { name: 'no last newline', text: `# of mine\n${own}` },
    { name: 'a carriage return at its end', text: `${own}\r` },
    { name: 'several identities', text: `${other}\n# the next\n${own}\n` },
    { name: 'several identities and CRLF', text: `${other}\r\n${own}\r\n` },
    { name: 'a letter changed', text: `# one\n${changed}\n`, damaged: 'line 2 is' },
    { name: 'its end cut', text: `\r\n\r\n${own.slice(0, 40)}\r\n`, damaged: 'line 3 is' },
    { name: 'its beginning cut', text: `# one\n${own.slice(20)}\n`, damaged: 'line 2 is' },
    { name: 'a blank behind it', text: `${own} \n`, damaged: 'line 1 is' },
    { name: 'a blank before it', text: ` ${own}\n`, damaged: 'line 1 is' },
    { name: 'a byte order mark', text: `\uFEFF${own}\n`, damaged: 'line 1 is' },
    { name: 'lower case', text: `${own.toLowerCase()}\n`, damaged: 'line 1 is' },
    { name: 'two damaged lines', text: `${own}\nshort\n${other}\n!\n`, damaged: 'lines 2 and 4 are' },
  ];
}
