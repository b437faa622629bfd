import { formatFault, planChanges } from '@carillon/configuration';
import { EMPTY_CONFIGURATION, foldConfiguration } from '@carillon/domain/configuration';
import { describe, expect, it } from 'vitest';
import { notificationWith, read } from './support/folder.ts';
import { reading } from './support/small-language.ts';

const deployment = (retention: string) => ({ 'carillon.yaml': `backend: embedded\nretention: ${retention}\n` });
const messages = (retention: string): readonly string[] => read(deployment(retention)).faults.map(formatFault);

describe('retention in carillon.yaml', () => {
  it('takes days and forever for each topic that may be set', () => {
    const topics = 'events triggers lookups intents evaluations outcomes receipts cohorts dead_letters'.split(' ');
    const body = topics.map((topic, index) => `${topic}: ${index === 0 ? 'forever' : `${index}d`}`).join(', ');
    expect(messages(`{ ${body}, audit: forever }`)).toEqual([]);
  });

  it.each([
    ['no day', '{ events: 0d }', 'days such as 90d, or forever'],
    ['hours', '{ events: 36h }', 'days such as 90d, or forever'],
    ['weeks', '{ intents: 2w }', 'days such as 90d, or forever'],
    ['a number', '{ intents: 90 }', 'expected text'],
    ['another word', '{ intents: always }', 'days such as 90d, or forever'],
    ['less than a month for the audit', '{ audit: 7d }', 'a duration of at least 30d, or forever'],
    ['a topic that nobody knows', '{ event: 90d }', 'events'],
    ['the configuration', '{ config: 90d }', 'carillon.config is always kept'],
    ['consents', '{ consents: forever }', 'carillon.consents is always kept'],
    ['deliveries', '{ deliveries: 90d }', 'comes in a later version'],
  ])('refuses %s', (_what, retention, words) => {
    const found = messages(retention);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(/^carillon\.yaml:2:\d+/);
    expect(found[0]).toContain(words);
  });
});

type Files = Readonly<Record<string, string | null>>;

const plan = (files: Files, current = EMPTY_CONFIGURATION) =>
  planChanges(current, read(files).resources, {
    prune: false,
    newId: (kind) => `${kind}_1`,
    language: reading.language,
    templates: reading.templates,
  });
const refusals = (files: Files, current = EMPTY_CONFIGURATION): readonly string[] =>
  plan(files, current).faults.map(({ ref, path, message }) => `${ref.kind} ${path.join('.')}: ${message}`);
const expiring = (expires: string): Files => notificationWith('channels:', `expires: ${expires}\nchannels:`);

describe('retention that is shorter than a time of a rule', () => {
  it('is refused with the topic, the notification, the setting and its bound', () => {
    expect(refusals({ ...deployment('{ events: 9d, intents: 10d }'), ...expiring('10d') })).toEqual([
      'deployment retention.events: events are kept 9d, which is shorter than expires of shop/order-paid (10d)',
    ]);
    const delayed = notificationWith('channels:', 'cadence: { delay: 40d }\nchannels:');
    expect(refusals({ ...deployment('{ triggers: 39d }'), ...delayed })).toEqual([
      'deployment retention.triggers: triggers are kept 39d, which is shorter than delay of shop/order-paid (40d)',
    ]);
  });

  it('is accepted if it is as long, and for topics that neither waits nor deliveries go back to', () => {
    const others = 'evaluations: 1d, outcomes: 1d, receipts: 1d, cohorts: 1d, dead_letters: 1d';
    expect(refusals({ ...deployment(`{ events: 10d, ${others} }`), ...expiring('10d') })).toEqual([]);
    expect(refusals({ ...deployment('{ events: forever }'), ...expiring('400d') })).toEqual([]);
    expect(refusals(expiring('400d'))).toEqual([]);
  });

  it('is refused at the notification if only the notification changes', () => {
    const { record } = plan({ ...deployment('{ events: 5d }'), ...expiring('5d') });
    const current = foldConfiguration(EMPTY_CONFIGURATION, { changes: record }, 1).configuration;
    const change = read(expiring('6d')).resources.filter(({ ref }) => ref.kind === 'notification');
    const options = { prune: false, newId: () => 'x_1', language: reading.language, templates: reading.templates };
    for (const workspace of [undefined, 'shop']) {
      const { faults } = planChanges(current, change, { ...options, workspace });
      expect(faults.map(({ ref, path, code }) => [ref.kind, path.join('.'), code])).toEqual([
        ['notification', 'expires', 'retention_too_short'],
      ]);
    }
  });

  it('is refused for a notification that the folder does not name and that stays', () => {
    const { record } = plan(expiring('6d'));
    const current = foldConfiguration(EMPTY_CONFIGURATION, { changes: record }, 1).configuration;
    const alone = read(deployment('{ events: 5d }')).resources.filter(({ ref }) => ref.kind === 'deployment');
    const options = { prune: false, newId: () => 'x_1', language: reading.language, templates: reading.templates };
    expect(planChanges(current, alone, options).faults.map(({ ref, code }) => [ref.kind, code])).toEqual([
      ['deployment', 'retention_too_short'],
    ]);
  });
});
