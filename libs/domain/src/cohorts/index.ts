export * from './cohort-message.ts';
export * from './cohort-rules.ts';
export * from './integration.ts';
export * from './member.ts';
export * from './membership.ts';
export * from './order.ts';
export * from './page-ranges.ts';
export { ROLL_FROM } from './rolls.ts';
export * from './session-pages.ts';
