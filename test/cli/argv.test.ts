import { expect } from 'chai';
import { type ArgvValue, readArgv } from '../../cli/frame/argv.js';
import { allFlags } from '../../cli/frame/flags.js';

interface Case {
  readonly args: readonly string[];
  readonly values?: Readonly<Record<string, ArgvValue>>;
  readonly words?: readonly string[];
  /** `--flag message` */
  readonly faults?: readonly string[];
}

const cases: readonly Case[] = [
  { args: ['--region', 'x'], values: { region: 'x' } },
  { args: ['--region=x'], values: { region: 'x' } },
  { args: ['--region='], values: { region: '' } },
  { args: ['--region=a=b'], values: { region: 'a=b' } },
  { args: ['--region', ' x\ty '], values: { region: ' x\ty ' } },
  { args: ['--region', 'a', '--region', 'b'], values: { region: 'b' } },
  {
    args: ['-s', 'x', '-sy', '-s=z', '--install-skip-steps=a,b'],
    values: { 'install-skip-steps': ['x', 'y', 'z', 'a,b'] },
  },
  { args: ['-s==x'], values: { 'install-skip-steps': ['=x'] } },
  { args: ['-s', '-x'], values: { 'install-skip-steps': ['-x'] } },
  {
    args: ['--install-hash', '12e5', '--billing-account', '0123'],
    values: { 'install-hash': '12e5', 'billing-account': '0123' },
  },
  { args: ['--forge1-pat', '-----x'], values: { 'forge1-pat': '-----x' } },
  { args: ['--forge1-pat=--region'], values: { 'forge1-pat': '--region' } },
  { args: ['--forge1-pat', '--unknown'], values: { 'forge1-pat': '--unknown' } },
  { args: ['--root-disk-size', '100'], values: { 'root-disk-size': 100 } },
  { args: ['--datacenter-id', '-1'], values: { 'datacenter-id': -1 } },
  ...['true', '1', 't'].map((text) => ({ args: [`--timer=${text}`], values: { timer: true } })),
  ...['false', '0', 'f'].map((text) => ({ args: [`--timer=${text}`], values: { timer: false } })),
  { args: ['--timer'], values: { timer: true } },
  { args: ['--no-write-config'], values: { 'write-config': false } },
  { args: ['--write-config=false', '--spot-vms'], values: { 'write-config': false, 'spot-vms': true } },
  {
    args: ['beta', '--verbose', 'bootstrap-cloud', '--timer', 'x'],
    values: { verbose: true, timer: true },
    words: ['beta', 'bootstrap-cloud', 'x'],
  },
  { args: ['-h'], values: { help: true } },
  { args: ['a', '--', '--region'], words: ['a', '--region'] },

  { args: ['--region'], faults: ['--region value missing'] },
  { args: ['-s'], faults: ['--install-skip-steps value missing'] },
  { args: ['--region', '--'], faults: ['--region value missing'] },
  { args: ['--region', '--zone', 'z'], values: { zone: 'z' }, faults: ['--region value missing'] },
  { args: ['--region', '--zone=z', '--timer'], values: { zone: 'z', timer: true }, faults: ['--region value missing'] },
  { args: ['--region', '--no-timer'], values: { timer: false }, faults: ['--region value missing'] },
  { args: ['--region', '-s', 'x'], values: { 'install-skip-steps': ['x'] }, faults: ['--region value missing'] },
  { args: ['--forge1-pat'], faults: ['--forge1-pat value missing'] },
  { args: ['--timer=yes'], faults: ['--timer must be one of true, 1, t, false, 0, f, not "yes"'] },
  { args: ['--timer='], faults: ['--timer must be one of true, 1, t, false, 0, f, not ""'] },
  { args: ['--no-timer=false'], faults: ['--no-timer takes no value'] },
  { args: ['--root-disk-size', '5.0'], faults: ['--root-disk-size must be a whole number, not "5.0"'] },
  { args: ['--root-disk-size', '0x10'], faults: ['--root-disk-size must be a whole number, not "0x10"'] },
  { args: ['--regoin', 'x', 'word'], words: ['word'], faults: ['--regoin is no known flag; did you mean --region?'] },
  { args: ['--regoin=x', 'word'], words: ['word'], faults: ['--regoin is no known flag; did you mean --region?'] },
  { args: ['--xyzzyxyzzy'], faults: ['--xyzzyxyzzy is no known flag'] },
  { args: ['--no-region'], faults: ['--no-region is no known flag; did you mean --region?'] },
  { args: ['-x'], faults: ['-x is no known flag'] },
  { args: ['--__proto__=x'], faults: ['--__proto__ is no known flag'] },
  { args: ['--constructor'], faults: ['--constructor is no known flag'] },
];

describe('values from the command line', () => {
  for (const { args, values = {}, words = [], faults = [] } of cases) {
    it(args.join(' '), () => {
      const argv = readArgv(args, allFlags);
      expect(Object.fromEntries(argv.values)).to.deep.equal(values);
      expect(argv.words).to.deep.equal(words);
      expect(argv.faults.map(({ path, message }) => `${path} ${message}`)).to.deep.equal(faults);
    });
  }
});
