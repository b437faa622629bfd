export * from './configuration.ts';
export * from './delivery-story.ts';
export * from './lookups.ts';
export * from './moments.ts';
export * from './rules.ts';
export * from './rule-book.ts';
export * from './cohorts.ts';
export * from './cohort-payloads.ts';
