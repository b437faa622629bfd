import { useMutation, useQuery } from '@tanstack/react-query';
import { useId, useState, type ReactNode } from 'react';
import { Refusal } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';
import { Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { NativeSelect } from '../../ui/native-select.tsx';
import { Actions } from '../../ui/page.tsx';
import { say } from '../../ui/notices.ts';
import { notificationsQuery } from '../notifications/queries.ts';
import { workspaceQuery } from '../templates/queries.ts';
import { CONSENTS, consentUndo, setConsent, type SaidConsent } from './calls.ts';
import { CHANNEL_OPTIONS, type Channel } from './entry-text.ts';
import styles from './entries.module.css';

const TARGETS = [
  { id: 'all', name: 'Everything' },
  { id: 'category', name: 'A category' },
  { id: 'notification', name: 'A notification' },
] as const;
const EVERY_CHANNEL = 'all channels';
const CHANNELS = [{ id: EVERY_CHANNEL, name: 'All channels' }, ...CHANNEL_OPTIONS] as const;

/** Says in somebody's place that they want something no more. */
export function SetOptOut({
  workspace,
  person: sought,
  onClose,
}: {
  readonly workspace: string;
  /** Whom the list was searched for. */
  readonly person: string;
  readonly onClose: () => void;
}): ReactNode {
  const [person, setPerson] = useState(sought);
  const [target, setTarget] = useState<SaidConsent['target']>('all');
  const [name, setName] = useState('');
  const listId = useId();
  const settings = useQuery({ ...workspaceQuery(workspace), enabled: target === 'category' });
  const notifications = useQuery({ ...notificationsQuery(workspace), enabled: target === 'notification' });
  const offered =
    target === 'category'
      ? Object.keys(settings.data?.body.categories ?? {})
      : (notifications.data?.items ?? []).map((one) => one.name);
  const [channel, setChannel] = useState<Channel | typeof EVERY_CHANNEL>(EVERY_CHANNEL);
  const said: SaidConsent = {
    person: person.trim(),
    target,
    ...(target !== 'all' && { name: name.trim() }),
    channel: channel === EVERY_CHANNEL ? null : channel,
    opted_out: true,
  };
  const isWhole = said.person !== '' && (target === 'all' || name.trim() !== '');
  const isOld = (): Promise<void> => queryClient.invalidateQueries({ queryKey: [CONSENTS] });
  const save = useMutation({
    mutationFn: () => setConsent(workspace, said),
    onSuccess(now) {
      const undo = consentUndo(workspace, said.person, now, isOld);
      say(`${said.person} ${undo ? 'is opted out' : 'had already opted out'}.`, undo);
      onClose();
    },
    onSettled: isOld,
  });
  const faultOf = (pointer: string): string | null =>
    save.error instanceof Refusal && save.error.pointer === pointer ? save.error.message : null;
  const isPlaced = faultOf('/person') !== null || faultOf('/name') !== null;
  return (
    <Dialog title="Opt somebody out" isOpen onClose={onClose}>
      <form
        className={cls(styles.form)}
        onSubmit={(event) => {
          event.preventDefault();
          if (isWhole && !save.isPending) save.mutate();
        }}
      >
        <p>You do this for them, and the list keeps your name. They still get transactional notifications.</p>
        <Field
          label="Person"
          autoFocus
          autoComplete="off"
          value={person}
          onChange={setPerson}
          fault={faultOf('/person')}
          note="The id that a rule gives this person, or an address"
        />
        <NativeSelect label="Unwanted messages" options={TARGETS} value={target} onChange={setTarget} />
        <datalist id={listId}>
          {offered.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
        {target !== 'all' && (
          <Field
            list={listId}
            label={target === 'category' ? 'Name of the category' : 'Name of the notification'}
            autoComplete="off"
            value={name}
            onChange={setName}
            fault={faultOf('/name')}
          />
        )}
        <NativeSelect label="Channel" options={CHANNELS} value={channel} onChange={setChannel} />
        {save.error && !isPlaced && <Problem error={save.error} />}
        <Curl call={{ method: 'POST', path: `/v1/workspaces/${workspace}/consents`, body: said }} />
        <Actions>
          <Button onPress={onClose}>Cancel</Button>
          <Button kind="main" type="submit" isDisabled={!isWhole || save.isPending}>
            Opt this person out
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}
