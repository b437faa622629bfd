import { createTemplateRenderer } from '@carillon/adapter-handlebars';
import { createPartnerLookup } from '@carillon/adapter-partner-http';
import { createPostHog } from '@carillon/adapter-cohorts';
import { createSandboxSenderFactory } from '@carillon/adapter-providers/sandbox';
import { createSmtpSenderFactory } from '@carillon/adapter-providers/smtp';
import { createLinkTokens, createEventLoopSlice } from '@carillon/adapter-system';
import { createTwilioSenderFactory } from '@carillon/adapter-providers/twilio';
import { createRecordCodecs, type AvroRecordCodecs } from '@carillon/contracts';
import type { CohortMessage } from '@carillon/domain/cohorts';
import { CHANGED_BY_OWNER, streamTable } from '@carillon/domain/configuration';
import { readEvent } from '@carillon/domain/events';
import type { Duration, EventId, Instant, Json } from '@carillon/kernel';
import { stringifyJson } from '@carillon/kernel';
import type {
  BatchStage,
  Clock,
  Consumption,
  Ids,
  EvaluationOutput,
  LogRecord,
  OutboundHttp,
  OutputSink,
  TemplateRenderer,
  TopicName,
} from '@carillon/ports';
import { createLogSink, createRecordSink, startStageConsumer, type ConsumerWatch } from '@carillon/runtime';
import type { TracePorts } from '@carillon/insight';
import {
  cohortRecord,
  createCohortsStage,
  createConfigurationView,
  createEncoder,
  createEvaluateStage,
  createRuleBook,
  prepareAppend,
  projections,
  publishConfiguration,
  type FollowedConfiguration,
  type RuleBook,
} from '@carillon/stages';
import { withHashedPeople } from '@carillon/stores';
import { changesOf, type Wish } from '../given/configuration.ts';
import { givenIds } from '../given/moments.ts';
import { compileGiven } from '../given/rules.ts';
import { createMemoryBackend, type MemoryBackend, type MemoryBackendPorts } from '../memory/backend.ts';
import { createDirectWire } from '../memory/wire.ts';
import { createLoopbackGuard, createLoopbackHttp, type LoopbackNames } from '../partner/loopback-http.ts';

/** The machine's time, moved on by what the test says has passed. */
export type MovedClock = Clock & {
  pass(span: Duration): void;
  /** Stops real time: from now on time passes only as the test says, so that a slow machine has no effect. */
  standStill(): void;
  /** Lets real time pass again from where it stopped. */
  goOn(): void;
};

export type EventFacts = { readonly key?: string; readonly stream?: string; readonly traceparent?: string };

export type TopologyOptions = {
  /** How many partitions each topic has, but for those that are one sequence. Few, so that a test has few consumers. */
  readonly partitions?: number;
  /** How long the SMTP adapter waits in silence. */
  readonly smtpSilence?: Duration;
  /** Addresses of the names that partners may have; without any they have to be named by address. */
  readonly names?: LoopbackNames;
  /** Calls of others take as long as they take: for tests that count calls, which a slow machine would make twice. Left out: as configured. */
  readonly isPatient?: boolean;
  /** Values behind the secrets that configuration names. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Log and stores on something real, for benchmarks; left out: in memory. Called once; `close` ends them. */
  readonly backing?: (clock: Clock) => Promise<Backing>;
};

/** Log and stores that a topology stands on, and the end of what holds them. */
export type Backing = { readonly data: MemoryBackendPorts; close(): Promise<void> };

/** Longer than any test. */
const TIMEOUT_MS = 3_600_000;
/** Never gives up a call because the machine is slow. */
const patient = (http: OutboundHttp): OutboundHttp => ({
  ...http,
  request: (asked) => http.request({ ...asked, connectTimeout: TIMEOUT_MS, totalTimeout: TIMEOUT_MS }),
});

/** The key of links that tests follow. */
const LINK_KEY = new Uint8Array(32).fill(7);

let renderer: TemplateRenderer | null = null;
/**
 * Shared by all topologies of a process, because its workers start slower than most tests run, and keep no state of a
 * test.
 */
const sharedRenderer = (): TemplateRenderer => (renderer ??= createTemplateRenderer());

/** Watch for the apps under test. Failures are stored, so that a test can check that there were none. */
function createWitness(): ConsumerWatch & { readonly failures: unknown[]; readonly skips: number[] } {
  const failures: unknown[] = [];
  const skips: number[] = [];
  return {
    failures,
    skips,
    consumes: () => undefined,
    begun: () => () => undefined,
    stopped: () => () => undefined,
    failed: ({ error }) => void failures.push(error),
    left: () => undefined,
    skipped: ({ records }) => void skips.push(records),
  };
}
export type ConsumerWitness = ReturnType<typeof createWitness>;

/**
 * The product's log, stores and stages over a backend in memory, whose ports pass the contract suites of the real ones. A
 * restart ends what consumes and connects to the same backend again, as another process would.
 */
export class Topology {
  readonly ids: Ids = givenIds;
  readonly clock: MovedClock;
  readonly witness = createWitness();
  readonly #options: TopologyOptions;
  readonly #backend: MemoryBackend;
  #backing: Backing | null = null;
  #open: Opened | null = null;
  #consumptions: Consumption[] = [];

  constructor(options: TopologyOptions) {
    let moved = 0;
    let stood: Instant | null = null;
    this.#options = options;
    this.clock = {
      now: () => (stood ?? Date.now()) + moved,
      pass: (span) => {
        moved += span;
      },
      standStill: () => {
        stood ??= Date.now();
      },
      goOn: () => {
        if (stood !== null) moved -= Date.now() - stood;
        stood = null;
      },
    };
    this.#backend = createMemoryBackend({ clock: this.clock, partitions: options.partitions ?? 2 });
  }

  async start(): Promise<this> {
    this.#backing ??= (await this.#options.backing?.(this.clock)) ?? null;
    const data = this.#backing?.data ?? this.#backend.connect(createDirectWire());
    const codecs = await createRecordCodecs(data.registry, () => this.clock.now());
    const configuration = createConfigurationView(data.log, codecs.configuration, this.clock);
    await configuration.refresh();
    const templates = sharedRenderer();
    const book = createRuleBook(compileGiven, templates);
    const { names, isPatient = false } = this.#options;
    const http = isPatient ? patient(createLoopbackHttp(names)) : createLoopbackHttp(names);
    this.#open = { data, codecs, configuration, templates, book, http };
    return this;
  }

  get #opened(): Opened {
    if (!this.#open) throw new Error('the topology is not open');
    return this.#open;
  }

  get data(): MemoryBackendPorts {
    return this.#opened.data;
  }

  /** Removes what was appended to a topic before, as retention does; only of a backend in memory. */
  trim(topic: TopicName, before: Instant): void {
    this.#backend.trim(topic, before);
  }

  /** Every port that stages and roles ask for. */
  get ports() {
    const { data, codecs, configuration, templates, book, http } = this.#opened;
    const {
      log,
      checkpoints,
      ruleStates,
      cohorts,
      ledger,
      suppressions,
      consents,
      drafts,
      jobs,
      idempotency,
      limits,
      digestHeads,
      leases,
      sources,
    } = data;
    const { readModels, inbox, tasks, claims } = data;
    const { clock, ids } = this;
    const silence = this.#options.smtpSilence ?? 20_000;
    const timeouts = { connection: silence, greeting: silence, socket: silence };
    return {
      log,
      checkpoints,
      ruleStates,
      cohorts,
      ledger,
      suppressions,
      consents: withHashedPeople(consents, this.ids),
      drafts,
      jobs,
      idempotency,
      limits,
      digestHeads,
      links: createLinkTokens(LINK_KEY),
      leases,
      sources,
      readModels,
      inbox,
      tasks,
      claims,
      partners: createPartnerLookup({ http, clock }),
      cohortPages: createPostHog(http),
      codecs,
      configuration,
      templates,
      book,
      clock,
      slice: createEventLoopSlice(),
      ids,
      compileRule: compileGiven,
      secrets: { resolve: async (_workspace: string, name: string) => this.#options.secrets?.[name] ?? null },
      senders: [
        createSandboxSenderFactory({ inbox, clock }),
        createSmtpSenderFactory({ clock, guard: createLoopbackGuard(), timeouts }),
        createTwilioSenderFactory({ clock, guard: createLoopbackGuard() }),
      ],
    };
  }

  get tracePorts(): TracePorts {
    return this.ports;
  }

  /** Publishes what is wished for, based on what there is, with its markers; resolves with the number. */
  async publish(...wishes: readonly Wish[]): Promise<number> {
    const { configuration, codecs, data } = this.#opened;
    const { ids, clock } = this;
    const changes = changesOf(await configuration.refresh(), wishes);
    const readEverywhere = () => Promise.resolve();
    const ports = { log: data.log, codec: codecs.configuration, view: configuration, ids, clock, readEverywhere };
    return publishConfiguration(ports, changes, CHANGED_BY_OWNER);
  }

  /** Appends an event as the gateway does and resolves with its id. */
  async event(body: { readonly [name: string]: Json }, facts: EventFacts = {}): Promise<EventId> {
    const { data, configuration } = this.#opened;
    const path = facts.stream ?? 'shop/orders';
    const stream = streamTable(configuration.current()).streams.get(path);
    if (!stream) throw new Error(`there is no stream ${path}`);
    const bytes = new TextEncoder().encode(stringifyJson(body));
    const read = readEvent(bytes);
    if (!read.ok) throw new Error(read.error.detail);
    const request = {
      stream,
      bytes,
      body: read.value.body,
      principal: 'api_key:main',
      identity: facts.key === undefined ? null : (['http', facts.key] as const),
      traceparent: facts.traceparent ?? null,
    };
    const partitions = data.log.partitions('carillon.events');
    const prepared = prepareAppend(request, { ids: this.ids, now: this.clock.now(), partitions });
    if (!prepared.ok) throw prepared.error;
    await data.log.append([prepared.value.record]);
    return prepared.value.id;
  }

  /** All records of a topic, partition by partition. */
  async records(topic: TopicName): Promise<LogRecord[]> {
    const { log } = this.#opened.data;
    const all: LogRecord[] = [];
    for (let partition = 0; partition < log.partitions(topic); partition += 1) {
      all.push(...(await log.read(topic, partition, 0, 100_000, 64 * 1024 * 1024)));
    }
    return all;
  }

  /** Starts what the engine consumes with: evaluate over the one interpreter. */
  async evaluates(): Promise<Consumption> {
    return this.#consume('engine', 'carillon.events', createEvaluateStage(this.ports), this.liveSink);
  }

  /** Appends what a platform says, as the gateway does. */
  async saysOfCohort(...messages: readonly CohortMessage[]): Promise<void> {
    await this.#opened.data.log.append(messages.map((message) => cohortRecord(message, null, this.ports)));
  }

  /** Starts what turns messages about cohorts into events. */
  async followsCohorts(): Promise<Consumption> {
    return this.#consume(
      'cohorts',
      'carillon.cohorts',
      createCohortsStage(this.ports),
      createRecordSink(this.ports.log),
    );
  }

  /** Starts the projections of control. */
  async projects(): Promise<void> {
    for (const { topic, stage } of projections(this.ports))
      await this.#consume('control', topic, stage, createRecordSink(this.ports.log));
  }

  /** Where what judging comes to goes, as in the engine. */
  get liveSink(): OutputSink<EvaluationOutput> {
    return createLogSink(this.ports.log, createEncoder(this.ports), this.ports.slice);
  }

  async #consume<Output>(
    group: string,
    topic: TopicName,
    stage: BatchStage<Output>,
    sink: OutputSink<Output>,
  ): Promise<Consumption> {
    const { log, checkpoints } = this.#opened.data;
    const consumption = await startStageConsumer({ group, topic, stage, sink, log, checkpoints, watch: this.witness });
    this.#consumptions.push(consumption);
    return consumption;
  }

  /** Ends what consumes; what the backend holds stays. */
  async stop(): Promise<void> {
    for (const consumption of this.#consumptions.splice(0)) await consumption.stop();
    await this.#open?.http.close();
    this.#open = null;
  }

  async restart(): Promise<this> {
    await this.stop();
    return this.start();
  }

  async close(): Promise<void> {
    await this.stop();
    await this.#backing?.close();
    this.#backing = null;
  }
}

type Opened = {
  readonly data: MemoryBackendPorts;
  readonly codecs: AvroRecordCodecs;
  readonly configuration: FollowedConfiguration;
  readonly templates: TemplateRenderer;
  readonly book: RuleBook;
  readonly http: OutboundHttp;
};

export const openTopology = (options: TopologyOptions = {}): Promise<Topology> => new Topology(options).start();
