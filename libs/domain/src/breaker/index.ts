export * from './breaker.ts';
