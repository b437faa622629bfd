import { CHANNEL_NAMES, type ChannelName } from '@carillon/domain/channels';
import {
  CONSENT_WAYS,
  nameOfTarget,
  type ConsentTarget,
  type ConsentWay,
  type ConsentEntry,
} from '@carillon/domain/consent';
import type { RecordKind } from './record-kind.ts';
import { readPersonal, textOf, wordOf, writePersonal } from './personal.ts';

const WAYS = Object.fromEntries(CONSENT_WAYS.map((way) => [way, true])) as Record<ConsentWay, true>;
const CHANNELS = Object.fromEntries(CHANNEL_NAMES.map((name) => [name, true])) as Record<ChannelName, true>;
const TARGETS: Readonly<Record<ConsentTarget['kind'], true>> = { all: true, category: true, notification: true };

type WireConsent = {
  id: string;
  workspace: string;
  target: string;
  name: string;
  channel: string | null;
  opted_out: boolean;
  way: string;
  at: number;
  personal: Buffer;
};

/** The person is personal data, usually an address, and so is the author of a choice on the person's behalf. */
export const consentRecord = {
  name: 'consent',
  topic: 'carillon.consents',
  owner: 'gateway',
  description: 'Opt-outs and their withdrawal, after the store has them.',
  key: 'person',
  partitions: 8,
  retention: 'forever',
  schema: {
    type: 'record',
    name: 'Consent',
    namespace: 'carillon',
    doc: 'One word of a person: what they want no more, or want again. It stands in the store before it stands here.',
    fields: [
      { name: 'id', type: 'string', doc: 'Derived from what it says and when.' },
      { name: 'workspace', type: 'string' },
      { name: 'target', type: 'string', doc: 'all, category or notification.' },
      {
        name: 'name',
        type: 'string',
        default: '',
        doc: "Of the category, or the notification's stable id; empty for all.",
      },
      { name: 'channel', type: ['null', 'string'], default: null, doc: 'Null: all channels.' },
      { name: 'opted_out', type: 'boolean' },
      { name: 'way', type: 'string', doc: 'one_click, page, api or import.' },
      { name: 'at', type: { type: 'long', logicalType: 'timestamp-millis' } },
      {
        name: 'personal',
        type: 'bytes',
        doc: 'JSON {person, by}; by is left out where the person said it. Clear text begins with `{`; any other first byte is reserved for an encrypted form.',
      },
    ],
  },
  write: (word) => ({
    id: word.id,
    workspace: word.workspace,
    target: word.target.kind,
    name: nameOfTarget(word.target),
    channel: word.channel,
    opted_out: word.optedOut,
    way: word.way,
    at: word.at,
    personal: writePersonal({ person: word.person, ...(word.by !== undefined && { by: word.by }) }),
  }),
  read: (wire) => {
    const kind = wordOf(wire.target, TARGETS, 'target');
    const { person, by } = readPersonal(wire.personal);
    return {
      id: wire.id,
      workspace: wire.workspace,
      person: textOf(person, 'person'),
      target: kind === 'all' ? { kind } : { kind, name: wire.name },
      channel: wire.channel === null ? null : wordOf(wire.channel, CHANNELS, 'channel'),
      optedOut: wire.opted_out,
      way: wordOf(wire.way, WAYS, 'way'),
      ...(by !== undefined && { by: textOf(by, 'by') }),
      at: wire.at,
    };
  },
} satisfies RecordKind<ConsentEntry, WireConsent>;
