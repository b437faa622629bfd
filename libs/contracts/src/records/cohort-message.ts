import type { CohortMessage } from '@carillon/domain/cohorts';
import type { EventId, Json } from '@carillon/kernel';
import { InvalidRecord } from './codec.ts';
import type { RecordKind } from './record-kind.ts';
import { listOf, readPersonal, textOf, wordOf, writePersonal } from './personal.ts';

const ACTIONS: Readonly<Record<CohortMessage['action'], true>> = {
  add: true,
  remove: true,
  replace: true,
  settle: true,
};

type WireCohortMessage = {
  id: string;
  workspace: string;
  integration: string;
  cohort: string;
  name: string | null;
  action: string;
  session: string | null;
  page: number | null;
  pages: number | null;
  skipped: number;
  first_sync: number;
  personal: Buffer;
};

export const cohortRecord = {
  name: 'cohort-message',
  topic: 'carillon.cohorts',
  owner: 'gateway',
  description: 'What analytics platforms say of who is in a cohort; what changes because of it comes as events.',
  key: 'integration and cohort',
  partitions: 8,
  retention: '30d',
  schema: {
    type: 'record',
    name: 'CohortMessage',
    namespace: 'carillon',
    doc: 'What an analytics platform said about one cohort, in one form for all platforms. Applied twice it changes nothing.',
    fields: [
      { name: 'id', type: 'string', doc: 'evt_ and 26 characters; what changes because of it is derived from it.' },
      { name: 'workspace', type: 'string' },
      { name: 'integration', type: 'string', doc: 'Name of the integration that it came from.' },
      { name: 'cohort', type: 'string', doc: 'Id of the cohort at the platform.' },
      { name: 'name', type: ['null', 'string'], default: null, doc: 'Name of the cohort, for people.' },
      { name: 'action', type: 'string', doc: "add, remove, replace; settle is the engine's own." },
      { name: 'session', type: ['null', 'string'], default: null, doc: 'Names the export that it belongs to.' },
      {
        name: 'page',
        type: ['null', 'long'],
        default: null,
        doc: 'Of a replacement or of counted additions, from 1; of a settle the chunk, from 0.',
      },
      { name: 'pages', type: ['null', 'long'], default: null, doc: 'How many there are, where that is known.' },
      { name: 'skipped', type: 'long', doc: 'Members that came without a usable user id.' },
      {
        name: 'first_sync',
        type: 'long',
        doc: "Milliseconds after a cohort's first message in which those without a session are the first sync.",
      },
      {
        name: 'personal',
        type: 'bytes',
        doc: 'JSON {user_ids, time}: time is null, one time in milliseconds, or one for each user. Clear text begins with `{`; any other first byte is reserved for an encrypted form.',
      },
    ],
  },
  write: (message) => ({
    id: message.id,
    workspace: message.workspace,
    integration: message.integration,
    cohort: message.cohort,
    name: message.name,
    action: message.action,
    session: message.session,
    page: message.page?.number ?? null,
    pages: message.page?.of ?? null,
    skipped: message.skipped,
    first_sync: message.firstSync,
    personal: writePersonal({ user_ids: message.userIds, time: message.time }),
  }),
  read: (wire) => {
    const personal = readPersonal(wire.personal);
    return {
      id: wire.id as EventId,
      workspace: wire.workspace,
      integration: wire.integration,
      cohort: wire.cohort,
      name: wire.name,
      action: wordOf(wire.action, ACTIONS, 'action'),
      session: wire.session,
      page: wire.page === null ? null : { number: wire.page, of: wire.pages },
      skipped: wire.skipped,
      firstSync: wire.first_sync,
      userIds: listOf(personal['user_ids'], 'user_ids').map((id) => textOf(id, 'a user id')),
      time: timeOf(personal['time']),
    };
  },
} satisfies RecordKind<CohortMessage, WireCohortMessage>;

function timeOf(value: Json | undefined): CohortMessage['time'] {
  if (value === null) return null;
  if (typeof value === 'number') return value;
  return listOf(value, 'time').map((time) => {
    if (typeof time === 'number') return time;
    throw new InvalidRecord('a time is not a number');
  });
}
