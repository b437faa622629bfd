export * from './consumer/stage-consumer.ts';
export * from './lifecycle/loop.ts';
export * from './http/health.ts';
export * from './http/http-limits.ts';
export * from './http/http-log.ts';
export * from './http/port-holder.ts';
export { bodyTooLarge } from './http/request-faults.ts';
export * from './http/server.ts';
export * from './telemetry/index.ts';
