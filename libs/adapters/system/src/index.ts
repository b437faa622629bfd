export * from './api-keys.ts';
export * from './clock.ts';
export * from './ids.ts';
export * from './keys.ts';
export * from './link-tokens.ts';
export * from './secrets.ts';
export * from './sealing.ts';
export * from './event-loop-slice.ts';
