import { existsSync, statSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { startScriptedSmtp, untilFound } from '@carillon/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chapter, type Home } from './places.ts';
import { ORDER, ORDER_PAID, run, startCarillon, type Carillon } from './support.ts';

/*
 * 9. Operations
 *
 * This chapter looks after Carillon: is it well, is there a copy, what happens when somebody starts it twice, and what
 * happens to work that was under way when it stopped. On one file it is one process over one folder. On a cluster any
 * number of processes share the work, and copies are made with the tools of Kafka and MongoDB.
 */

chapter('9. Operations', (newHome, place) => {
  let carillon: Carillon;
  let home: Home;
  beforeAll(async () => {
    home = await newHome();
    carillon = await startCarillon(home);
  });
  afterAll(async () => {
    await carillon.leave();
  });

  it('says by doctor whether configuration, data, keys, disk and queues are well', async () => {
    // It has something to say about a cluster of one broker; a busy machine may hide an answer from it once.
    const { code, out } = await untilFound('all the answers', async () => {
      const told = await carillon.command(['doctor']);
      const failing = told.out.match(/^FAIL .*$/gm) ?? [];
      return failing.length <= (place === 'embedded' ? 0 : 1) ? told : undefined;
    });
    const own = {
      embedded: ['data file', 'free disk'],
      cluster: ['Kafka topics', 'database', 'database writes', 'database indexes', 'schema registry'],
    }[place];
    for (const step of ['configuration', ...own, 'keys', 'in doubt', 'clock']) {
      expect(out).toMatch(new RegExp(`^ok +${step}: `, 'm'));
    }
    if (place === 'embedded') expect(code, out).toBe(0);
    else {
      // One broker is enough to try things, and it says what that means.
      expect(out.match(/^FAIL .*$/gm)).toEqual([
        'FAIL  Kafka copies: single_broker: true, so a lost disk loses the log',
      ]);
      expect(code).toBe(1);
    }
  });

  it('lists unreadable records as dead letters, and here there are none', async () => {
    expect((await carillon.command(['dead-letters'])).out.trim()).toBe('no dead letters');
  });

  it('answers machines: /livez and /readyz to anybody; /metrics and what is not ready to this machine, beside the intake', async () => {
    const gateway = carillon.events.replace('/events', '');
    for (const role of [carillon.control, gateway]) {
      expect((await fetch(`${role}/livez`)).status).toBe(200);
      await untilFound(`${role} is ready`, async () => (await fetch(`${role}/readyz`)).ok || undefined);
    }
    const metrics = await fetch(`${carillon.control}/metrics`);
    expect(await metrics.text()).toMatch(/^carillon_deliveries\{.*state="SENT"/m);
    expect((await fetch(`${gateway}/metrics`)).status).toBe(404);
  });

  it('refuses a port in use, and names the flag to change it', async () => {
    const port = new URL(carillon.control).port;
    const elsewhere = place === 'embedded' ? ['--data-dir', 'elsewhere'] : [];
    const args = ['up', ...elsewhere, '--gateway-port', '0', '--control-port', port];
    const second = await run(home, args);
    expect(second.code).toBe(1);
    expect(second.err).toContain(port);
    expect(second.err).toContain('--control-port');
  });

  const onOneFile = (): void => {
    it('refuses a second process on the same folder and names the process that holds it', async () => {
      const second = await run(home, ['up', '--gateway-port', '0', '--control-port', '0']);
      expect(second.code).toBe(1);
      expect(second.err).toContain(`is held by carillon up, pid ${carillon.pid}`);
    });

    it('writes a backup while it runs: one file with the data and its keys, readable for you alone', async () => {
      await carillon.delivery(await carillon.send(ORDER), 'SENT');
      const { code, out } = await carillon.command(['backup', 'copy.db']);
      expect(code).toBe(0);
      expect(out).toContain('it holds the keys of this deployment');
      expect(statSync(join(home.folder, 'copy.db')).mode & 0o777).toBe(0o600);
    });

    it('restores the backup into an empty folder, and knows there what was known when it was made', async () => {
      // Each of these is a process of its own: the old one may go on meanwhile, since a folder has one process, not a machine.
      const done = await run(home, ['restore', 'copy.db', '--no-erasures', '--data-dir', 'restored']);
      expect(done.code, done.err).toBe(0);
      const twice = await run(home, ['restore', 'copy.db', '--no-erasures', '--data-dir', 'restored']);
      expect(twice.code).toBe(2);
      expect(twice.err).toContain('is not empty');

      const restored = await startCarillon(home, ['--data-dir', 'restored']);
      const { items } = await restored.ask<{ items: { state: string; to: string }[] }>([
        'deliveries',
        '--data-dir',
        'restored',
      ]);
      expect(items).toEqual([expect.objectContaining({ state: 'SENT', to: 'ada@example.com' })]);
      // The keys came with it: a client that had one still has one.
      const answer = await restored.post('shop/orders', JSON.stringify(ORDER), {
        authorization: `Bearer ${carillon.key}`,
      });
      expect(answer.status).toBe(202);
      await restored.stop();
    });
  };

  const onACluster = (): void => {
    it('refuses a second process that has other keys, and says where to get the right ones', async () => {
      const args = ['up', '--data-dir', 'second', '--gateway-port', '0', '--control-port', '0'];
      const second = await run(home, args);
      expect(second.code).toBe(1);
      expect(second.err).toContain(
        'keys/ledger.key is not the key that this data was written with; copy the keys of the process that started first, or set CARILLON_LEDGER_KEY',
      );
    });

    it('lets a second process share the work once it has the same keys', async () => {
      const keys = (folder: string): string => join(home.folder, folder, 'keys');
      await cp(keys('carillon-data'), keys('second'), { recursive: true });
      const second = await startCarillon(home, ['--data-dir', 'second']);
      // The demo is there already: its key goes for both.
      expect(second.key).toBe('');
      const sent = await second.post('shop/orders', JSON.stringify(ORDER), { authorization: `Bearer ${carillon.key}` });
      expect(sent.status).toBe(202);
      await carillon.delivery(String(sent.body['id']), 'SENT');
      expect(await second.stop()).toBe(0);
    });

    it('leaves copies to the tools of Kafka and MongoDB, and says so', async () => {
      const { code, err } = await carillon.command(['backup', 'copy.db']);
      expect(code).toBe(2);
      expect(err).toContain('backup copies the embedded backend; on a cluster use the tools of Kafka and MongoDB');
      expect(existsSync(join(home.folder, 'copy.db'))).toBe(false);
    });
  };

  ({ embedded: onOneFile, cluster: onACluster })[place]();

  it('stops in good order, and goes on after the next start with what was waiting', async () => {
    const smtp = await startScriptedSmtp({ script: () => ({ say: '421 4.3.2 closing down', ending: 'drop' }) });
    await carillon.sendThrough(smtp.port);
    await carillon.edit(ORDER_PAID, 'attempts: 8, first: 30s, max: 4h', 'attempts: 100, first: 2s, max: 2s');
    await carillon.apply();
    const waiting = await carillon.send(ORDER);
    await carillon.delivery(waiting, 'WAITING');
    const key = carillon.key;
    expect(await carillon.stop()).toBe(0);

    smtp.follow(() => undefined);
    carillon = await startCarillon(home);
    // The key is not shown again; the folder is not filled again; what was found is said.
    expect(carillon.key).toBe('');
    expect(carillon.screen).toContain('1 delivery resumed');
    await carillon.delivery(waiting, 'SENT');
    expect(smtp.accepted).toHaveLength(1);
    expect((await carillon.post('shop/orders', JSON.stringify(ORDER), { authorization: `Bearer ${key}` })).status).toBe(
      202,
    );
    await smtp.stop();
  });
});
