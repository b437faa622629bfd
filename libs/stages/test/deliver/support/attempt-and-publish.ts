import { attemptDelivery, type AttemptReport } from '../../../src/index.ts';

/** Makes an attempt, and waits until its outcome is published. */
export async function attemptAndPublish(...given: Parameters<typeof attemptDelivery>): Promise<AttemptReport> {
  const report = await attemptDelivery(...given);
  if ('published' in report) await report.published;
  return report;
}
