import { page } from './operation-example.ts';

const SINCE = '2026-11-28T09:12:09.000Z';
const READ_UNTIL = '2026-11-28T09:12:04.000Z';
const SOURCE = {
  workspace: 'shop',
  name: 'shop-db',
  kind: 'postgres',
  state: 'stopped',
  reason: 'slot_gone',
  sentence:
    'Changes since 09:12:04 UTC were not read: the slot was dropped. `carillon sources reset shop-db --reason "…"` begins again now.',
  fix: 'npx carillon sources reset shop-db --workspace shop --reason TEXT',
  since: SINCE,
  lag_seconds: 540,
  lag_bytes: null,
  lag_records: null,
  last_change_at: READ_UNTIL,
  read_until: READ_UNTIL,
  continues_at: 'now',
  span: 'Changes from 09:12:04 UTC to the moment of the reset will never be read.',
  span_at_end: null,
  reset_requested_at: null,
  streams: ['orders'],
  tables: [{ table: 'public.orders', since: '2026-11-20T08:00:00.000Z', problem: null, lag_records: null, gap: null }],
};

/** Examples of databases that are read, by operation. */
export const SOURCE_EXAMPLES = {
  listSources: { answers: page(SOURCE) },
  readSource: { answers: SOURCE },
  resetSource: {
    takes: { reason: 'dropped while the disk was full; orders were checked by hand', from: READ_UNTIL },
    answers: {
      ...SOURCE,
      sentence: 'A reset was requested at 09:21:04 UTC. Carillon carries it out as soon as the database answers.',
      fix: null,
      continues_at: null,
      span: null,
      reset_requested_at: '2026-11-28T09:21:04.000Z',
    },
  },
  listDatabaseTables: {
    answers: {
      ...page({
        table: 'public.orders',
        columns: [
          { name: 'id', type: 'bigint', key: true },
          { name: 'status', type: 'text', key: false },
        ],
        identity: 'key',
        problem: null,
      }),
      problem: null,
    },
  },
  listKafkaTopics: {
    answers: { ...page({ topic: 'app.public.orders', partitions: 3, problem: null }), problem: null },
  },
};
