import { expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { runDiskFull } from './disk-full-run.ts';

describeWith('prlimit', 'A disk that is full', () => {
  it('accepts nothing and loses nothing on a full disk: 503 while it is full, and recovery without help when there is room', async () => {
    const report = await runDiskFull({ seed: 1 });
    const { findings, figures, stderr, takenWhileFull, statusWhileFull, answersWhileFull } = report;
    expect(findings, stderr).toEqual([]);
    expect(takenWhileFull).toBe(0);
    expect(answersWhileFull).toEqual(new Set(['503 with Retry-After']));
    expect(statusWhileFull).toBe(200);
    expect(stderr).toContain('"code":"log_unavailable"');
    expect(stderr).toContain('writing to the data file failed');
    expect(figures['requestsCut']).toBeGreaterThanOrEqual(40);
  }, 600_000);
});
