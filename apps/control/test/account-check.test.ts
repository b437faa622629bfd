import type { ChannelSender, SenderFactory } from '@carillon/ports';
import { account, deployment, workspaceOf } from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Control, ControlPorts } from '../src/index.ts';
import { accessOf, openControl, personWith } from './control-fixture.ts';

const smtp = { kind: 'smtp', host: 'mail.example.com', port: 25, from: 'shop@example.com' } as const;
const twilio = { kind: 'twilio', account_sid: 'AC01', auth_token: { secret: 'T' }, from: '+4930123' } as const;

let topology: Topology;
let control: Control;
/** Whose account was opened, with the kind of it. */
const opened: string[] = [];

beforeAll(async () => {
  topology = await openTopology({ partitions: 1 });
  await topology.publish(
    deployment({ accounts: { email: smtp, sms: [{ name: 'main', ...twilio }] } }),
    workspaceOf({}),
    account('texts', twilio),
    account('sandbox', smtp),
  );
  const factoryOf = (kind: SenderFactory['kind']): SenderFactory => ({
    kind,
    create: (body, _secrets, owner): ChannelSender => {
      opened.push(`${body.kind} of ${owner === '' ? 'the deployment' : owner}`);
      return {
        send: () => Promise.reject(new Error('a check sends nothing')),
        check: async () => [{ step: 'sign in', ok: true, detail: 'fine' }],
        close: async () => undefined,
      };
    },
  });
  const ports = {
    ...(topology.ports as unknown as Partial<ControlPorts>),
    senders: [factoryOf('smtp'), factoryOf('twilio'), factoryOf('sandbox')],
    secrets: { ...topology.ports.secrets, resolve: async () => 'value' },
  } as unknown as Partial<ControlPorts>;
  ({ control } = await openControl(accessOf(personWith('ann', ['read', 'configure', 'operate'])), ports));
});
afterAll(async () => {
  await control.app.close();
  await topology.close();
});

async function check(name: string, workspace = 'shop') {
  opened.length = 0;
  const url = `/v1/workspaces/${workspace}/accounts/${encodeURIComponent(name)}/check`;
  const answer = await control.app.inject({ method: 'POST', url, payload: {} });
  return { status: answer.statusCode, body: answer.json<{ steps?: { detail: string }[]; detail?: string }>() };
}

describe('a check of an account', () => {
  it.each([
    ['texts', 'twilio of shop'],
    ['shop/texts', 'twilio of shop'],
    ['default', 'smtp of the deployment'],
    ['default:sms:main', 'twilio of the deployment'],
    // A workspace's own, though the sandbox of the deployment is called the same.
    ['sandbox', 'smtp of shop'],
  ])('names the account %s, as in traces and alerts, by opening %s', async (name, whose) => {
    for (const workspace of ['shop', '-']) {
      expect(await check(name, workspace)).toMatchObject({
        status: 200,
        body: { steps: [{ ok: true }, { ok: true }] },
      });
      expect(opened).toEqual([whose]);
    }
  });

  it.each(['default:push', 'sandbox:push'])(
    'of %s without configuration names the account used instead and where to configure it',
    async (name) => {
      const { status, body } = await check(name);
      expect([status, opened]).toEqual([200, ['sandbox of the deployment']]);
      expect(body.steps?.[0]?.detail).toBe(
        'kind sandbox, which keeps messages in the inbox: carillon.yaml has no account for push (accounts.push)',
      );
    },
  );

  it.each([
    ['text', 'there is no account text; did you mean texts?'],
    ['club/texts', 'there is no account club/texts; '],
    ['zzz', 'there is no account zzz; known: default, default:push, default:sms:main, sandbox, texts'],
    [
      'default:telegram',
      'there is no account default:telegram; known: default, default:push, default:sms:main, sandbox, texts; accounts that begin with default are in carillon.yaml: accounts.email, accounts.sms, accounts.push',
    ],
  ])('lists the existing accounts if %s is unknown', async (name, words) => {
    const { status, body } = await check(name);
    expect([status, opened]).toEqual([404, []]);
    expect(body.detail).toContain(words);
  });
});
