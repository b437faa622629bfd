import type { NotificationBody } from '@carillon/domain/configuration';
import { deliverySettings, type Delivery, type DeliveryState } from '@carillon/domain/deliveries';
import {
  openTopology,
  startScriptedSmtp,
  untilFound,
  type ScriptedSmtp,
  type Topology,
  type TopologyOptions,
} from '@carillon/testing/topology';
import { account, notification, ORDER_PAID, ORDERS, PAID_MAIL, stream, template } from '@carillon/testing/given';
import type { ReadinessCheck } from '@carillon/runtime';
import { startDelivery, type DeliveryPorts, type DeliveryRole } from '../src/index.ts';

export type Attempted = { readonly verdict: string; readonly code: string };

/** The delivery role over a log, a ledger and a mail server of its own, with what it told its watch. */
export class RoleUnderTest {
  readonly topology: Topology;
  readonly mail: ScriptedSmtp;
  readonly attempts: Attempted[] = [];
  readonly troubles: unknown[] = [];
  readonly alerts: string[] = [];
  readonly states: string[] = [];
  /** What the role that started last says of its sending. */
  sending: () => ReadinessCheck = () => ({ name: 'sending', ok: false, detail: 'not started' });
  role: DeliveryRole | null = null;
  #looks = 0;

  constructor(topology: Topology, mail: ScriptedSmtp) {
    this.topology = topology;
    this.mail = mail;
  }

  static async open(options: TopologyOptions = {}): Promise<RoleUnderTest> {
    const topology = await openTopology({ partitions: 1, ...options });
    return new RoleUnderTest(topology, await startScriptedSmtp());
  }

  /** A shop whose mail goes to the scripted server. */
  async shop(body: Partial<NotificationBody> = {}, workspace = 'shop', connections = 1): Promise<void> {
    const smtp = {
      kind: 'smtp',
      host: this.mail.host,
      port: this.mail.port,
      tls: 'none',
      from: 'shop@example.com',
      connections,
    } as const;
    await this.topology.publish(
      stream('orders', ORDERS, workspace),
      template('order-paid', PAID_MAIL, workspace),
      account('main', smtp, workspace),
      notification(
        'order-paid',
        { ...ORDER_PAID, channels: { email: { template: 'order-paid', accounts: ['main'] } }, ...body },
        workspace,
      ),
    );
  }

  async change(body: Partial<NotificationBody>): Promise<void> {
    await this.topology.publish(
      notification('order-paid', {
        ...ORDER_PAID,
        channels: { email: { template: 'order-paid', accounts: ['main'] } },
        ...body,
      }),
    );
  }

  /** Starts the role, and what feeds it. */
  async start(): Promise<DeliveryRole> {
    await this.topology.evaluates();
    this.role = await this.#launch(true);
    return this.role;
  }

  /** Starts another one beside it, as a second process would; it is the caller's to close. */
  another(): Promise<DeliveryRole> {
    return this.#launch(false);
  }

  #launch(aloneOnStore: boolean): Promise<DeliveryRole> {
    return startDelivery({ aloneOnStore }, this.ports);
  }

  get ports(): DeliveryPorts {
    const { attempts, alerts, troubles } = this;
    const { ledger } = this.topology.ports;
    return {
      ...this.topology.ports,
      ledger: {
        ...ledger,
        dueWorkspaces: (now) => {
          this.#looks += 1;
          return ledger.dueWorkspaces(now);
        },
      },
      watch: {
        ...this.topology.witness,
        attempt:
          () =>
          ({ verdict, code }) =>
            void attempts.push({ verdict, code }),
        accountState: (key, state) => void this.states.push(`${key} ${state}`),
        queued: () => undefined,
        sends: (check) => (this.sending = check),
        alert: (key) => void alerts.push(key),
        trouble: (_, error) => void troubles.push(error),
      },
    };
  }

  /** Waits until the dispatcher has looked for what is due now, and has begun what it found. */
  async looks(): Promise<void> {
    const before = this.#looks;
    // The first look may have begun before; the third begins after what the second found has begun.
    await untilFound('the ledger is looked at', () => this.#looks >= before + 3 || undefined);
  }

  paid(order: string, workspace = 'shop'): Promise<string> {
    const body = {
      status: 'paid',
      order_id: order,
      customer: { email: `${order.toLowerCase()}@example.com`, name: 'Ada' },
    };
    return this.topology.event(body, { stream: `${workspace}/orders` });
  }

  async deliveries(): Promise<readonly Delivery[]> {
    return (await this.topology.data.ledger.list({}, 1000)).items;
  }

  /** Waits until one delivery, or that of an order, is in a state. */
  reaches(state: DeliveryState, order?: string): Promise<Delivery> {
    const look = async (): Promise<Delivery | undefined> =>
      (await this.deliveries()).find(
        (one) => one.state === state && (order === undefined || one.slot.uniqueId === order),
      );
    return untilFound(`a delivery that is ${state}`, look);
  }

  async stop(): Promise<void> {
    await this.role?.close();
    this.role = null;
  }

  async close(): Promise<void> {
    await this.stop();
    await this.topology.close();
    await this.mail.stop();
  }
}

export const QUICK: Partial<NotificationBody> = { retry: { attempts: 4, first: '1s', max: '1s' } };
export const FIRST_PAUSE = deliverySettings(ORDER_PAID).retry.first;
