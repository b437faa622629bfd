export { createFcmApi, FCM_URL, type FcmApi, type FcmApiOptions } from './api.ts';
export { messageBody, payloadBytes, type PushContent, type PushRequest } from './body.ts';
export { readServiceAccount, type ServiceAccount } from './credentials.ts';
export { classify, readProblem, type FcmProblem, type Outcome } from './outcome-table.ts';
export { createFcmSenderFactory, type FcmSenderDeps } from './sender.ts';
