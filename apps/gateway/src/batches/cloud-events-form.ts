import { receiveCloudEvent } from '../receive-cloud-event.ts';
import type { BatchForm } from './batch-intake.ts';
import { createListSplitter } from './split-list.ts';

/** `application/cloudevents-batch+json`: a list of CloudEvents, each named by its source and id. */
export const cloudEventsForm = (traceparent: string | null, maxBytes: number): BatchForm => ({
  splitter: createListSplitter(maxBytes),
  hasLines: false,
  read: (bytes) => receiveCloudEvent(bytes, traceparent),
});
