import type { RuleTestBody } from '@carillon/contracts';
import { afterEach, describe, expect, it } from 'vitest';
import { showTimesIn } from '../output.ts';
import { timelineLines } from './rule-timeline.ts';

type Step = RuleTestBody['timeline'][number];
const STEP: Step = {
  at: '2026-01-31T10:00:00.000Z',
  kind: 'event',
  event: 0,
  event_id: 'evt_1',
  entity: 'A-1',
  fired: false,
  outcome: 'not_fired',
  error: null,
  totals: {},
  decisions: [],
  explained: [],
  waits_until: null,
  asks: null,
  answered: null,
  problems: [],
  recipients: [],
  dropped: [],
};
const DEADLINE = '2026-01-31T11:00:00.000Z';

describe('the timeline of a test', () => {
  afterEach(() => showTimesIn('UTC'));

  it('says values, decisions and what the entity waits for, by event and deadline', () => {
    const explained = [
      { field: 'when', source: 'event.type == "placed"', depth: 0, value: 'true' },
      { field: 'when', source: 'event.type', depth: 1, value: '"placed"' },
      { field: 'unless', source: 'event.paid', depth: 0, value: 'false' },
    ];
    const lines = timelineLines(
      [
        { ...STEP, explained, decisions: [`waits until ${DEADLINE}`], waits_until: DEADLINE },
        { ...STEP, at: '2026-01-31T10:20:00.000Z', event: 1, waits_until: DEADLINE },
        { ...STEP, at: DEADLINE, kind: 'deadline', fired: true, outcome: `fired by its deadline ${DEADLINE}` },
      ],
      ({ fired }) => (fired ? ['recipient'] : []),
    );
    expect(lines.join('\n')).toBe(`
2026-01-31 10:00:00 UTC  event 1 of A-1
  when     event.type == "placed"  →  true
             event.type  →  "placed"
  unless   event.paid  →  false
  waits until 2026-01-31 11:00:00 UTC

2026-01-31 10:20:00 UTC  event 2 of A-1
  waits until 2026-01-31 11:00:00 UTC

2026-01-31 11:00:00 UTC  deadline of A-1, set by event 1
  fired by its deadline 2026-01-31 11:00:00 UTC
  waits for nothing
recipient`);
  });

  it('shows times in the zone of the workspace', () => {
    showTimesIn('Europe/Vienna');
    const step = { ...STEP, decisions: [`waits until ${DEADLINE}`], waits_until: DEADLINE };
    expect(timelineLines([step], () => []).slice(1)).toEqual([
      '2026-01-31 11:00:00+01:00  event 1 of A-1',
      '  waits until 2026-01-31 12:00:00+01:00',
    ]);
  });

  it('says of a rule without state whether it fires', () => {
    const failed = { ...STEP, error: 'no such key: type', outcome: 'failed', entity: null };
    expect(timelineLines([STEP, failed, { ...STEP, fired: true, outcome: 'fired' }], () => [])).toEqual([
      '',
      '2026-01-31 10:00:00 UTC  event 1 of A-1',
      '  does not fire (not_fired)',
      '',
      '2026-01-31 10:00:00 UTC  event 1',
      '  failed: no such key: type',
      '',
      '2026-01-31 10:00:00 UTC  event 1 of A-1',
      '  fired',
    ]);
  });
});
