export * from './actions.ts';
export * from './audit-words.ts';
export * from './record.ts';
