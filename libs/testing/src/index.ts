export * from './contracts/channel-sender.ts';
export * from './smtp/index.ts';
export * from './contracts/event-log.ts';
export * from './contracts/under-test.ts';
export * from './contracts/witness.ts';
export * from './otlp/index.ts';
