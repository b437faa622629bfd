import type { FetchedMessage } from '../src/connection/cluster.ts';

/** A record as a broker hands it out. */
export const fetchedMessage = (offset: number): FetchedMessage => ({
  offset: String(offset),
  timestamp: '0',
  key: null,
  value: Buffer.from('{}'),
  headers: {},
  isControlRecord: false,
});
