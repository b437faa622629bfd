import type { FailpointCase } from './cases.ts';
import { openLaboratory, type LabOptions, type LabReport } from './laboratory.ts';

export type FailpointRun = LabOptions & {
  readonly cases: readonly FailpointCase[];
  /** Products that run side by side, each with a data folder of its own. */
  readonly lanes: number;
  /** Told after each case. */
  readonly progress?: (done: number, one: FailpointCase) => void;
};

/** Drives the product through all cases and judges everything together in the end. */
export async function runFailpoints({ cases, lanes, progress, ...options }: FailpointRun): Promise<LabReport> {
  const waiting = [...cases];
  let done = 0;

  async function lane(): Promise<LabReport> {
    const laboratory = await openLaboratory(options);
    try {
      for (let one = waiting.shift(); one; one = waiting.shift()) {
        await laboratory.run(one);
        done += 1;
        progress?.(done, one);
      }
      return await laboratory.finish();
    } finally {
      await laboratory.close();
    }
  }

  const reports = await Promise.all(Array.from({ length: lanes }, lane));
  return {
    ends: reports.flatMap(({ ends }) => ends),
    findings: reports.flatMap(({ findings }) => findings),
    stderr: reports.map(({ stderr }) => stderr).join(''),
  };
}
