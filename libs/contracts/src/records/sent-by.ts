import type { SentBy } from '@carillon/domain/deliveries';
import type { JobId, RunId } from '@carillon/kernel';

/** Author, job and run of what a sending job made. */
export type WireSentBy = { person: string; job: string; run: string };

/** A field with a default, so that a reader of an earlier release ignores it and an earlier record has null. */
export const SENT_BY_FIELD = {
  name: 'sent_by',
  type: [
    'null',
    {
      type: 'record',
      name: 'SentBy',
      fields: [
        { name: 'person', type: 'string', doc: 'Name of the person who started the job.' },
        { name: 'job', type: 'string' },
        { name: 'run', type: 'string' },
      ],
    },
  ],
  default: null,
  doc: 'The job that sends missing messages, if such a job made this record.',
} as const;

export const writeSentBy = (sentBy: SentBy | undefined): WireSentBy | null => (sentBy ? { ...sentBy } : null);

/** Reads the sender of a record (`sentBy`) as an object to spread into the record. Returns an empty object for null. */
export const readSentBy = (wire: WireSentBy | null): { readonly sentBy?: SentBy } =>
  wire ? { sentBy: { person: wire.person, job: wire.job as JobId, run: wire.run as RunId } } : {};
