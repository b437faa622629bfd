import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { incompatibility, RECORD_SCHEMAS } from '@carillon/contracts';
import { describe, expect, test } from 'vitest';
import { topicChanges, type TopicFile } from './support/topic-changes.ts';

/* Whoever runs a released version updates to this one over the same log, registry and topics. */

const SCHEMAS = join(import.meta.dirname, '../../../schemas');
const versions = readdirSync(join(SCHEMAS, 'released'));
const topicsIn = (folder: string): readonly TopicFile[] =>
  readdirSync(join(SCHEMAS, folder)).map(
    (file) => JSON.parse(readFileSync(join(SCHEMAS, folder, file), 'utf8')) as TopicFile,
  );
const withoutDoc = (schema: string): unknown =>
  JSON.parse(schema, (name, value: unknown) => (name === 'doc' ? undefined : value));

test('there is a released version to compare this one with', () => expect(versions.length).toBeGreaterThan(0));

describe.each(versions)('a record of version %s', (version) => {
  const files = readdirSync(join(SCHEMAS, 'released', version)).filter((file) => file.endsWith('.avsc'));

  test.each(files)('with the schema %s still has its subject, and can be read today', (file) => {
    const text = readFileSync(join(SCHEMAS, 'released', version, file), 'utf8');
    const own = Object.values(RECORD_SCHEMAS).filter(({ released }) =>
      released.some(
        (one) => one.version === version && JSON.stringify(JSON.parse(one.schema)) === JSON.stringify(withoutDoc(text)),
      ),
    );
    expect(own).toHaveLength(1);
    for (const { subject, current } of own) expect(incompatibility(current, text), subject).toBeNull();
  });

  test('is in a topic that still exists with the same settings, and is kept as long', () => {
    expect(topicChanges(topicsIn(`released/${version}/topics`), topicsIn('topics'))).toEqual([]);
  });
});

describe('a topic change that breaks an update is detected', () => {
  const before: TopicFile = {
    topic: 'carillon.events',
    key: 'stream, entity',
    value: 'bytes',
    partitions: 8,
    retention: '30d',
    dead_letter: 'carillon.dead-letters',
  };
  test.each<readonly [string, readonly TopicFile[], string]>([
    ['a topic that is gone', [], 'carillon.events is gone'],
    ['other partitions', [{ ...before, partitions: 16 }], 'carillon.events: partitions was 8 and is 16'],
    ['another key', [{ ...before, key: 'stream' }], 'carillon.events: key was stream, entity and is stream'],
    ['another record', [{ ...before, value: 'x.avsc' }], 'carillon.events: value was bytes and is x.avsc'],
    [
      'no place for dead letters',
      [{ ...before, dead_letter: null }],
      'carillon.events: dead_letter was carillon.dead-letters and is null',
    ],
    ['a shorter time', [{ ...before, retention: '7d' }], 'carillon.events: was kept 30d and is kept 7d'],
  ])('%s', (_what, now, words) => {
    expect(topicChanges([before], now)).toEqual([words]);
  });

  test('unlike a longer retention or an added topic', () => {
    const more = { ...before, topic: 'carillon.more' };
    expect(topicChanges([before], [more, { ...before, retention: 'forever' }])).toEqual([]);
  });
});
