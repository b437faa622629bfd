export * from './byte-budget.ts';
export * from './errors.ts';
export * from './ids.ts';
export * from './json.ts';
export * from './result.ts';
export * from './text.ts';
export * from './time.ts';
export * from './until-aborted.ts';
