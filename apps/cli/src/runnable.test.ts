import { describe, expect, test } from 'vitest';
import { runnable } from './runnable.ts';

describe('A command in a text', () => {
  test.each([
    [
      'Who: npx carillon deliveries --dropped --workspace shop',
      'Who: npx carillon deliveries --dropped --workspace shop --data-dir d',
    ],
    ['npx carillon trace evt_1', 'npx carillon trace evt_1 --data-dir d'],
    [
      '2 wait: npx carillon deliveries --state IN_DOUBT, since 3',
      '2 wait: npx carillon deliveries --state IN_DOUBT --data-dir d, since 3',
    ],
    [
      'run: npx carillon secret set A (with --deployment)',
      'run: npx carillon secret set A --data-dir d (with --deployment)',
    ],
    ['another one with npx carillon owner-link. Then', 'another one with npx carillon owner-link --data-dir d. Then'],
    ['npx carillon doctor\nnpx carillon events', 'npx carillon doctor --data-dir d\nnpx carillon events --data-dir d'],
  ])('%s finds the deployment that was asked', (text, placed) => {
    expect(runnable(text, { dataDir: 'd' })).toBe(placed);
  });

  test.each([
    'npx carillon up --data-dir x',
    'npx carillon restore FILE --data-dir NEW',
    'npx carillon mend --drop-damaged --data-dir x',
    'start Carillon again',
  ])('%s stays as it is', (text) => {
    expect(runnable(text, { dataDir: 'd' })).toBe(text);
  });

  test('stays unchanged without a named workspace', () => {
    expect(runnable('npx carillon doctor', {})).toBe('npx carillon doctor');
  });

  test('has a folder with a blank in quotes, as a shell reads it', () => {
    expect(runnable('npx carillon doctor', { url: 'http://127.0.0.1:7401', dataDir: "my 'data'" })).toBe(
      String.raw`npx carillon doctor --url http://127.0.0.1:7401 --data-dir 'my '\''data'\'''`,
    );
  });
});
