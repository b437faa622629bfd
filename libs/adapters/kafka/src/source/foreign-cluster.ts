import type { AddressGuard, TopicTarget } from '@carillon/ports';
import { TopicFailure, waiting } from './failures.ts';
import { connectBroker, type BrokerTiming, type ForeignBroker } from './foreign-broker.ts';
import { metadataRequest, type FoundTopic, type Metadata } from './requests.ts';

export type Access = {
  readonly guard: AddressGuard;
  /** `stalePauseMs`: between an error of a partition and the next look at the metadata. */
  readonly timing: BrokerTiming & { readonly refreshMs: number; readonly stalePauseMs: number };
};

/** A partition, and its offset. */
export type Place = { readonly topic: string; readonly partition: number };
export type PlacedOffset = Place & { readonly offset: number };

export const OLDEST = -2;
export const END = -1;

/** Brokers that metadata may name. */
const MAX_BROKERS = 1_000;

/** A cluster that a tenant names. Every broker that its metadata names passes the address guard. Rejects with TopicFailure. */
export class ForeignCluster {
  readonly #access: Access;
  readonly #target: TopicTarget;
  readonly #brokers = new Map<string, Promise<ForeignBroker>>();
  #known: Metadata['brokers'] = [];
  readonly #closing = new AbortController();

  constructor(access: Access, target: TopicTarget) {
    this.#access = access;
    this.#target = target;
  }

  /** Asks for these topics, or for all. The brokers that it names are used from then on. */
  async metadata(topics: readonly string[] | null): Promise<Metadata> {
    const found = await this.#ask((broker) => broker.send(metadataRequest(topics)));
    if (found.clusterId === '') throw waiting('too_old', 'It has no id of its own.');
    if (found.brokers.length > MAX_BROKERS) throw waiting('unreachable', `It names more than ${MAX_BROKERS} brokers.`);
    this.#known = found.brokers;
    return found;
  }

  broker(nodeId: number): Promise<ForeignBroker> {
    const found = this.#known.find((one) => one.nodeId === nodeId);
    if (!found) return Promise.reject(waiting('unreachable', 'A partition has no leader now.'));
    return this.#connect(found);
  }

  /** Offsets of partitions at OLDEST or END, from their leaders. */
  async offsets(topics: readonly FoundTopic[], time: number, isCommitted = true): Promise<readonly PlacedOffset[]> {
    const places = topics.flatMap(({ topic, partitions }) => partitions.map((found) => ({ topic, ...found })));
    const byLeader = [...Map.groupBy(places, ({ leader }) => leader)];
    const answers = await Promise.all(
      byLeader.map(async ([leader, led]) => {
        const asked = [...Map.groupBy(led, ({ topic }) => topic)].map(([topic, of]) => ({
          topic,
          partitions: of.map(({ partition }) => partition),
        }));
        return (await this.broker(leader)).offsets(asked, time, isCommitted);
      }),
    );
    return answers
      .flat()
      .flatMap(({ topic, partitions }) =>
        partitions.map(({ partition, offset }) => ({ topic, partition, offset: Number(offset) })),
      );
  }

  close(): void {
    this.#closing.abort();
    this.#brokers.clear();
  }

  /** Tries the brokers one after another, those of the cluster first. */
  async #ask<Answer>(work: (broker: ForeignBroker) => Promise<Answer>): Promise<Answer> {
    let failure: unknown = waiting('unreachable');
    for (const address of [...this.#known, ...this.#target.brokers.map(addressOf)]) {
      try {
        return await work(await this.#connect(address));
      } catch (error) {
        failure = error;
        this.#forget(address);
        if (this.#closing.signal.aborted) break;
        // Another broker refuses a login too.
        if (error instanceof TopicFailure && error.failure.reason === 'refused_login') break;
      }
    }
    throw failure;
  }

  #connect(address: Address): Promise<ForeignBroker> {
    if (this.#closing.signal.aborted) return Promise.reject(waiting('unreachable', 'The reader was closed.'));
    const name = nameOf(address);
    const known = this.#brokers.get(name);
    if (known) return known;
    const { guard, timing } = this.#access;
    const connecting = connectBroker(guard, this.#target, address, timing, this.#closing.signal);
    this.#brokers.set(name, connecting);
    connecting.catch(() => this.#brokers.delete(name));
    return connecting;
  }

  #forget(address: Address): void {
    const name = nameOf(address);
    this.#brokers
      .get(name)
      ?.then((broker) => broker.close())
      .catch(() => undefined);
    this.#brokers.delete(name);
  }
}

type Address = { readonly host: string; readonly port: number };
const nameOf = ({ host, port }: Address): string => `${host}:${port}`;

function addressOf(broker: string): Address {
  const at = broker.lastIndexOf(':');
  return { host: broker.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(broker.slice(at + 1)) };
}
