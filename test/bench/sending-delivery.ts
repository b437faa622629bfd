import { startDelivery } from '@carillon/delivery';
import type { ChannelName } from '@carillon/domain/channels';
import {
  findRule,
  notificationIdOf,
  ruleIdOf,
  ruleTitle,
  type AccountBody,
  type NotificationBody,
  type TemplateBody,
} from '@carillon/domain/configuration';
import { personName, type Decision } from '@carillon/domain/consent';
import { providerResult, slotParts, type DeliveryState, type Intent } from '@carillon/domain/deliveries';
import { partitionOf } from '@carillon/domain/events';
import type { IntentId } from '@carillon/kernel';
import { decideConsents } from '@carillon/stages';
import type { NewRecord, SenderFactory } from '@carillon/ports';
import { deliveryOf } from '@carillon/testing';
import { account, notification, ORDER_PAID, PAID_MAIL, template } from '@carillon/testing/given';
import { openTopology } from '@carillon/testing/topology';
import type { Clock } from '@carillon/ports';
import type { Backing } from '@carillon/testing/topology';
import { onSqlite } from './backing.ts';

const DAY = 86_400_000;
const CONNECTIONS = 16;
const PAID_ON_ALL_CHANNELS = {
  ...PAID_MAIL,
  sms: { text: 'Hello {{customer.name}}. Order {{order_id}} is paid.' },
  push: { title: 'Order {{order_id}} is paid', body: 'Hello {{customer.name}}.' },
} satisfies TemplateBody;

export type SendingDelivery = {
  /** Puts intents on the log that go out over this account, each to a slot of its own. */
  intend(account: string, count: number): Promise<void>;
  intended(account: string): number;
  /** Messages that this account has accepted. */
  accepted(account: string): number;
  /** How many deliveries there are in each state. */
  states(): Promise<Partial<Record<DeliveryState, number>>>;
  /** Messages that it accepted twice. */
  twice(): number;
  close(): Promise<void>;
};

const addressOf = (channel: ChannelName, n: number): string =>
  ({
    email: `user-${n}@example.com`,
    sms: `+49151${String(n).padStart(8, '0')}`,
    push: `device-${n}:APA91b`,
  })[channel];

const STOPS_SOMETHING_ELSE: Decision = {
  target: { kind: 'category', name: 'newsletters' },
  channel: 'email',
  optedOut: true,
  way: 'one_click',
};

export type SendingOptions = {
  /** On which channel all of it goes; left out: email. */
  readonly channel?: ChannelName;
  /** Accounts as they are, and who sends over them; left out: a timer for each name. */
  readonly real?: {
    readonly body: AccountBody;
    readonly senders: SenderFactory;
    readonly secrets: Readonly<Record<string, string>>;
  };
  /** Whether everybody has a document of what they want no more; none of them stops what is sent. */
  readonly consents?: number;
  /** What the notifications say of when and how often. */
  readonly cadence?: NotificationBody['cadence'];
  /** So many people get the messages in turns; left out: each is for somebody else. */
  readonly people?: number;
  /** So many delivery roles share the work, each with limits of its own to look at, as processes have; left out: one. */
  readonly roles?: number;
  /** On which log and stores, of how many partitions; left out: the embedded backend. */
  readonly backing?: (partitions: number) => (clock: Clock) => Promise<Backing>;
  /** Told of each message that a timer accepts: of which account, and the how manieth that was intended for it. */
  readonly took?: (account: string, n: number) => void;
};

/** The delivery role over the embedded backend, as `carillon up` runs it, with accounts of these names: a timer each. */
export async function startSendingDelivery(
  accounts: Readonly<Record<string, () => Promise<unknown>>>,
  {
    channel = 'email',
    real,
    consents = 0,
    took = () => undefined,
    cadence,
    people,
    roles = 1,
    backing = onSqlite,
  }: SendingOptions = {},
): Promise<SendingDelivery> {
  const topology = await openTopology({ backing: backing(8), ...(real && { secrets: real.secrets }) });
  const { ids, clock, witness } = topology;
  const names = Object.keys(accounts);
  await topology.publish(
    template('order-paid', PAID_ON_ALL_CHANNELS),
    ...names.flatMap((name) => [
      account(
        name,
        real?.body ?? {
          kind: 'smtp',
          host: name,
          port: 25,
          tls: 'none',
          from: 'shop@example.com',
          connections: CONNECTIONS,
        },
      ),
      notification(name, {
        ...ORDER_PAID,
        channels: { [channel]: { template: 'order-paid', accounts: [name] } },
        ...(cadence && { cadence }),
      }),
    ]),
  );
  const accepted = new Map<string, number>();
  const intended = new Map<string, number>();
  const seen = new Set<string>();
  let twice = 0;
  const counted = (deliveryId: string, name: string): void => {
    if (seen.has(deliveryId)) twice += 1;
    seen.add(deliveryId);
    accepted.set(name, (accepted.get(name) ?? 0) + 1);
  };
  const timers: SenderFactory = {
    kind: 'smtp',
    create: (body) => ({
      channel: 'email',
      async send({ to }, { deliveryId }) {
        const name = body.kind === 'smtp' ? body.host : '';
        await accounts[name]?.();
        counted(deliveryId, name);
        took(name, Number(/\d+/.exec(to)?.[0]));
        return providerResult('accepted', '250', 'taken');
      },
      check: async () => [],
      close: async () => undefined,
    }),
  };
  const watch = {
    ...witness,
    attempt: () => () => undefined,
    accountState: () => undefined,
    sends: () => undefined,
    queued: () => undefined,
    alert: () => undefined,
    trouble: (_where: string, error: unknown) => void witness.failures.push(error),
  };
  // `topology.ports` makes its ports on each access.
  const { ports } = topology;
  // There is one account where they are real.
  const senders = [real ? countedSenders(real.senders, (deliveryId) => counted(deliveryId, names[0] ?? '')) : timers];
  const started = await Promise.all(
    Array.from({ length: roles }, () =>
      startDelivery({ aloneOnStore: roles === 1 }, { ...ports, limits: { ...ports.limits }, senders, watch }),
    ),
  );
  for (let n = 0; n < consents; n += 1) {
    const person = personName(addressOf(channel, n), (...parts) => ids.keyed(...parts));
    await decideConsents('shop', person, [STOPS_SOMETHING_ELSE], { ...ports, ids, clock });
  }

  const recipients: Recipients = { topology, channel, people };
  return {
    async intend(name, count) {
      const from = intended.get(name) ?? 0;
      intended.set(name, from + count);
      await topology.data.log.append(
        Array.from({ length: count }, (_, at) => intentRecord(name, from + at, recipients)),
      );
    },
    intended: (name) => intended.get(name) ?? 0,
    accepted: (name) => accepted.get(name) ?? 0,
    states: () => topology.data.ledger.countByState(),
    twice: () => twice,
    async close() {
      await Promise.all(started.map((role) => role.close()));
      await topology.close();
    },
  };
}

type Recipients = {
  readonly topology: Awaited<ReturnType<typeof openTopology>>;
  readonly channel: ChannelName;
  /** Defaults to a person for each message. */
  readonly people: number | undefined;
};

/** Makes the record of an intent of a notification. */
function intentRecord(name: string, n: number, { topology, channel, people }: Recipients): NewRecord {
  const { ids, clock, ports } = topology;
  const configuration = ports.configuration.current();
  const placed = findRule(configuration, 'shop', { notification: name, rule: 'paid' });
  if (!placed) throw new Error(`there is no notification ${name}`);
  const now = clock.now();
  const to = addressOf(channel, people === undefined ? n : n % people);
  const intent: Intent = {
    ...deliveryOf().intent,
    id: `int_${name}_${n}` as IntentId,
    slot: {
      workspace: 'shop',
      notificationId: notificationIdOf(placed.notification),
      channel,
      uniqueId: `order-${n}`,
    },
    notification: name,
    rule: ruleTitle(placed),
    ruleId: ruleIdOf(placed),
    configNumber: configuration.number,
    to,
    person: to,
    causedAt: now,
    sendAt: now,
    notAfter: now + DAY,
  };
  const key = ids.keyed('slot', ...slotParts(intent));
  const partition = partitionOf(key, topology.data.log.partitions('carillon.intents'));
  return {
    topic: 'carillon.intents',
    partition,
    key,
    value: ports.codecs.intent.encode(intent),
    headers: {},
  };
}

/** Wraps real senders, and counts what a provider accepts. */
const countedSenders = (senders: SenderFactory, counted: (deliveryId: string) => void): SenderFactory => ({
  ...senders,
  create: (...given: Parameters<SenderFactory['create']>) => {
    const sender = senders.create(...given);
    return {
      check: () => sender.check(),
      close: () => sender.close(),
      async send(...message: Parameters<typeof sender.send>) {
        const result = await sender.send(...message);
        if (result.verdict === 'accepted') counted(message[1].deliveryId);
        return result;
      },
    };
  },
});
