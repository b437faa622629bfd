import { queryOptions, useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { api, bodyOf } from '../../api/client.ts';
import { FaultList } from '../../faults/fault-list.tsx';
import { faultText } from '../../faults/fault-text.ts';
import { Problem } from '../../ui/answers.tsx';
import { cls } from '../../ui/class-names.ts';
import { Card } from '../../ui/page.tsx';
import { Select } from '../../ui/select.tsx';
import { Toggle } from '../../ui/toggle.tsx';
import { carriesChannel } from '../accounts/account-kinds.ts';
import { ChannelAccounts } from '../accounts/channel-accounts.tsx';
import { NotificationFrame, type NotificationDraft } from './notification-frame.tsx';
import type { NotificationBody } from './sentence.ts';
import { withAddressesFor } from './usual-addresses.ts';
import styles from './notifications.module.css';

type Channels = NonNullable<NotificationBody['channels']>;
type Channel = keyof Channels;

const CHANNELS: readonly (readonly [id: Channel, name: string, note: string])[] = [
  ['email', 'Email', 'to the email address that each rule names'],
  ['sms', 'SMS', 'to the phone number that each rule names'],
  ['push', 'Push', 'to the device token that each rule names'],
];

const ALL = { limit: 500 } as const;
/** All templates of a workspace. */
export const templatesQuery = (workspace: string) =>
  queryOptions({
    queryKey: ['/v1/workspaces/{workspace}/templates', workspace],
    queryFn: ({ signal }) =>
      bodyOf(api.GET('/v1/workspaces/{workspace}/templates', { params: { path: { workspace }, query: ALL }, signal })),
  });
const accountsQuery = (workspace: string) =>
  queryOptions({
    queryKey: ['/v1/workspaces/{workspace}/accounts', workspace],
    queryFn: ({ signal }) =>
      bodyOf(api.GET('/v1/workspaces/{workspace}/accounts', { params: { path: { workspace }, query: ALL }, signal })),
  });

/** By what a notification is sent: the channels, the template of each, and the accounts that send it. */
export function NotificationChannels(): ReactNode {
  const { w, n } = useParams({ from: '/workspaces/$w/notifications/$n/channels' });
  return (
    <NotificationFrame w={w} n={n}>
      {(draft) =>
        CHANNELS.map(([id, name, note]) => <ChannelCard key={id} id={id} name={name} note={note} draft={draft} />)
      }
    </NotificationFrame>
  );
}

function ChannelCard({
  id,
  name,
  note,
  draft,
}: {
  readonly id: Channel;
  readonly name: string;
  readonly note: string;
  readonly draft: NotificationDraft;
}): ReactNode {
  const { workspace, body, change } = draft;
  const templates = useQuery(templatesQuery(workspace));
  const accounts = useQuery(accountsQuery(workspace));
  const channels: Channels = body.channels ?? {};
  const used = channels[id];
  const names = (templates.data?.items ?? []).map((template) => template.name);
  const set = (next: Channels[Channel] | undefined): void =>
    change((before) => {
      const { [id]: _before, ...rest } = before.channels ?? {};
      return { ...before, channels: next === undefined ? rest : { ...rest, [id]: next } };
    });
  const switchOn = (): void =>
    change((before) => ({
      ...before,
      channels: { ...before.channels, [id]: { template: usual } },
      ...(before.rules && { rules: withAddressesFor(id, before.rules) }),
    }));
  // The template of another channel most often has this part too.
  const usual = Object.values(channels)[0]?.template ?? names[0] ?? '';
  const template = used?.template ?? '';
  const options = [...new Set([...names, ...(template === '' ? [] : [template])])].map((one) => ({
    id: one,
    name: one,
  }));
  const chosen = used?.accounts ?? [];
  const fitting = (accounts.data?.items ?? []).filter(({ body: { kind } }) => carriesChannel(kind, id));
  const faults = draft.faultsAt(`channels.${id}`);
  const unwritten = faults.filter(({ code }) => code === 'template_lacks_channel');
  const [wrong] = faults.filter((fault) => !unwritten.includes(fault));
  return (
    <Card
      title={name}
      beside={
        <Toggle isOn={used !== undefined} onChange={(isOn) => (isOn ? switchOn() : set(undefined))}>
          Send by {name === 'SMS' ? name : name.toLowerCase()}
        </Toggle>
      }
    >
      {used === undefined ? (
        <p className={cls(styles.sentence)}>Off. Would be sent {note}.</p>
      ) : (
        <>
          {templates.error && <Problem error={templates.error} />}
          <Select
            label="Template"
            options={options}
            chosen={template === '' ? null : template}
            onChoose={(next) => set({ ...used, template: next })}
            note={`Its part for ${name} is sent ${note}.`}
            fault={wrong ? faultText(wrong) : null}
          />
          <FaultList faults={unwritten} label={`Missing text for ${name}`} tone="todo" />
          {accounts.error && <Problem error={accounts.error} />}
          {fitting.length === 0 && chosen.length === 0 ? (
            <p className={cls(styles.sentence)}>
              The workspace has no account for this channel. Carillon uses the deployment’s account, or the inbox if
              there is none.
            </p>
          ) : (
            <fieldset className={cls(styles.set)}>
              <legend>Accounts, by priority</legend>
              <ChannelAccounts draft={draft} channel={id} offered={fitting.map((account) => account.name)} />
            </fieldset>
          )}
        </>
      )}
    </Card>
  );
}
