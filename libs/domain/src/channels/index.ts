export * from './channel.ts';
export * from './configured.ts';
export * from './email.ts';
export * from './message.ts';
export { withoutRepeatedWords, wordsWithoutIntent } from './repeated-words.ts';
export * from './search.ts';
export * from './sms-segments.ts';
export { canonicalPhone } from './sms.ts';
