import { expect, it } from 'vitest';
import { fixOf, placeOf } from '../src/faults/fault-place.ts';

const fault = (kind: string, path: string, code = 'missing', facts: Record<string, string> = {}) => ({
  kind,
  workspace: 'shop',
  name: 'paid',
  path,
  code,
  facts,
});

it.each([
  [
    'notification',
    'rules.first.recipients.to.email',
    '/workspaces/$w/notifications/$n/rules/$r',
    { w: 'shop', n: 'paid', r: 'first' },
  ],
  ['notification', 'channels', '/workspaces/$w/notifications/$n/channels', { w: 'shop', n: 'paid' }],
  ['notification', 'security', '/workspaces/$w/notifications/$n/secure', { w: 'shop', n: 'paid' }],
  ['notification', 'cadence.limits[0]', '/workspaces/$w/notifications/$n/cadence', { w: 'shop', n: 'paid' }],
  ['notification', '', '/workspaces/$w/notifications/$n', { w: 'shop', n: 'paid' }],
  ['layout', 'html', '/workspaces/$w/layouts/$t', { w: 'shop', t: 'paid' }],
  ['partial', 'text', '/workspaces/$w/partials/$t', { w: 'shop', t: 'paid' }],
  ['stream', 'key', '/workspaces/$w/streams/$s', { w: 'shop', s: 'paid' }],
  ['integration', 'url', '/workspaces/$w/integrations/$i', { w: 'shop', i: 'paid' }],
  ['account', 'host', '/workspaces/$w/accounts/$a', { w: 'shop', a: 'paid' }],
  ['jwt_provider', 'audience', '/settings/identity/jwt-providers', {}],
  ['workspace', 'cadence.limits', '/workspaces/$w/cadence', { w: 'shop' }],
  ['workspace', 'locale', '/workspaces/$w/settings', { w: 'shop' }],
])('leads from a mistake in a %s at %s to the page that mends it', (kind, path, to, params) => {
  expect(fixOf(fault(kind, path))).toMatchObject({ to, params });
});

it('leads to the part of a template in its channel and language', () => {
  expect(placeOf(fault('template', 'email.locales.de.subject'))).toMatchObject({
    params: { t: 'paid' },
    search: { channel: 'email', locale: 'de' },
  });
  expect(placeOf(fault('deployment', 'public_url'))).toBeNull();
});

it('links to another resource if the fault is fixed there', () => {
  expect(fixOf(fault('notification', 'security.api_keys[0]', 'api_key_unknown', { name: 'a' }))).toMatchObject({
    label: 'Request the key',
    search: { workspace: 'shop' },
  });
  expect(fixOf(fault('template', 'email', 'layout_incomplete', { layout: 'basic', part: 'html' }))).toMatchObject({
    params: { t: 'basic' },
  });
});
