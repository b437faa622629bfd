import type { CohortMessage } from '@carillon/domain';
import type { EventId, Json } from '@carillon/kernel';
import { InvalidRecord, type RecordShape } from './codec.ts';
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

export const cohortMessageShape: RecordShape<CohortMessage, WireCohortMessage> = {
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
};

function timeOf(value: Json | undefined): CohortMessage['time'] {
  if (value === null) return null;
  if (typeof value === 'number') return value;
  return listOf(value, 'time').map((time) => {
    if (typeof time === 'number') return time;
    throw new InvalidRecord('a time is not a number');
  });
}
