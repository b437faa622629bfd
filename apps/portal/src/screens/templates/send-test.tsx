import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { api, bodyOf } from '../../api/client.ts';
import { meQuery } from '../../api/me.ts';
import { Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { Curl } from '../../ui/curl.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { NativeSelect } from '../../ui/native-select.tsx';
import { CHANNEL_NAMES, type Channel } from './template-parts.ts';
import type { TemplateUser } from './users.ts';

const WHERE: Readonly<Record<Channel, string>> = {
  email: 'Your address',
  sms: 'Your number',
  push: 'Token of your device',
};

/** One message to oneself, marked as a test, over the account that would be taken. */
export function SendTest({
  workspace,
  template,
  channel,
  isPublished,
  users,
  event,
  locale,
  hasDraft,
  onClose,
}: {
  readonly workspace: string;
  readonly template: string;
  /** Whether the published template has the channel. */
  readonly isPublished: boolean;
  readonly channel: Channel;
  readonly users: readonly TemplateUser[];
  readonly event: string;
  readonly locale: string;
  readonly hasDraft: boolean;
  readonly onClose: () => void;
}): ReactNode {
  const sending = users.filter(({ channels }) => channels.includes(channel));
  // A channel can be tried before a notification has it.
  const able = sending.length > 0 ? sending : users;
  const { data: me } = useQuery(meQuery);
  const [typed, setTyped] = useState<string | null>(null);
  const to = typed ?? (channel === 'email' ? (me?.person?.email ?? '') : '');
  const [name, setName] = useState(able[0]?.notification ?? '');
  const body = { channel, to, event, template, ...(locale !== '' && { locale }) };
  const send = useMutation({
    mutationFn: () =>
      bodyOf(
        api.POST('/v1/workspaces/{workspace}/notifications/{name}/test-send', {
          params: { path: { workspace, name } },
          body,
        }),
      ),
  });
  return (
    <Dialog
      title="Send me a test"
      isOpen
      onClose={onClose}
      foot={
        <>
          <Button onPress={onClose}>{send.data ? 'Close' : 'Cancel'}</Button>
          {!send.data && (
            <Button
              kind="main"
              isDisabled={to === '' || name === '' || !isPublished || send.isPending}
              onPress={() => send.mutate()}
            >
              Send one message
            </Button>
          )}
        </>
      }
    >
      {able.length === 0 && (
        <p>No published notification uses this template. Choose it in the channels of a notification first.</p>
      )}
      {!isPublished && (
        <p>
          {CHANNEL_NAMES[channel]} is not published yet. Publish it first, because a test sends the published version.
        </p>
      )}
      {isPublished && hasDraft && <p>The test sends the published version. The preview shows your draft.</p>}
      {able.length > 1 && (
        <NativeSelect
          label="As"
          options={able.map(({ notification }) => ({ id: notification, name: notification }))}
          value={name}
          onChange={setName}
        />
      )}
      <Field
        label={WHERE[channel]}
        value={to}
        onChange={setTyped}
        note="One message, marked as a test. Nobody else gets it."
      />
      {name !== '' && !send.data && (
        <Curl call={{ method: 'POST', path: `/v1/workspaces/${workspace}/notifications/${name}/test-send`, body }} />
      )}
      {send.error && <Problem error={send.error} />}
      {send.data && (
        <p role="status">
          The test is on its way to {send.data.to}.{' '}
          <Link to="/workspaces/$w/deliveries" params={{ w: workspace }} search={{ open: send.data.delivery_id }}>
            Open its story
          </Link>
          {send.data.notes.map((note) => ` ${note}.`).join('')}
        </p>
      )}
    </Dialog>
  );
}
