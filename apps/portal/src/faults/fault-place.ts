/** A page of the portal, as its links name it. */
export type FaultPlace = {
  readonly label: string;
  readonly to: string;
  readonly params: Readonly<Record<string, string>>;
  readonly search?: Readonly<Record<string, string>>;
};

type Placed = {
  readonly kind: string;
  readonly workspace: string;
  readonly name: string;
  readonly path: string;
  readonly code: string;
  readonly facts: Readonly<Record<string, string>>;
};

const NOTIFICATION = '/workspaces/$w/notifications/$n';

/** Returns where a resource is edited, at the part that a path names; null: the portal has no page for it. */
export function placeOf({ kind, workspace: w, name, path }: Omit<Placed, 'code' | 'facts'>): FaultPlace | null {
  const [first = '', second = '', third = ''] = path.replaceAll(/\[\d+\]/g, '').split('.');
  switch (kind) {
    case 'notification':
      return placeInNotification({ w, n: name }, first, second);
    case 'template': {
      const locale = second === 'locales' ? third : '';
      const search = { ...(first !== '' && { channel: first }), ...(locale !== '' && { locale }) };
      return { label: 'Open the template', to: '/workspaces/$w/templates/$t', params: { w, t: name }, search };
    }
    case 'layout':
      return { label: 'Open the layout', to: '/workspaces/$w/layouts/$t', params: { w, t: name } };
    case 'partial':
      return { label: 'Open the partial', to: '/workspaces/$w/partials/$t', params: { w, t: name } };
    case 'stream':
      return { label: 'Open the event stream', to: '/workspaces/$w/streams/$s', params: { w, s: name } };
    case 'integration':
      return { label: 'Open the integration', to: '/workspaces/$w/integrations/$i', params: { w, i: name } };
    case 'account':
      return { label: 'Open the account', to: '/workspaces/$w/accounts/$a', params: { w, a: name } };
    case 'jwt_provider':
      return {
        label: 'Open the JWT providers',
        to: '/settings/identity/jwt-providers',
        params: {},
        search: { workspace: w },
      };
    case 'workspace':
      return first === 'cadence'
        ? { label: 'Open the cadence', to: '/workspaces/$w/cadence', params: { w } }
        : { label: 'Open the settings', to: '/workspaces/$w/settings', params: { w } };
    default:
      return null;
  }
}

function placeInNotification(params: { w: string; n: string }, first: string, second: string): FaultPlace {
  if (first === 'rules' && second !== '') {
    return { label: 'Open the rule', to: `${NOTIFICATION}/rules/$r`, params: { ...params, r: second } };
  }
  if (first === 'channels') return { label: 'Choose channels', to: `${NOTIFICATION}/channels`, params };
  if (first === 'cadence') return { label: 'Open the cadence', to: `${NOTIFICATION}/cadence`, params };
  if (first === 'security') return { label: 'Choose who may send', to: `${NOTIFICATION}/secure`, params };
  return { label: 'Open the notification', to: NOTIFICATION, params };
}

/** Returns the page with the button or field that fixes a fault; null: there is none. */
export function fixOf(fault: Placed): FaultPlace | null {
  const { code, workspace: w, facts } = fault;
  const at = (kind: string, name: string): FaultPlace | null => placeOf({ kind, workspace: w, name, path: '' });
  switch (code) {
    case 'api_key_unknown': {
      const params = {};
      return { label: 'Request the key', to: '/settings/identity/api-keys', params, search: { workspace: w } };
    }
    case 'secret_hidden':
      return { label: 'Set the secret', to: '/settings/secrets', params: {}, search: { workspace: w } };
    case 'category_unknown':
      return at('workspace', '');
    case 'layout_incomplete':
      return at('layout', facts['layout'] ?? '');
    case 'breaks_notification':
      return at('notification', facts['notification'] ?? '');
    case 'breaks_template':
      return at('template', facts['template'] ?? '');
    default:
      return placeOf(fault);
  }
}
