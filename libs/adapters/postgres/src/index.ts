export { createPostgresSources, type PostgresSourcesOptions } from './postgres-sources.ts';
export type { Timing } from './access.ts';
