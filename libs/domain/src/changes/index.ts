export * from './change-json.ts';
export * from './change.ts';
export * from './exact-values.ts';
export * from './source-position.ts';
export * from './source-state.ts';
export * from './source-words.ts';
export * from './visible-change.ts';
