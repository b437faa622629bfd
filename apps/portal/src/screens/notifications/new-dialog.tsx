import { queryOptions, useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { api, bodyOf } from '../../api/client.ts';
import { useMay } from '../../api/me.ts';
import { queryClient } from '../../api/query-client.ts';
import { reloadDrafts } from '../../api/use-draft.ts';
import { Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Select } from '../../ui/select.tsx';
import { templatesQuery } from './channels.tsx';
import { AsNewFiles } from '../drafts/as-file.tsx';
import { keepsState } from '../rule/entity.ts';
import { useFieldsOf } from '../rule/use-seen-fields.ts';
import {
  draftsOf,
  EXAMPLES,
  KEYED_STREAM,
  makeDrafts,
  makingCalls,
  notificationOf,
  slugOf,
  type Wish,
} from './new-notification.ts';
import { keysQuery } from './security-choice.tsx';
import { sentenceOf } from './sentence.ts';
import { addressAmong, addressField } from './usual-addresses.ts';
import styles from './notifications.module.css';

const streamsQuery = (workspace: string) =>
  queryOptions({
    queryKey: ['/v1/workspaces/{workspace}/streams', workspace],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/v1/workspaces/{workspace}/streams', {
          params: { path: { workspace }, query: { limit: 500 } },
          signal,
        }),
      ),
  });

const keyNames = ({ items }: { readonly items: readonly { readonly name: string }[] }): string[] =>
  items.map(({ name }) => name);

const CHANNELS = [
  { id: 'email', name: 'email' },
  { id: 'sms', name: 'SMS' },
  { id: 'push', name: 'push' },
] as const;
/** `tell` is null until a person types it. */
type Typed = Omit<Wish, 'tell'> & { readonly tell: string | null };
const BLANK: Typed = {
  title: '',
  stream: '',
  newKey: null,
  when: '',
  waiting: {},
  tell: null,
  by: 'email',
  template: '',
};

/** Returns the typed address, else a usual field; on a stream that reads tables or topics a field that its events have. */
function useTell(
  workspace: string,
  { stream, tell, by }: Typed,
  streams: readonly { readonly name: string; readonly body: { readonly from?: unknown } }[] = [],
): string {
  const isRead = streams.some(({ name, body }) => name === stream && body.from !== undefined);
  const { fields } = useFieldsOf(workspace, isRead ? `${workspace}/${stream}` : undefined);
  if (tell !== null) return tell;
  return isRead
    ? addressAmong(
        fields.map(({ path }) => path),
        by,
      )
    : addressField('event.customer.email', by);
}

/** A new notification from one sentence: when, tell whom, by what. It is a draft until it is published. */
export function NewNotification({
  workspace,
  stream,
  taken,
  onClose,
}: {
  readonly workspace: string;
  /** Shared stream that is chosen at first. Empty: a stream of its own. */
  readonly stream: string;
  /** Names that are there. */
  readonly taken: ReadonlySet<string>;
  readonly onClose: () => void;
}): ReactNode {
  const [typed, setTyped] = useState<Typed>({ ...BLANK, stream });
  const [isTried, setTried] = useState(false);
  const streams = useQuery(streamsQuery(workspace));
  const wish: Wish = { ...typed, tell: useTell(workspace, typed, streams.data?.items) };
  const templates = useQuery(templatesQuery(workspace));
  const keys = useQuery(keysQuery(workspace));
  const off = useMay('configure', workspace);
  const navigate = useNavigate();
  const known = keys.data ? keyNames(keys.data) : [];
  const make = useMutation({
    // A stream of its own needs a key that may send to it, and the keys may not be loaded yet.
    mutationFn: async () =>
      makeDrafts(workspace, wish, keyNames(await queryClient.ensureQueryData(keysQuery(workspace)))),
    onSuccess: (n) =>
      navigate({ to: '/workspaces/$w/notifications/$n/rules/$r', params: { w: workspace, n, r: 'first' } }),
    onSettled: () => reloadDrafts(workspace),
  });
  const name = slugOf(wish.title);
  const faults = {
    title: name === '' ? 'Enter a name.' : taken.has(name) ? `There is a notification ${name} already.` : null,
    tell: wish.tell.trim() === '' ? 'Enter the field with the address, such as event.customer.email.' : null,
  };
  const set = (change: Partial<Typed>): void => setTyped({ ...typed, ...change });
  const shared = streams.data?.items ?? [];
  const isShared = (id: string): boolean => shared.some((one) => one.name === id);
  const waits = Object.keys(wish.waiting).length > 0;
  const keyed = shared.filter(({ body }) => keepsState(body)).map((one) => one.name);
  // A stream of this name may be there without a key.
  const fresh = isShared(KEYED_STREAM.name) ? `keyed-${KEYED_STREAM.name}` : KEYED_STREAM.name;
  /** Chooses a stream, and makes it with a key if it is not there. */
  const onStream = (chosen: string): Pick<Typed, 'stream' | 'newKey'> => ({
    stream: chosen,
    newKey: chosen === '' || isShared(chosen) ? null : KEYED_STREAM.key,
  });
  const begin = (example: Omit<(typeof EXAMPLES)[number], 'about'>): void => {
    // A rule that waits needs a stream with a key.
    const fits = Object.keys(example.waiting).length === 0 || keyed.includes(typed.stream);
    const chosen = fits ? (typed.newKey === null ? typed.stream : '') : (keyed[0] ?? fresh);
    set({ ...example, ...onStream(chosen), tell: null });
  };
  const create = (): void => {
    setTried(true);
    if (faults.title === null && faults.tell === null) make.mutate();
  };
  return (
    <Dialog
      title="New notification"
      isOpen
      onClose={onClose}
      foot={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button kind="main" off={off} isDisabled={make.isPending} onPress={create}>
            Create the draft
          </Button>
        </>
      }
    >
      <div className={cls(styles.examples)} role="group" aria-label="Examples to start from">
        {EXAMPLES.map(({ about, ...example }) => (
          <button key={example.title} type="button" className={cls(styles.example)} onClick={() => begin(example)}>
            <b>{example.title}</b>
            <small>{about}</small>
          </button>
        ))}
      </div>
      <Field
        label="Name"
        autoFocus
        value={wish.title}
        onChange={(title) => set({ title })}
        note={
          name === '' ? 'Such as Order paid.' : `Its name in files and links will be ${name} and cannot be changed.`
        }
        fault={isTried ? faults.title : null}
      />
      <Select
        label="Event stream that starts the notification"
        options={[
          ...(waits ? [] : [{ id: '', name: 'its own stream' }]),
          ...(waits && keyed.length === 0
            ? [{ id: fresh, name: `a new shared stream ${fresh}, by ${KEYED_STREAM.key}` }]
            : []),
          ...(waits ? keyed : shared.map((one) => one.name)).map((id) => ({ id, name: `the shared stream ${id}` })),
        ]}
        chosen={wish.stream}
        onChoose={(chosen) => set(onStream(chosen))}
      />
      <Field
        label="and this is true"
        isMono
        placeholder={'event.status == "paid"'}
        note="Optional. The next page has a form for conditions, and the choice “Every event”."
        value={wish.when}
        onChange={(when) => set({ when })}
      />
      <div className={cls(styles.pair)}>
        <Field
          label="tell"
          isMono
          value={wish.tell}
          onChange={(tell) => set({ tell })}
          fault={isTried ? faults.tell : null}
        />
        <Select
          label="by"
          options={CHANNELS}
          chosen={wish.by}
          onChoose={(by) => set({ by, tell: typed.tell === null ? null : addressField(typed.tell, by) })}
        />
      </div>
      <Select
        label="with the text of"
        options={[
          { id: '', name: 'a new, simple template' },
          ...(templates.data?.items ?? []).map((template) => ({
            id: template.name,
            name: `the template ${template.name}`,
          })),
        ]}
        chosen={wish.template}
        onChoose={(template) => set({ template })}
      />
      <p role="status" className={cls(styles.sentence)}>
        {sentenceOf(notificationOf(wish, known))} Nobody is notified before you publish it.
      </p>
      {name !== '' && <Curl calls={makingCalls(workspace, wish, known)} />}
      {name !== '' && (
        <AsNewFiles
          wanted={draftsOf(workspace, wish, known).map(({ address, saving }) => ({ ...address, body: saving.body }))}
        />
      )}
      {make.error && <Problem error={make.error} />}
    </Dialog>
  );
}
