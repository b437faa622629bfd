import { MAX_COHORT_BYTES, MAX_COHORT_VALUES } from '@carillon/domain/cohorts';
import { hostileJson, processorTime } from '@carillon/testing/given';
import { describe, expect, it } from 'vitest';
import { readCohortBody } from '../src/reading.ts';

const body = (text: string): Uint8Array => new TextEncoder().encode(text);
const listOf = (values: number): Uint8Array => body(`[1${',1'.repeat(values - 1)}]`);

describe('a request body with cohort members', () => {
  it.each(Object.entries(hostileJson(MAX_COHORT_BYTES, MAX_COHORT_VALUES)))(
    'of megabytes of %s does not block the event loop',
    (_, text) => {
      const bytes = body(text);
      expect(bytes.length).toBeLessThanOrEqual(MAX_COHORT_BYTES);
      expect(processorTime(() => void readCohortBody(bytes))).toBeLessThan(1800);
    },
  );

  it.each(['[]', '{}', '1', '{"a":1}'])('with too many %s is refused before it is read', (one) => {
    const bytes = body(`[${`${one},`.repeat(MAX_COHORT_BYTES / 8)}0]`);
    const read = readCohortBody(bytes, () => {
      throw new Error('it would have been read');
    });
    expect(read.ok ? 'taken' : read.error.facts.limit).toBe('150000 fields and items of lists');
    expect(read.ok ? 'taken' : read.error.code).toBe('body_too_large');
  });

  it('may have as many values as a page of a thousand members with 150 fields each', () => {
    expect(readCohortBody(listOf(MAX_COHORT_VALUES)).ok).toBe(true);
    expect(readCohortBody(listOf(MAX_COHORT_VALUES + 1)).ok).toBe(false);
  });

  it('is charged to a budget by its size in memory, and is not read if memory is short', () => {
    const asked: number[] = [];
    const read = readCohortBody(listOf(10_000), (bytes) => asked.push(bytes) > 1);
    expect(asked).toEqual([2_000_000]);
    expect(read.ok ? 'taken' : read.error.code).toBe('overloaded');
  });
});
