import {
  Ban,
  Bell,
  Cable,
  CircleHelp,
  FileText,
  Gauge,
  History,
  Inbox,
  KeyRound,
  Radio,
  Send,
  Timer,
  UserX,
  type LucideIcon,
} from 'lucide-react';

/** A screen of a workspace as the navigation names it. */
export type Place = {
  readonly name: string;
  readonly icon: LucideIcon;
  readonly to: '/workspaces/$w' | '/workspaces/$w/notifications' | '/workspaces/$w/deliveries' | '/workspaces/$w/inbox';
  /** After `g`, on the keyboard. */
  readonly key: string;
};

export const PLACES: readonly Place[] = [
  { name: 'Overview', icon: Gauge, to: '/workspaces/$w', key: 'o' },
  { name: 'Notifications', icon: Bell, to: '/workspaces/$w/notifications', key: 'n' },
  { name: 'Deliveries', icon: Send, to: '/workspaces/$w/deliveries', key: 'd' },
  { name: 'Inbox', icon: Inbox, to: '/workspaces/$w/inbox', key: 'i' },
];

/** Where an operator asks about one person: beside the list of deliveries, and on a phone behind the search. */
export const WHY_PLACE = { name: 'Why not?', icon: CircleHelp, to: '/workspaces/$w/why' } as const;

/** A screen on which a workspace is set up: in the navigation below the others, on a phone behind the search. */
export type BuildPlace = Omit<Place, 'to' | 'key'> & {
  readonly to:
    | '/workspaces/$w/templates'
    | '/workspaces/$w/streams'
    | '/workspaces/$w/integrations'
    | '/workspaces/$w/accounts'
    | '/workspaces/$w/cadence'
    | '/workspaces/$w/suppressions'
    | '/workspaces/$w/opt-outs'
    | '/workspaces/$w/versions';
};

export const BUILD_PLACES: readonly BuildPlace[] = [
  { name: 'Templates', icon: FileText, to: '/workspaces/$w/templates' },
  { name: 'Event streams', icon: Radio, to: '/workspaces/$w/streams' },
  { name: 'Integrations', icon: Cable, to: '/workspaces/$w/integrations' },
  { name: 'Accounts', icon: KeyRound, to: '/workspaces/$w/accounts' },
  { name: 'Cadence', icon: Timer, to: '/workspaces/$w/cadence' },
  { name: 'Suppressions', icon: Ban, to: '/workspaces/$w/suppressions' },
  { name: 'Opt-outs', icon: UserX, to: '/workspaces/$w/opt-outs' },
  { name: 'Versions', icon: History, to: '/workspaces/$w/versions' },
];
