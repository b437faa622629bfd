import { CHANNEL_NAMES, channelOf, CHANNELS } from '@carillon/domain/channels';
import { listResources, publicUrlOf, type Configuration } from '@carillon/domain/configuration';
import { accountsOf } from '@carillon/domain/deliveries';
import type { Check } from './ports.ts';

/** Maximum notifications that are named. The rest is given as a number. */
const NAMED = 5;

/**
 * Warns if notifications send real mail without an unsubscribe link, because the deployment has no public URL. Not a
 * failure, because everything else works.
 */
export function linkChecks(configuration: Configuration): readonly Check[] {
  if (publicUrlOf(configuration) !== null) return [];
  const senders = listResources(configuration, 'notification').filter(({ body }) => {
    return body.enabled !== false && body.transactional !== true;
  });
  return CHANNEL_NAMES.filter((name) => CHANNELS[name].stopsByLink).flatMap((channel) => {
    const silent = senders.filter(
      (one) =>
        channelOf(one.body, channel) !== undefined &&
        accountsOf(configuration, one, channel).some(({ body }) => body.kind !== 'sandbox'),
    );
    if (silent.length === 0) return [];
    const names = silent.slice(0, NAMED).map(({ ref }) => `${ref.workspace}/${ref.name}`);
    const more = silent.length > NAMED ? ` and ${silent.length - NAMED} more` : '';
    const detail = `no unsubscribe link in ${channel} of ${names.join(', ')}${more}: set public_url, the public address of the gateway, in carillon.yaml, or make the notification transactional`;
    return [{ step: 'unsubscribe links', ok: true, detail }];
  });
}
