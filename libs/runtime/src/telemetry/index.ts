export * from './log-fields.ts';
export * from './logger.ts';
export * from './metric-names.ts';
export type * from './metrics.ts';
export * from './scrub.ts';
export * from './span-names.ts';
export * from './spans.ts';
export * from './telemetry.ts';
