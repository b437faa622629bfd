import { Bell, Inbox, Send, type LucideIcon } from 'lucide-react';

/** A screen of a workspace as the navigation names it. */
export type Place = {
  readonly name: string;
  readonly icon: LucideIcon;
  readonly to: '/workspaces/$w/notifications' | '/workspaces/$w/deliveries' | '/workspaces/$w/inbox';
  /** After `g`, on the keyboard. */
  readonly key: string;
};

export const PLACES: readonly Place[] = [
  { name: 'Notifications', icon: Bell, to: '/workspaces/$w/notifications', key: 'n' },
  { name: 'Deliveries', icon: Send, to: '/workspaces/$w/deliveries', key: 'd' },
  { name: 'Inbox', icon: Inbox, to: '/workspaces/$w/inbox', key: 'i' },
];
