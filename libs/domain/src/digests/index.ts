export * from './contents.ts';
export * from './digest-intent.ts';
export * from './head.ts';
export * from './items.ts';
export * from './settings.ts';
export * from './window.ts';
