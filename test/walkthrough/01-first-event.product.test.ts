import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chapter } from './places.ts';
import { startCarillon, type Carillon } from './support.ts';

/*
 * 1. The first event
 *
 * You have cloned the repository and typed `npm ci && npm start`. There was nothing before: no data, no rules, no key.
 * This chapter is what you see, and what you can ask about the first event that you send.
 */

chapter('1. The first event', (newHome, place) => {
  let carillon: Carillon;
  beforeAll(async () => {
    const home = await newHome();
    carillon = await startCarillon(home);
  });
  afterAll(async () => {
    await carillon.leave();
  });

  /** The line that the screen tells you to paste, run by a shell as you would. */
  function paste(screen: string): { id: string } {
    const curl = screen.slice(screen.indexOf('curl -X POST'), screen.indexOf('Then look'));
    const done = spawnSync('sh', ['-c', curl], { encoding: 'utf8' });
    return JSON.parse(done.stdout) as { id: string };
  }

  let eventId = '';

  it('starts in an empty place and prints where things are, a key, and an event to send', () => {
    const { screen } = carillon;
    const where = { embedded: 'embedded, data in ./carillon-data', cluster: 'cluster, Kafka at 127.0.0.1:' }[place];
    expect(screen).toMatch(/^ {2}Carillon \d+\.\d+\.\d+ {3}\S/m);
    expect(screen).toContain(`   ${where}`);
    // The link opens a session in your browser once. The key is shown this once: only a digest of it is stored.
    expect(screen).toMatch(
      /^ {2}Portal {5}http:\/\/127\.0\.0\.1:\d+ +sign in once: http:\/\/127\.0\.0\.1:\d+\/welcome#\S+$/m,
    );
    expect(screen).toMatch(/^ {2}Events {5}http:\/\/127\.0\.0\.1:\d+\/events\/shop\/orders$/m);
    expect(screen).toMatch(/^ {2}API key {4}cln_\w{8}_\w{32}_\w{6} {3}shown this once$/m);
    expect(screen).toContain('edit, then: npx carillon apply -f carillon-demo');
    expect(screen).toContain('Tests      npx carillon test carillon-demo');
    expect(screen).toContain('npx carillon trace <the id it answered>');
  });

  it('leaves two folders: the data, which is yours alone, and the demo’s rules, which are yours to edit', () => {
    expect(statSync(join(carillon.folder, 'carillon-data')).mode & 0o777).toBe(0o700);
    // A cluster keeps its data elsewhere; the keys are in the folder all the same.
    const data = { embedded: ['carillon.db'], cluster: [] }[place];
    for (const file of [...data, 'owner-token', 'endpoints.json', 'keys/ledger.key', 'keys/master.key']) {
      expect(statSync(join(carillon.folder, 'carillon-data', file)).mode & 0o777, file).toBe(0o600);
    }
    expect(existsSync(join(carillon.folder, 'carillon-demo/workspaces/shop/notifications/order-paid.yaml'))).toBe(true);
  });

  it('answers the pasted curl line with the id of the event, which by then is on the log for good', () => {
    eventId = paste(carillon.screen).id;
    expect(eventId).toMatch(/^evt_[0-9A-Z]{26}$/);
  });

  it('puts the email into the inbox, as HTML and as text, made from the fields of the event', async () => {
    await carillon.delivery(eventId, 'SENT');
    const [message] = await carillon.inbox();
    expect(message).toMatchObject({ to: 'ada@example.com', subject: 'Thank you, Ada: order A-1001 is paid' });
    expect(message?.html).toContain('Thank you, Ada!');
    expect(message?.text).toContain('Order   A-1001');
  });

  it('lists the delivery with its state and the reason for it', async () => {
    // State says where it stands, reason says why. The whole list of states is in docs/states-and-reasons.md.
    const { out } = await carillon.command(['deliveries']);
    expect(out).toMatch(/^created +delivery +state +reason +channel +to +rule +event$/m);
    expect(out).toMatch(/dlv_\w{26} +SENT +accepted +email +ada@example\.com +order-paid\.paid +evt_/);
    // The same for programs. Every command takes --json.
    const { items } = await carillon.ask<{ items: { state: string; event_id: string }[] }>([
      'deliveries',
      '--state',
      'SENT',
    ]);
    expect(items).toEqual([expect.objectContaining({ state: 'SENT', event_id: eventId })]);
  });

  it('tells the whole story of the event, one line a step, from the request to the provider’s answer', async () => {
    const story = await carillon.trace(eventId);
    // Lines that belong to a step, such as the fields of the event, are indented further.
    const steps = story.split('\n').map((line) => line.slice(14, 24).trim());
    expect(steps.filter((step) => step !== '').slice(0, 4)).toEqual(['event', 'evaluation', 'trigger', 'intent']);
    expect(story).toMatch(/event +received on shop\/orders, \d+ bytes +evt_\w+ +carillon\.events\/\d@\d+/);
    const { demoNumber } = carillon.home;
    expect(story).toMatch(new RegExp(`evaluation +evaluated with configuration ${demoNumber}: 1 rule saw it, 1 fired`));
    expect(story).toMatch(/intent +order-paid by email, template order-paid version 1/);
    expect(story).toMatch(/attempt +accepted call over sandbox/);
    expect(story).toMatch(/delivery +SENT \(accepted\)/);
  });

  it('sends again when you paste again, because the demo counts every event', async () => {
    const second = paste(carillon.screen).id;
    expect(second).not.toBe(eventId);
    await carillon.delivery(second, 'SENT');
    expect(await carillon.inbox()).toHaveLength(2);
  });
});
