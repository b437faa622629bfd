import type { BatchForm } from './batch-intake.ts';
import { createLineSplitter } from './split-lines.ts';

/** `application/x-ndjson`: one event on each line. Line N is named `<key>:<N>`, so that the whole request may be repeated. */
export const linesForm = (key: string | null, traceparent: string | null, maxBytes: number): BatchForm => ({
  splitter: createLineSplitter(maxBytes),
  hasLines: true,
  read: (bytes, number) => ({
    bytes,
    identity: () => (key === null ? null : ['http', `${key}:${number}`]),
    traceparent,
  }),
});
