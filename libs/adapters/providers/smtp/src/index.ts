export { createMailReceiptReader } from './receipts/index.ts';
export { classify, OUTCOME_TABLE, type Outcome, type OutcomeRow } from './outcome-table.ts';
export { createSmtpSenderFactory, type SmtpSenderDeps } from './sender.ts';
export type { SmtpTimeouts } from './settings.ts';
export { STAGES, type SmtpStage } from './stage.ts';
