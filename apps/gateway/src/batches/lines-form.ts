import { CarillonError } from '@carillon/kernel';
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
    within: (error) => (number === 1 && error.code === 'invalid_json' ? withHint(error) : error),
  }),
});

/** Some senders take the ends of lines away, so that all objects arrive on the first line. */
const withHint = ({ code, detail, facts, cause }: CarillonError): CarillonError =>
  new CarillonError(code, `${detail} Send one object on each line; with curl use --data-binary.`, facts, { cause });
