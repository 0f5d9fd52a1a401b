/** Runs the commands of a part of the page one after another in one bash, with the real command line and curl, on a stack of its own. */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { callerEnvironment } from '../../local/demo/plinth-process.js';
import { local } from '../../local/stack/deployment.js';
import { createStack, type Stack } from '../../local/stack/stack.js';
import { programFolder } from '../runbooks/walk.js';
import { makeCaller } from '../support/scene.js';
import { learn, type Shown, translate } from './page.js';

export interface Walked {
  readonly shown: Shown;
  /** As it ran. */
  readonly ran: Shown;
  /** Its output, with the page's ids in place of the run's. */
  readonly output: readonly string[];
}

const endMark = '\u0001';

/** In the page the token comes from the stack that the reader runs. */
async function tokensOf(stack: Stack): Promise<string> {
  const people = [`bob@${local.domain}`, `carol@${local.domain}`];
  const cases = await Promise.all(
    people.map(async (email) => `${email}) echo '${(await stack.tokens(email)).idToken}' ;;`),
  );
  return `npm() { case "\${@: -1}" in ${cases.join(' ')} *) return 1 ;; esac; }`;
}

function startBash(env: Readonly<Record<string, string>>, folder: string) {
  const child = spawn('bash', ['--noprofile', '--norc'], { cwd: folder, env, stdio: ['pipe', 'pipe', 'inherit'] });
  let text = '';
  let heard: () => void = () => undefined;
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
    heard();
  });
  child.once('close', () => heard());
  return {
    /** What both streams said. */
    async run(command: string): Promise<string[]> {
      text = '';
      child.stdin.write(`{ ${command}\n} </dev/null 2>&1; printf '\\n${endMark}\\n'\n`);
      while (!text.includes(endMark)) {
        if (child.exitCode !== null) throw new Error(`bash ended at: ${command}\n${text}`);
        await new Promise<void>((resolve) => {
          heard = resolve;
        });
      }
      const said = text.slice(0, text.indexOf(endMark)).replaceAll('\r', '').trimEnd();
      return said === '' ? [] : said.split('\n');
    },
    end: () => child.stdin.end(),
  };
}

export async function walk(all: readonly Shown[]): Promise<Walked[]> {
  const stack = await createStack();
  const caller = await makeCaller(stack, `alice@${local.domain}`);
  const env = callerEnvironment(caller);
  const bash = startBash({ ...env, PATH: `${programFolder(caller)}:${env['PATH']}` }, caller.folder);
  try {
    await bash.run(await tokensOf(stack));
    const ids = new Map<string, string>();
    const walked: Walked[] = [];
    for (const shown of all) {
      const command = translate(shown.command, ids);
      const output = await bash.run(command);
      learn(ids, shown.output, output);
      const back = [...ids].map(([page, run]) => [run, page] as const);
      walked.push({ shown, ran: { command, output }, output: output.map((line) => translate(line, back)) });
    }
    return walked;
  } finally {
    bash.end();
    await stack.close();
    rmSync(caller.folder, { recursive: true, force: true });
  }
}
