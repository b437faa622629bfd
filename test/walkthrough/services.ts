import { startKafka, startMongoDb, startRegistry, type Service } from '@carillon/testing/services';
import type { TestProject } from 'vitest/node';
import { missingPrograms } from '../support/programs.ts';

/** Where a cluster's servers are. */
export type Servers = { readonly brokers: readonly string[]; readonly mongodb: string; readonly registry: string };

declare module 'vitest' {
  interface ProvidedContext {
    /** One Kafka broker, one MongoDB and one registry for all chapters; null where the machine lacks one of them. */
    readonly servers: Servers | null;
  }
}

/** vitest calls it once, before the chapters. Each chapter finds the servers empty: see places.ts. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const missing = missingPrograms();
  if ((['kafka', 'mongodb', 'registry'] as const).some((needed) => missing.includes(needed))) {
    project.provide('servers', null);
    return () => Promise.resolve();
  }
  const [kafka, mongodb, registry] = await Promise.all([startKafka(), startMongoDb(), startRegistry()]);
  project.provide('servers', { brokers: kafka.brokers, mongodb: mongodb.url, registry: registry.url });
  const all: readonly Service[] = [kafka, mongodb, registry];
  return async () => {
    await Promise.all(all.map((server) => server.stop()));
  };
}
