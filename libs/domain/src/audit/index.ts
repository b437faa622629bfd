export * from './actions.ts';
export * from './record.ts';
