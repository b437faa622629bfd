export * from './otlp-receiver.ts';
export type * from './trace-request.ts';
