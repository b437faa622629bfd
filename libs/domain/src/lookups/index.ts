export * from './answer.ts';
export * from './asking.ts';
export * from './integration.ts';
export * from './lookup.ts';
export * from './recipients.ts';
export * from './trigger.ts';
