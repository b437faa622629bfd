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
