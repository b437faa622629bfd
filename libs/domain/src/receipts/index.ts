export * from './apply-receipt.ts';
export * from './dead-mailbox.ts';
export * from './own-message.ts';
export * from './receipt-token.ts';
export * from './receipt.ts';
export * from './report.ts';
