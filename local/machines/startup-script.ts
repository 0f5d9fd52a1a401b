/** Runs a VM's startup script as Google's guest agent does, and reports it on the serial port. */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';

/**
 * Makes an executable file of the script, so that its first line counts. The shell that runs this gets the script as its
 * input.
 */
export const runScript = [
  'file=$(mktemp -d /tmp/metadata-scripts.XXXXXX)/startup-script',
  'cat > "$file" && chmod 700 "$file" && "$file" < /dev/null',
].join('; ');

/** Resolves when the program has ended. */
export async function tellOf(
  program: ChildProcessWithoutNullStreams,
  script: string,
  onSerial: (line: string) => void,
  ended: AbortSignal,
): Promise<void> {
  program.stdin.on('error', () => undefined).end(script);
  const lines = (data: Buffer): void => {
    for (const line of data.toString().split('\n').filter(Boolean)) onSerial(`startup-script: ${line}`);
  };
  program.stdout.on('data', lines);
  program.stderr.on('data', lines);
  const code = await new Promise<number | null>((resolve) => program.once('close', resolve));
  if (!ended.aborted) onSerial(`startup-script exit status ${code ?? 'none'}`);
}
