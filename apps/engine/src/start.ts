import type {
  AvroSchemaSource,
  BatchStage,
  ChangeSources,
  CheckpointStore,
  Clock,
  CohortPages,
  CohortStore,
  Consumption,
  DueTasks,
  EventLog,
  Ids,
  LeaseStore,
  LookupClaims,
  OutputSink,
  PartnerLookup,
  RecordCodecs,
  RuleStateStore,
  EvaluationOutput,
  Secrets,
  SourceStore,
  TemplateRenderer,
  TopicName,
  EventLoopSlice,
  TopicSources,
} from '@carillon/ports';
import {
  createLogSink,
  createPacedSink,
  createRecordSink,
  Progress,
  startLoop,
  startStageConsumer,
  type ConsumerWatch,
} from '@carillon/runtime';
import {
  COHORT_BATCH_BYTES,
  createAskStage,
  createCohortsStage,
  createEncoder,
  createEvaluateStage,
  createResolveStage,
  createRuleBook,
  repeatMarkers,
  type CalledOff,
  type CompileRule,
  type FollowedConfiguration,
} from '@carillon/stages';
import { startCaller } from './asking/caller.ts';
import type { AskWatch } from './asking/watch.ts';
import { createFormerStateRemover, FORMER_STATES_INTERVAL } from './ticking/former-states.ts';
import { createStateSweeper, SWEEP_INTERVAL } from './ticking/state-sweeper.ts';
import { createTicker, TICK_INTERVAL } from './ticking/ticker.ts';
import { startPoller, type PollerPorts } from './polling/poller.ts';
import type { SourceWatch } from './sources/source-ports.ts';
import { startSources } from './sources/sources.ts';

export type EnginePorts = {
  readonly log: EventLog;
  readonly checkpoints: CheckpointStore;
  readonly leases: LeaseStore;
  readonly configuration: FollowedConfiguration;
  readonly codecs: RecordCodecs;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly slice: EventLoopSlice;
  readonly compileRule: CompileRule;
  readonly templates: TemplateRenderer;
  readonly ruleStates: Pick<RuleStateStore, 'load' | 'save' | 'due' | 'earliestDue' | 'sweep' | 'list' | 'remove'>;
  readonly tasks: DueTasks;
  readonly claims: LookupClaims;
  readonly partners: PartnerLookup;
  readonly secrets: Secrets;
  readonly cohorts: CohortStore;
  readonly cohortPages: CohortPages;
  readonly sources: SourceStore;
  /** Loads the readers of databases. Called for the first source. */
  readonly changeSources: () => Promise<ChangeSources>;
  /** Loads the readers of topics. Called for the first such source. */
  readonly topicSources: () => Promise<TopicSources>;
  /** Loads the reader of schema registries. Called for the first record in Avro. */
  readonly avroSchemas: () => Promise<AvroSchemaSource>;
  /** No other process has this store open. */
  readonly aloneOnStore?: boolean;
  /** Cancellations by a restore (`carillon restore --cancel-unsent`). */
  readonly calledOffCohortsBelow?: CalledOff;
  readonly watch: EngineWatch;
};

export type EngineWatch = ConsumerWatch & AskWatch & PollerPorts['watch'] & SourceWatch;

export type EngineRole = { close(): Promise<void> };

const ROUND_TIMEOUT_MS = 2_000;
const LEASE = 10_000;
const HOURLY = 3_600_000;
/** A record this old whose markers are not everywhere was left behind by a publisher that died. */
const LEFT_BEHIND = 5_000;

/** The engine role: evaluates events, asks partners, resolves what they answered; it appends ticks to quiet partitions. While it holds the clock lease it repeats configuration markers. */
export async function startEngine(ports: EnginePorts): Promise<EngineRole> {
  const { log, clock, configuration, watch } = ports;
  const book = createRuleBook(ports.compileRule, ports.templates);
  const consume = <Output>(
    topic: TopicName,
    stage: BatchStage<Output>,
    sink: OutputSink<Output>,
    more: { handleBytes?: number; progress?: Progress } = {},
  ): Promise<Consumption> =>
    startStageConsumer({ group: 'engine', topic, stage, sink, log, checkpoints: ports.checkpoints, watch, ...more });
  const live: OutputSink<EvaluationOutput> = createLogSink(log, createEncoder(ports), ports.slice);
  const records = createRecordSink(log);
  const progress = new Progress();
  const evaluating = await consume('carillon.events', createEvaluateStage({ ...ports, book }), live, {
    progress,
  });
  const ticker = startLoop(TICK_INTERVAL, createTicker({ ...ports, progress }), (error) =>
    watch.trouble('append ticks', error),
  );
  const sweeper = startLoop(SWEEP_INTERVAL, createStateSweeper({ ...ports, progress }), (error) =>
    watch.trouble('remove old states of rules', error),
  );
  const remover = startLoop(FORMER_STATES_INTERVAL, createFormerStateRemover({ ...ports, progress }), (error) =>
    watch.trouble('remove states of removed workspaces', error),
  );
  const caller = startCaller(ports);
  const asking = await consume('carillon.triggers', createAskStage({ ...ports, due: caller.offer }), records);
  const resolving = await consume('carillon.lookups', createResolveStage({ ...ports, book }), live);
  // Everybody's events share partitions with those of a cohort: 10,000 who come in at once are not put before all others.
  const paced = createPacedSink(log, { topic: 'carillon.events', progress });
  const following = await consume('carillon.cohorts', createCohortsStage(ports), paced, {
    handleBytes: COHORT_BATCH_BYTES,
  });
  const poller = startPoller(ports);
  const sources = startSources({ ...ports, progress });
  const holder = ports.ids.random('request');
  let repeatedNumber = -1;
  let repeatedAt = 0;
  const keeper = startLoop(
    ROUND_TIMEOUT_MS,
    async () => {
      const now = clock.now();
      if (!(await ports.leases.acquire('clock', holder, now, now + LEASE))) return;
      const { number } = await configuration.refresh();
      if (number < 0) return;
      const due = now - repeatedAt >= HOURLY;
      // Our own start repeats at once; a newer record is left to its publisher for five seconds.
      const left = number !== repeatedNumber && now - (configuration.newestAt() ?? now) >= LEFT_BEHIND;
      if (repeatedNumber >= 0 && !due && !left) return;
      await repeatMarkers(log, number);
      repeatedNumber = number;
      repeatedAt = now;
    },
    (error) => watch.trouble('keep the clock lease', error),
  );

  return {
    async close() {
      await Promise.all([keeper.stop(), ticker.stop(), sweeper.stop(), remover.stop()]);
      await Promise.all([evaluating.stop(), asking.stop(), following.stop(), poller.stop(), sources.stop()]);
      await caller.stop();
      await resolving.stop();
      await ports.leases.release('clock', holder).catch((error: unknown) => watch.trouble('release the lease', error));
    },
  };
}
