import { NO_VERIFY_COUNTS, type VerifyCounts } from '@carillon/domain/runs';
import { describe, expect, it } from 'vitest';
import { describeVerification, describeVerificationNotes } from '../../src/index.ts';

const NOON = Date.parse('2026-11-29T12:00:00Z');
const DAY = 86_400_000;

const verified = (counts: Partial<VerifyCounts>) => ({
  from: NOON - DAY,
  to: NOON,
  createdAt: NOON,
  counts: { ...NO_VERIFY_COUNTS, ...counts },
});

describe('the result of a verification', () => {
  it('says that events give what the log has', () => {
    expect(describeVerification(verified({ events: 2, same: 3 }))).toBe(
      'Over the last day, 2 events evaluated again give what the log has: 3 outputs.',
    );
  });

  it.each([
    [{}, 'the time range has no events'],
    [{ unknownConfiguration: 1 }, '1 event precedes the first marker, so the configuration is unknown'],
    [
      { notEvaluated: 2, unreadable: 1 },
      '2 records were not evaluated by the engine when the run began; 1 event is unreadable or among the dead letters',
    ],
  ])('of no event says why nothing could be verified: %j', (counts, reason) => {
    expect(describeVerification(verified(counts))).toBe(`Nothing could be verified: ${reason}.`);
  });

  it('names outputs without a cause although no event was evaluated', () => {
    const problems = { missing: 0, no_cause: 1, different: 0 };
    expect(describeVerification(verified({ problems }))).toContain('1 has no cause');
  });
});

describe('the notes of a verification', () => {
  it('name what is left out', () => {
    const { counts } = verified({ otherSemantics: 1, pastRetention: 2, wouldWait: 1, cold: 3, notFromEvents: 1 });
    expect(describeVerificationNotes({ counts, logStartsAt: null })).toEqual([
      '1 event was perhaps evaluated by a release with other semantics.',
      '2 comparisons need records that retention has removed.',
      '1 wait lasts beyond the verified records.',
      '3 outputs are uncertain, because earlier events of the same entity were not read.',
      '1 output comes from test sends or sending jobs.',
    ]);
  });
});
