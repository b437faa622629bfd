import { setTimeout as pause } from 'node:timers/promises';
import type { ContainerRuntimeClient, GenericContainer, ImageName, StartedTestContainer } from 'testcontainers';
import { freePorts } from '../process/free-ports.ts';
import type { Service } from '../service.ts';

/** The library takes a second to load, and only where somebody asks for a server. */
const library = () => import('testcontainers');

/** A published image arrives and starts within. */
const STARTED_WITHIN = 300_000;
const ANSWERS_WITHIN = 120_000;

/** Whether Docker answers here, or podman under Docker's API: as testcontainers finds them (`DOCKER_HOST`, usual sockets). */
export async function hasEngine(): Promise<boolean> {
  const { getContainerRuntimeClient } = await library();
  return getContainerRuntimeClient().then(
    () => true,
    () => false,
  );
}

export type ContainerService = Service & {
  /** `host:port` under which its port is reached from here; the same after a restart. */
  readonly address: string;
};

type Wish = {
  readonly image: string;
  /** Where the server listens in its container. */
  readonly port: number;
  /** Tells of its first start: by a line of its log, since not every image has a shell that could look at ports. */
  readonly started: RegExp;
  /** Whether it answers its clients; asked again while it fails or says no. */
  readonly answers: (address: string) => Promise<boolean>;
  /** Adds further settings of the container. `address` is where clients reach it. */
  readonly with: (container: GenericContainer, address: string) => GenericContainer;
};

/**
 * Starts a server in a container, on a host port that stays the same over restarts. Rejects if the image is missing and
 * cannot be pulled. `stop` removes the container. If this process is killed, the cleaner of testcontainers removes it.
 */
export async function startContainer(wish: Wish): Promise<ContainerService> {
  const { GenericContainer, getContainerRuntimeClient, ImageName, Wait } = await library();
  const engine = await getContainerRuntimeClient();
  await withoutCleanerThatCannotCome(engine, ImageName);
  const [host = 0] = await freePorts(1);
  const address = `${engine.info.containerRuntime.host}:${host}`;
  const asked = new GenericContainer(wish.image)
    .withExposedPorts({ container: wish.port, host })
    .withLabels({ 'carillon-test': String(process.pid) })
    .withWaitStrategy(Wait.forLogMessage(wish.started))
    .withStartupTimeout(STARTED_WITHIN);
  const started = await wish.with(asked, address).start();
  const answering = (): Promise<void> => untilAnswers(() => wish.answers(address), wish.image);
  const commands = commandsOf(started, engine.container.getById(started.getId()), answering);
  try {
    await answering();
  } catch (error) {
    await commands.stop();
    throw error;
  }
  return { address, dataDir: '', ...commands };
}

async function untilAnswers(answers: () => Promise<boolean>, image: string): Promise<void> {
  for (const deadline = Date.now() + ANSWERS_WITHIN; !(await answers().catch(() => false)); await pause(100)) {
    if (Date.now() > deadline) throw new Error(`not within ${ANSWERS_WITHIN} ms: ${image} answers`);
  }
}

/** Signals reach a container through its engine, which also starts it again with its data. */
function commandsOf(
  started: StartedTestContainer,
  container: {
    kill(options: { signal: string }): Promise<unknown>;
    start(): Promise<unknown>;
    wait(): Promise<unknown>;
  },
  answering: () => Promise<void>,
): Pick<Service, 'stop' | 'kill' | 'restart'> {
  return {
    stop: async () => void (await started.stop({ remove: true, removeVolumes: true })),
    async kill(signal = 'SIGKILL') {
      const ended = signal === 'SIGKILL' ? container.wait() : undefined;
      await container.kill({ signal });
      await ended;
    },
    async restart() {
      await container.start();
      await answering();
    },
  };
}

/**
 * The cleaner of testcontainers is an image of its own. Where it is not there and `CARILLON_TEST_IMAGES` says that nothing can
 * be pulled, it is left out: containers then go with `stop`, and what a killed run left behind has the label `carillon-test`.
 */
async function withoutCleanerThatCannotCome(engine: ContainerRuntimeClient, name: typeof ImageName): Promise<void> {
  if (process.env['TESTCONTAINERS_RYUK_DISABLED'] !== undefined || !process.env['CARILLON_TEST_IMAGES']) return;
  const cleaner = process.env['RYUK_CONTAINER_IMAGE'];
  const isThere = cleaner !== undefined && (await engine.image.exists(name.fromString(cleaner)));
  if (!isThere) process.env['TESTCONTAINERS_RYUK_DISABLED'] = 'true';
}
