import { setTimeout as sleep } from 'node:timers/promises';
import { createFcmSenderFactory } from '@carillon/adapter-providers/fcm';
import { systemClock } from '@carillon/adapter-system';
import { createTwilioSenderFactory } from '@carillon/adapter-providers/twilio';
import { createLoopbackGuard } from '@carillon/testing';
import type { Bench, Side } from '../harness/bench.ts';
import { workOff } from '../harness/backlog.ts';
import { closedLoop } from '../harness/load.ts';
import type { SlowProviderPlace } from '../peers/slow-provider.ts';
import { startProvider } from '../sending/client-side.ts';
import { MAIL_TEXT, mailCase } from '../sending/mail.ts';
import { PUSH_TEXT, pushCase } from '../sending/push.ts';
import { templateCases, TEMPLATES_TEXT } from '../sending/templates.ts';
import { startSendingDelivery, type SendingOptions } from '../sending-delivery.ts';
import { secondsOf } from '../warm-up.ts';

const THINK = 20;
const OPEN = 16;
const SQLITE = 'commits of the writer (SQLite, WAL, synchronous = FULL)';
const ACCOUNT = 'main';
/** More than are sent in a run. */
const PERSONS = 20_000;

/** The delivery role works off what lies before it over one account. */
const through = (
  name: string,
  optionsOf: (place: SlowProviderPlace) => SendingOptions | null,
  think = THINK,
): Side => ({
  name,
  syncs: SQLITE,
  async open() {
    const provider = await startProvider<SlowProviderPlace, unknown>('slow-provider.ts', think);
    const options = optionsOf(provider.place) ?? {};
    const delivery = await startSendingDelivery({ [ACCOUNT]: () => sleep(think) }, options);
    return {
      processes: { bench: process.pid, server: provider.pid },
      round: (round) =>
        workOff({
          seconds: secondsOf(round),
          done: () => delivery.accepted(ACCOUNT),
          add: (count) => delivery.intend(ACCOUNT, count),
        }),
      async verify() {
        const [intended, accepted] = [delivery.intended(ACCOUNT), delivery.accepted(ACCOUNT)];
        return [
          ...(intended === accepted ? [] : [`${intended} messages were intended, ${accepted} accepted`]),
          ...(delivery.twice() === 0 ? [] : [`${delivery.twice()} messages went out twice`]),
        ];
      },
      async close() {
        await delivery.close();
        await provider.stop();
      },
    };
  },
});

const sms = through('SMS', ({ twilio }) => ({
  channel: 'sms',
  real: {
    body: {
      kind: 'twilio',
      account_sid: `AC${'0'.repeat(32)}`,
      auth_token: { secret: 'TOKEN' },
      from: '+4930123456',
      connections: OPEN,
      url: twilio,
    },
    senders: createTwilioSenderFactory({ clock: systemClock, guard: createLoopbackGuard() }),
    secrets: { TOKEN: 'token' },
  },
}));

const push = through('push', ({ fcm, certificate, keyFile }) => ({
  channel: 'push',
  real: {
    body: { kind: 'fcm', credentials: { secret: 'FILE' }, requests: OPEN, url: fcm },
    senders: createFcmSenderFactory({
      clock: systemClock,
      guard: createLoopbackGuard({ localhost: '127.0.0.1' }),
      trusted: [certificate],
    }),
    secrets: { FILE: keyFile },
  },
}));

/** As many open at any time, and nothing done but to wait. */
const ideal: Side = {
  name: 'the ideal of 16 open',
  syncs: 'nothing',
  open: async () => ({
    round: (round) => closedLoop({ open: OPEN, seconds: secondsOf(round) }, () => sleep(THINK)),
    verify: async () => [],
  }),
};

const floors = { measure: 'rate', wanted: 'at least', floor: 0.85, goal: 0.95 } as const;

export const sending: Bench = {
  name: 'sending',
  title: 'Sending: mail, SMS, push and templates',
  what: `The delivery role over the embedded backend works off messages that lie before it, over one account that has ${OPEN} requests open. Stand-ins of Twilio
(HTTP) and FCM (HTTP/2 over TLS) in a process of their own think ${THINK} ms before each answer. The ideal waits ${THINK} ms, ${OPEN} at a time, and does
nothing else. In the second case every person has a document of opt-outs, none of which stops these messages.

${MAIL_TEXT}

${PUSH_TEXT}

${TEMPLATES_TEXT}`,
  cases: [
    {
      title: `${THINK} ms an answer, ${OPEN} open`,
      counted: 'messages',
      sides: [sms, push, ideal],
      comparisons: ['SMS', 'push'].map((side) => ({ side, to: ideal.name, ...floors })),
    },
    {
      title: 'a document of opt-outs for everybody',
      counted: 'messages',
      sides: [through('with documents', () => ({ consents: PERSONS })), through('without', () => null)],
      comparisons: [{ side: 'with documents', to: 'without', ...floors }],
    },
    mailCase,
    pushCase,
    ...templateCases,
  ],
};
