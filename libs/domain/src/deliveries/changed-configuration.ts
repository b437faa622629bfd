import { canonical, listResources, type Configuration, type Resource } from '../configuration/configuration.ts';
import { ruleIdFrom } from '../configuration/rule-names.ts';
import { notificationIdOf } from '../configuration/streams.ts';
import { channelsOf } from '../channels/configured.ts';
import type { Delivery } from './delivery.ts';
import { channelGone, presend, quietHours, withdrawal, type BeforeSend } from './checks-before-sending.ts';
import type { Moment } from './moves.ts';
import { endUnsent, findNotification, holdBack, lookAgain } from './presend.ts';

/** Possible effects of a configuration change on waiting messages. */
export type ChangedFor = {
  /** A rule, channel or notification was removed or switched off, so its waiting messages end. */
  readonly withdraws: boolean;
  /** Quiet hours may end earlier. */
  readonly quiet: boolean;
  /** Limits may have room earlier. */
  readonly limits: boolean;
};

/** Waiting messages affected by a change. `notificationId` is null for the whole workspace. */
export type WaitingConcern = ChangedFor & { readonly workspace: string; readonly notificationId: string | null };

/** All effects, used if the previous configuration is unknown. */
export const CONCERNS_ALL: ChangedFor = { withdraws: true, quiet: true, limits: true };

type Notifications = ReadonlyMap<string, Resource<'notification'>>;

/**
 * Returns the workspaces and notifications whose waiting deliveries must be checked again, because a new configuration
 * withdraws rules or changes quiet hours or limits.
 */
export function waitingConcernedBy(before: Configuration, newest: Configuration): readonly WaitingConcern[] {
  return [...concernedWorkspaces(before, newest), ...concernedNotifications(before, newest)].filter(
    ({ withdraws, quiet, limits }) => withdraws || quiet || limits,
  );
}

function concernedWorkspaces(before: Configuration, newest: Configuration): readonly WaitingConcern[] {
  const now = new Map(listResources(newest, 'workspace').map((item) => [item.ref.workspace, item]));
  const old = new Map(listResources(before, 'workspace').map((item) => [item.ref.workspace, item]));
  return [...new Set([...old.keys(), ...now.keys()])].map((workspace) => {
    const [was, is] = [old.get(workspace)?.body, now.get(workspace)?.body];
    const zone = was?.time_zone !== is?.time_zone;
    return {
      workspace,
      notificationId: null,
      withdraws: false,
      quiet: zone || differ(was?.cadence?.quiet_hours, is?.cadence?.quiet_hours),
      limits: zone || differ(was?.cadence?.limits, is?.cadence?.limits),
    };
  });
}

function concernedNotifications(before: Configuration, newest: Configuration): readonly WaitingConcern[] {
  const now = notificationsOf(newest);
  return [...notificationsOf(before)].flatMap(([key, was]) => {
    const is = now.get(key);
    if (is && is.number === was.number && is.ref.name === was.ref.name) return [];
    return [{ workspace: was.ref.workspace, notificationId: notificationIdOf(was), ...changed(was, is) }];
  });
}

const notificationsOf = (configuration: Configuration): Notifications =>
  new Map(
    listResources(configuration, 'notification').map((item) => [
      JSON.stringify([item.ref.workspace, notificationIdOf(item)]),
      item,
    ]),
  );

function changed(was: Resource<'notification'>, is: Resource<'notification'> | undefined): ChangedFor {
  if (!is) return { withdraws: true, quiet: false, limits: false };
  const meets = ({ body: { cadence, transactional, category } }: Resource<'notification'>): object => ({
    transactional: transactional === true,
    category,
    limits: cadence?.limits,
    // Messages over a limit may now be collected in a digest, or no longer.
    digest: cadence?.digest,
  });
  const sleeps = ({ body: { cadence, transactional } }: Resource<'notification'>): object => ({
    transactional: transactional === true,
    hours: cadence?.quiet_hours,
  });
  const left = active(is);
  return {
    withdraws: [...active(was)].some((sender) => !left.has(sender)),
    quiet: differ(sleeps(was), sleeps(is)),
    limits: differ(meets(was), meets(is)),
  };
}

/** Returns the rules and channels that send a notification. */
function active({ ref: { workspace, name }, body }: Resource<'notification'>): ReadonlySet<string> {
  if (body.enabled === false) return new Set();
  const rules = Object.entries(body.rules).filter(([, rule]) => rule.enabled !== false);
  return new Set([
    ...rules.map(([rule, own]) => `rule ${ruleIdFrom(workspace, name, rule, own)}`),
    ...channelsOf(body).map(([channel]) => `channel ${channel}`),
  ]);
}

const differ = (was: unknown, is: unknown): boolean => canonical(was ?? null) !== canonical(is ?? null);

/**
 * Returns a waiting message after a change that concerns it. It ends if nothing sends it any more, waits shorter if
 * quiet hours end earlier, and is due immediately if limits changed. Undefined if the change does not affect it.
 */
export function afterChange(
  delivery: Delivery,
  newest: Configuration,
  concern: ChangedFor,
  moment: Moment,
): Delivery | undefined {
  if (delivery.state !== 'WAITING') return undefined;
  const { now } = moment;
  const known = { delivery, newest, consents: [], suppressed: null, now };
  if (concern.withdraws) {
    const verdict = presend(known, [withdrawal, channelGone]);
    if (verdict.kind === 'end') return endUnsent(delivery, verdict.state, verdict.reason, verdict.detail, moment);
  }
  if (delivery.nextAt === null || delivery.nextAt <= now) return undefined;
  if (concern.quiet && delivery.reason === 'held_by_quiet_hours') {
    return afterQuietHours(
      { ...known, notification: findNotification(newest, delivery.slot) },
      delivery.nextAt,
      moment,
    );
  }
  if (concern.limits && delivery.reason === 'held_by_limit') return lookAgain(delivery, now, now);
  return undefined;
}

function afterQuietHours(before: BeforeSend, nextAt: number, moment: Moment): Delivery | undefined {
  const verdict = quietHours(before);
  if (verdict.kind === 'go') return lookAgain(before.delivery, moment.now, moment.now);
  // Longer quiet hours, or hours that now drop, apply when the current hold ends.
  return verdict.kind === 'wait' && verdict.until < nextAt ? holdBack(before.delivery, verdict, moment) : undefined;
}
