/** A program that plays gcloud's config-helper, for tests that need no gcloud. The real one judges in the tests that need programs. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

function writeProgram(folder: string, lines: readonly string[]): void {
  const file = join(folder, 'gcloud');
  writeFileSync(file, `#!/bin/sh\n${lines.join('\n')}\n`);
  chmodSync(file, 0o755);
}

/** Answers with one token after another, the last one for ever. Returns the argument lists so far. */
export function playGcloud(folder: string, account: string | undefined, tokens: readonly string[]): () => string[] {
  const asked = join(folder, 'asked');
  for (const [at, token] of tokens.entries()) {
    const answer = {
      configuration: { active_configuration: 'default', properties: { core: { account } } },
      credential: { access_token: token, token_expiry: '2099-01-01T00:00:00Z' },
    };
    writeFileSync(join(folder, `answer-${at + 1}`), JSON.stringify(answer));
  }
  writeProgram(folder, [
    `echo "$*" >>${asked}`,
    `n=0; while read -r line; do n=$((n + 1)); done <${asked}`,
    `[ "$n" -gt ${tokens.length} ] && n=${tokens.length}`,
    `while read -r line || [ -n "$line" ]; do echo "$line"; done <${folder}/answer-$n`,
  ]);
  return () => (existsSync(asked) ? readFileSync(asked, 'utf8').trimEnd().split('\n') : []);
}

export const playBrokenGcloud = (folder: string, error: string): void =>
  writeProgram(folder, [`while read -r line; do echo "$line" >&2; done <<'E'\n${error}\nE`, 'exit 1']);

export const playOtherGcloud = (folder: string, answer: string): void => writeProgram(folder, [`echo '${answer}'`]);
