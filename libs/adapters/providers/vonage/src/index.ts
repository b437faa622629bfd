export { createVonageApi, VONAGE_URL, type VonageApi, type VonageApiOptions, type VonageCredentials } from './api.ts';
export { classify, CODES, type Outcome } from './outcome-table.ts';
export { createVonageReceiptReader, isFromVonage, readVonage, type VonageProof } from './receipts.ts';
export { createVonageSenderFactory, type VonageSenderDeps } from './sender.ts';
