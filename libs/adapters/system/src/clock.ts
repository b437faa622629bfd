import type { Clock } from '@carillon/ports';

/** The machine's wall clock. It may step back; whoever compares two of its values has to bear that. */
export const systemClock: Clock = { now: () => Date.now() };
