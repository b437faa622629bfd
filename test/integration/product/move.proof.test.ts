import { cpSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openEmbedded } from '@carillon/adapter-embedded';
import { systemClock } from '@carillon/adapter-system';
import { MESSAGE_CLAIM } from '@carillon/ports';
import { cli, deliveryOf, startProduct, startScriptedSmtp, type CliAnswer, type ScriptedSmtp } from '@carillon/testing';
import { startKafka, startMongoDb, startRegistry } from '@carillon/testing/services';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { openShop, order, shopFiles, shopOf, smtpDeployment, writeFiles, type Shop } from './shop.ts';

/** Each command is a process of its own. */
const SLOW = { timeout: 300_000 };
const TEMPLATE = 'workspaces/shop/templates/order-paid/email.yaml';

let smtp: ScriptedSmtp;
let old: Shop & { close(): Promise<void> };
let file: string;
/** Events of the old folder by what became of them, with the body that a client may post again. */
const sent = order('M-1', { email: 'sent@example.com' });
const waits = order('M-2', { email: 'later@example.com' });
const doubtful = order('M-3', { email: 'doubt@example.com' });
const bounced = order('M-4', { email: 'nobody@example.com' });
let waiting: string;

const run = (...args: readonly string[]): Promise<CliAnswer> => cli(args);
const recipients = (): readonly string[] => smtp.accepted.flatMap((mail) => mail.to);

beforeAll(async () => {
  smtp = await startScriptedSmtp({
    script: ({ stage, line, raw }) => {
      if (stage === 'rcpt' && line.includes('later@')) return '450 4.2.0 come again';
      if (stage === 'rcpt' && line.includes('nobody@')) return '550 5.1.1 no such user';
      return stage === 'dot' && raw.includes('doubt@') ? { ending: 'drop' } : undefined;
    },
  });
  old = await openShop({ files: shopFiles({ deployment: smtpDeployment(smtp.port) }) });
  file = join(old.folder, 'shop.move');
  for (const [event, state] of [
    [sent, 'SENT'],
    [waits, 'WAITING'],
    [doubtful, 'IN_DOUBT'],
    [bounced, 'FAILED'],
  ] as const) {
    const eventId = await old.send(event);
    const { id } = await (state === 'WAITING' ? old.putOff(eventId) : old.delivered(eventId, state));
    if (state === 'WAITING') waiting = id;
  }
  // What waits was promised with the template of before.
  const files = shopFiles({ deployment: smtpDeployment(smtp.port) });
  await old.apply({ ...files, [TEMPLATE]: `${files[TEMPLATE]}`.replace('Order {{', 'Your order {{') });
  await old.run(['secret', 'set', 'WORD', '--deployment'], { input: 'sesame' });
});
afterAll(async () => {
  await old?.close();
  await smtp?.stop();
});

describe('move export', () => {
  it('refuses a folder in use, and a folder without data', async () => {
    const running = await run('move', 'export', file, '--data-dir', old.dataDir);
    expect(running.code).toBe(1);
    expect(running.stderr).toContain('held by carillon up');
    const none = await run('move', 'export', file, '--data-dir', join(old.folder, 'none'));
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no data folder') as string });
    expect(existsSync(join(old.folder, 'none'))).toBe(false);
  });

  it('writes a file for its owner alone, and the folder is not started by mistake any more', async () => {
    expect(await old.product.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    const data = await openEmbedded({ dataDir: old.dataDir, clock: systemClock });
    await data.claims.claim([
      { triggerId: `${MESSAGE_CLAIM}rct_1`, position: 'carillon.receipts/0@0', at: Date.now() },
    ]);
    await data.close();
    const { code, stdout } = await run('move', 'export', file, '--data-dir', old.dataDir);
    expect(code).toBe(0);
    // The one record is the roster, with the link that the start made.
    expect(stdout).toContain(
      '4 deliveries, 0 states of rules, 1 suppressed addresses, 0 people’s wishes, 0 people’s counts under limits, 1 records of who may sign in, 1 secrets, 3 configurations, 0 drafts',
    );
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(existsSync(`${file}.part`)).toBe(false);
    const again = await run('move', 'export', file, '--data-dir', old.dataDir);
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('exists already') as string });
    await expect(startProduct({ dataDir: old.dataDir })).rejects.toThrow(/people are notified twice.*moved/s);
  });

  it('holds no secret in the clear', () => {
    expect(readFileSync(file, 'utf8')).not.toMatch(new RegExp(`sesame|${old.key.split('_')[2]}`));
  });

  it('refuses to leave behind what is not finished, and says what', async () => {
    const dataDir = join(old.folder, 'unfinished');
    const data = await openEmbedded({ dataDir, clock: systemClock });
    const record = { partition: 0, key: 'k', value: new Uint8Array(), headers: {} };
    const topics = [
      'carillon.events',
      'carillon.cohorts',
      'carillon.triggers',
      'carillon.lookups',
      'carillon.intents',
    ] as const;
    await data.log.append(topics.map((topic) => ({ topic, ...record })));
    const idle = { nextAt: 1, deadline: null, version: 1, leaseUntil: null, data: '' };
    await data.tasks.insert([
      { ...idle, id: 'trg_open', queue: { job: 'ask', workspace: 'shop', name: 'crm' }, done: false },
      { ...idle, id: 'trg_done', queue: { job: 'ask', workspace: 'shop', name: 'erp' }, done: true },
    ]);
    await data.ledger.insert([deliveryOf({ state: 'SENDING', nextAt: null, token: 't', leaseUntil: 30 })]);
    await data.close();
    const { code, stderr } = await run('move', 'export', join(old.folder, 'early.move'), '--data-dir', dataDir);
    expect(code).toBe(1);
    for (const words of [
      '1 events are not evaluated yet',
      '1 messages about cohorts are not read yet',
      '1 questions to partners are not in custody yet',
      '1 answers of partners are not read yet',
      '1 messages are not in the ledger yet',
      '1 deliveries were under way when it was killed',
      'questions to partners are open (shop/crm)',
      'carillon up --gateway-port 0',
    ]) {
      expect(stderr).toContain(words);
    }
    expect(existsSync(join(dataDir, 'moved'))).toBe(false);
  });
});

describe('move export of a shop with a cohort', () => {
  it('refuses a rule that fires on first sync, because the target syncs again', async () => {
    const shop = await openShop({
      files: {
        ...shopFiles(),
        'workspaces/shop/integrations/feed.yaml': 'kind: generic\nauthorization: { key: { secret: FEED_KEY } }\n',
        'workspaces/shop/integrations/crm.yaml':
          'kind: lookup\nurl: https://crm.example.com/recipients\nauthorization: { key: { secret: CRM_KEY } }\n',
        'workspaces/shop/notifications/welcome.yaml': `channels:
  email: { template: order-paid }
rules:
  joined:
    cohort: { integration: feed, id: buyers, on: entered, first_sync: notify }
    recipients: { from: lookup, integration: crm }
`,
      },
    });
    try {
      expect(await shop.product.kill('SIGTERM')).toEqual({ code: 0, signal: null });
      const { code, stderr } = await run('move', 'export', join(shop.folder, 'f.move'), '--data-dir', shop.dataDir);
      expect(code).toBe(1);
      expect(stderr).toContain('shop/welcome.joined: with first_sync: notify');
      expect(existsSync(join(shop.dataDir, 'moved'))).toBe(false);
    } finally {
      await shop.close();
    }
  });
});

/** Settings, beside the data folder, that say where log and stores are. */
type Target = { readonly dataDir: string; readonly env: Readonly<Record<string, string>> };

/** What holds wherever the deployment was taken to. */
function describeImport(open: () => Promise<Target>): void {
  let target: Target;
  const into = (from: string, dataDir = target.dataDir): Promise<CliAnswer> =>
    cli(['move', 'import', from], { dataDir, env: target.env });
  beforeAll(async () => {
    target = await open();
  }, SLOW.timeout);

  it('refuses a file with other keys, a partial file and another file, before anything is created', SLOW, async () => {
    const bare = join(old.folder, `bare-${Date.now()}`);
    expect(await into(file, bare)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('copy the keys folder') as string,
    });
    const foreign = join(old.folder, `foreign-${Date.now()}`);
    cpSync(join(old.dataDir, 'keys'), join(foreign, 'keys'), { recursive: true });
    writeFileSync(join(foreign, 'keys', 'ledger.key'), `${'ab'.repeat(32)}\n`, { mode: 0o600 });
    const other = await into(file, foreign);
    expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining('other keys') as string });
    expect(other.stderr).toContain('(ledger.key)');
    expect(existsSync(join(foreign, 'carillon.db'))).toBe(false);

    const text = readFileSync(file, 'utf8');
    writeFiles(old.folder, {
      'part.move': text.slice(0, -20),
      'torn.move': text.slice(0, -400),
      'none.move': 'hello\n',
    });
    for (const [name, code, words] of [
      ['part.move', 1, 'is incomplete'],
      ['torn.move', 1, 'is incomplete'],
      ['none.move', 2, 'was not written by'],
      ['nowhere.move', 2, 'there is no file'],
    ] as const) {
      expect(await into(join(old.folder, name))).toMatchObject({
        code,
        stderr: expect.stringContaining(words) as string,
      });
    }
  });

  it('imports everything once, however often it is called', SLOW, async () => {
    const first = await into(file);
    expect(first).toMatchObject({ code: 0 });
    expect(first.stdout).toContain(
      'added 4 deliveries, 0 states of rules, 1 suppressed addresses, 0 people’s wishes, 0 people’s counts under limits, 1 records of who may sign in, 1 secrets, 3 configurations, 0 drafts',
    );
    const second = await cli(['move', 'import', file, '--json'], { dataDir: target.dataDir, env: target.env });
    expect(second.code).toBe(0);
    expect(JSON.parse(second.stdout)).toEqual({
      file,
      added: {
        dataKey: 0,
        secret: 0,
        suppression: 0,
        message: 0,
        consents: 0,
        sent: 0,
        people: 0,
        delivery: 0,
        erasures: 0,
        source: 0,
        state: 0,
        configuration: 0,
        draft: 0,
      },
      kept: {
        dataKey: 1,
        secret: 1,
        suppression: 1,
        message: 1,
        consents: 0,
        sent: 0,
        people: 1,
        delivery: 4,
        erasures: 0,
        source: 0,
        state: 0,
        configuration: 3,
        draft: 0,
      },
    });
  });

  it('notifies nobody twice for repeated events with the same keys', SLOW, async () => {
    const accepted = recipients().length;
    const product = await startProduct({ dataDir: target.dataDir, env: target.env });
    try {
      const shop = shopOf(product, old.folder, target.dataDir, old.key);
      for (const [event, state] of [
        [sent, 'SENT'],
        [doubtful, 'IN_DOUBT'],
      ] as const) {
        const again = await shop.delivered(await shop.send(event));
        expect(again).toMatchObject({ state: 'SUPPRESSED', reason: 'duplicate' });
        const [first] = await shop.deliveries(`&unique_id=${event.order_id}&state=${state}`);
        expect(first).toMatchObject({ state, to: event.email });
      }
      // An address that does not exist is not asked again.
      const ghost = await shop.delivered(
        await shop.send(order('M-5', { email: bounced.email })),
        'SUPPRESSED',
        'FAILED',
      );
      expect(ghost.reason).toBe('suppressed_address');
      expect(await shop.run(['diff', '-f', folderOf(old)])).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('nothing') as string,
      });

      // The stored secret opens: nothing else can be encrypted anew.
      const renewed = await shop.api<{ renewed: number }>('POST', '/v1/master-key/renew-values');
      expect(renewed).toMatchObject({ status: 200, body: { renewed: 1 } });

      // What waited goes out, as it was promised; and a new order as it is written today.
      expect(await shop.run(['deliveries', 'cancel', waiting])).toMatchObject({ code: 0 });
      smtp.follow(() => undefined);
      expect(await shop.run(['deliveries', 'resend', waiting])).toMatchObject({ code: 0 });
      await shop.delivered(await shop.send(order('M-6', { email: 'new@example.com' })), 'SENT');
      await shop.delivered((await shop.deliveries('&unique_id=M-2'))[0]?.event_id ?? '', 'SENT');
      const later = smtp.accepted.slice(accepted);
      const subjects = later.map((mail) => `${mail.to[0]}: ${/^Subject: (.*)$/m.exec(mail.raw)?.[1]?.trim()}`);
      expect(new Set(subjects)).toEqual(new Set(['later@example.com: Order M-2', 'new@example.com: Your order M-6']));
      expect(subjects).toHaveLength(2);
      const doctor = await shop.run(['doctor']);
      expect(doctor.stdout).toMatch(/ok {4}keys/);
    } finally {
      await product.kill('SIGTERM');
    }
  });

  it('refuses a target that has a configuration', async () => {
    const text = readFileSync(file, 'utf8');
    const other = join(old.folder, 'other.move');
    writeFileSync(other, text.replace(/"first_configuration":"[^"]*"/, '"first_configuration":"another"'));
    const refused = await into(other);
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('a configuration exists here already') as string,
    });
  });
}

/** The configuration folder as it stands at last. */
function folderOf(shop: Shop): string {
  const files = shopFiles({ deployment: smtpDeployment(smtp.port) });
  return writeFiles(join(shop.folder, 'files'), {
    ...files,
    [TEMPLATE]: `${files[TEMPLATE]}`.replace('Order {{', 'Your order {{'),
  });
}

const withKeys = (name: string): string => {
  const dataDir = join(old.folder, name);
  cpSync(join(old.dataDir, 'keys'), join(dataDir, 'keys'), { recursive: true });
  return dataDir;
};

describe('move import into another folder', () => {
  describeImport(async () => ({ dataDir: withKeys('folder'), env: {} }));
});

describeWith(['kafka', 'mongodb', 'registry'], 'move import into a cluster', () => {
  const opened: (() => Promise<void>)[] = [];
  afterAll(async () => {
    for (const end of opened) await end();
  });
  describeImport(async () => {
    const services = await Promise.all([startKafka(), startMongoDb(), startRegistry()]);
    const [kafka, mongodb, registry] = services;
    opened.push(...services.map((one) => () => one.stop()));
    const env = {
      CARILLON_BROKERS: kafka.brokers.join(','),
      CARILLON_SINGLE_BROKER: 'true',
      CARILLON_MONGODB_URL: mongodb.url,
      CARILLON_MONGODB_DATABASE: `move_${process.pid}`,
      CARILLON_SCHEMA_REGISTRY_URL: registry.url,
    };
    return { dataDir: withKeys('cluster'), env };
  });
});
