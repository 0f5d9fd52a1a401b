/** Writes log lines as Go programs do with logrus: short and without colour to a terminal, else as `key="value"` pairs. */

type Level = 'info' | 'warning' | 'fatal';

const short: Readonly<Record<Level, string>> = { info: 'INFO', warning: 'WARN', fatal: 'FATA' };

export function log(level: Level, message: string): void {
  const line = process.stderr.isTTY
    ? `${short[level]}[${String(Math.floor(process.uptime())).padStart(4, '0')}] ${message}`
    : `time="${new Date().toISOString().replace(/\.\d+/, '')}" level=${level} msg=${JSON.stringify(message)}`;
  process.stderr.write(`${line}\n`);
}
