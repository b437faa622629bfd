import { setTimeout as pause } from 'node:timers/promises';
import type { Duration } from '@carillon/kernel';
import type { Consumption } from '@carillon/ports';
import { createRecordSink, startLoop, startStageConsumer } from '@carillon/runtime';
import { projections } from '@carillon/stages';
import { forgetAnswers } from './idempotency/remove-expired.ts';
import { createJobRunner } from './jobs/runner.ts';
import { createAuditSealer } from './audit/sealer.ts';
import { buildControl, type ControlSurroundings } from './build.ts';
import type { ControlConfig, ControlPorts } from './ports.ts';

export type ControlRole = {
  readonly address: string;
  readonly port: number;
  /** The word of a new sign-in link, for `/welcome#…`. */
  newLinkWord(): Promise<string>;
  close(): Promise<void>;
};

const CLOSE_TIMEOUT_MS = 3_000;
/** Interval of sealing the audit. Entries can be cut off unnoticed until they are sealed. */
const KEEPING_EVERY: Duration = 1_000;
/** A job that was begun waits at most so long for its runner. */
const JOBS_EVERY: Duration = 500;
const FORGETTING_EVERY: Duration = 600_000;

/** The control role: projections, the management API with its description, and the portal's pages. */
export async function startControl(
  config: ControlConfig,
  ports: ControlPorts,
  surroundings: ControlSurroundings,
): Promise<ControlRole> {
  const server = await buildControl(config, ports, surroundings);
  const listening = await server.listen();
  const consumptions = await startProjections(ports);
  const sealer = createAuditSealer(
    { ...ports, sealed: (seal, contents) => ports.watch.sealed(seal, contents) },
    ports.ids.random('request'),
  );
  const keeping = startLoop(
    KEEPING_EVERY,
    () => sealer.round(),
    (error) => ports.watch.trouble('keep the audit', error),
  );
  const runner = createJobRunner(ports, ports.ids.random('request'), config.backend === 'embedded');
  const running = startLoop(
    JOBS_EVERY,
    () => runner.round(),
    (error) => ports.watch.trouble('look for jobs', error),
  );
  const forgetting = startLoop(
    FORGETTING_EVERY,
    () => forgetAnswers(ports),
    (error) => ports.watch.trouble('forget answers', error),
  );
  return {
    ...listening,
    newLinkWord: async () => (await server.access.makeLink()).word,
    async close() {
      await server.close(CLOSE_TIMEOUT_MS);
      await Promise.all([running.stop(), forgetting.stop()]);
      await runner.end();
      await keeping.stop();
      await sealer.end().catch((error: unknown) => ports.watch.trouble('keep the audit', error));
      await Promise.all(consumptions.map((one) => one.stop()));
    },
  };
}

/**
 * Delay of projections under load. It makes batches larger: with one batch per commit, writing rows and a position each
 * time would cost more than the intake itself.
 */
const PROJECTING_REST: Duration = 250;

function startProjections(ports: ControlPorts): Promise<readonly Consumption[]> {
  return Promise.all(
    projections(ports).map(({ topic, stage }) =>
      startStageConsumer({
        group: 'control',
        topic,
        stage,
        sink: createRecordSink(ports.log),
        log: ports.log,
        checkpoints: ports.checkpoints,
        watch: ports.watch,
        rest: () => pause(PROJECTING_REST),
      }),
    ),
  );
}
