export {
  createTwilioApi,
  TWILIO_URL,
  type ListedSms,
  type SmsRequest,
  type TwilioApi,
  type TwilioApiOptions,
  type TwilioCredentials,
} from './api.ts';
export { classify, CODES, type Outcome } from './outcome-table.ts';
export { createTwilioSenderFactory, type TwilioSenderDeps } from './sender.ts';
export {
  createTwilioReceiptReader,
  isFromTwilio,
  readTwilioInbound,
  readTwilioStatus,
  TWILIO_CALLBACK_CODES,
  type InboundSms,
} from './receipts.ts';
