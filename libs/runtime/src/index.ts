export * from './consumer/stage-consumer.ts';
export * from './lifecycle/loop.ts';
