import type { ModelRecord } from './model-logs.ts';

/**
 * Logs that some fault needs: a rule off while a deadline passes, an event right after its own deadline, two due at once, an
 * event of one of two that are due, and a rule that was removed while it waited.
 */
export const TELLING_LOGS: readonly (readonly ModelRecord[])[] = [
  [
    { kind: 'arm', entity: 'a', at: 1 },
    { kind: 'off', at: 5 },
    { kind: 'on', at: 6 },
    { kind: 'tick', at: 15 },
  ],
  [
    { kind: 'arm', entity: 'b', at: 1 },
    { kind: 'off', at: 2 },
    { kind: 'tick', at: 5 },
    { kind: 'on', at: 6 },
    { kind: 'tick', at: 15 },
  ],
  [
    { kind: 'arm', entity: 'b', at: 1 },
    { kind: 'on', at: 1 },
    { kind: 'arm', entity: 'b', at: 5 },
    { kind: 'tick', at: 14 },
  ],
  [
    { kind: 'arm', entity: 'b', at: 1 },
    { kind: 'arm', entity: 'a', at: 4 },
    { kind: 'arm', entity: 'a', at: 4 },
    { kind: 'tick', at: 13 },
  ],
  [
    { kind: 'arm', entity: 'a', at: 1 },
    { kind: 'end', entity: 'a', at: 4 },
    { kind: 'tick', at: 13 },
  ],
  [
    { kind: 'arm', entity: 'a', at: 1 },
    { kind: 'end', entity: 'a', at: 1 },
    { kind: 'tick', at: 13 },
  ],
  [
    { kind: 'arm', entity: 'a', at: 1 },
    { kind: 'arm', entity: 'b', at: 1 },
    { kind: 'arm', entity: 'a', at: 5 },
    { kind: 'tick', at: 14 },
  ],
  [
    { kind: 'arm', entity: 'a', at: 1 },
    { kind: 'again', at: 2 },
    { kind: 'tick', at: 13 },
  ],
];
