export {
  answerFcm,
  fcmError,
  startScriptedFcm,
  type FcmRequest,
  type FcmScript,
  type ScriptedFcm,
} from './scripted-fcm.ts';
export {
  answerTwilio,
  startScriptedTwilio,
  TWILIO_ACCOUNT,
  TWILIO_SID,
  type ScriptedTwilio,
  type TwilioRequest,
  type TwilioScript,
} from './scripted-twilio.ts';
export { startFcmBook, type FcmBook } from './fcm-book.ts';
export {
  deviceOf,
  fateOfDevice,
  fateOfPhone,
  phoneOf,
  PROVIDER_FATES,
  type BookedChannel,
  type BookedMessage,
  type BookedSend,
  type ProviderBook,
  type ProviderFate,
} from './provider-book.ts';
export { REPORT_TO, SID_OF, signedByTwilio, startTwilioBook, type TwilioBook } from './twilio-book.ts';
export { startPrism, type Prism } from './prism.ts';
