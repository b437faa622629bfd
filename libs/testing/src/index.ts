export * from './contracts/channel-sender.ts';
export * from './smtp/index.ts';
