/** Each alert has a section, each section fits on one screen, and all that a section names exists. test/printed proves that its commands parse. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { commands } from '../../cli/commands/index.js';
import { settings } from '../../functions/config.js';
import { spotMetric } from '../../functions/steps/topology.js';
import { invokers } from '../../local/stack/deployment.js';
import { BootstrapState } from '../../shared/bootstrap/bootstrap.js';
import { deploymentSecrets, functionNames, labels, schedulerJobs, topics } from '../../shared/names.js';
import { problemKinds } from '../../shared/problems.js';

const [index = '', ...parts] = readFileSync(join('docs', 'operate', 'runbooks.md'), 'utf8').split(/^(?=## )/m);
const pages = parts.map((text) => {
  const [, title = ''] = /^## (.+)$/m.exec(text) ?? [];
  return { page: title.toLowerCase().replaceAll(' ', '-'), text };
});
const fenced = /^```\w*\n([\s\S]*?)^```$/gm;
const blocksIn = (text: string): string[] => [...text.matchAll(fenced)].map(([, script = '']) => script);
const proseIn = (text: string): string => text.replaceAll(fenced, '');
/** What stands in backticks, without the blocks. */
const spansIn = (text: string): string[] => groupsIn(proseIn(text), /`([^`\n]+)`/g);
const groupsIn = (text: string, form: RegExp): string[] => [...text.matchAll(form)].map(([, group = '']) => group);

const terraform = (name: string): string => readFileSync(join('terraform', name), 'utf8');
const alerts = terraform('alerts.tf');
/** Enough for a terminal of a usual size, without its headings scrolled away. */
const screenLines = 52;

/** Of all pages: what `named` finds in each, and is not known. */
const unknownIn = (named: (text: string) => readonly string[], isKnown: (name: string) => boolean): string[] =>
  pages.flatMap(({ page, text }) =>
    named(text)
      .filter((name) => !isKnown(name))
      .map((name) => `${page}: ${name}`),
  );

describe('runbooks', () => {
  const ofAlerts = groupsIn(alerts, /Runbook: docs\/operate\/runbooks\.md#([a-z-]+)"/g);

  it('each alert names its own section, and the section is there', () => {
    // Of `late` each key is an alert.
    const tables = ['log_alerts = {', 'for_each = {'].map(
      (begin) => alerts.slice(alerts.indexOf(begin)).split('\n  }')[0],
    );
    const inTables =
      (tables[0]?.match(/^ {6}document +=/gm) ?? []).length + (tables[1]?.match(/^ {4}\w+ +=/gm) ?? []).length;
    const single = (alerts.match(/^resource "google_monitoring_alert_policy"/gm) ?? []).length - 2;
    expect(ofAlerts).to.have.length(inTables + single);
    expect(new Set(ofAlerts).size).to.equal(ofAlerts.length);
    expect(pages.map(({ page }) => page)).to.include.members(ofAlerts);
  });

  for (const { page, text } of pages) {
    it(`${page} has a first command and a way back on one screen, and is in the list`, () => {
      expect(text).to.contain('**What it looks like.**').and.to.contain('**First command.**');
      expect(text).to.contain('**Way back.**');
      expect(text.split('\n').length).to.be.at.most(screenLines);
      expect(blocksIn(text)).not.to.deep.equal([]);
      expect(index).to.contain(`(#${page})`);
    });
  }

  it('name no variable that their reader is not told of', () => {
    const usual = ['PROJECT', 'REGION', 'NAME'];
    const untold = pages.flatMap(({ page, text }) => {
      const used = blocksIn(text).flatMap((script) => groupsIn(script, /\$([A-Z_]+)/g));
      return [...new Set(used)]
        .filter((name) => !usual.includes(name) && !proseIn(text).includes(name))
        .map((name) => `${page}: ${name}`);
    });
    expect(untold).to.deep.equal([]);
  });

  it('name only alerts that there are', () => {
    const names = new Set([
      ...groupsIn(alerts, /^ {6}name +=\s"(.+)"$/gm),
      ...groupsIn(alerts, /^ +display_name += "plinth: ([^$"\n]+)"$/gm),
      ...Object.keys(schedulerJobs).map((job) => `${job} is late`),
    ]);
    const named = (text: string): string[] => groupsIn(text, /[Tt]he alert \*([^*]+)\*/g);
    expect(unknownIn(named, (name) => names.has(name))).to.deep.equal([]);
  });

  it('look for lines of the log that a metric counts, and in functions that there are', () => {
    // test/terraform compares the patterns with what the functions write.
    const patterns = groupsIn(terraform('metrics.tf'), /^ +pattern +=\s"(.+)"$/gm);
    const sought = (text: string): string[] => groupsIn(text, /jsonPayload\.message=~"([^"]+)"/g);
    expect(unknownIn(sought, (line) => patterns.some((pattern) => pattern.startsWith(line)))).to.deep.equal([]);
    const names = new Set<string>(Object.values(functionNames));
    const services = (text: string): string[] =>
      groupsIn(text, /service_name=\(([^)]+)\)/g).flatMap((list) => groupsIn(list, /"([^"]+)"/g));
    expect(unknownIn(services, (name) => names.has(name))).to.deep.equal([]);
  });

  it('name only settings, metrics, states, problems, functions and commands that there are', () => {
    const tuning = terraform('variables-tuning.tf');
    const known = new Set<string>([
      ...groupsIn(terraform('variables.tf') + tuning, /^variable "(\w+)"/gm),
      // Fields of variables that hold objects.
      ...groupsIn(tuning, /^ {4}(\w+) += /gm),
      ...Object.keys(settings),
      ...[spotMetric, 'CPUS'],
      ...BootstrapState.options,
      ...Object.keys(problemKinds),
      ...Object.values(functionNames),
      ...commands.flatMap(({ words }) => words.split(' ')),
      'gcloud',
    ]);
    const column = 'STATE';
    const named = (text: string): string[] => {
      const blocks = blocksIn(text).join('\n');
      return spansIn(text)
        .map((span) => span.replace(/ = ".+"$/, ''))
        .filter((span) => /^(?:[a-z][a-z_-]*[a-z]|[A-Z_]+)$/.test(span) && span !== column)
        .filter((span) => !span.startsWith('plinth-') && !blocks.includes(span));
    };
    expect(unknownIn(named, (name) => known.has(name))).to.deep.equal([]);
  });

  it('name only topics, jobs, secrets, labels and accounts of plinth that there are', () => {
    const tables = [topics, schedulerJobs, deploymentSecrets, labels].flatMap((table) => Object.values(table));
    const accounts = Object.values(invokers).map((email) => email.split('@')[0] ?? '');
    // A label that a page sets itself.
    const known = new Set<string>([...tables, ...accounts, 'plinth-restarted']);
    const named = (text: string): string[] =>
      [...blocksIn(text), ...spansIn(text)].flatMap((code) => groupsIn(code, /(?<![\w-])(plinth-[a-z]+(?:-[a-z]+)*)/g));
    expect(unknownIn(named, (name) => known.has(name))).to.deep.equal([]);
  });
});
