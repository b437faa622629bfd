import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createServiceFolder, ensureCached, ServiceProcess, type CacheEntry } from '@carillon/testing/services';
import { CannotRun } from '../../harness/bench.ts';

const HERE = import.meta.dirname;
const SOURCES = ['pom.xml', 'src/main/java/Evaluate.java'] as const;

/** Built once by Maven, and kept with the servers of the tests; another source is another entry. */
function program(): CacheEntry {
  const digest = createHash('sha256');
  for (const source of SOURCES) digest.update(readFileSync(join(HERE, source)));
  return {
    name: `bench-kafka-streams-${digest.digest('hex').slice(0, 12)}`,
    title: 'the Kafka Streams program',
    async build({ downloads, out, say }) {
      say('building it with Maven, about 100 MB from Maven Central');
      const project = join(downloads, 'project');
      await rm(project, { recursive: true, force: true });
      await cp(HERE, project, { recursive: true });
      const repository = `-Dmaven.repo.local=${join(downloads, 'maven')}`;
      const goals = ['compile', 'dependency:copy-dependencies', '-DincludeScope=runtime'];
      await promisify(execFile)('mvn', ['-B', '-q', '--strict-checksums', repository, ...goals], { cwd: project });
      await cp(join(project, 'target/classes'), join(out, 'classes'), { recursive: true });
      await cp(join(project, 'target/dependency'), join(out, 'lib'), { recursive: true });
    },
  };
}

export type StreamsOptions = {
  readonly brokers: readonly string[];
  readonly input: string;
  /** Also the name of the application, and with it of its group and its transactions. */
  readonly output: string;
  readonly rulesOfEachShape: number;
};

/** Starts the Kafka Streams program, one thread as it comes, and waits until it has its partitions. */
export async function startStreams({
  brokers,
  input,
  output,
  rulesOfEachShape,
}: StreamsOptions): Promise<ServiceProcess> {
  const lacking = ['mvn', 'javac'].filter((name) => spawnSync(name, ['-version'], { stdio: 'ignore' }).status !== 0);
  if (lacking.length > 0) {
    throw new CannotRun(
      'it needs Maven and a JDK; on Debian, as root: apt-get install --no-install-recommends maven default-jdk-headless',
    );
  }
  const built = await ensureCached(program(), (line) => console.log(line));
  const folder = await createServiceFolder('kafka-streams');
  const log = join(folder, 'log');
  const running = new ServiceProcess({
    name: 'Kafka Streams',
    launch: {
      command: 'java',
      args: [
        '-Xmx512m',
        '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
        '-cp',
        `${join(built, 'classes')}:${join(built, 'lib')}/*`,
        'Evaluate',
        brokers.join(','),
        input,
        output,
        join(folder, 'state'),
        String(rulesOfEachShape),
      ],
      log,
    },
    isReady: async () => readFileSync(log, 'utf8').includes('state RUNNING'),
  });
  await running.start();
  return running;
}
