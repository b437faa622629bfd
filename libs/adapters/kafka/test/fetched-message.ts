import type { FetchedMessage } from '../src/reading/batch-reader.ts';

/** A record as a broker hands it out. */
export const fetchedMessage = (offset: number): FetchedMessage => ({
  offset,
  time: 0,
  key: '',
  value: Buffer.from('{}'),
  headers: {},
  isControlRecord: false,
});
