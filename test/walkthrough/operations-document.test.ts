import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { buildProgram, SECRETS_OF_A_PROCESS } from '@carillon/cli';
import type { DeliveryReason, DeliveryState } from '@carillon/domain/deliveries';
import { describe, expect, it } from 'vitest';

/*
 * What the pages say of states, reasons, variables and commands is there, and what is there is said. The two lists below
 * do not compile when the program knows one more.
 */

const ROOT = resolve(import.meta.dirname, '../..');
/** Pages that people wrote. The list of commands is generated. */
const OWN_PAGES = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs'))
    .filter((file) => file.endsWith('.md') && file !== 'commands.md')
    .map((file) => join('docs', file)),
];
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const states = read('docs/states-and-reasons.md');
const variables = read('docs/environment-variables.md');
const cluster = read('docs/cluster-settings.md');

const STATES = {
  WAITING: true,
  SENDING: true,
  COLLECTED: true,
  DIGESTED: true,
  SENT: true,
  IN_DOUBT: true,
  FAILED: true,
  EXPIRED: true,
  SUPPRESSED: true,
  CANCELLED: true,
  DELIVERED: true,
  BOUNCED: true,
  COMPLAINED: true,
} satisfies Record<DeliveryState, true>;

const REASONS = {
  new: true,
  rule_withdrawn: true,
  no_address: true,
  invalid_address: true,
  opted_out: true,
  suppressed_address: true,
  delayed: true,
  held_by_quiet_hours: true,
  quiet_hours: true,
  held_by_limit: true,
  capped: true,
  collected: true,
  digested: true,
  cannot_send_on_channel: true,
  not_after_passed: true,
  cannot_render: true,
  no_account: true,
  refused_recipient: true,
  refused_content: true,
  refused_account: true,
  throttled: true,
  transient: true,
  attempts_used_up: true,
  accepted: true,
  answer_unknown: true,
  lease_ran_out: true,
  stopped_before_sending: true,
  account_unavailable: true,
  operator_resend: true,
  operator_cancel: true,
  operator_dismiss: true,
  in_doubt_resend: true,
  in_doubt_drop: true,
  taken_over: true,
  duplicate: true,
  delivered: true,
  bounced: true,
  complained: true,
  evidence: true,
} satisfies Record<DeliveryReason, true>;

it('explains every state of a delivery and every reason for it', () => {
  for (const state of Object.keys(STATES)) expect(states, state).toContain(`\`${state}\``);
  const rows = [...states.matchAll(/^\| `([a-z_]+)` \| [A-Z]/gm)].map(([, reason]) => reason);
  expect(rows).toHaveLength(Object.keys(REASONS).length);
  expect(new Set(rows)).toEqual(new Set(Object.keys(REASONS)));
});

it('draws every state of a delivery in the concepts', () => {
  const diagram = read('docs/concepts.md').split('stateDiagram-v2')[1]?.split('```')[0] ?? '';
  const drawn = new Set(diagram.match(/\b[A-Z_]{4,}\b/g));
  expect(drawn).toEqual(new Set(Object.keys(STATES)));
});

describe('variables of the environment', () => {
  const sources = ['apps/cli/src', 'libs/adapters/system/src']
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
        .map((file) => read(join(folder, file))),
    )
    .join('\n');
  // Files of certificates are named by what they are for.
  const prefixes = [...sources.matchAll(/pemTexts\(source, '(\w+)'/g)].map(([, prefix = '']) => prefix);
  const names = new Set(sources.match(/\b(?:CARILLON|OTEL)_[A-Z_]*[A-Z]\b/g));
  for (const secret of SECRETS_OF_A_PROCESS) names.add(`${secret}_FILE`);
  for (const prefix of prefixes) {
    names.delete(prefix);
    for (const what of ['CA', 'CERT', 'KEY']) names.add(`${prefix}_${what}_FILE`);
  }

  it('are found in the program', () => {
    expect(prefixes).toHaveLength(3);
    expect(names.size).toBeGreaterThan(20);
  });

  it.each([...names])('%s is on a page', (name) => expect(variables + cluster).toContain(`\`${name}\``));

  it('named on a page are read by the program', () => {
    for (const [, name = ''] of (variables + cluster).matchAll(/`((?:CARILLON|OTEL)_[A-Z_]*[A-Z])`/g)) {
      expect([...names], name).toContain(name);
    }
  });
});

describe('every command that a page tells you to type', () => {
  const program = buildProgram();
  const typed = OWN_PAGES.flatMap((page) =>
    [...read(page).matchAll(/npx carillon ([^`\n<#]+)/g)].map(([, line = '']) => line.replace(/ {2,}.*/, '').trim()),
  );

  it('is found on the pages', () => expect(new Set(typed).size).toBeGreaterThan(15));

  it.each([...new Set(typed)])('carillon %s', (line) => {
    const words = line.split(/\s+/);
    let at = program;
    let named = 0;
    for (const word of words) {
      const next = at.commands.find((one) => one.name() === word);
      if (!next) break;
      at = next;
      named += 1;
    }
    expect(named, `there is no command ${words[0]}`).toBeGreaterThan(0);
    const chain = [at, ...(at.parent ? [at.parent] : [])];
    const known = new Set(chain.flatMap((one) => one.options.flatMap((option) => [option.long, option.short])));
    for (const flag of words.filter((word) => /^--?[a-z]/.test(word)))
      expect(known, `${line}: ${flag}`).toContain(flag);
  });
});

it('links only to what is there', () => {
  for (const page of OWN_PAGES) {
    for (const [, target = ''] of read(page).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)) {
      if (/^https?:/.test(target)) continue;
      expect(existsSync(join(ROOT, dirname(page), target)), `${page}: ${target}`).toBe(true);
    }
  }
});

it('mentions every command of the program on some page', () => {
  const pages = OWN_PAGES.map(read).join('\n');
  const program = buildProgram();
  for (const command of program.commands)
    expect(pages, command.name()).toMatch(new RegExp(String.raw`carillon ${command.name()}\b`));
});
