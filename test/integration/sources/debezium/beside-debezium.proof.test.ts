import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../../support/requirements.ts';
import { sharedServer } from '../../../support/shared-servers.ts';
import { tableSql, TYPES_SQL } from './columns.ts';
import { EvaluatedReaders } from './evaluated-readers.ts';
import { Facts } from './facts.ts';
import { RandomStatements } from './statements.ts';
import { FORMATS, TwoReaders, type ReadEnvelope } from './two-readers.ts';

const TIMEOUT_MS = 1_200_000;
const STATEMENTS = Number(process.env['DEBEZIUM_STATEMENTS'] ?? 5000);
const SEED = Number(process.env['DEBEZIUM_SEED'] ?? Math.floor(Math.random() * 1_000_000));

const FULL = 'public.with_full';
const DEFAULT = 'public.with_default';
const TABLES = [FULL, DEFAULT];

describeWith(
  ['postgres', 'kafka', 'registry', 'debezium'],
  `${STATEMENTS} random statements, read beside Debezium (DEBEZIUM_SEED=${SEED})`,
  () => {
    let readers: TwoReaders;
    beforeAll(async () => {
      const [postgres, kafka, registry] = await Promise.all([
        sharedServer('postgres'),
        sharedServer('kafka'),
        sharedServer('registry'),
      ]);
      const servers = { postgres: postgres.url, brokers: kafka.brokers, registry: registry.url };
      const sql = [TYPES_SQL, tableSql(FULL, 'FULL'), tableSql(DEFAULT, 'DEFAULT')].join('; ');
      readers = await TwoReaders.create(servers, TABLES, sql);
      const statements = new RandomStatements(readers.database, TABLES);
      await statements.run(10, SEED + 1);
      await readers.keepOffsets();
      await statements.run(STATEMENTS, SEED);
      await readers.untilAllRead();
    }, TIMEOUT_MS);
    afterAll(async () => {
      await readers?.drop();
    }, TIMEOUT_MS);

    it.each(FORMATS.flatMap((format) => TABLES.map((table) => [format, table] as const)))(
      'give the same changes in the format %s of %s',
      (format, table) => {
        const facts = new Facts(format, table === FULL);
        const own = facts.ofDatabase(readers.changes.filter(({ change }) => change.source.table === table));
        const theirs = facts.ofEnvelopes(
          readers.envelopes(format).filter(({ record }) => record.topic.endsWith(`.${table}`)),
        );
        for (const [at, fact] of own.entries()) expect(theirs[at], `change ${at}`).toEqual(fact);
        expect(theirs).toHaveLength(own.length);
        expect(own.length).toBeGreaterThan(STATEMENTS / 4);
      },
    );

    it.each(FORMATS)(
      'give the same intents in the format %s',
      async (format) => {
        const evaluated = new EvaluatedReaders(format, { full: FULL, byKey: DEFAULT });
        const own = await evaluated.ofDatabase(readers.changes);
        const envelopes = readers.envelopes(format).map(({ record }) => record);
        const theirs = await evaluated.ofEnvelopes(envelopes, await readers.schemasOf(envelopes));
        expect(theirs).toEqual(own);
        const rules = new Map(own.map(({ rule }) => [rule, own.filter((intent) => intent.rule === rule).length]));
        console.info(`${format}: ${JSON.stringify(Object.fromEntries(rules))}`);
        expect([...rules.keys()].toSorted()).toEqual([
          'rows.changed',
          'rows.deleted',
          'rows.written',
          'rows.written_by_key',
        ]);
      },
      TIMEOUT_MS,
    );

    it(
      'have the same identities when Debezium is restarted from an old offset',
      async () => {
        const before = FORMATS.map((format) => identitiesIn(readers.envelopes(format)));
        await readers.restartFromKeptOffsets();
        await readers.untilAllRead(2);
        for (const [at, format] of FORMATS.entries()) {
          const first = before[at] ?? [];
          const all = identitiesIn(readers.envelopes(format));
          expect(new Set(first).size).toBe(first.length);
          expect(all.length).toBeGreaterThan(first.length + STATEMENTS / 4);
          expect([...new Set(all)]).toEqual(first);
        }
      },
      TIMEOUT_MS,
    );
  },
);

const identitiesIn = (envelopes: readonly ReadEnvelope[]): readonly string[] =>
  envelopes.flatMap(({ read }) => (read.kind === 'change' ? [JSON.stringify(read.read.identity)] : []));
