import type { ServicesOnSharedRegistry } from '@carillon/testing/cluster';
import { afterAll, beforeAll, expect } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import type { ClusterCrashReport } from './crash-run.ts';

const START_TIMEOUT = 300_000;

/**
 * Describes tests that need Kafka, MongoDB and the registry. Starts them before the first test and stops them after the last.
 * `define` gets a function that returns the started services.
 */
export function describeOnCluster<Services extends ServicesOnSharedRegistry>(
  title: string,
  start: () => Promise<Services>,
  define: (services: () => Services) => void,
): void {
  describeWith(['kafka', 'mongodb', 'registry'], title, () => {
    let services: Services | undefined;
    beforeAll(async () => {
      services = await start();
    }, START_TIMEOUT);
    afterAll(() => services?.stop(), START_TIMEOUT);
    define(() => {
      if (!services) throw new Error('the services have not started yet');
      return services;
    });
  });
}

/** Expects a run without findings and without processes that ended by themselves. Prints its figures. */
export function expectGreen(report: ClusterCrashReport, name: string): void {
  const { findings, deaths, faults, postedAfter, logs } = report;
  console.log(name, { ...report.figures, postedAfter });
  const timeline = faults.map(({ at, what }) => `${new Date(at).toISOString()} ${what}`).join('\n');
  expect(findings, `${timeline}\n${logs}`).toEqual([]);
  expect(deaths, timeline).toEqual([]);
}
