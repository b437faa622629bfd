import { inOrder, type FailpointCase, type Situation } from './cases.ts';

/** What the delivery role comes to with a message, whatever the channel: what comes before knows of none. */
const SENDING = [
  'delivery.insert',
  'delivery.checkpoint',
  'suppression.find',
  'consent.find',
  'delivery.sending',
  'provider.send',
  'delivery.sent',
  'delivery.waiting',
  'delivery.failed',
  'delivery.in-doubt',
  'delivery.expired',
  'delivery.cancelled',
  'delivery.renewal',
  'suppression.add',
  'suppression.remove',
] as const;

type Afterwards = Pick<FailpointCase, 'channel'> & {
  readonly situation: Situation;
  readonly places: readonly string[];
};

/** What comes after a message was sent. FCM reports nothing. */
const AFTERWARDS: readonly Afterwards[] = [
  { situation: 'reported', channel: 'sms', places: ['receipt.read', 'receipts.append', 'delivery.delivered'] },
  {
    situation: 'returned',
    places: ['listener.take', 'receipts.append', 'suppression.add', 'delivery.bounced'],
  },
  { situation: 'complained', places: ['delivery.complained'] },
  { situation: 'unsubscribed', places: ['consent.find', 'consent.write', 'consents.append', 'delivery.suppressed'] },
  { situation: 'stopped', channel: 'sms', places: ['receipts.append', 'suppression.add', 'suppression.remove'] },
];

const sidesOf = (place: string): readonly string[] => [`${place}.before`, `${place}.after`];

/** Every place with a message of each other channel, and with what comes afterwards on any. */
export const everyChannelCase = (actions: readonly FailpointCase['action'][]): readonly FailpointCase[] =>
  inOrder(
    actions.flatMap((action) => [
      ...(['sms', 'push'] as const).flatMap((channel) =>
        SENDING.flatMap(sidesOf).map((at): FailpointCase => ({ at, action, channel })),
      ),
      ...AFTERWARDS.flatMap(({ places, ...rest }) =>
        places.flatMap(sidesOf).map((at): FailpointCase => ({ at, action, ...rest })),
      ),
    ]),
  );
