import { join, resolve } from 'node:path';
import { cli, untilFound, type CliAnswer } from '@carillon/testing';
import { startCluster, type Cluster } from '@carillon/testing/cluster';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../support/requirements.ts';
import { clusterHome, type Home } from './places.ts';
import { ORDER, type Delivery } from './support.ts';

/*
 * 14. Roles of their own
 *
 * On a cluster each role can be a process of its own, on any machine: `carillon run gateway`, `engine`, `delivery`,
 * `control`. Any number of each share the work, and any of them may die. The commands are those of the chapters before:
 * they ask control, wherever it is. The configuration is the folder of the demo, as it stands in docs/examples.
 */

const DEMO = resolve(import.meta.dirname, '../../docs/examples/demo');
const START_TIMEOUT = 300_000;

describeWith(['kafka', 'mongodb', 'registry'], '14. Roles of their own', () => {
  let home: Home;
  let cluster: Cluster;
  let key = '';
  beforeAll(async () => {
    home = await clusterHome();
    // Four processes: `carillon run ROLE`, each with the same settings and the same keys.
    cluster = await startCluster({ dataDir: join(home.folder, 'carillon-data'), env: home.settings });
  }, START_TIMEOUT);
  afterAll(async () => {
    await cluster?.stop();
    await home?.leave();
  }, START_TIMEOUT);

  const run = (args: readonly string[], input = ''): Promise<CliAnswer> =>
    cli(args, { cwd: home.folder, input, env: { CARILLON_API_KEY: key } });
  const send = async (order: string): Promise<string> => {
    const event = JSON.stringify({ ...ORDER, order_id: order });
    const { stdout, stderr } = await run(['send', 'shop/orders'], event);
    const [id] = /evt_\w{26}/.exec(stdout) ?? [];
    if (id === undefined) throw new Error(`not sent: ${stdout}${stderr}`);
    return id;
  };
  const told = (event: string): Promise<Delivery> =>
    untilFound(`somebody is told of ${event}`, async () => {
      const { stdout } = await run(['deliveries', '--state', 'SENT', '--json']);
      return (JSON.parse(stdout) as { items: Delivery[] }).items.find((one) => one.event_id === event);
    });

  it('starts with the demo: an API key, and the folder applied', async () => {
    const made = await run(['api-key', 'create', 'backend', '--workspace', 'shop', '--json']);
    ({ key } = JSON.parse(made.stdout) as { key: string });
    const applied = await run(['apply', '-f', DEMO]);
    expect(applied.code, applied.stderr).toBe(0);
    expect(applied.stdout).toContain('it applies to every event from now on');
  });

  it('accepts an event at the gateway, evaluates it in the engine, sends it in delivery, and traces it in control', async () => {
    const event = await send('A-1001');
    await told(event);
    // Told of it may be later than those who were told.
    const stdout = await untilFound('its story', async () => {
      const story = (await run(['trace', event])).stdout;
      return story.includes('1 rule saw it') ? story : undefined;
    });
    expect(stdout).toMatch(/1 rule saw it, 1 fired/);
    expect(stdout).toMatch(/delivery +SENT \(accepted\)/);
  });

  it('lets a second engine share the work, and answers for each of them whether it is well', async () => {
    const second = await cluster.join('engine');
    for (const { name, address } of cluster.members)
      await untilFound(`${name} is well`, async () => (await fetch(`${address}/readyz`)).ok || undefined);
    await told(await send('A-1002'));
    await second.stop();
    await told(await send('A-1003'));
  });

  it('finishes the work of a killed process: nothing is lost, and nobody is notified twice', async () => {
    const [delivery] = cluster.of('delivery');
    await delivery?.kill();
    const events = [await send('A-1004'), await send('A-1005')];
    await delivery?.restart();
    for (const event of events) await told(event);
    const { stdout } = await run(['deliveries', '--json', '--limit', '100']);
    const { items } = JSON.parse(stdout) as { items: Delivery[] };
    expect(items.map(({ state, attempts }) => [state, attempts.length])).toEqual(items.map(() => ['SENT', 1]));
    expect(items).toHaveLength(5);
  });

  it('reports the health of all processes with doctor, whichever process is asked', async () => {
    const { stdout } = await run(['doctor']);
    for (const step of ['configuration', 'Kafka topics', 'database', 'schema registry', 'keys', 'in doubt']) {
      expect(stdout).toMatch(new RegExp(`^ok +${step}: `, 'm'));
    }
  });
});
