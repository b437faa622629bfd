/**
 * Twilio over HTTP and FCM over HTTP/2 and TLS in a process of its own, which thinks for some milliseconds before each answer:
 * `node slow-provider.ts 20`. It says its addresses by IPC, and for any message how many requests it has taken.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { answerFcm, answerTwilio, startScriptedFcm, startScriptedTwilio } from '@carillon/testing/providers';

export type SlowProviderPlace = {
  readonly twilio: string;
  readonly fcm: string;
  readonly certificate: string;
  readonly keyFile: string;
};
export type SlowProviderReport = { readonly sms: number; readonly push: number };

const think = Number(process.argv[2] ?? 20);
const [twilio, fcm] = await Promise.all([startScriptedTwilio(), startScriptedFcm()]);
let sms = 0;
let push = 0;
twilio.answers((response) => {
  const sid = `SM${String((sms += 1)).padStart(32, '0')}`;
  // What was taken is counted, and not kept.
  twilio.received.length = 0;
  void sleep(think).then(() => answerTwilio(201, { sid, status: 'queued' })(response));
});
fcm.answers((stream) => {
  const name = `projects/demo-app/messages/${(push += 1)}`;
  fcm.received.length = 0;
  void sleep(think).then(() => answerFcm(200, { name })(stream));
});
const place: SlowProviderPlace = {
  twilio: twilio.url,
  fcm: fcm.url,
  certificate: fcm.trusted.join(''),
  keyFile: fcm.keyFile,
};
process.send?.(place);
process.on('message', () => process.send?.({ sms, push } satisfies SlowProviderReport));
process.on('disconnect', () => process.exit());
