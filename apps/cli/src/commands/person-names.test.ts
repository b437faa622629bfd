import { describe, expect, it } from 'vitest';
import { withNames } from './person-names.ts';

const ADA = 'per_0000000000000000000000000A';
const GONE = 'per_0000000000000000000000000B';

describe('ids of people in a text', () => {
  const asked: string[] = [];
  const client = {
    get: <T>(path: string): Promise<T> => {
      asked.push(path);
      return Promise.resolve({ people: [{ id: ADA, name: 'Ada' }] } as T);
    },
  };

  it('are replaced by names with table columns kept aligned, and stay if the person has no name', async () => {
    const text = `who                             what\n${ADA}  resend\n${GONE}  cancel\nredriven by ${ADA}`;
    expect(await withNames(text, client)).toBe(
      `who                             what\nAda                             resend\n${GONE}  cancel\nredriven by Ada`,
    );
    expect(asked).toEqual([`/v1/names?id=${ADA}&id=${GONE}`]);
  });

  it('are not asked for in a text without any', async () => {
    expect(await withNames('redriven by owner', client)).toBe('redriven by owner');
    expect(asked).toHaveLength(1);
  });
});
