/** The questions of `plinth init`, and what a newcomer answers who runs the local service. */
import { local } from '../../local/stack/deployment.js';
import type { TerminalRun } from './terminal-run.js';

/** Answers all of them. The project is named after its folder. `version`: of the platform. Undefined: cloud resources alone. */
export async function answerInit({ answer }: TerminalRun, project: string, version: string | undefined): Promise<void> {
  for (const [question, text] of [
    ['Name of the project', ''],
    ['Billing account that pays', ''],
    ['Domain of the platform', `${project}.${local.domain}`],
    ['Folder that the project is made in', ''],
    ['Zone of the machines', ''],
    ['DNS zone', ''],
    ['How long the project lives', ''],
    ['Your user at the forge1 image registry', 'me'],
    ['Client ID of the forge1 app', 'id'],
    ['Version of the platform to install', version ?? ''],
  ] as const) {
    await answer(new RegExp(`${question}[\\s\\S]*: $`), text);
  }
}
