import type { SourceKind } from './source-position.ts';
import type { SOURCE_REASONS, StoppedReason, TableReason, WaitingReason } from './source-state.ts';

/**
 * Where a reset continues: at the slot that is there, at a publication and slot that are made then, or at the oldest record that
 * the topics still have (or at their end, if the person says so).
 */
export type ResetStart = 'slot' | 'now' | 'oldest';

type WaitingWords = { readonly what: string; readonly end: string };
type StoppedWords = { readonly what: string; readonly continues: ResetStart };
type TableWords = { readonly what: (table: string) => string; readonly end: string };

type ReasonWords<Table extends string, Waiting extends string, Stopped extends string> = {
  readonly waiting: Readonly<Record<Waiting, WaitingWords>>;
  readonly stopped: Readonly<Record<Stopped, StoppedWords>>;
  readonly table: Readonly<Record<Table, TableWords>>;
};

type WordsOf<Kind extends SourceKind> = ReasonWords<
  (typeof SOURCE_REASONS)[Kind]['table'][number],
  (typeof SOURCE_REASONS)[Kind]['waiting'][number],
  (typeof SOURCE_REASONS)[Kind]['stopped'][number]
>;

const STORE_URL = 'Store the right URL in the secret that the integration names.';
const ALLOW_ADDRESS =
  'Add this line to the carillon.yaml that Carillon starts with, or set CARILLON_ALLOWED_PRIVATE_ADDRESSES to the address, then restart Carillon.';

/** Problems on Carillon's own side that stop the reading. */
const OURS = {
  log_full: { what: 'the log of Carillon has no space', end: 'Free space on the disk of Carillon.' },
  carillon_failed: {
    what: 'Carillon itself failed while it read the changes',
    end: 'Carillon retries. The log of the engine has the error.',
  },
} satisfies Record<string, WaitingWords>;

const POSTGRES: WordsOf<'postgres'> = {
  waiting: {
    unreachable: { what: 'the database does not answer', end: 'Carillon retries until it answers.' },
    wrong_url: {
      what: 'Carillon cannot use the URL of the database',
      end: STORE_URL,
    },
    refused_login: {
      what: 'the database refuses user or password',
      end: STORE_URL,
    },
    refused_address: {
      what: 'Carillon may not connect to the address of the database',
      end: ALLOW_ADDRESS,
    },
    refused_certificate: {
      what: 'the certificate of the database is not trusted',
      end: 'Store the certificate of its authority as a secret and name the secret in tls.ca.',
    },
    pooler: {
      what: 'the address leads to a connection pooler, which does not pass on replication',
      end: 'Use the address of the database itself.',
    },
    standby: { what: 'the server is a standby', end: 'Use the address of the primary.' },
    not_logical: {
      what: 'the setting wal_level of the database is not logical',
      end: 'Run this SQL, then restart PostgreSQL.',
    },
    may_not_replicate: {
      what: 'the role may not replicate',
      end: 'Let an administrator of the database run this SQL.',
    },
    may_not_publish: {
      what: 'the role may not create the publication',
      end: 'Let an administrator of the database run this SQL.',
    },
    publication_changed: {
      what: 'the options of the publication were changed, so that it leaves changes out',
      end: 'Run this SQL. Changes made before that stay missing.',
    },
    no_slot_free: {
      what: 'all replication slots of the server are in use',
      end: 'Drop an unused slot, or raise max_replication_slots.',
    },
    making_slot: {
      what: 'an open transaction blocks the new replication slot',
      end: 'PostgreSQL makes the slot when that transaction ends.',
    },
    in_use: { what: 'another process reads the replication slot', end: 'Stop that process.' },
    ...OURS,
  },
  stopped: {
    slot_lost: { what: 'PostgreSQL deleted WAL that the slot needs', continues: 'now' },
    slot_gone: { what: 'the slot was dropped', continues: 'now' },
    publication_gone: { what: 'the publication was dropped or made again', continues: 'now' },
    slot_ahead: {
      what: 'the slot is beyond the position that Carillon saved, as after a restored backup of Carillon',
      continues: 'slot',
    },
    other_database: {
      what: 'the URL leads to another database; if that is a mistake, correct the URL first',
      continues: 'slot',
    },
    went_back: {
      what: 'the database was set back to before the position that Carillon saved, as by a restored backup or a failover',
      continues: 'now',
    },
  },
  table: {
    no_table: {
      what: (table) => `no table is called ${table}`,
      end: 'Create it, or remove it from the stream.',
    },
    is_view: {
      what: (table) => `the view ${table} has no changes of its own`,
      end: 'Name the tables behind it.',
    },
    is_partition: {
      what: (table) =>
        `the partition ${table} belongs to a table that is read too, so its changes arrive under the name of that table`,
      end: 'Remove it from the stream.',
    },
    no_identity: {
      what: (table) =>
        `the table ${table} has neither a primary key nor a replica identity; if it were published, its UPDATEs would fail`,
      end: 'Run this SQL.',
    },
    not_published: {
      what: (table) => `Carillon may not add ${table} to its publication`,
      end: 'Let an administrator of the database run this SQL.',
    },
  },
};

const KAFKA: WordsOf<'kafka'> = {
  waiting: {
    unreachable: { what: 'the Kafka cluster does not answer', end: 'Carillon retries until it answers.' },
    refused_login: {
      what: 'the Kafka cluster refuses user or password',
      end: 'Store the right password in the secret that the integration names.',
    },
    refused_address: {
      what: 'Carillon may not connect to the address of a broker',
      end: ALLOW_ADDRESS,
    },
    refused_certificate: {
      what: 'the certificate of a broker is not trusted',
      end: 'Store the certificate of its authority as a secret and name the secret in tls.ca.',
    },
    too_old: {
      what: 'the Kafka cluster gives topics no ids, so Carillon could not detect that a topic was created again',
      end: 'Upgrade it to Kafka 3.1 or newer.',
    },
    registry_away: { what: 'the schema registry does not answer', end: 'Carillon retries until it answers.' },
    schema_unknown: {
      what: 'the schema registry lacks the schema of a record',
      end: 'Register the schema, or correct the URL of the registry.',
    },
    ...OURS,
  },
  stopped: {
    other_database: {
      what: 'the brokers belong to another Kafka cluster; if that is a mistake, correct the brokers first',
      continues: 'oldest',
    },
    topic_made_again: { what: 'a topic was deleted and made again', continues: 'oldest' },
    records_gone: {
      what: 'a topic no longer has the records after the position that Carillon saved',
      continues: 'oldest',
    },
    went_back: {
      what: 'a topic ends before the position that Carillon saved, as after lost records of a broker',
      continues: 'oldest',
    },
  },
  table: {
    no_topic: {
      what: (topic) => `no topic is called ${topic}`,
      end: 'Create it, or remove it from the stream.',
    },
    may_not_read: {
      what: (topic) => `the user of the integration may not read the topic ${topic}`,
      end: 'Let an administrator of the Kafka cluster allow it to describe and read the topic.',
    },
    no_leader: {
      what: (topic) => `the topic ${topic} is not read whole, because not every partition has a leader`,
      end: 'Carillon reads on once its broker is back.',
    },
  },
};

type AllWords = ReasonWords<TableReason, WaitingReason, StoppedReason>;

/** Words of the reasons. A reason that several kinds know is described in the words of the kind. */
export const REASON_WORDS: Readonly<Record<SourceKind, AllWords>> = {
  postgres: {
    waiting: { ...KAFKA.waiting, ...POSTGRES.waiting },
    stopped: { ...KAFKA.stopped, ...POSTGRES.stopped },
    table: { ...KAFKA.table, ...POSTGRES.table },
  },
  kafka: {
    waiting: { ...POSTGRES.waiting, ...KAFKA.waiting },
    stopped: { ...POSTGRES.stopped, ...KAFKA.stopped },
    table: { ...POSTGRES.table, ...KAFKA.table },
  },
};
