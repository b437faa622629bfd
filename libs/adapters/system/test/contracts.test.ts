import { describeClock, describeIds } from '@carillon/testing';
import { createIds, systemClock } from '../src/index.ts';

const close = async (): Promise<void> => undefined;

describeClock('the clock of the machine', async () => ({ port: systemClock, close }));
describeIds('the ids of a deployment', async () => ({ port: createIds(new Uint8Array(32).fill(7)), close }));
