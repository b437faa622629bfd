import { sendingBody, type SendingBody } from '@carillon/contracts';
import { CHANNEL_NAMES, CHANNELS, type ChannelName } from '@carillon/domain/channels';
import { isSandboxed, listResources, type Configuration } from '@carillon/domain/configuration';
import {
  accountName,
  deploymentAccounts,
  ownAccount,
  ownerOfAccount,
  sandboxOf,
  type AccountChoice,
} from '@carillon/domain/deliveries';
import { formatInstant, type Instant } from '@carillon/kernel';
import type { ControlPorts } from '../../ports.ts';
import { CALLS_WINDOW, countCalls, recentCalls, refusalsOf, type ProviderCall } from '../../provider-calls.ts';
import { inWorkspace, type ApiServer } from '../app.ts';

/** Deliveries read for one answer: some 50 ms of processor time. */
const MAX_DELIVERIES = 2_000;

/** Which accounts a workspace sends over, and what became of their calls in the last hour. */
export function sendingRoute(app: ApiServer, ports: Pick<ControlPorts, 'configuration' | 'ledger' | 'clock'>): void {
  app.get(
    '/v1/workspaces/:workspace/sending',
    {
      config: { permission: 'read' },
      schema: {
        operationId: 'readSending',
        tags: ['Accounts'],
        summary: 'Which accounts messages go over on each channel, with their calls of the last hour',
        params: inWorkspace,
        response: { 200: sendingBody },
      },
    },
    async (request) => {
      const { workspace } = request.params;
      const now = ports.clock.now();
      const { calls, complete } = await recentCalls(ports.ledger, now, { workspace }, MAX_DELIVERIES);
      return sendingOf(ports.configuration.current(), workspace, { calls, complete, now });
    },
  );
}

type Counted = { readonly calls: readonly ProviderCall[]; readonly complete: boolean; readonly now: Instant };

function sendingOf(configuration: Configuration, workspace: string, { calls, complete, now }: Counted): SendingBody {
  const sandboxed = isSandboxed(configuration, workspace);
  const channels = CHANNEL_NAMES.map((channel) => {
    const onChannel = calls.filter((call) => call.channel === channel);
    const defaults = sandboxed ? [sandboxOf(channel)] : deploymentAccounts(configuration, channel);
    const own = sandboxed ? [] : ownAccounts(configuration, workspace, channel);
    const known = new Map([...defaults, ...own].map((choice) => [choice.key, choice]));
    const keys = new Set([...known.keys(), ...onChannel.map(({ attempt }) => attempt.account)]);
    return {
      channel,
      accounts: [...keys].map((key) => {
        const ofAccount = onChannel.filter(({ attempt }) => attempt.account === key);
        return {
          account: key,
          owner: ownerOfAccount(key) === null ? ('deployment' as const) : ('workspace' as const),
          kind: known.get(key)?.body.kind ?? kindNow(configuration, workspace, key),
          default: defaults.some((choice) => choice.key === key),
          calls: countCalls(ofAccount),
          refusals: refusalsOf(ofAccount, now).map(({ notification, calls: made, refused, isHigh }) => ({
            notification,
            calls: made,
            refused,
            high: isHigh,
          })),
        };
      }),
    };
  });
  return { workspace, from: formatInstant(now - CALLS_WINDOW), to: formatInstant(now), complete, channels };
}

const ownAccounts = (configuration: Configuration, workspace: string, channel: ChannelName): readonly AccountChoice[] =>
  listResources(configuration, 'account')
    .filter(({ ref, body }) => ref.workspace === workspace && CHANNELS[channel].accounts.includes(body.kind))
    .flatMap(({ ref }) => ownAccount(configuration, workspace, ref.name) ?? []);

/** The kind of an account that was called in the last hour and is not offered on the channel any more. */
function kindNow(configuration: Configuration, workspace: string, key: string): string | null {
  if (CHANNEL_NAMES.some((channel) => sandboxOf(channel).key === key)) return 'sandbox';
  return ownAccount(configuration, workspace, accountName(key))?.body.kind ?? null;
}
