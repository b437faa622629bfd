export * from './actor.ts';
export * from './records.ts';
