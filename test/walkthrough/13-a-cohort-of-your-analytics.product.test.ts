import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { createPartner, readUsers } from '@carillon/example-partner';
import { untilFound } from '@carillon/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chapter } from './places.ts';
import { startCarillon, type Carillon } from './support.ts';

/*
 * 13. A cohort of your analytics
 *
 * An analytics platform knows who is in a cohort, and tells Carillon. A rule fires when somebody enters or leaves; who
 * that is, the partner of chapter 11 answers. This chapter plays Mixpanel; docs/cohorts.md says what to enter where.
 */

const PARTNER_KEY = 'the-key-that-the-partner-gave-us';
const MIXPANEL_KEY = 'the-password-that-was-typed-into-mixpanel';
const USERS = resolve(import.meta.dirname, '../../docs/examples/partner/users.json');
type Shown = { readonly items: readonly { readonly members: number }[] };

chapter('13. A cohort of your analytics', (newHome) => {
  let carillon: Carillon;
  let partner: ReturnType<typeof createPartner>;
  let url: string;
  beforeAll(async () => {
    partner = createPartner({ key: PARTNER_KEY, users: readUsers(USERS) });
    url = `${await partner.listen({ host: '127.0.0.1', port: 0 })}/recipients`;
    carillon = await startCarillon(await newHome(), [], { CARILLON_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1' });
  });
  afterAll(async () => {
    await carillon.leave();
    await partner.close();
  });

  const write = async (file: string, lines: readonly string[]): Promise<void> => {
    const path = join(carillon.folder, 'carillon-demo/workspaces/shop', file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, `${lines.join('\n')}\n`);
  };

  /** What Mixpanel posts, and what it reads as the answer. */
  async function mixpanel(action: string, session: string, ...ids: readonly string[]): Promise<unknown> {
    const answer = await fetch(carillon.events.replace('/events', '/cohorts/shop/mixpanel'), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Basic ${Buffer.from(`carillon:${MIXPANEL_KEY}`).toString('base64')}`,
      },
      body: JSON.stringify({
        action,
        parameters: {
          mixpanel_project_id: '2195193',
          mixpanel_cohort_id: '1478097',
          mixpanel_cohort_name: 'Buyers',
          mixpanel_session_id: session,
          page_info: { total_pages: 1, page_count: 1 },
          members: ids.map((id) => ({ mixpanel_distinct_id: id, email: `${id}@analytics.example` })),
        },
      }),
    });
    return answer.json();
  }
  const untilMembers = (members: number) =>
    untilFound(`${members} members`, async () => {
      const { items } = await carillon.ask<Shown>(['integration', 'show', 'mixpanel']);
      return items[0]?.members === members ? true : undefined;
    });
  const untilInbox = (count: number) =>
    untilFound(`${count} messages`, async () => {
      const messages = await carillon.inbox();
      return messages.length >= count ? messages : undefined;
    });

  it('needs the platform, the partner, and a rule with a cohort in place of a stream', async () => {
    await write('integrations/mixpanel.yaml', ['kind: mixpanel', 'authorization: { key: { secret: MIXPANEL_KEY } }']);
    await write('integrations/crm.yaml', [
      'kind: lookup',
      `url: ${url}`,
      'authorization: { scheme: Bearer, key: { secret: CRM_KEY } }',
      'match: variables.user_id',
    ]);
    await write('notifications/welcome-buyer.yaml', [
      'channels:',
      '  email: { template: welcome-buyer }',
      'rules:',
      '  joined:',
      '    cohort: { integration: mixpanel, id: "1478097", on: entered }',
      '    recipients:',
      '      from: lookup',
      '      integration: crm',
      '      unique_id: event_id',
    ]);
    await write('templates/welcome-buyer/email.yaml', [
      'subject: Welcome to {{ cohort_name }}',
      'from: Shop <shop@example.com>',
    ]);
    await write('templates/welcome-buyer/email.txt', ['Hello {{ name }}!']);
    await carillon.command(['secret', 'set', 'CRM_KEY'], PARTNER_KEY);
    await carillon.apply();
  });

  it('says what to enter at the platform, and what is still missing', async () => {
    const before = await carillon.command(['integration', 'check', 'mixpanel']);
    expect(before.out).toContain(`it has to send to ${carillon.events.replace('/events', '')}/cohorts/shop/mixpanel`);
    expect(before.out).toMatch(/FAIL +secret: MIXPANEL_KEY is neither in the environment nor stored/);
    await carillon.command(['secret', 'set', 'MIXPANEL_KEY'], MIXPANEL_KEY);
    expect((await carillon.command(['integration', 'check', 'mixpanel'])).code).toBe(0);
  });

  it('sends nothing to existing members', async () => {
    // A secret counts within two seconds.
    const answer = await untilFound('success', async () => {
      const read = (await mixpanel('members', 'monday', 'grace')) as { status?: string };
      return read.status === 'success' ? read : undefined;
    });
    expect(answer).toEqual({ action: 'members', status: 'success' });
    await untilMembers(1);
    expect(await carillon.inbox()).toEqual([]);
  });

  it('notifies each new member once, however often the platform repeats it', async () => {
    await mixpanel('add_members', 'tuesday', 'ada', 'grace');
    await mixpanel('add_members', 'tuesday', 'ada', 'grace');
    const [message] = await untilInbox(1);
    expect(message).toMatchObject({ to: 'ada@example.com', subject: 'Welcome to Buyers', text: 'Hello Ada!\n' });
    await untilMembers(2);
    expect(await carillon.inbox()).toHaveLength(1);
  });

  it('shows how many are in, and explains each change like any other event', async () => {
    const shown = await carillon.command(['integration', 'show', 'mixpanel']);
    expect(shown.out).toMatch(/1478097 +Buyers +2 .*whole, 1 pages/);
    const changes = await untilFound('the event of each change', async () => {
      const { items } = await carillon.ask<{ items: readonly { id: string; stream: string }[] }>(['events']);
      const found = items.filter(({ stream }) => stream === 'shop/cohorts/mixpanel/1478097');
      return found.length >= 2 ? found : undefined;
    });
    expect(changes).toHaveLength(2);
    const stories = await Promise.all(changes.map(({ id }) => carillon.trace(id)));
    expect(stories.find((story) => story.includes('did not fire'))).toContain('event.first_sync == false  →  false');
    expect(stories.find((story) => story.includes('fired'))).toContain('asks crm about 1 user id');
  });

  it('tells again who left and comes back', async () => {
    await mixpanel('remove_members', 'wednesday', 'ada');
    await untilMembers(1);
    await mixpanel('add_members', 'thursday', 'ada');
    expect((await untilInbox(2)).map(({ to }) => to)).toEqual(['ada@example.com', 'ada@example.com']);
  });
});
