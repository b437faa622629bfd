import type { LogId } from '@carillon/kernel';
import { describe, expect, it } from 'vitest';
import { createCatchUp } from '../../src/index.ts';

const LOG = 'log_1' as LogId;

/** One partition, and where the group stands in it. */
function given(place: { end: number; next: number }) {
  return createCatchUp('delivery', ['carillon.consents'], {
    log: { logId: LOG, partitions: () => 1, bounds: async () => ({ start: 0, end: place.end }) },
    checkpoints: {
      load: async (group, topic, partition) => ({
        group,
        topic,
        partition,
        logId: LOG,
        next: place.next,
        watermark: 0,
        configNumber: -1,
      }),
    },
  });
}

describe('the backlog that a consumer group must read before it acts', () => {
  it('is fixed at the start, whatever is appended later, and ends when the group has read it', async () => {
    const place = { end: 5, next: 2 };
    const said = await given(place);
    expect(await said.behind()).toBe(3);
    place.end = 9;
    place.next = 4;
    expect(await said.behind()).toBe(1);
    place.next = 7;
    expect(await said.behind()).toBe(0);
  });

  it.each([5, 0])(
    'never counts as read if the position of the group is beyond the end of the log (%i)',
    async (end) => {
      const place = { end, next: 8 };
      const said = await given(place);
      expect(await said.behind()).toBe(Math.max(1, end));
      expect(await said.behind()).toBeGreaterThan(0);
    },
  );
});
